/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_read.h - from a pc to the rule that unwinds one frame there
 *
 * Freestanding: no C library, no allocation, no recursion, less than 300 bytes of stack. The same
 * file serves the kernel and user space. A table is hostile input: every read is bounds-checked,
 * and what makes no sense is an error, never a rule.
 *
 *	struct sframe_table t = { .mem = section, .size = size, .base = addr,
 *				  .text_start = start, .text_size = len };
 *	struct sframe_row row;
 *
 *	if (!sframe_open(&t) && !sframe_find(&t, pc, &row))
 *		ustep_row(&state, &row);		(step.h)
 *
 * Thread safety: an opened table is only read. Bytes that change while they are read (memory of a
 * running program) give an error or a wrong rule, nothing worse.
 */
#ifndef SFRAME_READ_H
#define SFRAME_READ_H

#include "sframe_env.h"
#include "sframe_format.h"

/*
 * A lookup reads at most 32 FDEs for the search (2^32 functions), the FDE found, an attribute and
 * this many rows. A function with more rows than that is -EBADMSG from the last one on;
 * whoever writes tables splits it.
 */
#define SFRAME_MAX_FRES		4096

/*
 * Reads @size bytes (1 to SFRAME_READ_MAX) of the table's source at @addr. Returns 0, or a negative
 * errno, which the lookup returns; -EFAULT if the memory cannot be read.
 */
#define SFRAME_READ_MAX		64
typedef int (*sframe_read_fn)(void *ctx, u64 addr, void *to, u32 size);

/*
 * The frame of a signal as the kernel lays it out, and the code that returns from the handler. All
 * offsets are from SP in that code.
 */
struct sframe_sig {
	s16	ip, sp, fp;	/* where the interrupted ones are saved */
	const s16 *regs;	/* where registers are, by DWARF number */
	const u8 *code;		/* ends with the system call; up to 16 bytes */
	u8	code_len;
	u8	code_syscall;	/* offset of the system call in it */
};

/*
 * What differs between architectures. One constant of it in each of the headers sframe_amd64.h ...
 */
struct sframe_arch {
	u8	abi;		/* SFRAME_ABI_ */
	u8	reg_sp, reg_fp;	/* DWARF numbers */
	u8	reg_ra;		/* the link register, if a call does not save RA by itself */
	u8	nr_regs;	/* DWARF numbers below it can be told by a signal's frame */
	u8	reg_kept;	/* tables can say where functions keep this register; 0: none */
	s8	ra_off;		/* RA is saved at CFA + it; 0: rows tell */
	s16	cfa_bias;	/* a row's CFA offset n stands for n * cfa_scale + cfa_bias */
	u8	cfa_scale;
	s16	sp_off;		/* the caller's SP is CFA + it */
	u8	big_endian;
	bool	mangles_ra;	/* the bit in a row that says so means something */
	u8	nr_sigs;	/* kinds of signal frames */
	const struct sframe_sig *sigs;
};

/* The parameters of an architecture that sframe_env.h asks for, or NULL. */
const struct sframe_arch *sframe_arch(u8 abi);

struct sframe_table {
	/* The caller sets these before sframe_open(). */

	const void	*mem;		/* the section, if it can simply be read; else NULL and */
	sframe_read_fn	read;		/* ... this is called with */
	void		*ctx;		/* ... this and */
	u64		addr;		/* ... addresses from this one on */
	/*
	 * Bytes that may be read. sframe_open() reduces it to what the header tells, so it may
	 * be too large (PT_GNU_SFRAME is, by 28 to 34 bytes, as ld writes it).
	 */
	u64		size;
	/*
	 * The address at which the section is deemed to be, whatever @addr is: function starts
	 * are relative to it. In the same address space as text_start and every pc: those of
	 * a process, or those in a file, if the caller takes the load bias off the pc first
	 * (and adds it to @start of a row it caches).
	 */
	u64		base;
	u64		text_start;	/* no pc outside of these is looked up */
	u64		text_size;

	/* sframe_open() sets these. */

	const struct sframe_arch *arch;
	u32		nr_fdes;
	u32		nr_fres;	/* as the header tells; not checked */
	u64		fde_off;	/* of the first FDE, in the section */
	u64		fre_off;	/* of the rows, in the section */
	u32		fre_len;
	u8		fde_size;
	u8		version;
	u8		flags;
	u8		swap;		/* the other byte order */
	u8		kept;		/* bytes in front of an attribute: SFRAME_KEPT_SIZE or 0 */

	/* sframe_index() sets these. */

	const u32	*index;		/* NULL: none */
	u32		index_nr;
	u32		index_shift;
};

