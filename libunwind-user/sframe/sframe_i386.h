/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sframe_i386.h - tables of 32-bit files of x86
 *
 * The SFrame format has no number for i386, so sframe_open() refuses these tables, and so do the
 * kernel and the audit module. The rows mean the same as on amd64, with words of 4 bytes and the
 * DWARF numbers of i386.
 *
 * Sources: System V ABI, Intel386 supplement, table 2.14 (DWARF numbers); the kernel's
 * arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h.
 */
#ifndef SFRAME_I386_H
#define SFRAME_I386_H

#include "sframe_read.h"

#define SFRAME_ABI_I386		0x83

/* Offsets in the sigcontext of a signal frame, which starts at different offsets from SP */
#define I386_SC_FP		24
#define I386_SC_SP		28
#define I386_SC_IP		56
/* After a handler with SA_SIGINFO has returned, the sigcontext is this far above SP */
#define I386_RT_SC		160

/*
 * As sframe_open(), for an i386 table in plain memory that this program has made. All other
 * functions then read the table as any other. -EOPNOTSUPP: not a table of i386.
 */
int sframe_open_i386(struct sframe_table *t);

extern const struct sframe_arch sframe_arch_i386;

#endif
