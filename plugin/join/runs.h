/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runs.h - which kernel stack goes with which cookie
 *
 * The kernel writes an event, its kernel_stack and its cookie one after the other on one CPU, and
 * only an interrupt can write something between them. So a cookie belongs to the kernel stack
 * before it under two conditions. Both are of the same task and level (nest.h has the levels), and
 * no other record of that level lies between them. If an interrupt may have ended between them, all
 * cookies of the group must be equal: they are of one kernel entry. runs_add_record() decides this
 * record by record, and gives runs to the join.
 */
#ifndef USTACK_RUNS_H
#define USTACK_RUNS_H

#include "requests.h"
#include "nest.h"

enum runs_kind {
	RUNS_OTHER,
	RUNS_KERNEL_STACK,
	RUNS_COOKIE,
	RUNS_STACK,		/* a user stack: the kernel entry ends */
};

struct runs_rec {
	uint64_t cookie;	/* with RUNS_COOKIE */
	uint64_t pos;
	uint64_t ts;
	uint32_t tid;
	uint32_t flags;		/* common_flags and preempt count, see nest.h */
	enum runs_kind kind;
};

struct runs;

/* @emit is called for each run when it ends. The functions below return its error. */
struct runs *runs_new(int (*emit)(void *data, const struct join_run *run), void *data);
void runs_free(struct runs *r);
/* End the open runs of the last stream. The next records are of the stream @stream. */
int runs_start_stream(struct runs *r, uint32_t stream);
int runs_add_record(struct runs *r, const struct runs_rec *rec);
/* Events were dropped before the next record. */
int runs_add_loss(struct runs *r);
/* Can all records since the last dropped events be of an interrupt, with @tid interrupted? */
bool runs_is_after_loss(const struct runs *r, uint32_t tid);
/* The last stream ends: end its open runs. */
int runs_end(struct runs *r);

#endif
