/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reasons.h - the reasons why a stack is incomplete or a file is not covered, and their remedies
 *
 * trace-ustack-stat(1) lists all of them, under REASONS; tests/tool/reasons compares the two.
 */
#ifndef TRACE_USTACK_REASONS_H
#define TRACE_USTACK_REASONS_H

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/tables/tables.h"

/* Where the walk of an incomplete stack gave up, by the place of its last frame. */
enum end_reason {
	END_OUTSIDE,
	END_NO_TABLE,
	END_NOT_COVERED,
	END_HOLE,
	END_REGISTER,
	END_NO_FILE,
	END_COVERED,
	END_NO_FRAME,
	END_UNKNOWN,
	END_NR
};

const char *end_reason_get_name(enum end_reason end);
const char *end_reason_get_description(enum end_reason end);
const char *end_reason_get_remedy(enum end_reason end);

/* The remedy for a file without a table; NULL if nothing is wrong. */
const char *get_table_remedy(enum tables_cause cause);

/* The remedy for code without rules in a table. @cause: enum cfi_cause or stats_cause. */
const char *get_hole_remedy(unsigned int cause);

#endif
