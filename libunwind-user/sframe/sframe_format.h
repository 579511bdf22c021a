/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_format.h - layout of an SFrame section, versions 1 to 3
 *
 * Source: "The SFrame Format", the manuals of binutils 2.40 (version 1), 2.41 to 2.45 (version 2)
 * and 2.46 (version 3). Numbers only, no structs: most of a section is not aligned, and its byte
 * order may be the other one. Offsets (_OFF) and sizes are in bytes.
 *
 *	preamble	magic, version, flags
 *	header		24 more bytes, then auxhdr_len bytes of auxiliary header
 *	functions	FDEs, at fdeoff from the end of the header: fixed size, sorted by start
 *	rows		FREs, at freoff from the end of the header: variable size. The rows of a
 *			function are adjacent; in version 3 the function's attribute precedes them
 */
#ifndef SFRAME_FORMAT_H
#define SFRAME_FORMAT_H

#define SFRAME_MAGIC			0xdee2	/* read as 0xe2de: the other byte order */
#define SFRAME_VERSION_1		1
#define SFRAME_VERSION_2		2
#define SFRAME_VERSION_3		3

/* Flags of the preamble */
#define SFRAME_F_SORTED			0x1
#define SFRAME_F_FRAME_POINTER		0x2	/* versions 1, 2; unwinders do not need it */
/*
 * The start in an FDE is relative to the field itself; without the flag, to the start of the
 * section. In version 3, and in version 2 of later binutils.
 */
#define SFRAME_F_PCREL			0x4

/* The header, from the start of the section; it ends at SIZE + auxhdr_len */
#define SFRAME_HDR_MAGIC_OFF		0	/* u16 */
#define SFRAME_HDR_VERSION_OFF		2	/* u8 */
#define SFRAME_HDR_FLAGS_OFF		3	/* u8 */
#define SFRAME_HDR_ABI_OFF		4	/* u8 */
#define SFRAME_HDR_FIXED_FP_OFF		5	/* s8, 0: not fixed */
#define SFRAME_HDR_FIXED_RA_OFF		6	/* s8, 0: not fixed; from the CFA */
#define SFRAME_HDR_AUXHDR_LEN_OFF	7	/* u8 */
#define SFRAME_HDR_NUM_FDES_OFF		8	/* u32 */
#define SFRAME_HDR_NUM_FRES_OFF		12	/* u32, in all functions */
#define SFRAME_HDR_FRE_LEN_OFF		16	/* u32, bytes of all rows (and attributes) */
#define SFRAME_HDR_FDEOFF_OFF		20	/* u32, from the end of the header */
#define SFRAME_HDR_FREOFF_OFF		24	/* u32, from the end of the header */
#define SFRAME_HDR_SIZE			28

/*
 * An auxiliary header of these four bytes is an extension of version 3 by trace-ustack: the table
 * also says where functions keep one register that calls preserve. Three bytes then precede each
 * attribute. Other readers skip the auxiliary header and never look at these bytes.
 */
#define SFRAME_AUX_MAGIC		"kep"	/* without its zero */
#define SFRAME_AUX_REG_OFF		3	/* u8, DWARF number */
#define SFRAME_AUX_SIZE			4

#define SFRAME_ABI_ARM64_BE		1
#define SFRAME_ABI_ARM64_LE		2
#define SFRAME_ABI_AMD64		3	/* little endian */
#define SFRAME_ABI_S390X		4	/* big endian */
/*
 * i386. SFrame has no number for it, so this is an extension of version 3 by trace-ustack. It is
 * for tables that a tracer makes: no file has such a section, and other readers refuse it.
 */
#define SFRAME_ABI_I386			0x83

/*
 * A function, versions 1 and 2. FRE_OFF counts from the start of the rows. Version 1 ends after
 * info and is packed, version 2 adds rep_size and two bytes of padding.
 */
#define SFRAME_FDE_START_OFF		0	/* s32 */
#define SFRAME_FDE_SIZE_OFF		4	/* u32 */
#define SFRAME_FDE_FRE_OFF_OFF		8	/* u32 */
#define SFRAME_FDE_NUM_FRES_OFF		12	/* u32 */
#define SFRAME_FDE_INFO_OFF		16	/* u8 */
#define SFRAME_FDE_REP_SIZE_OFF		17	/* u8 */
#define SFRAME_V1_FDE_SIZE		17
#define SFRAME_V2_FDE_SIZE		20

/* A function, version 3: the part that the search needs ... */
#define SFRAME_V3_FDE_START_OFF		0	/* s64 */
#define SFRAME_V3_FDE_SIZE_OFF		8	/* u32 */
#define SFRAME_V3_FDE_FRE_OFF_OFF	12	/* u32, of the attribute */
#define SFRAME_V3_FDE_SIZE		16
/* ... and its attribute, before its first row, not aligned. Functions may share an attribute. */
#define SFRAME_V3_ATTR_NUM_FRES_OFF	0	/* u16 */
#define SFRAME_V3_ATTR_INFO_OFF		2	/* u8 */
#define SFRAME_V3_ATTR_INFO2_OFF	3	/* u8 */
#define SFRAME_V3_ATTR_REP_SIZE_OFF	4	/* u8 */
#define SFRAME_V3_ATTR_SIZE		5

