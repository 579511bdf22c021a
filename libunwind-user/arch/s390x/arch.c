// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arch.c - registers and default rules of s390x, see arch/arch.h
 *
 * Source: ELF Application Binary Interface s390x Supplement, "DWARF Register Numbers". Floating
 * point registers are numbered in the order of register pairs.
 */
#include <elf.h>

#include "s390x.h"
#include "libunwind-user/base/base.h"

static const char *const names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	"f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7",
	"f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15",
};

const struct arch arch_s390x = {
	.name = "s390x",
	.machine = EM_S390,
	.abi = &sframe_arch_s390x,
	.reg_name = names,
	.nr_names = ARRAY_SIZE(names),
	.get_padding_length = s390x_get_padding_length,
	.ends_system_call = s390x_ends_system_call,
	.find_stack_switch = s390x_find_stack_switch,
	.add_plt_rows = s390x_add_plt_rows,
	.flow = &s390x_flow,
};
