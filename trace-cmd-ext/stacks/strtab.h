/* SPDX-License-Identifier: GPL-2.0 */
/*
 * strtab.h - each string once, known by a number from 0 on, in the order of arrival
 *
 * Formats with a table of strings need this. A zeroed table is empty. Not thread safe.
 */
#ifndef TRACE_USTACK_STRTAB_H
#define TRACE_USTACK_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/base/base.h"

struct strtab_entry {
	uint64_t hash;
	size_t off, len;		/* in pool.v */
};

struct strtab {
	struct text pool;		/* the strings, each terminated */
	VEC(struct strtab_entry) v;
	struct hidx idx;
};

/* The number of a string of @len bytes, which is copied; UINT32_MAX: not enough memory */
uint32_t strtab_add(struct strtab *t, const char *s, size_t len);
/* The terminated string of a number; valid until the next strtab_add(). */
const char *strtab_get(const struct strtab *t, uint32_t nr, size_t *len);
/* Remove all strings but keep the memory. */
void strtab_clear(struct strtab *t);
void strtab_free(struct strtab *t);

#endif
