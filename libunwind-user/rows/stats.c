// SPDX-License-Identifier: LGPL-2.1-or-later
/* stats.c - the causes in words */
#include "stats.h"

const char *stats_get_cause_name(unsigned int cause)
{
	static const char *const names[STATS_NR_CAUSES] = {
		[STATS_CAUSE_CFA] = "CFA rule",
		[STATS_CAUSE_RA] = "return address rule",
		[STATS_CAUSE_FP] = "frame pointer rule",
		[STATS_CAUSE_OVERLAP] = "overlapping FDEs",
		[STATS_CAUSE_OUTSIDE] = "FDE outside of code",
		[STATS_CAUSE_PLT] = "PLT rule at an odd address",
		[STATS_CAUSE_SIGNAL] = "return from signal handlers",
		[STATS_CAUSE_GO] = "Go code that switches stacks",
		[STATS_CAUSE_CODE] = ".eh_frame contradicts the code",
		[STATS_CAUSE_FLOW] = "too much code without .eh_frame",
	};

	if (cause < STATS_NR_CAUSES && names[cause])
		return names[cause];
	return cfi_get_cause_name(cause);
}
