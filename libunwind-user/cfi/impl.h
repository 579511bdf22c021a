/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the parts of the .eh_frame reader share
 *
 *	section.c	entries: CIEs, FDEs
 *	run.c		their instructions: from bytes to rows
 *	expr.c		DWARF expressions: the few that are a rule
 *	pointer.c	encoded pointers
 *
 * Each file calls only the files below it.
 */
#ifndef CFI_IMPL_H
#define CFI_IMPL_H

#include "libunwind-user/base/base.h"
#include "cfi.h"

/* The instructions set these rules. cfa, ra, fp and, if it is asked for, kept make a row. */
struct cfi_regs {
	struct cfi_rule cfa, ra, fp, sp, kept;
	uint32_t flags;
};

struct cfi_cie {
	size_t off;			/* in the section: the key */
	enum cfi_cause cause;		/* not CFI_OK: no field below is valid */
	uint8_t id_size;		/* of the CIE pointer, 4 or 8 */
	uint8_t enc;			/* of pcs */
	bool has_data;			/* augmentation data of known length, 'z' */
	bool signal;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	struct cfi_regs init;		/* after the initial instructions */
};

/* The input of a run over the instructions of an FDE */
struct cfi_run {
	const struct cfi_section *sec;
	const struct cfi_cie *cie;
	const struct cfi_ops *ops;	/* NULL: the initial instructions, no rows */
	void *arg;
	uint64_t start, end;
};

/*
 * Run the instructions in @code over @regs. Returns 0 or the result of ops->row(), never CFI_SKIP.
 * With ops NULL, returns the enum cfi_cause of an error. With ops, an error becomes a row.
 */
int cfi_run(const struct cfi_run *run, struct byte_cursor code, struct cfi_regs *regs);

/*
 * Turn an expression into a rule. @cfa_pushed: the CFA is on the stack when the expression starts,
 * as for registers. @value: the expression computes the value; false: the address of the value.
 */
struct cfi_rule cfi_read_expr(const struct cfi_section *sec, struct byte_cursor code,
			      bool cfa_pushed, bool value);

/* Read the bytes of a pointer, without adding its base. False if @format is not known. */
bool cfi_read_pointer_bytes(struct byte_cursor *c, uint8_t format, uint8_t addr_size,
			    uint64_t *value);

/* Read an encoded pc. False if its encoding is unknown, or needs a base that @sec lacks. */
bool cfi_read_pointer(const struct cfi_section *sec, struct byte_cursor *c, uint8_t enc,
		      uint64_t *value);

#endif
