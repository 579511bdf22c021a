/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_read.h - from a pc to the rule that unwinds one frame there
 *
 * Freestanding: no C library, no allocation, no recursion, less than 300 bytes of stack. The kernel
 * and user space use the same file. A table is hostile input: every read is bounds-checked, and
 * bytes that break the format give an error, never a rule.
 *
 *	struct sframe_table t = { .mem = section, .size = size, .base = addr,
 *				  .text_start = start, .text_size = len };
 *	struct sframe_row row;
 *
 *	if (!sframe_open(&t) && !sframe_find(&t, pc, &row))
 *		ustep_row(&state, &env, &row);		(step.h)
 *
 * Thread safety: lookups only read an opened table. If its bytes change while they are read (memory
 * of a running program), the result is an error or a wrong rule, nothing worse.
 */
#ifndef SFRAME_READ_H
#define SFRAME_READ_H

#include "sframe_env.h"
#include "sframe_format.h"

/*
 * A lookup reads at most 32 FDEs for the search (2^32 functions), the FDE found, an attribute and
 * this many rows. In a function with more rows, a lookup that goes past the last of these returns
 * -EBADMSG; a program that writes tables must split such a function.
 */
#define SFRAME_MAX_FRES		4096

/*
 * Reads @size bytes (1 to SFRAME_READ_MAX) of the table's source at @addr. Returns 0, or a negative
 * errno, which the lookup returns; -EFAULT if the memory cannot be read.
 */
#define SFRAME_READ_MAX		64
#ifndef sframe_env_read
typedef int (*sframe_read_fn)(void *ctx, u64 addr, void *to, u32 size);
#endif

/*
 * The layout of the kernel's signal frame, and the code that returns from the handler. All offsets
 * are from SP at the start of that code.
 */
struct sframe_sig {
	s16	ip, sp, fp;	/* offsets of the interrupted IP, SP and FP */
	const s16 *regs;	/* offsets of the registers, by DWARF number */
	const u8 *code;		/* ends with the system call; up to 16 bytes */
	u8	code_len;
	u8	code_syscall;	/* offset of the system call in @code */
};

/*
 * Parameters of an architecture. sframe_amd64.h and its siblings define one constant each.
 */
struct sframe_arch {
	u8	abi;		/* SFRAME_ABI_ */
	u8	reg_sp, reg_fp;	/* DWARF numbers */
	u8	reg_ra;		/* the link register, if a call does not save RA by itself */
	u8	nr_regs;	/* a signal frame holds the registers with lower DWARF numbers */
	u8	reg_kept;	/* tables can say where functions keep this register; 0: none */
	s8	ra_off;		/* RA is saved at CFA + ra_off; 0: rows say where */
	s16	cfa_bias;	/* a row's CFA offset n stands for n * cfa_scale + cfa_bias */
	u8	cfa_scale;
	s16	sp_off;		/* the caller's SP is CFA + sp_off */
	u8	big_endian;
	bool	mangles_ra;	/* rows may say that RA is signed */
	bool	is_32bit;	/* words and addresses have 4 bytes, else 8 */
	u8	nr_sigs;	/* kinds of signal frames */
	const struct sframe_sig *sigs;
};

/* The parameters of @abi, or NULL if sframe_env.h does not enable that architecture. */
const struct sframe_arch *sframe_arch(u8 abi);

struct sframe_table {
	/* The caller sets these before sframe_open(). */

	const void	*mem;		/* the section in plain memory, or NULL */
#ifndef sframe_env_read
	sframe_read_fn	read;		/* without @mem: reads the section */
	void		*ctx;		/* without @mem: first argument of read() */
#endif
	u64		addr;		/* without @mem: address of the section, for reads */
	/*
	 * Bytes that may be read. It may be too large (ld's PT_GNU_SFRAME is, by 28 to 34 bytes):
	 * sframe_open() reduces it to the size that the header gives.
	 */
	u64		size;
	/*
	 * The address of the section, which function starts are relative to; @addr may differ.
	 * It is in the same address space as text_start and every pc: that of a process, or that
	 * of a file. With a file's, the caller subtracts the load bias from each pc (and adds it
	 * to @start of a row that it caches).
	 */
	u64		base;
	u64		text_start;	/* a pc outside of the text is not looked up */
	u64		text_size;

