// SPDX-License-Identifier: LGPL-2.1-or-later
/* stats.c - the causes in words */
#include "stats.h"

const char *gen_cause_name(unsigned int cause)
{
	switch (cause) {
	case GEN_CAUSE_CFA:
		return "CFA rule";
	case GEN_CAUSE_RA:
		return "return address rule";
	case GEN_CAUSE_FP:
		return "frame pointer rule";
	case GEN_CAUSE_OVERLAP:
		return "overlapping FDEs";
	case GEN_CAUSE_OUTSIDE:
		return "FDE outside of code";
	case GEN_CAUSE_PLT:
		return "PLT rule at an odd address";
	case GEN_CAUSE_SIGNAL:
		return "return from signal handlers";
	case GEN_CAUSE_FLOW:
		return "too much code without .eh_frame";
	case GEN_CAUSE_CODE:
		return ".eh_frame contradicts the code";
	default:
		return cfi_cause_name(cause);
	}
}
