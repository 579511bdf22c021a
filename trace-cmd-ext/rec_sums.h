/* SPDX-License-Identifier: GPL-2.0 */
/* rec_sums - what a recording holds: counted by rec_summary.c, told there and by rec_json.c */
#ifndef TRACE_USTACK_REC_SUMS_H
#define TRACE_USTACK_REC_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "join.h"

struct rec;

struct rec_sums {
	uint64_t events, kernel_stacks, stacks;
	uint64_t user_stacks;		/* of options/userstacktrace */
	uint64_t bytes;			/* of the pages, without formats and symbols */
	uint64_t truncated, incomplete, frame_pointer;	/* of @stacks */
	uint64_t lost;			/* records, in the buffer of the events */
	int jit;			/* processes whose maps were kept */
	bool joined;			/* @join is known */
	struct join_stats join;
	uint32_t *tgid;			/* traced processes */
	size_t nr_tgids;
};

/* To where --json says; 0 or an exit code after telling the error. */
int rec_json(const struct rec *r, const struct rec_sums *s);

#endif
