/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stats.h - how much of a file's code a table covers, and why it does not cover the rest
 *
 * The generator counts while it makes a table. Commands and caches pass the counts on.
 */
#ifndef ROWS_STATS_H
#define ROWS_STATS_H

#include "libunwind-user/cfi/cfi.h"

/* Why a range has no rules; continues enum cfi_cause. */
enum stats_cause {
	/* SFrame cannot express the rule of the CFA, of the return address, of FP */
	STATS_CAUSE_CFA = CFI_NR_CAUSES,
	STATS_CAUSE_RA,
	STATS_CAUSE_FP,
	STATS_CAUSE_OVERLAP,		/* FDEs that contradict each other */
	STATS_CAUSE_OUTSIDE,		/* FDE for addresses that are not code */
	STATS_CAUSE_PLT,		/* PLT rule at an odd address */
	STATS_CAUSE_SIGNAL,		/* return from a signal, unknown to .eh_frame */
	STATS_CAUSE_GO,			/* Go: switches stacks, or has an unknown prologue */
	STATS_CAUSE_CODE,		/* the code moves SP as .eh_frame does not say */
	/* Not a hole, but not covered: */
	STATS_CAUSE_FLOW,		/* code without .eh_frame, too much of it to follow */
	STATS_NR_CAUSES
};

const char *stats_get_cause_name(unsigned int cause);

struct stats_hole {
	uint64_t nr;		/* ranges of pcs, or FDEs if their ranges are not known */
	uint64_t bytes;
};

struct stats {
	uint64_t eh_frame_size, eh_frame_hdr_size;
	uint64_t nr_fdes;		/* in .eh_frame */
	uint64_t nr_rows;		/* from the instructions of these FDEs */
	uint64_t fde_bytes;		/* code that these FDEs cover */
	uint64_t text_bytes;		/* code in the file: in sections, or else in segments */
	uint64_t hole_bytes;		/* code for which the table states that it has no rule */
	/* code without .eh_frame and without Go's tables, in ranges that are more than padding */
	uint64_t gap_bytes;
	uint64_t covered_bytes;		/* code with rules in the table; of these bytes: */
	uint64_t padding_bytes;
	uint64_t plt_bytes;		/* stubs without .eh_frame */
	uint64_t flow_bytes;		/* other code without .eh_frame, covered by following it */
	uint64_t go_bytes;		/* code that Go's own tables cover */
	uint32_t table_fdes, table_fres;
	struct stats_hole hole[STATS_NR_CAUSES];
};

/* Code for which the table has neither rules nor holes. */
static inline uint64_t stats_get_unknown_bytes(const struct stats *s)
{
	uint64_t known = s->covered_bytes + s->hole_bytes;

	return known < s->text_bytes ? s->text_bytes - known : 0;
}

static inline bool stats_is_hole(unsigned int cause)
{
	return cause != STATS_CAUSE_FLOW;
}

/* Ranges of pcs that are holes, and FDEs without rules whose ranges are not known */
static inline uint64_t stats_get_nr_holes(const struct stats *s)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < STATS_NR_CAUSES; i++)
		nr += stats_is_hole(i) ? s->hole[i].nr : 0;
	return nr;
}

#endif
