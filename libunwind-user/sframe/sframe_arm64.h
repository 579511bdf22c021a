/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_arm64.h - what the reader and the stepper must know about arm64, little endian
 *
 * Sources: DWARF for the Arm 64-bit Architecture (register numbers); the kernel's
 * arch/arm64/include/uapi/asm/sigcontext.h and ucontext.h. After a handler has returned, SP points
 * to the siginfo. The ucontext is at 128, and its sigcontext, which is aligned to 16, at 304.
 */
#ifndef SFRAME_ARM64_H
#define SFRAME_ARM64_H

static const s16 sframe_arm64_sig_regs[] = {
	312, 320, 328, 336, 344, 352, 360, 368,	/* x0 to x7 */
	376, 384, 392, 400, 408, 416, 424, 432,	/* x8 to x15 */
	440, 448, 456, 464, 472, 480, 488, 496,	/* x16 to x23 */
	504, 512, 520, 528, 536, 544, 552,	/* x24 to x30 */
};

/* mov x8, #139; svc #0: the vDSO and musl both use this form, because debuggers look for it */
static const u8 sframe_arm64_sig_code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

static const struct sframe_sig sframe_arm64_sig = {
	.ip		= 568,
	.sp		= 560,
	.fp		= 544,
	.regs		= sframe_arm64_sig_regs,
	.code		= sframe_arm64_sig_code,
	.code_len	= sizeof(sframe_arm64_sig_code),
	.code_syscall	= 4,
};

static const struct sframe_arch sframe_arch_arm64 = {
	.abi		= SFRAME_ABI_ARM64_LE,
	.reg_sp		= 31,
	.reg_fp		= 29,
	.reg_ra		= 30,
	.nr_regs	= 31,
	.cfa_scale	= 1,
	.mangles_ra	= true,
	.nr_sigs	= 1,
	.sigs		= &sframe_arm64_sig,
};

#endif
