/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_amd64.h - what the reader and the stepper must know about amd64
 *
 * Sources: System V ABI, AMD64 supplement, figure 3.36 (DWARF numbers); the kernel's
 * arch/x86/include/uapi/asm/sigcontext.h and ucontext.h. After a handler has returned, SP points to
 * the ucontext. The sigcontext starts at offset 40 of it.
 *
 * glibc's _dl_runtime_resolve() binds functions at their first call. It aligns SP, and its unwind
 * information counts the CFA from rbx; so the tables can say where functions keep rbx (reg_kept).
 */
#ifndef SFRAME_AMD64_H
#define SFRAME_AMD64_H

static const s16 sframe_amd64_sig_regs[] = {
	144,	/* rax */
	136,	/* rdx */
	152,	/* rcx */
	128,	/* rbx */
	112,	/* rsi */
	104,	/* rdi */
	120,	/* rbp */
	160,	/* rsp */
	40, 48, 56, 64, 72, 80, 88, 96,	/* r8 to r15 */
};

/* mov $15, %rax; syscall: glibc, musl and Go all use this form, because debuggers look for it */
static const u8 sframe_amd64_sig_code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

static const struct sframe_sig sframe_amd64_sig = {
	.ip		= 168,
	.sp		= 160,
	.fp		= 120,
	.regs		= sframe_amd64_sig_regs,
	.code		= sframe_amd64_sig_code,
	.code_len	= sizeof(sframe_amd64_sig_code),
	.code_syscall	= 7,
};

static const struct sframe_arch sframe_arch_amd64 = {
	.abi		= SFRAME_ABI_AMD64,
	.reg_sp		= 7,
	.reg_fp		= 6,
	.reg_ra		= 16,
	.nr_regs	= 16,
	.reg_kept	= 3,
	.ra_off		= -8,
	.cfa_scale	= 1,
	.nr_sigs	= 1,
	.sigs		= &sframe_amd64_sig,
};

#endif
