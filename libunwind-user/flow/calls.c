// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * calls.c - calls from code that .eh_frame covers into the gaps
 *
 * A program can have .eh_frame while its static C library or its assembler code has none, and its
 * symbols may be stripped. Decoding all covered code would take longer than all the other work. So
 * this file searches the covered code for bytes that may be a call, a jump or an address of
 * something in a gap. It decodes only functions with such bytes, from their first instruction on,
 * to check that the bytes are such an instruction.
 */
#include <string.h>

#include "impl.h"

/* Smaller gaps are start files, whose functions ld.so calls: other code of the file has FDEs */
#define MIN_GAPS	384
#define CHUNK		IMAGE_MAX_CODE

/*
 * Enter the code in a gap that code with rows jumps to, in the frame of the jump. A jump that is
 * not a tail call may never happen: edge.c says the same of branches.
 */
static void enter_jump_target(struct flow *f, uint32_t pc, const struct arch_op *op)
{
	uint64_t to = op->target - f->r->img->text.start;
	const struct cfi_row *row = rows_find_rules(f->r, pc);
	uint8_t *mark = &f->marks[flow_find_byte(f, to, NULL)], before = *mark;
	struct arch_state s;

	if (!row || !flow_make_state(f->r->arch, row, &s) || flow_is_func_end(f, to))
		return;
	if (flow_is_entered(f->arch, &s)) {
		if (op->next == ARCH_JUMP)
			flow_enter(f, to, &f->arch->entered, true);
		return;
	}
	flow_enter(f, to, &s, op->next == ARCH_JUMP && !flow_is_padding(f, to));
	/* no function starts there */
	*mark = before;
}

static void enter_target(struct flow *f, uint32_t pc, const struct arch_op *op)
{
	uint64_t base = f->r->img->text.start;

	if (op->target < base || flow_find_byte(f, op->target - base, NULL) == UINT32_MAX)
		return;
	if (op->next == ARCH_JUMP || op->next == ARCH_BRANCH)
		enter_jump_target(f, pc, op);
	else if (op->next == ARCH_CALL)
		flow_enter(f, op->target - base, &f->arch->entered, true);
	else if (op->flags & ARCH_TAKES_ADDRESS)
		flow_note_address_taken(f, op->target);
}

static void enter_targets_of_function(struct flow *f, const struct rows_fde *fde)
{
	uint64_t base = f->r->img->text.start;
	struct arch_op op;
	const uint8_t *p;
	uint32_t pc, len;

	for (pc = fde->start; pc < fde->end; pc += op.len) {
		len = fde->end - pc < 16 ? fde->end - pc : 16;
		p = image_get_code(f->r->img, base + pc, len);
		if (!p)
			return;
		f->arch->decode(f->decoder, p, len, base + pc, &op);
		f->steps++;
		if (op.next == ARCH_BAD)
			return;
		enter_target(f, pc, &op);
	}
}

/* Does anything in the @len bytes at @p, whose pc is @pc, look like a reference to a gap? */
static bool may_refer_to_gap(const struct flow *f, const uint8_t *p, uint32_t len, uint32_t pc)
{
	uint32_t low = f->gap[0].start, high = f->gap[f->nr_gaps - 1].end, i;
	uint64_t base = f->r->img->text.start, to = 0;

	for (i = -(base + pc) & (f->arch->insn - 1); i < len; i += f->arch->insn) {
		i += f->arch->find_reference(p + i, len - i, base + pc + i, base + low, high - low,
					     &to);
		if (i < len && flow_find_byte(f, to - base, NULL) != UINT32_MAX)
			return true;
	}
	return false;
}

static bool may_call_gap(struct flow *f, const struct rows_fde *fde)
{
	uint64_t base = f->r->img->text.start;
	uint8_t end[2 * ARCH_REFERENCE] = { 0 };
	uint32_t at, len, step;
	const uint8_t *p;

	/* pieces overlap by the length of the longest reference */
	for (at = fde->start; at < fde->end; at += step) {
		len = fde->end - at < CHUNK ? fde->end - at : CHUNK;
		p = image_get_code(f->r->img, base + at, len);
		if (p && may_refer_to_gap(f, p, len, at))
			return true;
		step = len < CHUNK ? len : CHUNK - ARCH_REFERENCE;
	}
	/* the last instructions may be shorter than ARCH_REFERENCE: add zeros */
	len = fde->end - fde->start;
	if (len > ARCH_REFERENCE - 1)
		len = ARCH_REFERENCE - 1;
	p = image_get_code(f->r->img, base + fde->end - len, len);
	if (!p)
		return false;
	memcpy(end, p, len);
	return may_refer_to_gap(f, end, len + ARCH_REFERENCE - 1, fde->end - len);
}

void flow_enter_called(struct flow *f)
{
	const struct rows *r = f->r;
	uint32_t i, reach = 0;

	if (f->size < MIN_GAPS || !f->arch->find_reference)
		return;
	for (i = 0; i < r->nr_fdes && !f->no_memory; i++) {
		/* FDEs that overlap are not trusted */
		if (r->fde[i].start >= reach && r->fde[i].nr_rows && may_call_gap(f, &r->fde[i]))
			enter_targets_of_function(f, &r->fde[i]);
		if (r->fde[i].end > reach)
			reach = r->fde[i].end;
	}
}
