// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * state.c - what an instruction does to the known state of the frame
 *
 * Addresses on the stack are expressed by their distance from the CFA. struct arch_flow says where
 * the CFA is, and where SP and the return address are when a function is entered: right below the
 * CFA, with SP pointing there, or in a register. Code that moves SP above its place at entry has
 * taken something off the stack: from there on nothing is known. The same holds where the return
 * address is neither in its register nor saved, and where it is overwritten. (Code that hides jumps
 * from the processor overwrites it.)
 *
 * The caller's FP and the return address are in their registers, in a slot, or both. A slot counts
 * from the store until something else is stored there. A slot below SP also ends at a call, which
 * may overwrite it.
 */
#include "impl.h"

#define WORD		8
#define MAX_FRAME	(1 << 30)

const struct arch_state flow_outermost = { .outermost = true };

static const struct arch_state nothing = { .unknown = true };

static void lose_fp_slot(struct arch_state *s)
{
	s->fp_saved = false;
	s->fp_slot = 0;
}

static void set_fp(struct arch_state *s, enum arch_fp what, int32_t fp)
{
	s->fp_is = what;
	s->fp_depth = what == ARCH_FP_FRAME ? fp : 0;
}

static void lose_ra_slot(struct arch_state *s)
{
	s->ra_saved = false;
	s->ra_slot = 0;
}

static void lose_sp_slot(struct arch_state *s)
{
	s->sp_saved = false;
	s->sp_slot = 0;
}

/* An instruction stores at CFA + @at. */
static void note_store(struct arch_state *s, int64_t at, unsigned int size)
{
	if (s->fp_saved && at < s->fp_slot + (int64_t)WORD && s->fp_slot < at + size)
		lose_fp_slot(s);
	if (s->ra_saved && at < s->ra_slot + (int64_t)WORD && s->ra_slot < at + size)
		lose_ra_slot(s);
	if (s->sp_saved && at < s->sp_slot + (int64_t)WORD && s->sp_slot < at + size)
		lose_sp_slot(s);
}

/* Values below SP were popped. Their slots do not matter if the register has its old value. */
static void drop_popped(const struct arch_flow *arch, struct arch_state *s)
{
	int32_t below = arch->callee_area - s->sp_depth;

	if (s->fp_saved && s->fp_is == ARCH_FP_CALLER && s->fp_slot < below)
		lose_fp_slot(s);
	if (s->ra_saved && s->ra_in_reg && s->ra_slot < below)
		lose_ra_slot(s);
	if (s->sp_saved && s->sp_depth == arch->entered.sp_depth && s->sp_slot < below)
		lose_sp_slot(s);
}

static void set_sp(const struct arch_flow *arch, struct arch_state *s, int64_t sp)
{
	if (sp < arch->entered.sp_depth || sp > MAX_FRAME) {
		*s = nothing;
		return;
	}
	s->sp_depth = sp;
	s->sp_known = true;
	drop_popped(arch, s);
}

static void lose_sp(struct arch_state *s)
{
	s->sp_known = false;
	s->sp_depth = 0;
}

static void push_word(const struct arch_flow *arch, struct arch_state *s, bool is_fp)
{
	if (!s->sp_known)
		return;
	set_sp(arch, s, s->sp_depth + (int64_t)WORD);
	note_store(s, -(int64_t)s->sp_depth, WORD);
	if (is_fp && !s->unknown && s->fp_is == ARCH_FP_CALLER && !s->fp_saved) {
		s->fp_saved = true;
		s->fp_slot = -s->sp_depth;
	}
}

static void pop_word(const struct arch_flow *arch, struct arch_state *s, bool to_fp)
{
	int32_t at = -s->sp_depth;

	if (to_fp)
		set_fp(s, s->sp_known && s->fp_saved && s->fp_slot == at ? ARCH_FP_CALLER :
		       ARCH_FP_OTHER, 0);
	if (s->sp_known)
		set_sp(arch, s, s->sp_depth - (int64_t)WORD);
}

/* CFA + *@at is the address base + off. */
static bool find_place(const struct arch_state *s, const struct arch_op *op, int64_t *at)
{
	if (op->by_fp) {
		*at = (int64_t)op->off - s->fp_depth;
		return s->fp_is == ARCH_FP_FRAME;
	}
	*at = (int64_t)op->off - s->sp_depth;
	return s->sp_known;
}