	/* sframe_open() sets these. */

	const struct sframe_arch *arch;
	u32		nr_fdes;
	u32		fre_len;
	u64		fde_off;	/* of the first FDE, in the section */
	u64		fre_off;	/* of the first row, in the section */
	u8		fde_size;
	u8		version;
	u8		flags;
	u8		swap;		/* the section is in the other byte order */
	u8		kept;		/* bytes before an attribute: SFRAME_KEPT_SIZE or 0 */
};

/* The base of a rule, to which its offset is added */
enum sframe_base {
	SFRAME_SAME = 0,	/* unchanged; RA: still in the link register. @off is 0 */
	SFRAME_UNDEFINED,	/* RA: no caller */
	SFRAME_CFA,		/* the row's CFA; with @deref only */
	SFRAME_SP,
	SFRAME_FP,
	SFRAME_REG,		/* DWARF register @reg, neither SP nor FP */
};

/* value = base + off, or with @deref the word at that address, plus @add */
struct sframe_rule {
	s32	off;
	u8	base;		/* enum sframe_base */
	u8	deref;
	u8	reg;
	u8	add;		/* of a CFA with @deref: added to the word */
};

/* Flags of a row */
#define SFRAME_ROW_SIGNAL	0x1	/* a signal frame: its caller was interrupted */
#define SFRAME_ROW_MANGLED	0x2	/* RA is signed (arm64) */
#define SFRAME_ROW_SP		0x4	/* cfa is the caller's SP; only ustep_sigreturn() sets it */
/* Where the caller's value of arch->reg_kept is: SFRAME_KEPT_UNKNOWN, _IN_REG, n: at CFA - 8 * n */
#define SFRAME_ROW_KEPT_MASK	0xff00
#define SFRAME_ROW_KEPT(flags)	(((flags) & SFRAME_ROW_KEPT_MASK) >> 8)
#define SFRAME_ROW_FLAGS_KEPT(slot)	((u32)(slot) << 8)

/*
 * How to get from a frame whose pc is in [start, start + size) to its caller. A plain value that
 * callers may copy, and keep as long as the table is valid. size is not 0.
 *
 * cfa.base is SP, FP or REG. In an outermost frame ra.base is UNDEFINED; cfa and fp are then zero
 * and have no meaning.
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
 * Check the header of @t and fill in the members above that it sets.
 *
 * Returns 0, or
 *  -EINVAL      it is not an SFrame section,
 *  -EOPNOTSUPP  its version, byte order, architecture, flags or fixed offsets are not supported, or
 *               it is not sorted,
 *  -EBADMSG     its sizes and offsets do not fit into @t->size,
 *  -ERANGE      the section or the text wraps around the end of the address space,
 *  or what the read callback returned. With an error @t must not be used.
 */
int sframe_open(struct sframe_table *t);

/*
 * Find the row for @pc. For a return address, @pc is the address minus one, see ustep_pc().
 *
 * Returns 0 and fills @row, or
 *  -ESRCH    no function holds @pc: the table says nothing, and the caller may try other ways,
 *  -ENOENT   a hole: a function holds @pc, and the table says that it has no rule. Its first row
 *            starts after @pc, or it has no rows and is marked as a signal frame,
 *  -EBADMSG  the section breaks the format,
 *  or what the read callback returned. With an error @row is undefined.
 */
int sframe_find(const struct sframe_table *t, u64 pc, struct sframe_row *row);

/* One function of a table */
struct sframe_func {
	u64	start;
	u32	size;
	u32	fre_off;	/* of its first row, from the start of all rows */
	u32	nr_fres;
	u8	info, info2;	/* info2 is 0 before version 3 */
	u8	rep_size;	/* MASK only, else 0 */
	u8	kept_slot;	/* SFRAME_KEPT_UNKNOWN where the table says nothing */
	u16	kept_rows;
};

#endif
