/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_s390x.h - what the reader must know of s390x
 *
 * Source: s390x ELF ABI supplement: the CFA is SP at the call plus the 160 bytes of the register
 * save area, so the caller's SP is the CFA less them. Numbers 16 and up are floating point
 * registers, in which a function without calls may keep RA and FP. Where a signal's frame keeps its
 * registers is not told yet, so a walk ends there unless a table knows.
 */
#ifndef SFRAME_S390X_H
#define SFRAME_S390X_H

static const struct sframe_arch sframe_arch_s390x = {
	.abi		= SFRAME_ABI_S390X,
	.reg_sp		= 15,
	.reg_fp		= 11,
	.reg_ra		= 14,
	.nr_regs	= 16,
	.cfa_bias	= SFRAME_S390X_CFA_BIAS,
	.cfa_scale	= SFRAME_S390X_CFA_SCALE,
	.sp_off		= -SFRAME_S390X_CFA_BIAS,
	.big_endian	= 1,
};

#endif