/*
 * Give @t an index of the text, so that a lookup needs not search in all functions. For a table
 * that serves many lookups, since all functions are read once.
 *
 * @mem holds @nr numbers and is the caller's, for as long as @t is used. It divides the text into
 * equal parts, one for a number; as many as there are functions (t->nr_fdes) make a lookup look at
 * one to three functions, a quarter of that at two to four. Fewer than three are no index. It
 * changes no result, except which functions are found in a table that is not sorted.
 *
 * Returns 0, or what the read callback returned; then there is no index, and @t is as before.
 */
int sframe_index(struct sframe_table *t, u32 *mem, u32 nr);

/* What the value of a rule is counted from */
enum sframe_base {
	SFRAME_SAME = 0,	/* unchanged; RA: still in the link register. @off is 0 */
	SFRAME_UNDEFINED,	/* RA: no caller */
	SFRAME_CFA,		/* the row's CFA; with @deref only */
	SFRAME_SP,
	SFRAME_FP,
	SFRAME_REG,		/* DWARF register @reg, neither SP nor FP */
};

/* value = base + off, or with @deref the word there */
struct sframe_rule {
	s32	off;
	u8	base;		/* enum sframe_base */
	u8	deref;
	u8	reg;
	u8	pad;
};

/* In the row: */
#define SFRAME_ROW_SIGNAL	0x1	/* a signal frame: its caller was interrupted */
#define SFRAME_ROW_MANGLED	0x2	/* RA is signed (arm64) */
#define SFRAME_ROW_SP		0x4	/* cfa is the caller's SP itself; of no table, see step.c */
/* Where the caller's value of arch->reg_kept is: SFRAME_KEPT_UNKNOWN, _IN_REG, n: at CFA - 8 * n */
#define SFRAME_ROW_KEPT(flags)	((flags) >> 8 & 0xff)
#define SFRAME_ROW_FLAGS_KEPT(slot)	((u32)(slot) << 8)

/*
 * How to get from a frame whose pc is in [start, start + size) to its caller. A plain value: it may
 * be copied and kept, for as long as the table holds. size is not 0.
 *
 * cfa.base is SP, FP or REG, except where ra.base is UNDEFINED: the outermost frame; cfa and fp are
 * zero then and mean nothing.
 */
struct sframe_row {
	u64			start;
	u32			size;
	u32			flags;
	struct sframe_rule	cfa, ra, fp;
};

static inline bool sframe_row_holds(const struct sframe_row *row, u64 pc)
{
	return pc - row->start < row->size;
}

/*
 * Check the header of @t and fill in what it tells.
 *
 * Returns 0, or
 *  -EINVAL      no SFrame section,
 *  -EOPNOTSUPP  one of a version, byte order or architecture that is not read here, with flags or
 *               fixed offsets nobody knows, or not sorted,
 *  -EBADMSG     sizes and offsets that do not fit into @t->size,
 *  -ERANGE      base or text wrap around the end of the address space,
 *  or what the read callback returned. With an error @t must not be used.
 */
int sframe_open(struct sframe_table *t);

/*
 * Find the row for @pc. For a return address that is the address minus one, see ustep_pc().
 *
 * Returns 0 and fills @row, or
 *  -ESRCH    no function holds @pc: the table says nothing, and other ways may be tried,
 *  -ENOENT   a hole: the table says that it has no rule. A function holds @pc, and its rows do not
 *            reach it, or it has no rows and is marked as a signal frame,
 *  -EBADMSG  what is there breaks the format,
 *  or what the read callback returned. With an error @row is undefined.
 */
int sframe_find(const struct sframe_table *t, u64 pc, struct sframe_row *row);

/* One function of a table, for those who list or check tables */
struct sframe_func {
	u64	start;
	u32	size;
	u32	fre_off;	/* of its first row, from that of all rows */
	u32	nr_fres;
	u8	info, info2;	/* info2 0 before version 3 */
	u8	rep_size;	/* MASK only, else 0 */
	u8	kept_slot;	/* SFRAME_KEPT_UNKNOWN where the table says nothing */
	u16	kept_rows;	/* valid unless kept_slot is that */
};

/*
 * Function number @index, 0 to nr_fdes - 1 in the order of their addresses. Returns 0, -ENOENT for
 * a number beyond the last, -EBADMSG, or what the read callback returned.
 */
int sframe_func(const struct sframe_table *t, u32 index, struct sframe_func *func);

/* The row of @func for @pc; as sframe_find(), without the search. -ESRCH: @pc is not in it. */
int sframe_func_row(const struct sframe_table *t, const struct sframe_func *func, u64 pc,
		    struct sframe_row *row);

#endif
