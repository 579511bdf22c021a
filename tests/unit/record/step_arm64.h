/* SPDX-License-Identifier: GPL-2.0 */
/* step_arm64.h - the steps of the BPF programs for arm64, for test_step_bpf.c */
#ifndef TEST_STEP_ARM64_H
#define TEST_STEP_ARM64_H

#include <stdint.h>

#define ARM64_REGS	31

/* A result of step_arm64() */
enum arm64_step {
	ARM64_DONE,
	ARM64_OUTERMOST,
	ARM64_FAILED,
};

struct arm64_frame {
	uint64_t ip, sp, fp;
	uint64_t exact, signal;		/* flags */
};

/* Start at the innermost frame. @signature: the bits of a signed RA */
void start_arm64(uint64_t ip, uint64_t sp, const uint64_t reg[ARM64_REGS], uint64_t signature);
/* Go to the caller by the rule, and fill @f if the result is ARM64_DONE. */
enum arm64_step step_arm64(uint32_t rule, const void *full_rules, struct arm64_frame *f);

#endif
