/* SPDX-License-Identifier: GPL-2.0 */
/* impl.h - the data of the model, shared by its source files. model.h is the public side. */
#ifndef TRACE_USTACK_MODEL_IMPL_H
#define TRACE_USTACK_MODEL_IMPL_H

#include "libunwind-user/unwind-user.h"

#include "plugin/join/join.h"
#include "model.h"
#include "reader.h"
#include "libunwind-user/base/base.h"

#define NR_TYPES	65536		/* common_type is 16 bits wide */
#define COUNT_CACHE	16384
#define NO_TYPE		UINT32_MAX

/* The kinds of records in the model */
enum record_kind {
	RECORD_EVENT,
	RECORD_KSTACK,
	RECORD_COOKIE,
	RECORD_STACK,
	RECORD_MAP,
	RECORD_EXTRA,			/* another kind of stack, which belongs to an event */
};

struct type {
	struct model_type pub;
	enum record_kind kind;
	bool wanted;			/* the filter's event names match */
};

struct kernel_stack {
	uint32_t nr;			/* addresses */
	uint64_t hash;
	uint64_t off;			/* offset of its addresses in model.kaddrs */
	uint32_t frames;		/* offset in model.index; NOT_MADE until asked for */
	uint8_t matches;		/* the filter's symbols: enum match */
};

/*
 * The key of a user stack: stacks with different keys are different. It is the first member of
 * struct user_stack, because it is compared a million times.
 */
struct ustack_key {
	uint32_t id;			/* join_answer.id of its address list */
	uint32_t tgid, tid;		/* tid is 0 if the tgid is known */
	uint32_t flags;
	uint32_t epoch;
	uint32_t own;			/* run + 1 if equal stacks may resolve differently; or 0 */
	uint32_t jit;			/* 1: its process has names for JIT code */
};

struct user_stack {
	struct ustack_key key;
	uint32_t run;			/* a run that has this stack */
	uint32_t frames;		/* offset in model.index; NOT_MADE until asked for */
	uint32_t alike;			/* with frames: a stack with equal frames, or itself */
	uint8_t matches;
	struct model_ustack pub;
	struct join_answer ans;
};

enum match { MATCH_UNKNOWN, MATCH_NO, MATCH_YES };
#define NOT_MADE	UINT32_MAX

struct frame_info {
	struct model_frame pub;
	bool signal;			/* a signal trampoline: the next address is exact */
	uint8_t matches;		/* the filter's symbols: enum match */
};

struct model_task {
	uint32_t tid, tgid;
	bool wanted;			/* the filter's names and ids match */
	uint64_t events;		/* in the whole file */
};

/* An event whose kernel stack and cookie may still come. */
struct pending {
	struct model_event ev;
	size_t seq;			/* number of its record in the stream */
	int level;			/* plugin/join/nest.h */
	uint64_t kpos;			/* position of its kernel stack, if has_kstack */
	/* position and cookie of the record that asked for a user stack; position 0: no request */
	uint64_t asked, cookie;
	bool settled, wanted, has_kstack;
	bool cut;			/* events were dropped before its stacks had come */
};

/*
 * At most so many events can wait for their stacks. An event waits for the end of an interrupt that
 * came between its records. With kmem:* on, the softirq of the network adds a few hundred events. A
 * power of two.
 */
#define MAX_QUEUE	(1u << 14)

/* The places in a stream of the last requests of some tasks: their next requests come after. */
#define NR_CURSORS	64
struct cursors {
	struct join_cursor v[NR_CURSORS];
};

static inline struct join_cursor *get_task_cursor(struct cursors *c, uint32_t tid)
{
	return &c->v[tid % NR_CURSORS];
}

struct event_queue {
	uint32_t stream, buffer, cpu;
	struct cursors cursors;
	struct pending *queue;		/* a ring */
	uint32_t head, nr, room;
	size_t seq, held;		/* number of records read; how many of them stay valid */
	struct nest nest;		/* groups of events whose stacks may still come */
	uint32_t waiting[NEST_LEVELS];	/* indices of these events in @queue, by level */
	bool ended, wanted;
	int64_t missed;			/* events dropped since the last wanted event; -1: some */
};

