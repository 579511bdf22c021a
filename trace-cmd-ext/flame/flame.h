/* SPDX-License-Identifier: GPL-2.0 */
/* flame.h - the data of trace-ustack flame, and its output as JSON; svg.h has the picture */
#ifndef TRACE_USTACK_FLAME_H
#define TRACE_USTACK_FLAME_H

#include "trace-cmd-ext/stacks/stacks.h"
#include "svg.h"

/* Of two elements, 0 is the recording before, with --diff only; 1 is the recording after. */
struct flame {
	struct gather_opts gather;
	const char *unit;
	const char *path[2];
	struct gather_stats stats[2];
	bool nsec;			/* times are nanoseconds */
	bool damaged;			/* a file is damaged, and the error was printed */
	struct fold *fold;
	bool diff, normalize;
	double scale;			/* factor for the values before, to compare them */
};

/* json.c: --json */
void flame_write_json(FILE *out, const struct flame *fl);
/* The weight of paths whose user stack is missing, by the note that says why. */
struct flame_missing {
	const char *why;
	uint64_t weight;
};
#define FLAME_MISSING	8
/* Fill @v (FLAME_MISSING elements), heaviest first; returns their number. */
size_t flame_find_missing(const struct flame *fl, struct flame_missing *v);

#endif
