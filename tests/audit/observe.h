/* SPDX-License-Identifier: GPL-2.0 */
/* observe.h - observe.c plays the kernel, observe_table.c knows which table is right */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libunwind-user/abi/abi.h"

#define MAX_PROCESSES	64
#define MAX_TABLES	512
#define MAX_MAPPINGS	4096

struct process {
	pid_t tgid;			/* 0: free */
	bool known;			/* its parent has reported it */
	bool waits;			/* stopped until then */
	unsigned int nr, asked, marks;
	struct unwind_table_user table[MAX_TABLES];
};

struct mapping {
	uint64_t start, end, offset;
	bool read, write, exec;
	char path[256];
};

extern const char *cache_dir;

__attribute__((format(printf, 2, 3))) void wrong(const struct process *p, const char *fmt, ...);
__attribute__((noreturn)) void errx_full(void);

unsigned int read_maps(pid_t pid, struct mapping *map);
bool is_cached(const struct mapping *map);

/*
 * Is @table right for what is mapped there, for the whole segment, and in memory that does not
 * change? If not, this prints why.
 */
bool table_is_right(const struct process *p, const struct unwind_table_user *arg);

#endif