struct model {
	struct model_opts opts;
	struct model_info info;
	const char *path;		/* of the file; owned by the caller of model_open() */
	struct reader *reader;
	struct tep_handle *tep;
	struct decode dec;
	struct join *join;
	struct maps *maps;
	struct uu_symbols *syms;
	struct jit *jit;		/* NULL: none */
	char clock[64];
	bool no_stacks;			/* the caller does not ask for stacks */
	bool read;			/* the reader has left the start of the file */

	uint32_t type_of_id[NR_TYPES];	/* NO_TYPE: not seen yet */
	VEC(struct type) types;
	VEC(struct model_task) tasks;
	struct hidx task_idx;
	bool tgids;			/* tasks have their tgid */

	VEC(struct kernel_stack) kstacks;
	VEC(uint64_t) kaddrs;
	struct hidx kstack_idx;
	VEC(struct user_stack) ustacks;
	struct hidx ustack_idx;
	VEC(uint32_t) list_ustack;	/* by address list: a ustack with frames, + 1, or 0 */
	uint32_t *run_ustack;		/* by run: ustack + 1, or 0 */
	uint32_t missing[JOIN_NR_STATES];	/* ustack + 1 by state, or 0 */

	VEC(struct frame_info) frames;
	struct hidx frame_idx;
	VEC(uint32_t) index;		/* numbers of the stacks' frames */
	VEC(struct model_line) lines;	/* of the last model_get_lines() */
	VEC(struct model_count) counts;
	struct early_counts *early_counts;	/* NULL: the events are not counted yet */
	struct hidx count_idx;
	size_t count_limit;
	uint32_t count_cache[COUNT_CACHE];
	bool counted;
	uint64_t chosen;		/* events and counts passed on; used as 0 or not 0 */
	const bool *wanted_streams;	/* by stream: read it; NULL: read all */
};

/* model.c */
uint32_t model_find_type_of(struct model *m, const struct decode_common *c);
struct model_task *model_get_task(struct model *m, uint32_t tid);

/* stacks.c: MODEL_NONE if there is no stack, or not enough memory. */
uint32_t model_intern_kstack(struct model *m, const struct tep_record *rec);
/* The number of the stack whose @nr addresses follow the end of m->kaddrs. */
uint32_t model_add_kstack(struct model *m, uint32_t nr);
/* Make the stacks of all runs if @events is large: faster than in the order of the events. */
void model_make_ustacks(struct model *m, uint64_t events);

/* filter.c */
bool filter_wants_type(struct model *m, const struct model_type *t);
bool filter_wants_task(struct model *m, uint32_t tid, uint32_t tgid);
bool filter_wants_cpu(struct model *m, uint32_t cpu);
bool filter_wants_time(struct model *m, uint64_t ts);
bool filter_wants_symbols(struct model *m, const struct model_event *ev);

/*
 * events.c: event_queue_add() takes the records of a stream. event_queue_peek() returns the first
 * event, wanted or not, whose stacks have come, or NULL; the event stays until event_queue_drop().
 */
int event_queue_start(struct model *m, struct event_queue *q, uint32_t stream);
void event_queue_free(struct event_queue *q);
void event_queue_add(struct model *m, struct event_queue *q, struct tep_record *rec,
		     const struct decode_common *c);
void event_queue_end(struct event_queue *q);
struct pending *event_queue_peek(struct event_queue *q);
void event_queue_drop(struct event_queue *q);

/* Hash and comparison of the key of a count. */
static inline uint64_t count_hash(const struct model_count *c)
{
	return hash64(((uint64_t)c->kstack << 32 | c->ustack) ^
		      ((uint64_t)c->type << 32 | c->tid) * 0x9e3779b97f4a7c15ull);
}

static inline bool count_has_same_key(const struct model_count *a, const struct model_count *b)
{
	return a->kstack == b->kstack && a->ustack == b->ustack && a->type == b->type &&
	       a->tid == b->tid;
}

/*
 * early_counts.c: count in the scan. Give it all records of each stream, one stream after the
 * other. When the join is finished, early_make_counts() makes the counts: false if they are not
 * complete.
 */
int early_start(struct model *m);
void early_start_stream(struct model *m, uint32_t stream);
void early_add_record(struct model *m, struct tep_record *rec, const struct decode_common *c);
void early_end_stream(struct model *m);
void early_give_up(struct model *m);
bool early_make_counts(struct model *m);

#endif
