/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * requests.h - which user stack belongs to which request
 *
 * A traced event leaves a request: a cookie, in the task that caused the event. Later the same task
 * leaves one stack with the same cookie, for all the requests it made since it last entered the
 * kernel. The caller adds both in any order, and then asks for each request: its stack, or why it
 * has no stack. The join knows no files and prints nothing.
 *
 * Terms
 *  - stream: one CPU of one trace buffer. Records of a stream are added in the order of the stream,
 *    which is the order in which they happened. Between streams only time stamps give an order, and
 *    the clocks of two CPUs need not agree.
 *  - position: the offset of a record in its file, rising within a stream. The position finds a
 *    record again when it is printed, even if something changed its time stamp.
 *  - run: the requests that one task makes on one stream under one cookie, with neither another
 *    cookie nor a stack of that task between them, and never JOIN_PERIOD apart. The join stores
 *    runs instead of requests: there are about as many runs as stacks.
 *
 * Rules
 *  - The key is (tid, cookie). A cookie comes back after 2^31 kernel entries on its CPU. Among
 *    equal keys the join takes the stack that is nearest in time.
 *  - A request never gets a stack if a request or a stack of the same task under another cookie
 *    lies between the two. "Between" is by position for a request when all three are in one stream;
 *    this is exact. Otherwise it is by time, and only if the request and the stack are JOIN_PERIOD
 *    or more apart. The clocks of two CPUs may disagree by less than that, and a cookie cannot
 *    come back in less.
 *  - Stacks that may be of one kernel entry by these rules are copies. The join prefers the copy in
 *    the buffer of the request. If that copy was cut, it takes a whole copy that agrees with it.
 *  - A record with STACK_AGAIN stands for a stack that the same task recorded before. It is a
 *    stack of its own, at its own time, with the addresses of the earlier one, which is less than
 *    JOIN_PERIOD older. If the file lacks that one, the requests of this record are lost.
 *  - A clock that does not count nanoseconds (join_set_slow_clock()) can stand still while a cookie
 *    comes back. It is one clock for all CPUs, so the join believes it at any distance.
 */
#ifndef USTACK_REQUESTS_H
#define USTACK_REQUESTS_H

#include <stdint.h>

struct join;

/* The kernel's flags (user_unwind_stack.flags) */
#define STACK_TRUNCATED		0x01u
#define STACK_COMPAT		0x02u
#define STACK_MORE		0x04u
#define STACK_INCOMPLETE	0x08u
#define STACK_FRAME_POINTER	0x10u
/* The join adds: events were dropped between the parts of the stack. */
#define STACK_CUT_OUTER		0x10000u
/* The join adds: events were dropped right before the stack, maybe its first parts. */
#define STACK_NO_INNER		0x20000u
/* The maps add: the next address was not code, so the stack ends before it. */
#define STACK_OUTSIDE		0x40000u
/*
 * In join_add_stack() only: the task has had this stack before. @addrs is one word, the cookie that
 * the stack was recorded under. The kernel does that with the option userstacktrace_once.
 */
#define STACK_AGAIN		0x80000u

/*
 * A cookie cannot come back in fewer nanoseconds, because it comes back after 2^31 kernel entries
 * and each of them takes a nanosecond or more. A clock of CPU cycles counts more than one cycle a
 * nanosecond, so the number holds for such a clock, too.
 */
#define JOIN_PERIOD	(1ull << 31)

enum join_state {
	JOIN_NONE,		/* no request is known here */
	JOIN_STACK,		/* answered */
	JOIN_PENDING,		/* still in the kernel when recording stopped */
	JOIN_LOST,		/* the task went on, and its buffer dropped events */
	JOIN_UNRECORDED,	/* the task went on, and nothing was dropped */
	JOIN_UNSURE,		/* two buffers hold a record here, with different answers */
	JOIN_NR_STATES
};

/* How programs and people read a state */
extern const struct join_words {
	const char *name;
	const char *about;	/* after the name in a list; "" for JOIN_NONE and JOIN_STACK */
	const char *mark;	/* in place of a printed stack; NULL for JOIN_NONE and JOIN_STACK */
	const char *frame;	/* in place of a folded stack; NULL where @mark is NULL */
} join_words[JOIN_NR_STATES];

/* How the requests of a run look in the file. */
enum join_form {
	JOIN_FORM_COOKIE_ONLY,		/* the cookie alone: print at the cookie */
	JOIN_FORM_KSTACK,		/* a kernel stack, then the cookie: print at the stack */
	JOIN_FORM_NO_COOKIE,		/* a kernel stack without a cookie after it */
	JOIN_FORM_LOST_COOKIE,	/* a kernel stack, then events were dropped */
};

struct join_run {
	uint64_t cookie;	/* 0 with JOIN_FORM_NO_COOKIE and JOIN_FORM_LOST_COOKIE */
	uint64_t pos;		/* position of its first record */
	uint64_t ts;		/* time stamp of its first record */
	uint32_t tid;
	uint32_t stream;
	uint32_t events;	/* number of requests in the run */
	uint32_t form : 8;	/* enum join_form */
	uint32_t part : 24;	/* the join never merges runs that differ in this */
};

