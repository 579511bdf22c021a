/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gather.h - from a recording to a fold, the data of a flame graph
 *
 * By count, each event is a sample. By off-CPU time, each complete wait is a sample, with the stack
 * that blocked. By wake-up, each wait that was ended by a wake-up is a sample, with both stacks
 * (waits.h, paths.h).
 */
#ifndef TRACE_USTACK_GATHER_H
#define TRACE_USTACK_GATHER_H

#include "fold.h"
#include "waits.h"

enum gather_by {
	GATHER_COUNT,
	GATHER_OFF_CPU,
	GATHER_WAKEUP,
};

struct gather_opts {
	enum gather_by by;
	bool numbers;			/* waits and wake-ups weigh 1 each, not their time */
	bool threads;
	bool lines;			/* inlined functions too; the model has its lines then */
	/*
	 * The user's filter. By count it is the model's. Else it chooses tasks that wait, CPUs they
	 * left, and the time of which waits count in so far as they lie in it; the model gets a
	 * filter of its own from gather_filter().
	 */
	const struct model_filter *filter;
	const char *file;		/* path */
};

struct gather_stats {
	uint64_t weight, nr;		/* of what was gathered */
	struct waits_stats waits;	/* of the whole file; not by count */
};

/* "count", "off-cpu", "wakeup"; false if it is none. */
bool gather_by_name(const char *name, enum gather_by *by);
const char *gather_name(enum gather_by by);
/* What one unit of weight is: "events", "ns", ... */
const char *gather_unit(const struct gather_opts *o, struct model *m);

/* The filter to open a model with. */
void gather_filter(const struct gather_opts *o, struct model_filter *f);

/*
 * Add all samples of @m to @f: their weight is value[@slot], and the other is how many they are, or
 * with @alone nothing. 0, a negative errno, -ENODATA if the file lacks the events for it.
 */
int gather(struct model *m, const struct gather_opts *o, struct fold *f, int slot, bool alone,
	   struct gather_stats *st);

/*
 * Only the waits, each with its time in so far as the filter wants it; for who makes something else
 * of them.
 */
int gather_waits(struct model *m, const struct gather_opts *o,
		 int (*wait)(void *data, const struct wait *w, uint64_t ns), void *data,
		 struct waits_stats *st);

/* Why -ENODATA: a sentence "cause; remedy". */
const char *gather_lacks(const struct gather_opts *o);

#endif
