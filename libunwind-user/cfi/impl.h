/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the parts of the .eh_frame reader share
 *
 *	section.c	entries: CIEs, FDEs
 *	run.c		their instructions: from bytes to rows
 *	expr.c		DWARF expressions: the few that are a rule
 *	cursor.c	numbers and pointers
 *
 * Each file calls only the files below it.
 */
#ifndef CFI_IMPL_H
#define CFI_IMPL_H

#include "cursor.h"

/* What the instructions set. The first three are a row. */
struct cfi_regs {
	struct cfi_rule cfa, ra, fp, sp;
	uint32_t flags;
};

struct cfi_cie {
	size_t off;			/* in the section: the key */
	enum cfi_cause cause;		/* not CFI_OK: nothing below is valid */
	uint8_t id_size;		/* of the CIE pointer, 4 or 8 */
	uint8_t enc;			/* of pcs */
	bool has_data;			/* augmentation data of known length, 'z' */
	bool signal;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	struct cfi_regs init;		/* after the initial instructions */
};

/* Where an FDE's instructions run. */
struct cfi_run {
	const struct cfi_section *sec;
	const struct cfi_cie *cie;
	const struct cfi_ops *ops;	/* NULL: the initial instructions, no rows */
	void *arg;
	uint64_t start, end;
};

/*
 * Run the instructions in @code over @regs. Returns 0, CFI_SKIP never, what ops->row() returned,
 * or with ops NULL the enum cfi_cause of what was wrong. With ops, that becomes a row.
 */
int cfi_run(const struct cfi_run *run, struct cfi_cur code, struct cfi_regs *regs);

/*
 * The rule that an expression is. @cfa_pushed: the CFA is on the stack when it starts, as for
 * registers. @value: it computes the value; false: where the value lies.
 */
struct cfi_rule cfi_expr(const struct cfi_section *sec, struct cfi_cur code, bool cfa_pushed,
			 bool value);

#endif
