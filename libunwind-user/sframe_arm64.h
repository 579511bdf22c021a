/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_arm64.h - what the reader must know of arm64, little endian
 *
 * Source: DWARF for the Arm 64-bit Architecture (register numbers). Where a signal's frame keeps
 * its registers is not told yet, so a walk ends there unless a table knows.
 */
#ifndef SFRAME_ARM64_H
#define SFRAME_ARM64_H

static const struct sframe_arch sframe_arch_arm64 = {
	.abi		= SFRAME_ABI_ARM64_LE,
	.reg_sp		= 31,
	.reg_fp		= 29,
	.reg_ra		= 30,
	.nr_regs	= 31,
	.cfa_scale	= 1,
	.mangles_ra	= true,
};

#endif
