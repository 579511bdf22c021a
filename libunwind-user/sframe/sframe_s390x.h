/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_s390x.h - what the reader and the stepper must know of s390x
 *
 * Sources: s390x ELF ABI supplement: the CFA is SP at the call plus the 160 bytes of the register
 * save area, so the caller's SP is the CFA less them. DWARF numbers 16 and up are floating point
 * registers, in which a function without calls may keep RA and FP; the kernel's
 * arch/s390/kernel/signal.c and arch/s390/include/uapi/asm/sigcontext.h: above a register save
 * area there is for SA_SIGINFO a system call, the siginfo, and at 296 the ucontext with the
 * registers at 336; else a sigcontext with the registers behind it, at 176.
 *
 * glibc's _dl_runtime_resolve(), which binds functions at their first call, keeps its SP in r12 and
 * counts its CFA from there.
 */
#ifndef SFRAME_S390X_H
#define SFRAME_S390X_H

/* From the registers (PSW first): general ones by number, floating point ones in DWARF's order */
#define SFRAME_S390X_SIG_REGS(at)						\
	(at) + 16, (at) + 24, (at) + 32, (at) + 40,				\
	(at) + 48, (at) + 56, (at) + 64, (at) + 72,				\
	(at) + 80, (at) + 88, (at) + 96, (at) + 104,				\
	(at) + 112, (at) + 120, (at) + 128, (at) + 136,				\
	(at) + 216, (at) + 232, (at) + 248, (at) + 264,	/* f0 f2 f4 f6 */	\
	(at) + 224, (at) + 240, (at) + 256, (at) + 272,	/* f1 f3 f5 f7 */	\
	(at) + 280, (at) + 296, (at) + 312, (at) + 328,	/* f8 f10 f12 f14 */	\
	(at) + 288, (at) + 304, (at) + 320, (at) + 336	/* f9 f11 f13 f15 */

static const s16 sframe_s390x_rt_sig_regs[] = { SFRAME_S390X_SIG_REGS(336) };
static const s16 sframe_s390x_sig_regs[] = { SFRAME_S390X_SIG_REGS(176) };

/* svc 173, rt_sigreturn, and svc 119, sigreturn: in the vDSO or where SA_RESTORER says */
static const u8 sframe_s390x_rt_sig_code[] = { 0x0a, 0xad };
static const u8 sframe_s390x_sig_code[] = { 0x0a, 0x77 };

static const struct sframe_sig sframe_s390x_sigs[] = {
	{
		.ip		= 336 + 8,
		.sp		= 336 + 16 + 8 * 15,
		.fp		= 336 + 16 + 8 * 11,
		.regs		= sframe_s390x_rt_sig_regs,
		.code		= sframe_s390x_rt_sig_code,
		.code_len	= sizeof(sframe_s390x_rt_sig_code),
	}, {
		.ip		= 176 + 8,
		.sp		= 176 + 16 + 8 * 15,
		.fp		= 176 + 16 + 8 * 11,
		.regs		= sframe_s390x_sig_regs,
		.code		= sframe_s390x_sig_code,
		.code_len	= sizeof(sframe_s390x_sig_code),
	},
};

static const struct sframe_arch sframe_arch_s390x = {
	.abi		= SFRAME_ABI_S390X,
	.reg_sp		= 15,
	.reg_fp		= 11,
	.reg_ra		= 14,
	.nr_regs	= 32,
	.reg_kept	= 12,
	.cfa_bias	= SFRAME_S390X_CFA_BIAS,
	.cfa_scale	= SFRAME_S390X_CFA_SCALE,
	.sp_off		= -SFRAME_S390X_CFA_BIAS,
	.big_endian	= 1,
	.nr_sigs	= 2,
	.sigs		= sframe_s390x_sigs,
};

#endif
