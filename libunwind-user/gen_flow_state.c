// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_flow_state - what an instruction does to what is known of the frame
 *
 * Addresses on the stack are told by their distance from the CFA, which is where SP points in the
 * caller. The return address is right below it, hence SP is at CFA - 8 when a function is entered,
 * and whoever brings SP above that has taken it off: from there on nothing is known. So it is if
 * the return address is written over, as what hides jumps from the processor does.
 *
 * The caller's FP is in its register or in a slot. A slot counts from the store until something
 * else is stored there or may be, below SP, by a call.
 */
#include "arch/arch.h"
#include "gen_flow.h"

#define RA_SIZE		8
#define MAX_FRAME	(1 << 30)

const struct flow_state flow_entered = { .sp = RA_SIZE, .sp_known = true };
const struct flow_state flow_outermost = { .outermost = true };

static const struct flow_state nothing = { .unknown = true };

static void lose_slot(struct flow_state *s)
{
	s->saved = false;
	s->slot = 0;
}

static void fp_is(struct flow_state *s, enum flow_fp what, int32_t fp)
{
	s->fp_is = what;
	s->fp = what == FLOW_FP_FRAME ? fp : 0;
}

/* Something is stored at CFA + @at. */
static void stored(struct flow_state *s, int64_t at, unsigned int size)
{
	if (s->saved && at < s->slot + 8LL && s->slot < at + size)
		lose_slot(s);
	if (at < 0 && at + size > -RA_SIZE)
		*s = nothing;
}

/* What is below SP was popped, and is needed no more if FP is back in place. */
static void popped(struct flow_state *s)
{
	if (s->saved && s->fp_is == FLOW_FP_CALLER && s->slot < -s->sp)
		lose_slot(s);
}

static void set_sp(struct flow_state *s, int64_t sp)
{
	if (sp < RA_SIZE || sp > MAX_FRAME) {
		*s = nothing;
		return;
	}
	s->sp = sp;
	s->sp_known = true;
	popped(s);
}

static void lose_sp(struct flow_state *s)
{
	s->sp_known = false;
	s->sp = 0;
}

static void push(struct flow_state *s, bool is_fp)
{
	if (!s->sp_known)
		return;
	set_sp(s, s->sp + 8LL);
	stored(s, -(int64_t)s->sp, 8);
	if (is_fp && !s->unknown && s->fp_is == FLOW_FP_CALLER && !s->saved) {
		s->saved = true;
		s->slot = -s->sp;
	}
}

static void pop(struct flow_state *s, bool to_fp)
{
	int32_t at = -s->sp;

	if (to_fp)
		fp_is(s, s->sp_known && s->saved && s->slot == at ? FLOW_FP_CALLER : FLOW_FP_OTHER,
		      0);
	if (s->sp_known)
		set_sp(s, s->sp - 8LL);
}

/* CFA + *@at is the address base + off. */
static bool place_of(const struct flow_state *s, const struct flow_op *op, int64_t *at)
{
	if (op->by_fp) {
		*at = (int64_t)op->off - s->fp;
		return s->fp_is == FLOW_FP_FRAME;
	}
	*at = (int64_t)op->off - s->sp;
	return s->sp_known;
}

static void frame_at(struct flow_state *s, int64_t fp)
{
	if (fp < -MAX_FRAME || fp > MAX_FRAME)
		fp_is(s, FLOW_FP_OTHER, 0);
	else
		fp_is(s, FLOW_FP_FRAME, fp);
}