static void set_fp_frame(struct arch_state *s, int64_t fp)
{
	if (fp < -MAX_FRAME || fp > MAX_FRAME)
		set_fp(s, ARCH_FP_OTHER, 0);
	else
		set_fp(s, ARCH_FP_FRAME, fp);
}

static void store_regs(const struct arch_flow *arch, struct arch_state *s, const struct arch_op *op)
{
	bool fp = op->flags & ARCH_STORES_FP && s->fp_is == ARCH_FP_CALLER;
	bool ra = op->flags & ARCH_STORES_RA && s->ra_in_reg;
	bool sp = op->flags & ARCH_STORES_SP && s->sp_known &&
		  s->sp_depth == arch->entered.sp_depth;
	int64_t at;

	if (!find_place(s, op, &at))
		return;
	note_store(s, at, op->size);
	if (at < -MAX_FRAME || at > MAX_FRAME)
		return;
	if (fp && !s->fp_saved) {
		s->fp_saved = true;
		s->fp_slot = at + op->fp_at;
	}
	if (ra && !s->ra_saved) {
		s->ra_saved = true;
		s->ra_slot = at + op->ra_at;
	}
	if (sp && !s->sp_saved) {
		s->sp_saved = true;
		s->sp_slot = at + op->sp_at;
	}
}

static void load_regs(const struct arch_flow *arch, struct arch_state *s, const struct arch_op *op)
{
	int64_t at = 0;
	bool known = find_place(s, op, &at);
	bool sp = known && s->sp_saved && s->sp_slot == at + op->sp_at;

	if (op->flags & ARCH_LOADS_FP)
		set_fp(s, known && s->fp_saved && s->fp_slot == at + op->fp_at ? ARCH_FP_CALLER :
		       ARCH_FP_OTHER, 0);
	if (op->flags & ARCH_LOADS_RA)
		s->ra_in_reg = known && s->ra_saved && s->ra_slot == at + op->ra_at;
	if (op->flags & ARCH_LOADS_SP && sp)
		set_sp(arch, s, arch->entered.sp_depth);
	else if (op->flags & ARCH_LOADS_SP)
		lose_sp(s);
}

/* A value that was saved before differs from the register after signing. */
static void sign_ra(struct arch_state *s, bool mangled)
{
	if (!s->ra_in_reg || s->mangled == mangled)
		*s = nothing;
	s->mangled = mangled;
	lose_ra_slot(s);
}

static void apply_op(const struct arch_flow *arch, struct arch_state *s, const struct arch_op *op)
{
	switch (op->effect) {
	case ARCH_NONE:
		break;
	case ARCH_PUSH:
	case ARCH_PUSH_FP:
		push_word(arch, s, op->effect == ARCH_PUSH_FP);
		break;
	case ARCH_POP:
	case ARCH_POP_FP:
		pop_word(arch, s, op->effect == ARCH_POP_FP);
		break;
	case ARCH_ADD_SP:
		if (s->sp_known)
			set_sp(arch, s, (int64_t)s->sp_depth - op->n);
		break;
	case ARCH_SP_IS_FP:
	case ARCH_LEAVE:
		if (s->fp_is == ARCH_FP_FRAME)
			set_sp(arch, s, (int64_t)s->fp_depth - op->n);
		else
			lose_sp(s);
		if (op->effect == ARCH_LEAVE && !s->unknown)
			pop_word(arch, s, true);
		break;
	case ARCH_FP_IS_SP:
		if (s->sp_known)
			set_fp_frame(s, (int64_t)s->sp_depth - op->n);
		else
			set_fp(s, ARCH_FP_OTHER, 0);
		break;
	case ARCH_FP_IS_FP:
		if (s->fp_is == ARCH_FP_FRAME)
			set_fp_frame(s, (int64_t)s->fp_depth - op->n);
		else
			set_fp(s, ARCH_FP_OTHER, 0);
		break;
	case ARCH_LOSE_SP:
		lose_sp(s);
		break;
	case ARCH_LOSE_FP:
		set_fp(s, ARCH_FP_OTHER, 0);
		break;
	default:
		*s = nothing;
	}
}

