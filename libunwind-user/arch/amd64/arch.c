// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arch.c - registers and default rules of amd64, see arch/arch.h
 *
 * Source: System V ABI, AMD64 supplement, figure 3.36 (DWARF numbers).
 */
#include <elf.h>

#include "amd64.h"
#include "libunwind-user/base/base.h"

static const char *const names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

const struct arch arch_amd64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.abi = &sframe_arch_amd64,
	.reg_name = names,
	.nr_names = ARRAY_SIZE(names),
	.reg_pc = 16,
	.get_padding_length = amd64_get_padding_length,
	.ends_system_call = amd64_ends_system_call,
	.find_stack_switch = amd64_find_stack_switch,
	.starts_stack = amd64_starts_stack,
	.decode_push = amd64_decode_push,
	.find_last_jump = amd64_find_last_jump,
	.add_plt_rows = amd64_add_plt_rows,
	.compare = &amd64_flow,
	.flow = &amd64_flow,
	.go = &amd64_go,
};
