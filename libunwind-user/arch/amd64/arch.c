// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arch.c - registers and default rules of amd64, see arch/arch.h
 *
 * Source: System V ABI, AMD64 supplement, figure 3.36 (DWARF numbers).
 */
#include <elf.h>

#include "amd64.h"

static const char *const names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

const struct arch arch_amd64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.abi = &sframe_arch_amd64,
	.reg_name = names,
	.nr_names = sizeof(names) / sizeof(*names),
	.reg_pc = 16,
	.padding = amd64_padding,
	.enters_kernel = amd64_enters_kernel,
	.leaves_stack = amd64_leaves_stack,
	.starts_stack = amd64_starts_stack,
	.pushes = amd64_pushes,
	.last_jump = amd64_last_jump,
	.plt = amd64_plt,
	.compare = &amd64_flow,
	.flow = &amd64_flow,
	.go = &amd64_go,
};
