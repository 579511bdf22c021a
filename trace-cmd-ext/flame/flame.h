/* SPDX-License-Identifier: GPL-2.0 */
/* flame.h - what the files of trace-ustack flame share */
#ifndef TRACE_USTACK_FLAME_H
#define TRACE_USTACK_FLAME_H

#include "trace-cmd-ext/stacks/stacks.h"
#include "svg.h"

/* Two recordings with --diff: the one before has the number 0, else there is only number 1. */
struct flame {
	struct gather_opts gather;
	const char *unit;
	const char *path[2];
	struct gather_stats stats[2];
	bool nsec;			/* times are nanoseconds */
	bool damaged;			/* one of the files is, which was told */
	struct fold *fold;
	bool diff, normalize;
	double scale;			/* what is before times this is comparable */
};

/* json.c: --json */
void flame_json(FILE *out, const struct flame *fl);
/* The weight of paths whose user stack is missing, by the note that says why. */
struct flame_missing {
	const char *why;
	uint64_t weight;
};
#define FLAME_MISSING	8
/* In @v of FLAME_MISSING, heaviest first; how many there are. */
size_t flame_missing(const struct flame *fl, struct flame_missing *v);

#endif
