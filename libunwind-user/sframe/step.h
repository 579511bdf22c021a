/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * step.h - from one frame to its caller
 *
 * Freestanding, as sframe_read.h. The caller decides where rows come from: one or more tables, or a
 * cache of rows. For example:
 *
 *	ustep_init(&s, ip, sp, fp);
 *	do {
 *		record(s.ip);
 *		t = table that covers ustep_pc(&s);
 *		ret = sframe_find(t, ustep_pc(&s), &row);
 *		if (ret == -ENOENT || ret == -ESRCH)
 *			ret = ustep_sigreturn(&s, &env, &row);
 *		if (!ret)
 *			ret = ustep_row(&s, &env, &row);
 *	} while (!ret && s.frames < limit);
 *
 * A step that fails leaves the state as it was, so the caller may try another way (frame pointers).
 */
#ifndef USTEP_H
#define USTEP_H

#include "sframe_read.h"

/* This frame has no caller: the walk is complete. The only return value above 0. */
#define USTEP_OUTERMOST		1

/*
 * How to read the stack and the registers of the program. Walks only read it, and may share it.
 */
struct ustep_env {
	const struct sframe_arch *arch;
#ifndef ustep_env_read
	/*
	 * Read @nr (1 or 2) words at @addr, which is aligned to a word: 8 bytes, or 4 if
	 * arch->is_32bit. The words are in the program's byte order. Returns 0 or a negative errno,
	 * which the step returns.
	 */
	int (*read)(void *ctx, u64 addr, u64 *words, unsigned int nr);
#endif
	/*
	 * Get a register of the innermost frame by its DWARF number; never SP or FP. Returns 0,
	 * or a negative errno if the register is not known. NULL: no register is known.
	 */
	int (*get_reg)(void *ctx, unsigned int reg, u64 *value);
	/* Read @size bytes (up to 16) of code. NULL: ustep_sigreturn() always fails */
	int (*read_code)(void *ctx, u64 addr, void *to, unsigned int size);
	void *ctx;
	/* arm64: the bits of a signed return address that are its signature */
	u64 ra_mask;
};

/* Flags of a state. Without USTEP_EXACT, ip is a return address. */
#define USTEP_EXACT	0x1	/* ip is the next instruction: innermost or interrupted */
#define USTEP_INNERMOST	0x2	/* get_reg() gives this frame's registers */
#define USTEP_SIGNAL	0x4	/* the signal frame at sig holds this frame's registers */
/*
 * FP is not known: the last step did not use a row but a back chain. Rows that take FP cannot be
 * applied until another row restores FP.
 */
#define USTEP_NO_FP	0x8
/* SP is not known, only that it is at or above sp: a frame record can be anywhere in its frame */
#define USTEP_NO_SP	0x10
/*
 * arch->reg_kept is known: kept is its value, or the address where it is saved. All rows since the
 * last frame whose registers are known say where it is.
 */
#define USTEP_KEPT	0x20
#define USTEP_KEPT_AT	0x40

/*
 * A frame, and what is known about its registers. After a step by a row, IP, SP and FP are known,
 * because rows restore them. Other registers are known only in the innermost and in interrupted
 * frames, because rows do not say where functions save them. Some tables say it for one register,
 * arch->reg_kept: it is known as long as the walk uses only rows of such tables.
 */
struct ustep {
	u64	ip, sp, fp;
	u32	flags;
	u32	frames;		/* steps so far */
	u64	sig;		/* USTEP_SIGNAL: SP in the signal's frame */
	u64	kept;		/* USTEP_KEPT: arch->reg_kept; USTEP_KEPT_AT: its address */
	/* To find cycles, see step.c: a state after a signal frame, and the number of these */
	u64	seen_ip, seen_sp;
	u32	nr_sig;
	u32	sig_kind;	/* USTEP_SIGNAL: index in arch->sigs */
};

/* Start at the innermost frame. */
static inline void ustep_init(struct ustep *s, u64 ip, u64 sp, u64 fp)
{
	*s = (struct ustep) { .ip = ip, .sp = sp, .fp = fp,
			      .flags = USTEP_EXACT | USTEP_INNERMOST };
}

/*
 * The address to look up. A call can be the last instruction of a function, and its return address
 * then belongs to the next function: so this is ip - 1, or ip in an innermost or interrupted frame.
 */
static inline u64 ustep_pc(const struct ustep *s)
{
	return s->ip - !(s->flags & USTEP_EXACT);
}

/*
 * Go to the caller by @row, which holds for ustep_pc(@s).
 *
 * Returns 0, USTEP_OUTERMOST, or
 *  -EINVAL   the row cannot be right here: SP is not aligned or does not move up (only a signal
 *            frame may lead to another stack, and only a function without a frame may leave SP
 *            unchanged), or the walk goes in a cycle,
 *  -ENODATA  the row takes a register that is not known in this frame,
 *  -EBADMSG  the row is not valid,
 *  or what read() returned. Except after 0, @s is as before.
 *
 * Rows for the code that returns from a signal handler can come from unwind information without
 * signals (the vDSO of s390x). So if @row may be such a row, this looks at the code first, as
 * ustep_sigreturn() does.
 */
int ustep_row(struct ustep *s, const struct ustep_env *env, const struct sframe_row *row);

/*
 * Make a row for the code that returns from a signal handler, where no table has one (musl, Go,
 * static programs). Its instructions identify the code, and the kernel's ABI gives the frame.
 *
 * Returns 0 and fills @row, which holds for ustep_pc(@s) only, or -ENOENT if it is other code, or
 * code that cannot be read.
 */
int ustep_sigreturn(const struct ustep *s, const struct ustep_env *env, struct sframe_row *row);

#endif