static void apply(struct flow_state *s, const struct flow_op *op)
{
	int64_t at;

	switch (op->effect) {
	case FLOW_NONE:
	case FLOW_SAVE_FP:
		break;
	case FLOW_PUSH:
	case FLOW_PUSH_FP:
		push(s, op->effect == FLOW_PUSH_FP);
		break;
	case FLOW_POP:
	case FLOW_POP_FP:
		pop(s, op->effect == FLOW_POP_FP);
		break;
	case FLOW_ADD_SP:
		if (s->sp_known)
			set_sp(s, (int64_t)s->sp - op->n);
		break;
	case FLOW_SP_IS_FP:
	case FLOW_LEAVE:
		if (s->fp_is == FLOW_FP_FRAME)
			set_sp(s, (int64_t)s->fp - op->n);
		else
			lose_sp(s);
		if (op->effect == FLOW_LEAVE && !s->unknown)
			pop(s, true);
		break;
	case FLOW_FP_IS_SP:
		if (s->sp_known)
			frame_at(s, (int64_t)s->sp - op->n);
		else
			fp_is(s, FLOW_FP_OTHER, 0);
		break;
	case FLOW_FP_IS_FP:
		if (s->fp_is == FLOW_FP_FRAME)
			frame_at(s, (int64_t)s->fp - op->n);
		else
			fp_is(s, FLOW_FP_OTHER, 0);
		break;
	case FLOW_LOAD_FP:
		if (place_of(s, op, &at) && s->saved && s->slot == at)
			fp_is(s, FLOW_FP_CALLER, 0);
		else
			fp_is(s, FLOW_FP_OTHER, 0);
		break;
	case FLOW_LOSE_SP:
		lose_sp(s);
		break;
	case FLOW_LOSE_FP:
		fp_is(s, FLOW_FP_OTHER, 0);
		break;
	default:
		*s = nothing;
	}
}

/* Without one of the two registers the frame cannot be found, now or later. */
static void settle(struct flow_state *s)
{
	if (!s->outermost && !s->sp_known && s->fp_is != FLOW_FP_FRAME)
		*s = nothing;
}

/*
 * The psABI marks the outermost frame by a frame pointer of zero. Who writes that over the
 * caller's, which is nowhere else, has no caller to return to: a thread at its start.
 */
bool flow_ends_frames(const struct flow_state *s, const struct flow_op *op)
{
	return op->flags & FLOW_ZEROES_FP && !s->unknown && !s->outermost && !s->saved &&
	       s->fp_is == FLOW_FP_CALLER;
}

void flow_step(struct flow_state *s, const struct flow_op *op)
{
	bool save = op->effect == FLOW_SAVE_FP && s->fp_is == FLOW_FP_CALLER && !s->saved;
	int64_t at;

	if (s->unknown || s->outermost)
		return;
	if (flow_ends_frames(s, op)) {
		*s = flow_outermost;
		return;
	}
	if (op->size && op->effect != FLOW_LOAD_FP && place_of(s, op, &at)) {
		stored(s, at, op->size);
		if (save && !s->unknown && at == (int32_t)at) {
			s->saved = true;
			s->slot = at;
		}
	}
	if (s->unknown)
		return;
	apply(s, op);
	if (op->next == FLOW_CALL || op->next == FLOW_CALL_ANY ||
	    op->next == FLOW_CALL_POINTER) {
		/* below SP the stack is the callee's */
		if (s->saved && s->sp_known && s->slot < -s->sp)
			lose_slot(s);
	}
	settle(s);
}

bool flow_join(struct flow_state *to, const struct flow_state *s)
{
	struct flow_state old = *to;

	if (to->unknown)
		return false;
	if (s->unknown || s->outermost != to->outermost) {
		*to = nothing;
		return true;
	}
	if (to->outermost)
		return false;
	if (to->sp_known && (!s->sp_known || s->sp != to->sp))
		lose_sp(to);
	if (to->saved && (!s->saved || s->slot != to->slot))
		lose_slot(to);
	if (to->fp_is != s->fp_is || to->fp != s->fp)
		fp_is(to, FLOW_FP_OTHER, 0);
	settle(to);
	return old.sp_known != to->sp_known || old.saved != to->saved ||
	       old.fp_is != to->fp_is || old.unknown != to->unknown;
}

