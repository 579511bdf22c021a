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
	bool numbers;			/* each wait and wake-up weighs 1, not its time */
	bool threads;			/* see paths_opts */
	bool lines;			/* with inlined functions; the model has opts.lines then */
	/*
	 * The user's filter. By count, it is the filter of the model. Otherwise it chooses waiting
	 * tasks, the CPUs they left, and a time: the part of a wait within it counts. The filter of
	 * the model then comes from gather_make_filter().
	 */
	const struct model_filter *filter;
	const char *file;		/* path */
};

struct gather_stats {
	uint64_t weight, nr;		/* sum of the weights, number of samples */
	struct waits_stats waits;	/* of the whole file; unused by count */
};

/* Parse "count", "off-cpu" or "wakeup"; false for another name. */
bool gather_parse_by(const char *name, enum gather_by *by);
const char *gather_by_to_name(enum gather_by by);
/* The unit of the weight: "events", "ns", ... */
const char *gather_get_unit(const struct gather_opts *o, struct model *m);

/* The filter to open a model with. */
void gather_make_filter(const struct gather_opts *o, struct model_filter *f);

/*
 * Add all samples of @m to @f. value[@slot] is their weight. The other value is their number, or
 * 0 with @alone. Returns 0; a negative errno; -ENODATA if the file has no such events.
 */
int gather_samples(struct model *m, const struct gather_opts *o, struct fold *f, int slot,
		   bool alone, struct gather_stats *st);

/* Call @wait for each wait, with the part of its time that the filter wants, without a fold. */
int gather_waits(struct model *m, const struct gather_opts *o,
		 int (*wait)(void *data, const struct wait *w, uint64_t ns), void *data,
		 struct waits_stats *st);

/* The reason for -ENODATA: a sentence "cause; remedy". */
const char *gather_explain_empty(const struct gather_opts *o);

#endif
