/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_format.h - layout of an SFrame section, versions 1 to 3
 *
 * Source: "The SFrame Format", the manuals of binutils 2.40 (version 1), 2.41 to 2.45 (version 2)
 * and 2.46 (version 3). Numbers only, no structs: most of a section is not aligned, and it is read
 * in the byte order it was written in. Offsets (_OFF) and sizes are in bytes.
 *
 *	preamble	magic, version, flags
 *	header		24 more bytes, then auxhdr_len bytes of auxiliary header
 *	functions	FDEs, at fdeoff from the end of the header: fixed size, sorted by start
 *	rows		FREs, at freoff from the end of the header: variable size, those of a
 *			function in a row; in version 3 an attribute of the function before them
 */
#ifndef SFRAME_FORMAT_H
#define SFRAME_FORMAT_H

#define SFRAME_MAGIC			0xdee2	/* read as 0xe2de: the other byte order */
#define SFRAME_VERSION_1		1
#define SFRAME_VERSION_2		2
#define SFRAME_VERSION_3		3

/* Flags of the preamble */
#define SFRAME_F_SORTED			0x1
#define SFRAME_F_FRAME_POINTER		0x2	/* versions 1, 2; says nothing an unwinder needs */
/*
 * The start in an FDE is relative to the field itself; without the flag, to the start of the
 * section. Known in versions 2 (late ones) and 3.
 */
#define SFRAME_F_PCREL			0x4

/* The header, from the start of the section; what follows it starts at SIZE + auxhdr_len */
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
 * An auxiliary header of these four bytes is an extension of ours, for version 3: the tables of
 * some files also say where functions keep one register that calls preserve. Each attribute then
 * has three bytes in front of it. Other readers skip the header and never look at these bytes.
 */
#define SFRAME_AUX_MAGIC		"kep"	/* without its zero */
#define SFRAME_AUX_REG_OFF		3	/* u8, DWARF number */
#define SFRAME_AUX_SIZE			4

#define SFRAME_ABI_ARM64_BE		1
#define SFRAME_ABI_ARM64_LE		2
#define SFRAME_ABI_AMD64		3	/* little endian */
#define SFRAME_ABI_S390X		4	/* big endian */

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

/* A function, version 3: what the search needs ... */
#define SFRAME_V3_FDE_START_OFF		0	/* s64 */
#define SFRAME_V3_FDE_SIZE_OFF		8	/* u32 */
#define SFRAME_V3_FDE_FRE_OFF_OFF	12	/* u32, of the attribute */
#define SFRAME_V3_FDE_SIZE		16
/* ... and its attribute, in front of its first row, not aligned. Functions may share one. */
#define SFRAME_V3_ATTR_NUM_FRES_OFF	0	/* u16 */
#define SFRAME_V3_ATTR_INFO_OFF		2	/* u8 */
#define SFRAME_V3_ATTR_INFO2_OFF	3	/* u8 */
#define SFRAME_V3_ATTR_REP_SIZE_OFF	4	/* u8 */
#define SFRAME_V3_ATTR_SIZE		5

/*
 * In front of an attribute, where the auxiliary header says so: the caller's value of the register.
 *
 *	slot	0: not known; 1: in the register; n: saved at CFA - 8 * n, which holds for
 *	rows	a bit for each of the function's rows, the lowest for the first. In its other rows
 *		up to the sixteenth the value is in the register.
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

/* info2: how the words of its rows are to be read */
#define SFRAME_FDE_TYPE(info2)		((info2) & 0x1f)
#define SFRAME_FDE_TYPE_DEFAULT		0
#define SFRAME_FDE_TYPE_FLEX		1

/* FRE type: the start of a row, from that of its function, takes 1, 2 or 4 bytes */
#define SFRAME_FRE_TYPE_ADDR1		0
#define SFRAME_FRE_TYPE_ADDR2		1
#define SFRAME_FRE_TYPE_ADDR4		2

/*
 * A row: start, info (u8), words. A row without words: no caller (RA undefined).
 *
 * Default functions: word 0 is the CFA's offset from SP or FP, then come the RA's from the CFA (if
 * the header does not fix it) and the FP's from the CFA, where they are saved.
 */
#define SFRAME_FRE_IS_SP(info)		((info) & 0x1)		/* else FP based */
#define SFRAME_FRE_COUNT(info)		((info) >> 1 & 0xf)
#define SFRAME_FRE_WORD_SHIFT(info)	((info) >> 5 & 0x3)	/* 1 << it: bytes; 3 is invalid */
#define SFRAME_FRE_IS_MANGLED(info)	((info) & 0x80)		/* arm64: RA is signed */
#define SFRAME_FRE_INFO(sp, count, shift, mangled) \
	(((sp) ? 1 : 0) | (count) << 1 | (shift) << 5 | ((mangled) ? 0x80 : 0))
#define SFRAME_FRE_MAX_WORDS		6	/* that mean anything: three pairs */

/*
 * Flexible functions: pairs (control, offset) for CFA, RA, FP in this order, from the end as few as
 * needed. A control of 0 stands alone, without offset: the rule is that of a row which
 * does not speak of the register. Control words are unsigned, offsets signed.
 *	value = register + offset, or CFA + offset; with DEREF what lies there
 */
#define SFRAME_CTRL_IS_REG(ctrl)	((ctrl) & 0x1)
#define SFRAME_CTRL_IS_DEREF(ctrl)	((ctrl) & 0x2)
#define SFRAME_CTRL_REG(ctrl)		((ctrl) >> 3)		/* DWARF number */
#define SFRAME_CTRL(reg, deref, is_reg)	\
	((reg) << 3 | ((deref) ? 0x2 : 0) | ((is_reg) ? 0x1 : 0))

/* s390x: the offset of the CFA is stored as (offset - 160) / 8 */
#define SFRAME_S390X_CFA_BIAS		160
#define SFRAME_S390X_CFA_SCALE		8

#endif
