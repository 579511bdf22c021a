/* SPDX-License-Identifier: GPL-2.0 */
/* What trace-ustack stat has counted: stat_count.c fills it, cmd_stat.c prints it. */
#ifndef TRACE_USTACK_STAT_H
#define TRACE_USTACK_STAT_H

#include "model.h"
#include "vec.h"

enum stat_mark {			/* what a joined stack can be, besides whole */
	STAT_TRUNCATED,
	STAT_INCOMPLETE,
	STAT_FRAME_POINTER,
	STAT_CUT,			/* a part of it was dropped */
	STAT_EMPTY,
	STAT_NR_MARKS
};

/* Requests for a user stack, by what became of them. */
struct stat_requests {
	uint64_t states[JOIN_NR_STATES];
	uint64_t marks[STAT_NR_MARKS];	/* of the joined ones; one may have several */
};

struct stat_process {
	uint32_t pid;			/* the process, or the thread where that is not known */
	uint32_t tid;			/* one of its threads */
	uint64_t events;
	struct stat_requests r;
};

struct stat_event {
	uint32_t type;			/* model_type() */
	uint64_t nr;
};

struct stat {
	bool filtered;
	uint64_t events;		/* that are wanted */
	uint64_t all_events, bytes;	/* in the file; bytes with their stacks and mappings */
	struct stat_requests r;
	VEC(struct stat_process) processes;	/* the one with most requests first */
	VEC(struct stat_event) by_event;	/* the most frequent first */
	struct hidx process_idx;
};

/* 0, or a negative errno. Start with a zeroed one. */
int stat_count(struct stat *s, struct model *m, bool filtered);
const char *stat_process_name(struct model *m, const struct stat_process *p);
void stat_free(struct stat *s);

#endif
