/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * step.h - from one frame to its caller
 *
 * Freestanding, as sframe_read.h. Where rows come from is the caller's business: any table, a cache
 * of rows, several of both:
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
 * A step that fails leaves the state as it was, so that another way (frame pointers) may be tried.
 */
#ifndef USTEP_H
#define USTEP_H

#include "sframe_read.h"

/* The walk came to its end: this frame has no caller. The one return value above 0. */
#define USTEP_OUTERMOST		1

/*
 * How to read the stack and the registers of the program. Only read, may be shared by walks.
 */
struct ustep_env {
	const struct sframe_arch *arch;
	/*
	 * Read @nr (1 or 2) words of 8 bytes in the program's byte order at @addr, which is aligned
	 * to 8. Returns 0 or a negative errno, which the step returns.
	 */
	int (*read)(void *ctx, u64 addr, u64 *words, unsigned int nr);
	/*
	 * A register of the topmost frame by its DWARF number; never SP or FP. Returns 0, or a
	 * negative errno if it is not known. NULL: none is.
	 */
	int (*get_reg)(void *ctx, unsigned int reg, u64 *value);
	/* Read @size bytes (up to 16) of code, at any address. NULL: no ustep_sigreturn() */
	int (*read_code)(void *ctx, u64 addr, void *to, unsigned int size);
	void *ctx;
	/* arm64: the bits of a signed return address that are its signature */
	u64 ra_mask;
};

/* Flags of a state. None: ip is a return address. */
#define USTEP_EXACT	0x1	/* ip is the next instruction: topmost or interrupted */
#define USTEP_TOPMOST	0x2	/* get_reg() tells this frame's registers */
#define USTEP_SIGNAL	0x4	/* the signal frame at sig tells this frame's registers */
/*
 * A way other than a row led to this frame, and did not tell FP: a back chain. Rows that take FP
 * cannot be applied, until one restores it.
 */
#define USTEP_NO_FP	0x8
/* Such a way did not tell SP, which is at or above sp: a frame record, anywhere in its frame */
#define USTEP_NO_SP	0x10
/* Rows from a frame whose registers are known up to this one told of arch->reg_kept, see kept */
#define USTEP_KEPT	0x20
#define USTEP_KEPT_AT	0x40

/*
 * A frame: where it stands, and what is known of its registers. The value of every register that a
 * row can restore (IP, SP, FP) is known after a row; others in the topmost and in interrupted
 * frames only, since rows do not tell where a function saves them. The rows of a few tables do tell
 * it of one register, arch->reg_kept: its value is known as long as the walk meets no other row.
 */
struct ustep {
	u64	ip, sp, fp;
	u32	flags;
	u32	frames;		/* steps so far */
	u64	sig;		/* USTEP_SIGNAL: SP in the signal's frame */
	u64	kept;		/* USTEP_KEPT: arch->reg_kept; USTEP_KEPT_AT: where that is saved */
	/* Against going round in circles, see step.c: a state after a signal frame, and how many */
	u64	seen_ip, seen_sp;
	u32	nr_sig;
	u32	sig_kind;	/* USTEP_SIGNAL: which of the architecture's */
};

/* Begin at the topmost frame. */
static inline void ustep_init(struct ustep *s, u64 ip, u64 sp, u64 fp)
{
	*s = (struct ustep) { .ip = ip, .sp = sp, .fp = fp,
			      .flags = USTEP_EXACT | USTEP_TOPMOST };
}

/*
 * The address to look up: a call can be a function's last instruction, so that the return address
 * belongs to the next function already; where the frame was interrupted it is the ip itself.
 */
static inline u64 ustep_pc(const struct ustep *s)
{
	return s->ip - !(s->flags & USTEP_EXACT);
}

/*
 * Go to the caller by @row, which holds for ustep_pc(@s).
 *
 * Returns 0, USTEP_OUTERMOST, or
 *  -EINVAL   the row cannot be right here: SP does not move up (only a signal frame may go to
 *            another stack, and only a function without a frame leave it) or is not aligned, or the
 *            state was there before,
 *  -ENODATA  it takes a register that is not known in this frame,
 *  -EBADMSG  it is no row,
 *  or what read() returned. Except after 0, @s is as before.
 *
 * A row for code that returns from a signal handler is often made of unwind information that does
 * not know of signals (the vDSO of s390x). So where it may be such a one, the code is looked at
 * first, as ustep_sigreturn() does.
 */
int ustep_row(struct ustep *s, const struct ustep_env *env, const struct sframe_row *row);

/*
 * Where no table has a row for the code that returns from a signal handler (musl; Go; static
 * programs), it is told by its instructions, and its frame by the kernel's ABI.
 *
 * Returns 0 and fills @row, which holds for ustep_pc(@s) only, or -ENOENT if the code is another or
 * cannot be read.
 */
int ustep_sigreturn(const struct ustep *s, const struct ustep_env *env, struct sframe_row *row);

#endif
