// SPDX-License-Identifier: GPL-2.0
/*
 * step_arm64.c - the steps of the BPF programs for arm64, compiled for this machine
 *
 * In a file of its own, because the programs have types of the kernel's names.
 */
#include "trace-cmd-ext/record/bpf/step.bpf.h"
#include "step_arm64.h"

static struct walk walk;

void start_arm64(uint64_t ip, uint64_t sp, const uint64_t reg[ARM64_REGS], uint64_t signature)
{
	u32 i;

	__builtin_memset(&walk, 0, sizeof(walk));
	walk.window_start = NO_WINDOW;
	walk.ip = ip;
	walk.sp = sp;
	walk.fp = reg[29];
	walk.key.link = reg[REG_LINK];
	walk.signature = signature;
	walk.frame_flags = FRAME_EXACT | FRAME_INNERMOST;
	for (i = 0; i < ARM64_REGS; i++)
		walk.reg[i] = reg[i];
}

/* As step_by_rule() of walk.bpf.c, without the frame pointer */
static int step_by_any_rule(u32 rule, const struct full_rule *full)
{
	int ret = STEP_WRONG;

	switch (RULE_KIND(rule)) {
	case RULE_SP:
	case RULE_FP:
		return step_plain(&walk, rule, WORD);
	case RULE_FULL:
		full += rule >> 2;
		if (full->flags & FULL_DOUBTFUL)
			ret = step_sigreturn(&walk);
		if (ret == STEP_WRONG) {
			walk.rule = *full;
			ret = step_full(&walk);
		}
		return ret;
	}
	if (rule == rule_make_special(RULE_OUTERMOST))
		return STEP_OUTERMOST;
	return step_sigreturn(&walk);
}

enum arm64_step step_arm64(uint32_t rule, const void *full_rules, struct arm64_frame *f)
{
	int ret = step_by_any_rule(rule, full_rules);

	if (ret == STEP_OUTERMOST)
		return ARM64_OUTERMOST;
	if (ret != STEP_DONE)
		return ARM64_FAILED;
	f->ip = walk.ip;
	f->sp = walk.sp;
	f->fp = walk.fp;
	f->exact = walk.frame_flags & FRAME_EXACT;
	f->signal = walk.frame_flags & FRAME_SIGNAL;
	return ARM64_DONE;
}