/* Without a CFA or a return address, no caller can be found, now or later. */
static void drop_useless_state(struct arch_state *s)
{
	if (!s->outermost && ((!s->sp_known && s->fp_is != ARCH_FP_FRAME) ||
			      (!s->ra_in_reg && !s->ra_saved)))
		*s = nothing;
}

/*
 * The psABI marks the outermost frame by a frame pointer of zero. At its start, where the system
 * call that made it returns, a thread overwrites the caller's FP, of which there is no copy.
 * Elsewhere FP is an ordinary register, and its value may be in another register, which this file
 * does not follow.
 */
bool flow_ends_frames(const struct arch_state *s, const struct arch_op *op)
{
	return op->flags & ARCH_ZEROES_FP && !s->unknown && !s->outermost && s->after_syscall &&
	       !s->fp_saved && s->fp_is == ARCH_FP_CALLER;
}

/* Does the instruction only test the result of a system call? */
static bool only_tests_result(const struct arch_op *op)
{
	return op->effect == ARCH_NONE && !op->size && !(op->flags & ~ARCH_ZEROES_FP) &&
	       (op->next == ARCH_FALLTHROUGH || op->next == ARCH_BRANCH || op->next == ARCH_JUMP);
}

void flow_step(const struct arch_flow *arch, struct arch_state *s, const struct arch_op *op)
{
	int32_t below;

	if (s->unknown || s->outermost)
		return;
	if (flow_ends_frames(s, op)) {
		*s = flow_outermost;
		return;
	}
	s->after_syscall = op->flags & ARCH_ENTERS_KERNEL ||
			   (s->after_syscall && only_tests_result(op));
	if (op->size)
		store_regs(arch, s, op);
	if (op->flags & ARCH_LOADS)
		load_regs(arch, s, op);
	if (op->flags & ARCH_LOSES_RA)
		s->ra_in_reg = false;
	if (op->flags & (ARCH_SIGNS_RA | ARCH_STRIPS_RA))
		sign_ra(s, op->flags & ARCH_SIGNS_RA);
	if (s->unknown)
		return;
	apply_op(arch, s, op);
	if (op->next == ARCH_CALL || op->next == ARCH_CALL_UNKNOWN ||
	    op->next == ARCH_CALL_POINTER) {
		s->ra_in_reg = false;
		below = arch->callee_area - s->sp_depth;
		if (s->fp_saved && s->sp_known && s->fp_slot < below)
			lose_fp_slot(s);
		if (s->ra_saved && s->sp_known && s->ra_slot < below)
			lose_ra_slot(s);
		if (s->sp_saved && s->sp_known && s->sp_slot < below)
			lose_sp_slot(s);
	}
	drop_useless_state(s);
}

bool flow_merge_state(struct arch_state *to, const struct arch_state *s)
{
	struct arch_state old = *to;

	if (to->unknown)
		return false;
	if (s->unknown || s->outermost != to->outermost || s->mangled != to->mangled) {
		*to = nothing;
		return true;
	}
	if (to->outermost)
		return false;
	if (to->sp_known && (!s->sp_known || s->sp_depth != to->sp_depth))
		lose_sp(to);
	if (to->fp_saved && (!s->fp_saved || s->fp_slot != to->fp_slot))
		lose_fp_slot(to);
	if (to->ra_saved && (!s->ra_saved || s->ra_slot != to->ra_slot))
		lose_ra_slot(to);
	if (to->sp_saved && (!s->sp_saved || s->sp_slot != to->sp_slot))
		lose_sp_slot(to);
	to->ra_in_reg &= s->ra_in_reg;
	to->after_syscall &= s->after_syscall;
	if (to->fp_is != s->fp_is || to->fp_depth != s->fp_depth)
		set_fp(to, ARCH_FP_OTHER, 0);
	drop_useless_state(to);
	return old.sp_known != to->sp_known || old.fp_saved != to->fp_saved ||
	       old.ra_saved != to->ra_saved || old.sp_saved != to->sp_saved ||
	       old.ra_in_reg != to->ra_in_reg || old.after_syscall != to->after_syscall ||
	       old.fp_is != to->fp_is || old.unknown != to->unknown;
}

