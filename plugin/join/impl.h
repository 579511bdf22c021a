/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* impl.h - the data of the join, shared by its source files. requests.h is the public side. */
#ifndef USTACK_JOIN_IMPL_H
#define USTACK_JOIN_IMPL_H

#include "requests.h"
#include "libunwind-user/base/base.h"

/* A stack that still lacks parts. */
struct partial_stack {
	struct join_stack head;		/* copy of its first part; head.addrs is not used */
	VEC(uint64_t) addrs;
	bool closed;			/* cut and stored: later parts are dropped */
};

/* A record's position and time. */
struct position {
	uint64_t pos, ts;
};

struct stream {
	uint32_t buffer;
	uint32_t cpu;
	uint64_t first, last;		/* positions of its first and last record */
	VEC(struct partial_stack) partials;
	VEC(struct position) positions;	/* join_add_position(), rising */
};

/* An interned address list: j->addrs.v[off .. off + nr). */
struct list {
	uint64_t hash;
	uint64_t off;
	uint32_t nr;
};

struct stack {
	uint64_t cookie;
	uint64_t pos;
	uint64_t ts;
	uint32_t tid;
	uint32_t tgid;
	uint32_t flags;
	uint32_t stream;
	uint32_t list;			/* index in join.lists; with STACK_AGAIN in join.firsts */
	uint32_t claimed : 1;		/* it answers a request */
	uint32_t came_again : 1;	/* it was added with STACK_AGAIN */
};

#define NOT_ASKED	UINT32_MAX	/* run.stack before the first query */
#define NO_STACK	(UINT32_MAX - 1)
#define LOST_STACK	(UINT32_MAX - 2)	/* it came again; the file lacks the first one */

/* A search looks at this many stacks of one (tid, cookie), nearest first. */
#define MAX_TRIES	32

struct run {
	struct join_run pub;
	/*
	 * Positions in the same stream between which a stack may be this run's:
	 * the nearest runs of the same task under another cookie.
	 */
	uint64_t lo, hi;
	/* the answer, which resolve_run() sets when it is first asked for */
	uint32_t stack;			/* index in join.stacks */
	uint32_t state;			/* enum join_state */
};

struct task {
	uint32_t tid;
	bool has_cookie;		/* at least one request */
	uint32_t run, nr_runs;		/* its part of join.runs, by (stream, pos) */
	uint32_t stack, nr_stacks;	/* its part of join.stacks, by (cookie, ts) */
	/*
	 * With has_last: the time and the cookie of its latest record. With has_second: the time of
	 * its latest record under another cookie.
	 */
	bool has_last, has_second;
	uint64_t last_ts, last_cookie, second_ts;
	/* its runs and stacks with a cookie, by time: a part of join.times; see index_task() */
	struct time_entry *times;
	uint32_t nr_times;
};

/* The time of a run or of a stack of a task. */
struct time_entry {
	uint64_t ts, cookie;
	uint32_t next_other;		/* index of the next entry under another cookie */
};

struct join {
	VEC(struct stream) streams;
	VEC(bool) dropped;		/* by number of the buffer: it dropped events */
	VEC(struct run) runs;
	VEC(struct stack) stacks;
	VEC(struct list) lists;
	VEC(uint64_t) firsts;		/* cookies that stacks with STACK_AGAIN name */
	VEC(uint64_t) addrs;
	VEC(struct task) tasks;
	struct time_entry *times;		/* room for the runs and the stacks of all tasks */
	struct hidx list_idx;
	struct hidx task_idx;
	uint64_t cut;
	uint64_t losses;
	uint64_t period;		/* a cookie cannot come back in less time */
	bool damaged;
	bool finished;
};

static inline uint64_t get_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* sort.c: sort runs by (tid, stream, pos), and stacks by (tid, cookie, ts). 0 or -ENOMEM. */
int sort_runs(struct join *j);
int sort_stacks(struct join *j);

/* parts.c: put together what the kernel split; intern address lists. */
int parts_add(struct join *j, const struct join_stack *s);
int parts_add_loss(struct join *j, struct stream *stream);
int parts_finish(struct join *j);
void parts_free(struct stream *stream);

#endif
