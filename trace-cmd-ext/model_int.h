/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the model share. See model.h. */
#ifndef TRACE_USTACK_MODEL_INT_H
#define TRACE_USTACK_MODEL_INT_H

#include <unwind-user.h>

#include "frames.h"
#include "jit.h"
#include "model.h"
#include "reader.h"
#include "vec.h"

#define NR_TYPES	65536		/* common_type is 16 bits wide */
#define NR_LEVELS	4
#define COUNT_CACHE	16384
#define NO_TYPE		UINT32_MAX

/* What a record is for the model. */
enum record_kind {
	RECORD_EVENT,
	RECORD_KSTACK,
	RECORD_COOKIE,
	RECORD_STACK,
	RECORD_MAP,
	RECORD_EXTRA,			/* another kind of stack: no event of its own */
};

struct type {
	struct model_type pub;
	enum record_kind kind;
	bool wanted;			/* by the filter's event names */
};

struct kernel_stack {
	struct model_kstack pub;
	uint64_t hash;
	uint64_t off;			/* in model.kaddrs */
	uint32_t frames;		/* in model.index, NOT_MADE before */
	uint8_t matches;		/* the filter's symbols: enum match */
};

struct user_stack {
	struct model_ustack pub;
	struct join_answer ans;
	uint32_t run;			/* one that has it */
	uint32_t epoch;
	bool jit;			/* there are names for compiled code of it */
	uint32_t own;			/* run + 1 where equal stacks need not resolve alike */
	uint32_t frames, nr_frames;	/* in model.index */
	uint8_t matches;
};

enum match { MATCH_UNKNOWN, MATCH_NO, MATCH_YES };
#define NOT_MADE	UINT32_MAX

struct frame {
	struct model_frame pub;
	uint64_t hash;
	bool signal;			/* a trampoline: the next address is exact */
	uint8_t matches;		/* the filter's symbols: enum match */
};

struct task {
	uint32_t tid, tgid;
	bool wanted;			/* by the filter's names and ids */
	uint64_t events;		/* in the whole file */
};

/* An event whose kernel stack and cookie may still come. */
struct pending {
	struct model_event ev;
	size_t seq;			/* number of its record in the stream */
	uint64_t kpos;			/* position of its kernel stack, if kstack was seen */
	bool settled, wanted, has_kstack;
};

#define QUEUE	32

struct lane {
	uint32_t stream, buffer, cpu;
	struct join_last last;
	struct pending queue[QUEUE];	/* a ring */
	uint32_t head, nr;
	size_t seq;			/* records read */
	struct pending *waiting[NR_LEVELS];
	bool ended, wanted;
	int64_t missed;			/* since the last event that is wanted; -1: some */
};

struct model {
	struct model_opts opts;
	struct model_info info;
	const char *path;		/* of the file; its owner is who opened it */
	struct reader *reader;
	struct tep_handle *tep;
	struct decode dec;
	struct join *join;
	struct maps *maps;
	struct uu_symbols *syms;
	struct jit *jit;		/* NULL: none */
	char clock[64];
	bool read;			/* the reader does not stand at the begin */

	uint32_t type_of_id[NR_TYPES];	/* NO_TYPE: not seen yet */
	VEC(struct type) types;
	VEC(struct task) tasks;
	struct hidx task_idx;
	bool tgids;			/* tasks have their tgid */

	VEC(struct kernel_stack) kstacks;
	VEC(uint64_t) kaddrs;
	struct hidx kstack_idx;
	VEC(struct user_stack) ustacks;
	struct hidx ustack_idx;
	uint32_t *run_ustack;		/* by run: ustack + 1, or 0 */
	uint32_t missing[JOIN_NR_STATES];	/* ustack + 1 by state, or 0 */

	VEC(struct frame) frames;
	struct hidx frame_idx;
	VEC(uint32_t) index;		/* the stacks' frames */
	VEC(struct model_line) lines;	/* of the last model_lines() */
	VEC(struct model_count) counts;
	struct hidx count_idx;
	size_t count_limit;
	uint32_t count_cache[COUNT_CACHE];
	bool counted;
	const bool *mine;		/* the streams to go through, NULL: all */
};

/* model.c */
uint32_t model_type_of(struct model *m, const struct tep_record *rec);
struct task *model_task(struct model *m, uint32_t tid);

/* model_stacks.c: MODEL_NONE without memory or without a stack. */
uint32_t model_intern_kstack(struct model *m, const struct tep_record *rec);
/* The number of the @nr addresses that lie behind the end of m->kaddrs. */
uint32_t model_add_kstack(struct model *m, uint32_t nr);
uint32_t model_run_ustack(struct model *m, uint32_t run);

/* model_filter.c */
bool filter_type(struct model *m, const struct model_type *t);
bool filter_task(struct model *m, uint32_t tid, uint32_t tgid);
bool filter_cpu(struct model *m, uint32_t cpu);
bool filter_time(struct model *m, uint64_t ts);
bool filter_symbols(struct model *m, const struct model_event *ev);

/* model_events.c: the next event of a lane, wanted or not; it stays until lane_drop(). */
void lane_start(struct model *m, struct lane *l, uint32_t stream);
struct pending *lane_next(struct model *m, struct lane *l);
void lane_drop(struct lane *l);
int model_rewind(struct model *m);

#endif