bool flow_is_same_state(const struct arch_state *a, const struct arch_state *b)
{
	if (a->unknown || b->unknown || a->outermost || b->outermost)
		return !a->unknown && !b->unknown && a->outermost == b->outermost;
	if (a->sp_known != b->sp_known || a->sp_depth != b->sp_depth ||
	    a->fp_saved != b->fp_saved || a->fp_slot != b->fp_slot || a->ra_saved != b->ra_saved ||
	    a->ra_slot != b->ra_slot || a->ra_in_reg != b->ra_in_reg || a->mangled != b->mangled)
		return false;
	/* FP may differ, unless it holds the caller's value or the CFA counts from it */
	return (a->fp_saved && a->sp_known) || (a->fp_is == b->fp_is && a->fp_depth == b->fp_depth);
}

bool flow_sp_differs(const struct arch_state *a, const struct arch_state *b)
{
	if (a->unknown || b->unknown)
		return false;
	if (a->outermost || b->outermost)
		return a->outermost != b->outermost;
	if (a->sp_known && b->sp_known)
		return a->sp_depth != b->sp_depth;
	return a->fp_is == ARCH_FP_FRAME && b->fp_is == ARCH_FP_FRAME && a->fp_depth != b->fp_depth;
}

bool flow_is_entered(const struct arch_flow *arch, const struct arch_state *s)
{
	return !s->unknown && !s->outermost && s->sp_known && s->fp_is == ARCH_FP_CALLER &&
	       !flow_cannot_return(arch, s);
}

bool flow_cannot_return(const struct arch_flow *arch, const struct arch_state *s)
{
	if (s->unknown)
		return false;
	return s->outermost || (s->sp_known && s->sp_depth != arch->entered.sp_depth) ||
	       s->ra_in_reg != arch->entered.ra_in_reg || s->mangled;
}

bool flow_make_row(const struct arch *arch, const struct arch_state *s, bool by_fp,
		   struct cfi_row *row)
{
	if (s->unknown)
		return false;
	*row = (struct cfi_row){
		.cfa = { .how = CFI_REG, .reg = arch->abi->reg_sp,
			 .off = arch->flow->entered.sp_depth },
		.flags = s->mangled ? CFI_MANGLED : 0,
	};
	if (s->outermost) {
		row->ra = (struct cfi_rule){ .how = CFI_UNDEF };
		return true;
	}
	/* in outer frames, the register no longer has the return address */
	if (s->ra_saved && !(by_fp && s->ra_in_reg))
		row->ra = (struct cfi_rule){ .how = CFI_AT_CFA, .off = s->ra_slot };
	if (s->sp_known && !(by_fp && s->fp_is == ARCH_FP_FRAME)) {
		row->cfa.off = s->sp_depth;
	} else {
		row->cfa.reg = arch->abi->reg_fp;
		row->cfa.off = s->fp_depth;
	}
	if (s->fp_saved && !(by_fp && s->fp_is == ARCH_FP_CALLER))
		row->fp = (struct cfi_rule){ .how = CFI_AT_CFA, .off = s->fp_slot };
	return s->fp_saved || s->fp_is == ARCH_FP_CALLER;
}

bool flow_make_state(const struct arch *arch, const struct cfi_row *row, struct arch_state *s)
{
	*s = (struct arch_state){
		.fp_is = ARCH_FP_OTHER, .mangled = row->flags & CFI_MANGLED,
	};
	if (row->flags & CFI_SIGNAL || row->cfa.how != CFI_REG)
		return false;
	if (row->ra.how == CFI_AT_CFA) {
		s->ra_saved = true;
		s->ra_slot = row->ra.off;
	} else if (row->ra.how == CFI_SAME) {
		s->ra_in_reg = true;
	}
	if (!arch->flow->calls_leave_ra_in_reg && (!s->ra_saved || s->ra_slot != arch->abi->ra_off))
		return false;
	if (!s->ra_saved && !s->ra_in_reg)
		return false;
	if (row->fp.how == CFI_AT_CFA) {
		s->fp_saved = true;
		s->fp_slot = row->fp.off;
	} else if (row->fp.how != CFI_SAME) {
		return false;
	}
	if (row->cfa.reg == arch->abi->reg_sp) {
		s->sp_known = true;
		s->sp_depth = row->cfa.off;
		/* After a pop, rows of compilers still say where FP was saved */
		if (s->fp_saved && s->sp_depth == arch->flow->entered.sp_depth &&
		    s->fp_slot < arch->flow->callee_area - s->sp_depth)
			lose_fp_slot(s);
		if (!s->fp_saved)
			s->fp_is = ARCH_FP_CALLER;
		return s->sp_depth >= arch->flow->entered.sp_depth && s->sp_depth <= MAX_FRAME;
	}
	if (row->cfa.reg != arch->abi->reg_fp || !s->fp_saved)
		return false;
	set_fp_frame(s, row->cfa.off);
	return true;
}