struct join_stack {
	uint64_t cookie;
	uint64_t pos;
	uint64_t ts;
	const uint64_t *addrs;	/* innermost first */
	uint32_t nr;
	uint32_t tid;
	uint32_t tgid;		/* 0: not recorded */
	uint32_t flags;		/* STACK_* */
	uint32_t stream;
	uint32_t after_loss;	/* bool: events dropped right before may have been parts of it */
};

struct join_answer {
	enum join_state state;
	uint32_t form;		/* enum join_form of the request */
	/* the rest only with JOIN_STACK */
	uint32_t flags;		/* STACK_*, but never STACK_MORE or STACK_AGAIN */
	uint32_t tgid;		/* 0: not recorded */
	uint32_t tid;
	uint32_t cpu;
	uint64_t ts;
	uint32_t id;		/* of the address list: equal lists have equal ids */
	uint32_t nr;
	const uint64_t *addrs;	/* valid until join_free() */
};

struct join_stats {
	uint64_t requests[JOIN_NR_STATES];	/* number of requests by their answer */
	uint64_t stacks;			/* number of stacks in the file */
	uint64_t truncated, incomplete, frame_pointer;	/* stacks with this flag */
	uint64_t unclaimed;			/* stacks that answer no request */
	uint64_t distinct;			/* number of different address lists */
	uint64_t cut;				/* parts of stacks that the join dropped */
	uint64_t losses;			/* dropped events; an unknown number counts 1 */
};

/* NULL if there is not enough memory. */
struct join *join_new(void);
void join_free(struct join *j);

/*
 * Functions that fill the join. Each returns 0; or -EINVAL for a stream that was not added, or for
 * STACK_AGAIN with STACK_MORE or without its word, and changes nothing then; or -ENOMEM: the join
 * lacks a part of what was added, so only free it.
 */
int join_add_stream(struct join *j, uint32_t buffer, uint32_t cpu, uint32_t *stream);
int join_add_run(struct join *j, const struct join_run *run);
int join_add_stack(struct join *j, const struct join_stack *stack);
/* @events were dropped before the next record of @stream; 0 for an unknown number. */
int join_add_loss(struct join *j, uint32_t stream, uint64_t events);
/*
 * The record of @stream at @pos was made at @ts. Add rising positions. Positions of two
 * streams may coincide; with more of them the join can tell more streams apart.
 */
int join_add_position(struct join *j, uint32_t stream, uint64_t pos, uint64_t ts);
/* Events of @buffer were dropped at unknown positions. */
int join_set_dropped(struct join *j, uint32_t buffer);
/* The trace clock is slower than a kernel entry: it counts events, or jiffies. */
void join_set_slow_clock(struct join *j);
/* The first and the last position in @stream that hold a record. */
int join_set_range(struct join *j, uint32_t stream, uint64_t first, uint64_t last);
/* The file could not be read to its end: what is missing counts as lost. */
void join_set_damaged(struct join *j);
/*
 * The join is filled. Add nothing after this call, and ask nothing before it. It returns 0 or
 * -ENOMEM. No answer needs memory afterwards.
 */
int join_finish(struct join *j);

/* The process of the task @tid: its thread group, or the task if the group is not recorded. */
static inline uint32_t join_get_pid(uint32_t tgid, uint32_t tid)
{
	return tgid ? tgid : tid;
}

/* A record that asks for its stack: of @tid, at position @pos, read on @cpu at time @ts */
struct join_question {
	uint32_t cpu, tid;
	uint64_t pos, ts;
	uint64_t cookie;	/* 0: a kernel stack */
};

void join_find_answer(struct join *j, const struct join_question *q, struct join_answer *ans);

/*
 * The index of the first address of a stack that may not be code; from there on, ask
 * maps_find_outside(). ans->nr or more: every address is code, because a table covers each address
 * of a stack without flags. The task was at the innermost address, if the stack has it.
 */
static inline uint32_t join_find_unproved(const struct join_answer *ans)
{
	if (ans->tgid && !(ans->flags & ~STACK_COMPAT))
		return ans->nr;
	return ans->flags & STACK_NO_INNER ? 0 : 1;
}

/*
 * The number of the run that covers a record of a known stream; JOIN_NO_RUN if no run does. Records
 * of one run have one answer, join_get_run(). Zero @cursor before the first call for a stream: it
 * makes the next call for the same task cheap.
 */
#define JOIN_NO_RUN	UINT32_MAX
struct join_cursor {
	uint64_t from, to;		/* the positions that @run covers */
	uint32_t tid, run;
};
uint32_t join_find_run(struct join *j, uint32_t stream, uint32_t tid, uint64_t pos,
		       uint64_t cookie, struct join_cursor *cursor);
uint32_t join_get_nr_runs(struct join *j);
/* The answer for a run, and the run itself if @about is not NULL. */
void join_get_run(struct join *j, uint32_t run, struct join_answer *ans, struct join_run *about);

void join_get_stats(struct join *j, struct join_stats *stats);

#endif
