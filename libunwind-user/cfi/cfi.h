/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cfi.h - .eh_frame as rows: how to find CFA, RA and FP for a range of pcs
 *
 * Internal to the library. gen/gen.c makes tables from the rows.
 *
 * Formats: Linux Standard Base Core, "Exception Frames"; DWARF 5, section 6.4; the extensions of
 * GNU and of the ARM64 ABI. A section is hostile input: the reader never reads outside the section,
 * its work is in proportion to the section's size, and it does not recurse. An FDE or an
 * instruction that the reader cannot understand becomes a row with CFI_BAD, or no row.
 */
#ifndef CFI_H
#define CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to compute a value. */
enum cfi_how {
	CFI_SAME,		/* unchanged, or no rule given */
	CFI_UNDEF,		/* cannot be recovered; RA: there is no caller */
	CFI_REG,		/* register + off */
	CFI_AT_REG,		/* the word at register + off, plus add */
	CFI_CFA,		/* CFA + off */
	CFI_AT_CFA,		/* the word at CFA + off */
	/*
	 * CFA only, the rule that ld writes for a .plt: register + off, and a word more where the
	 * low four bits of the pc are @limit or more
	 */
	CFI_PLT,
	CFI_BAD,		/* something else; off is the enum cfi_cause */
};

/* Why there is no row, or no row that describes the frame. */
enum cfi_cause {
	CFI_OK,
	CFI_CAUSE_CIE,		/* malformed CIE, or unknown version of a CIE */
	CFI_CAUSE_AUGMENTATION,	/* unknown augmentation of a CIE */
	CFI_CAUSE_POINTER,	/* encoding of a pc that the reader cannot follow */
	CFI_CAUSE_FDE,		/* malformed FDE, or a range that wraps */
	CFI_CAUSE_OP,		/* unknown or malformed instruction */
	CFI_CAUSE_EXPR,		/* expression that has no form of enum cfi_how */
	CFI_CAUSE_RANGE,	/* offset of more than 32 bits, register number over 255 */
	CFI_CAUSE_SP,		/* the caller's SP is not the CFA */
	CFI_NR_CAUSES
};

struct cfi_rule {
	int32_t off;
	uint8_t how;		/* enum cfi_how */
	uint8_t reg;		/* DWARF number; 0 unless CFI_REG, CFI_AT_REG, CFI_PLT */
	uint8_t limit;		/* CFI_PLT */
	uint8_t add;		/* CFI_AT_REG */
};

static inline struct cfi_rule cfi_make_bad_rule(enum cfi_cause cause)
{
	return (struct cfi_rule){ .how = CFI_BAD, .off = cause };
}

/* A rule from a 64-bit offset and any register number; bad if they do not fit. */
static inline struct cfi_rule cfi_make_rule(enum cfi_how how, uint64_t reg, int64_t off)
{
	if (off != (int32_t)off || reg > UINT8_MAX)
		return cfi_make_bad_rule(CFI_CAUSE_RANGE);
	return (struct cfi_rule){ .how = how, .reg = reg, .off = off };
}

#define CFI_SIGNAL	0x1	/* a signal frame: its caller was interrupted */
#define CFI_MANGLED	0x2	/* RA is signed (arm64) */
/*
 * The bits from CFI_KEPT_SHIFT on say where the caller's value of cfi_section.reg_kept is:
 * CFI_KEPT_UNKNOWN, CFI_KEPT_IN_REG (no rule says otherwise), or n: saved at CFA - 8 * n. The place
 * is unknown in all rows if no register is asked for.
 */
#define CFI_KEPT_SHIFT	8
#define CFI_KEPT(flags)	((flags) >> CFI_KEPT_SHIFT)
#define CFI_KEPT_UNKNOWN	0
#define CFI_KEPT_IN_REG	1

/* One row. Padding-free and without pointers: equal rows are equal bytes. */
struct cfi_row {
	struct cfi_rule cfa, ra, fp;
	uint32_t flags;
};

struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t vaddr;		/* address of its first byte, as the code counts addresses */
	bool big_endian;
	uint8_t addr_size;	/* 4 or 8 */
	uint8_t reg_sp, reg_fp;	/* DWARF numbers */
	uint8_t reg_kept;	/* rows also say where this register is; 0: no register */
	uint8_t reg_ra;		/* has RA if no rule says where; a CIE may name another register */
	uint8_t reg_pc;		/* the pc, in expressions; 0: no number */
	/*
	 * The caller's SP is CFA + sp_off. If sp_off is not 0, functions save SP as they save
	 * other registers: see sp_is_cfa() in run.c.
	 */
	int16_t sp_off;
	bool arm64;		/* instruction 0x2d means a signed RA */
	/* A length of zero ends the section; false: entries may follow it. */
	bool ends_at_zero;
	/* Bases of the encodings "datarel" and "textrel"; without a base such FDEs are holes. */
	bool have_data, have_text;
	uint64_t data_base, text_base;
};

/* Counts, for the summary of holes. */
struct cfi_stats {
	uint64_t nr_cies, nr_fdes;	/* nr_fdes counts bad FDEs too */
	uint64_t bad_fdes[CFI_NR_CAUSES];	/* FDEs that gave no rows, by cause */
};

/*
 * Callbacks for the entries, in the order of the section. If a callback returns another value than
 * 0, cfi_parse() ends and returns it. Only fde() may return CFI_SKIP, which skips the FDE.
 */
#define CFI_SKIP	1
struct cfi_ops {
	/* the next rows are for [start, end), which is not empty */
	int (*fde)(void *arg, uint64_t start, uint64_t end);
	/*
	 * @rules hold from @start to the start of the next row or the end of the FDE. The first
	 * row of an FDE starts where the FDE does; starts are ascending.
	 */
	int (*row)(void *arg, uint64_t start, const struct cfi_row *rules);
};

/*
 * Read a whole section. @stats is filled, not added to.
 *
 * Returns 0, even if entries were bad; the result of a callback; or -ENOMEM. Thread safe.
 */
int cfi_parse(const struct cfi_section *sec, const struct cfi_ops *ops, void *arg,
	      struct cfi_stats *stats);

/*
 * Find the start of .eh_frame from the @size bytes of .eh_frame_hdr at @hdr, whose address is
 * @vaddr. The reader does not need the rest of .eh_frame_hdr, its search table.
 *
 * Returns 0, or -EINVAL if the bytes are not such a header.
 */
int cfi_find_eh_frame(const uint8_t *hdr, size_t size, uint64_t vaddr, bool big_endian,
		      uint8_t addr_size, uint64_t *eh_frame);

/* A few words for a cause: "expression". */
const char *cfi_get_cause_name(enum cfi_cause cause);

#endif
