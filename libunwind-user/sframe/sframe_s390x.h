/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_s390x.h - what the reader and the stepper must know about s390x
 *
 * Sources: the s390x ELF ABI supplement. The CFA is SP at the call plus 160 (the register
 * save area), so the caller's SP is CFA - 160. DWARF numbers from 16 are floating point registers.
 * A function without calls may keep RA and FP in them. The kernel's arch/s390/kernel/signal.c and
 * arch/s390/include/uapi/asm/sigcontext.h: the signal frame starts with a register save area. With
 * SA_SIGINFO, a system call, the siginfo and the ucontext (at 296) follow, with the registers at
 * 336. Without, a sigcontext and the registers (at 176) follow.
 *
 * glibc's _dl_runtime_resolve() binds functions at their first call. It keeps its SP in r12, and
 * its unwind information counts the CFA from there; so the tables can say where r12 is (reg_kept).
 */
#ifndef SFRAME_S390X_H
#define SFRAME_S390X_H

/* @at: the offset of the PSW; then general registers by number, floating point in DWARF's order */
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

/* svc 173 (rt_sigreturn) and svc 119 (sigreturn): in the vDSO or where SA_RESTORER points */
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