/*
 * Before an attribute, with that auxiliary header: where the caller's value of the register is.
 *
 *	slot	0: not known; 1: in the register; n: saved at CFA - 8 * n, in the rows of
 *	rows	one bit for each of the first 16 rows, the lowest bit for the first row. In rows
 *		whose bit is 0 the value is in the register; after the 16th row it is not known.
 */
#define SFRAME_KEPT_SLOT_OFF		0	/* u8 */
#define SFRAME_KEPT_ROWS_OFF		1	/* u16 */
#define SFRAME_KEPT_SIZE		3
#define SFRAME_KEPT_UNKNOWN		0
#define SFRAME_KEPT_IN_REG		1
#define SFRAME_KEPT_MAX_ROWS		16

/* info of a function */
#define SFRAME_FDE_FRE_TYPE(info)	((info) & 0xf)
#define SFRAME_FDE_IS_MASK(info)	((info) & 0x10)
#define SFRAME_FDE_PAUTH_KEY_B(info)	((info) & 0x20)		/* arm64 */
#define SFRAME_FDE_IS_SIGNAL(info)	((info) & 0x80)		/* version 3 */
#define SFRAME_FDE_INFO(fre_type, mask, signal)	\
	((fre_type) | ((mask) ? 0x10 : 0) | ((signal) ? 0x80 : 0))

/* info2 of a function: the meaning of the words in its rows */
#define SFRAME_FDE_TYPE(info2)		((info2) & 0x1f)
#define SFRAME_FDE_TYPE_DEFAULT		0
#define SFRAME_FDE_TYPE_FLEX		1
#define SFRAME_FDE_TYPE_FLEX_ADD	0x1f	/* extension by trace-ustack, see below */

/* FRE type: 1, 2 or 4 bytes for the start of a row, which counts from the function's start */
#define SFRAME_FRE_TYPE_ADDR1		0
#define SFRAME_FRE_TYPE_ADDR2		1
#define SFRAME_FRE_TYPE_ADDR4		2

/*
 * A row: start, info (u8), words. A row without words: the frame has no caller (RA undefined).
 *
 * Default functions: word 0 is the CFA's offset from SP or FP. The offsets from the CFA at which RA
 * (if the header does not fix it) and FP are saved follow, if they are saved.
 */
#define SFRAME_FRE_IS_SP(info)		((info) & 0x1)		/* 0: FP based */
#define SFRAME_FRE_COUNT(info)		((info) >> 1 & 0xf)
#define SFRAME_FRE_WORD_SHIFT(info)	((info) >> 5 & 0x3)	/* 1 << n bytes; 3 is invalid */
#define SFRAME_FRE_IS_MANGLED(info)	((info) & 0x80)		/* arm64: RA is signed */
#define SFRAME_FRE_INFO(sp, count, shift, mangled) \
	(((sp) ? 1 : 0) | (count) << 1 | (shift) << 5 | ((mangled) ? 0x80 : 0))
#define SFRAME_FRE_MAX_WORDS		7	/* three pairs and ADD; more have no meaning */

/*
 * Flexible functions: pairs (control, offset) for CFA, RA, FP in this order; pairs at the end that
 * are not needed are left out. A control of 0 has no offset, and means the same as a pair that is
 * left out. Control words are unsigned, offsets signed.
 *	value = register + offset, or CFA + offset; with DEREF the word at that address
 *
 * FLEX_ADD is as FLEX. In addition, the control of a CFA with DEREF may have ADD: a third word
 * follows its offset, 1 to 255, which is added to the word in memory. Hand-written assembler keeps
 * SP in memory when it aligns SP or goes to another stack, and the CFA is a word above that.
 */
#define SFRAME_CTRL_IS_REG(ctrl)	((ctrl) & 0x1)
#define SFRAME_CTRL_IS_DEREF(ctrl)	((ctrl) & 0x2)
#define SFRAME_CTRL_ADD			0x4			/* FLEX_ADD only */
#define SFRAME_CTRL_REG(ctrl)		((ctrl) >> 3)		/* DWARF number */
#define SFRAME_CTRL(reg, deref, is_reg)	\
	((reg) << 3 | ((deref) ? 0x2 : 0) | ((is_reg) ? 0x1 : 0))

/* s390x: sections store the offset of the CFA as (offset - 160) / 8 */
#define SFRAME_S390X_CFA_BIAS		160
#define SFRAME_S390X_CFA_SCALE		8

#endif
