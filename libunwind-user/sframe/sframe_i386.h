/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_i386.h - what the reader and the stepper must know about i386
 *
 * The rows mean the same as on amd64, with words of 4 bytes and the DWARF numbers of i386.
 *
 * Sources: System V ABI, Intel386 supplement, table 2.14 (DWARF numbers); the kernel's
 * arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h. After a handler with SA_SIGINFO has
 * returned, the sigcontext is 160 bytes above SP. After a handler without it, 4 bytes; the code
 * that then returns pops one word first.
 */
#ifndef SFRAME_I386_H
#define SFRAME_I386_H

/* @at: offset of the sigcontext; eax, ecx, edx, ebx, esp, ebp, esi, edi */
#define SFRAME_I386_SIG_REGS(at)						\
	(at) + 44, (at) + 40, (at) + 36, (at) + 32, (at) + 28, (at) + 24, (at) + 20, (at) + 16

static const s16 sframe_i386_rt_sig_regs[] = { SFRAME_I386_SIG_REGS(160) };
static const s16 sframe_i386_sig_regs[] = { SFRAME_I386_SIG_REGS(4) };
static const s16 sframe_i386_popped_sig_regs[] = { SFRAME_I386_SIG_REGS(0) };

/* mov $173, %eax; int $0x80 (rt_sigreturn) */
static const u8 sframe_i386_rt_sig_code[] = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80 };
/* pop %eax; mov $119, %eax; int $0x80 (sigreturn); and the same from the mov on */
static const u8 sframe_i386_sig_code[] = { 0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80 };

/* The layout after the pop comes first: it also holds at the system call and after it. */
static const struct sframe_sig sframe_i386_sigs[] = {
	{
		.ip		= 160 + 56,
		.sp		= 160 + 28,
		.fp		= 160 + 24,
		.regs		= sframe_i386_rt_sig_regs,
		.code		= sframe_i386_rt_sig_code,
		.code_len	= sizeof(sframe_i386_rt_sig_code),
		.code_syscall	= 5,
	}, {
		.ip		= 56,
		.sp		= 28,
		.fp		= 24,
		.regs		= sframe_i386_popped_sig_regs,
		.code		= sframe_i386_sig_code + 1,
		.code_len	= sizeof(sframe_i386_sig_code) - 1,
		.code_syscall	= 5,
	}, {
		.ip		= 4 + 56,
		.sp		= 4 + 28,
		.fp		= 4 + 24,
		.regs		= sframe_i386_sig_regs,
		.code		= sframe_i386_sig_code,
		.code_len	= sizeof(sframe_i386_sig_code),
	},
};

static const struct sframe_arch sframe_arch_i386 = {
	.abi		= SFRAME_ABI_I386,
	.reg_sp		= 4,
	.reg_fp		= 5,
	.reg_ra		= 8,
	.nr_regs	= 8,
	.ra_off		= -4,
	.cfa_scale	= 1,
	.is_32bit	= true,
	.nr_sigs	= 3,
	.sigs		= sframe_i386_sigs,
};

#endif