bool flow_same(const struct flow_state *a, const struct flow_state *b)
{
	if (a->unknown || b->unknown || a->outermost || b->outermost)
		return !a->unknown && !b->unknown && a->outermost == b->outermost;
	if (a->sp_known != b->sp_known || a->sp != b->sp || a->saved != b->saved ||
	    a->slot != b->slot)
		return false;
	/* what FP holds may differ, unless the caller's is in it, or it is needed for the CFA */
	return (a->saved && a->sp_known) || (a->fp_is == b->fp_is && a->fp == b->fp);
}

bool flow_differ(const struct flow_state *a, const struct flow_state *b)
{
	if (a->unknown || b->unknown)
		return false;
	if (a->outermost || b->outermost)
		return a->outermost != b->outermost;
	if (a->sp_known && b->sp_known)
		return a->sp != b->sp;
	return a->fp_is == FLOW_FP_FRAME && b->fp_is == FLOW_FP_FRAME && a->fp != b->fp;
}

bool flow_is_entered(const struct flow_state *s)
{
	return !s->unknown && !s->outermost && s->sp_known && s->sp == RA_SIZE &&
	       s->fp_is == FLOW_FP_CALLER;
}

bool flow_row(const struct gen_arch *arch, const struct flow_state *s, bool by_fp,
	      struct cfi_state *row)
{
	if (s->unknown)
		return false;
	*row = (struct cfi_state){
		.cfa = { .how = CFI_REG, .reg = arch->abi->reg_sp, .off = RA_SIZE },
		.ra = { .how = CFI_AT_CFA, .off = arch->abi->ra_off },
	};
	if (s->outermost) {
		row->ra = (struct cfi_rule){ .how = CFI_UNDEF };
		return true;
	}
	if (s->sp_known && !(by_fp && s->fp_is == FLOW_FP_FRAME)) {
		row->cfa.off = s->sp;
	} else {
		row->cfa.reg = arch->abi->reg_fp;
		row->cfa.off = s->fp;
	}
	if (s->saved && !(by_fp && s->fp_is == FLOW_FP_CALLER))
		row->fp = (struct cfi_rule){ .how = CFI_AT_CFA, .off = s->slot };
	return s->saved || s->fp_is == FLOW_FP_CALLER;
}

bool flow_from_row(const struct gen_arch *arch, const struct cfi_state *row, struct flow_state *s)
{
	*s = (struct flow_state){ .fp_is = FLOW_FP_OTHER };
	if (row->flags || row->cfa.how != CFI_REG || row->ra.how != CFI_AT_CFA ||
	    row->ra.off != arch->abi->ra_off)
		return false;
	if (row->fp.how == CFI_AT_CFA) {
		s->saved = true;
		s->slot = row->fp.off;
	} else if (row->fp.how != CFI_SAME) {
		return false;
	}
	if (row->cfa.reg == arch->abi->reg_sp) {
		s->sp_known = true;
		s->sp = row->cfa.off;
		if (!s->saved)
			s->fp_is = FLOW_FP_CALLER;
		return s->sp >= RA_SIZE && s->sp <= MAX_FRAME;
	}
	if (row->cfa.reg != arch->abi->reg_fp || !s->saved)
		return false;
	frame_at(s, row->cfa.off);
	return true;
}

bool flow_contradicts(const struct gen_arch *arch, const struct flow_state *s,
		      const struct cfi_state *row)
{
	if (s->unknown || s->outermost || row->cfa.how != CFI_REG)
		return false;
	/* who starts a thread goes to code that has no caller, see gen_flow_walk.c */
	if (row->ra.how != CFI_AT_CFA)
		return false;
	if (row->cfa.reg == arch->abi->reg_sp && s->sp_known)
		return row->cfa.off != s->sp;
	if (row->cfa.reg == arch->abi->reg_fp && s->fp_is == FLOW_FP_FRAME)
		return row->cfa.off != s->fp;
	return false;
}