/* If calls leave the return address in a register, it must be where the row says. */
static bool ra_contradicts(const struct arch_state *s, const struct cfi_row *row)
{
	if (s->mangled != !!(row->flags & CFI_MANGLED))
		return true;
	if (row->ra.how == CFI_SAME)
		return !s->ra_in_reg;
	return !s->ra_saved || s->ra_slot != row->ra.off;
}

bool flow_contradicts(const struct arch *arch, const struct arch_state *s,
		      const struct cfi_row *row)
{
	if (s->unknown || s->outermost || row->cfa.how != CFI_REG)
		return false;
	/* the start of a thread enters code that has no caller, see walk.c */
	if (row->ra.how != CFI_AT_CFA &&
	    (!arch->flow->calls_leave_ra_in_reg || row->ra.how != CFI_SAME))
		return false;
	if (arch->flow->calls_leave_ra_in_reg && ra_contradicts(s, row))
		return true;
	if (row->cfa.reg == arch->abi->reg_sp && s->sp_known)
		return row->cfa.off != s->sp_depth;
	if (row->cfa.reg == arch->abi->reg_fp && s->fp_is == ARCH_FP_FRAME)
		return row->cfa.off != s->fp_depth;
	return false;
}

unsigned int flow_get_claims(const struct arch_flow *arch, const struct arch_state *s)
{
	if (s->unknown)
		return 0;
	if (s->outermost)
		return UINT8_MAX;
	/* without a link register, the CFA says where the return address is */
	return (s->sp_known ? FLOW_SP : 0) | (s->fp_is != ARCH_FP_OTHER ? FLOW_FP : 0) |
	       (s->fp_saved ? FLOW_FP_SLOT : 0) | (s->ra_in_reg ? FLOW_RA : 0) |
	       (s->sp_saved ? FLOW_SP_SLOT : 0) |
	       (s->ra_saved && arch->calls_leave_ra_in_reg ? FLOW_RA_SLOT : 0);
}

unsigned int flow_get_common_claims(const struct arch_flow *arch, const struct arch_state *a,
				    const struct arch_state *b)
{
	unsigned int both = flow_get_claims(arch, a) & flow_get_claims(arch, b);

	if (a->outermost != b->outermost)
		return 0;
	if (a->sp_depth != b->sp_depth)
		both &= ~FLOW_SP;
	if (a->fp_is != b->fp_is || a->fp_depth != b->fp_depth)
		both &= ~FLOW_FP;
	if (a->fp_slot != b->fp_slot)
		both &= ~FLOW_FP_SLOT;
	if (a->mangled != b->mangled)
		both &= ~(FLOW_RA | FLOW_RA_SLOT);
	if (a->ra_slot != b->ra_slot)
		both &= ~FLOW_RA_SLOT;
	if (a->sp_slot != b->sp_slot)
		both &= ~FLOW_SP_SLOT;
	return both;
}

void flow_drop_other_claims(const struct arch_flow *arch, struct arch_state *s, unsigned int claims)
{
	if (s->outermost)
		return;
	if (!(claims & FLOW_SP))
		lose_sp(s);
	if (!(claims & FLOW_FP))
		set_fp(s, ARCH_FP_OTHER, 0);
	if (!(claims & FLOW_FP_SLOT))
		lose_fp_slot(s);
	if (!(claims & FLOW_SP_SLOT))
		lose_sp_slot(s);
	if (arch->calls_leave_ra_in_reg && !(claims & FLOW_RA_SLOT))
		lose_ra_slot(s);
	s->ra_in_reg &= !!(claims & FLOW_RA);
	drop_useless_state(s);
}
