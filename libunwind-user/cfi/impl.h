/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the parts of the .eh_frame reader share
 *
 *	section.c		entries: CIEs, FDEs, pointers
 *	run.c	instructions: from bytes to rows
 *	expr.c	DWARF expressions: the few that are a rule
 */
#ifndef CFI_IMPL_H
#define CFI_IMPL_H

#include "cfi.h"

/*
 * Bytes still to be read. A read past the end sets @bad, returns 0 and reads no more, so that it is
 * enough to look at @bad once, after a group of reads.
 */
struct cfi_cur {
	const uint8_t *p, *end;
	bool big_endian, bad;
};

static inline size_t cur_left(const struct cfi_cur *c)
{
	return c->end - c->p;
}

static inline uint64_t cur_fail(struct cfi_cur *c)
{
	c->bad = true;
	c->p = c->end;
	return 0;
}

static inline uint64_t cur_uint(struct cfi_cur *c, unsigned int size)
{
	uint64_t v = 0;
	unsigned int i;

	if (cur_left(c) < size)
		return cur_fail(c);
	if (c->big_endian) {
		for (i = 0; i < size; i++)
			v = v << 8 | c->p[i];
	} else {
		for (i = size; i--; )
			v = v << 8 | c->p[i];
	}
	c->p += size;
	return v;
}

static inline uint8_t cur_u8(struct cfi_cur *c)
{
	if (c->p == c->end)
		return cur_fail(c);
	return *c->p++;
}

uint64_t cur_uleb_slow(struct cfi_cur *c);
int64_t cur_sleb(struct cfi_cur *c);

static inline uint64_t cur_uleb(struct cfi_cur *c)
{
	if (c->p != c->end && *c->p < 0x80)
		return *c->p++;
	return cur_uleb_slow(c);
}

/* @size bytes as a cursor of their own */
struct cfi_cur cur_sub(struct cfi_cur *c, uint64_t size);

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

/* An encoded pc; @vaddr is that of the section. False if it cannot be followed. */
bool cfi_pointer(const struct cfi_section *sec, struct cfi_cur *c, uint8_t enc, uint64_t *value);

/*
 * The rule that an expression is. @cfa_pushed: the CFA is on the stack when it starts, as for
 * registers. @value: it computes the value; false: where the value lies.
 */
struct cfi_rule cfi_expr(const struct cfi_section *sec, struct cfi_cur code, bool cfa_pushed,
			 bool value);

#endif
