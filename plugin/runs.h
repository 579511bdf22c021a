/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runs - which kernel stack goes with which cookie
 *
 * The kernel writes an event, its kernel_stack and its cookie one after the
 * other on one CPU, and only an interrupt can write something between them. So
 * a cookie belongs to the kernel stack before it when both are of the same
 * task and were written at the same level (task, softirq, hardirq, NMI) with
 * nothing else of that level between. This is decided here, record by record,
 * and comes out as runs for the join.
 */
#ifndef USTACK_RUNS_H
#define USTACK_RUNS_H

#include "join.h"

enum runs_kind {
	REC_OTHER,
	REC_KERNEL_STACK,
	REC_COOKIE,
};

/* bits of common_flags: include/linux/trace_events.h in the kernel */
#define TRACE_FL_HARDIRQ	0x08
#define TRACE_FL_SOFTIRQ	0x10
#define TRACE_FL_NMI		0x40

#define RUNS_LEVELS		4

/* Task, softirq, hardirq or NMI, rising: what a record's common_flags say it was written in. */
static inline int runs_level(uint32_t flags)
{
	if (flags & TRACE_FL_NMI)
		return 3;
	if (flags & TRACE_FL_HARDIRQ)
		return 2;
	return flags & TRACE_FL_SOFTIRQ ? 1 : 0;
}

struct runs_rec {
	uint64_t cookie;	/* with REC_COOKIE */
	uint64_t pos;
	uint64_t ts;
	uint32_t tid;
	uint32_t flags;		/* common_flags */
	enum runs_kind kind;
};

struct runs;

/* @emit is called for each run when it ends; its non-zero result is passed on. */
struct runs *runs_new(int (*emit)(void *data, const struct join_run *run), void *data);
void runs_free(struct runs *r);
/* What follows is of this stream; ends what the last one left open. */
int runs_stream(struct runs *r, uint32_t stream);
int runs_record(struct runs *r, const struct runs_rec *rec);
/* Events were dropped before the next record. */
int runs_loss(struct runs *r);
/* No record of a task since events were dropped? */
bool runs_after_loss(const struct runs *r);
/* The last stream ends. */
int runs_end(struct runs *r);

#endif
