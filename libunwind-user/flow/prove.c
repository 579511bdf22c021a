// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * prove.c - proves code that is not reached for sure by where it goes
 *
 * Such code follows a call that may not return, or is a function that is known by its address only.
 * A state makes several claims: how far SP is from the CFA, what FP holds, where the caller's FP is
 * saved. With a register for the return address, the same claims exist for the return address. Each
 * claim is proved by itself:
 *
 * A claim is proved before an instruction if execution goes on for sure to a place where a claim
 * computed from it is proved. For example, if SP is proved after `sub $8,%rsp`, it is proved before
 * it. If SP is proved after `leave` or `lea -40(%rbp),%rsp`, FP is proved before it: where SP was
 * before does not matter. A proof of a value read back from the stack is a proof of the slot, if
 * the register used for the read is proved too. Proofs start
 *	- at a return: the return address is at SP, and FP is as the caller left it;
 *	- at the end of a stub, a function by a symbol without a size, see ends_stub();
 *	- where code goes on, by a jump or by itself, to code that is known to be right, and both
 *	  make equal claims. The right code is in gaps or has .eh_frame, which also has the starts
 *	  of functions that are jumped to;
 *	- at the end of the outermost frame, which never returns: where nothing follows, or the
 *	  program is jumped to;
 *	- at calls in functions whose address is taken. Such functions may never return, for
 *	  example those of threads. The ABI wants SP at a multiple of 16 before a call. So at the
 *	  address that was taken, SP is 8 off a multiple of 16. This holds where a function starts,
 *	  and not at labels in the middle of a function that has calls. (Functions that align SP at
 *	  their start are different.)
 *
 * No proof passes an edge that may not exist: the way back from a call that may not return, or a
 * branch to a block that a compiler may have left empty. The code after abort(), for example,
 * belongs to another function with another frame. There is one exception, see may_prove_back(): a
 * state without a caller claims nothing about a frame, so it cannot take the wrong frame.
 *
 * In a file with next to no .eh_frame, proofs pass calls that may not return, for two reasons:
 *	- Such a file has no landing pads, except those in a table of landing pads, because a C++
 *	  compiler writes .eh_frame for landing pads. (They follow each other, and calls that do not
 *	  return separate them. Each belongs to another frame.)
 *	- The walk knows the jumps to the code after abort(), because it follows the whole file.
 *
 * A proved node becomes sure, without the claims that are not proved. The places where it has to go
 * from there become sure too, and so do the functions it calls: functions that never return have no
 * other proof. All of these are walked again.
 *
 * On the other hand, a path that cannot avoid a contradiction has a wrong state somewhere. None of
 * its states is used, proved or not. These are contradictions: a return with SP elsewhere, known
 * code with another state, bytes that are not an instruction, or a call with SP not a multiple of
 * 16, against the ABI.
 */
#include <errno.h>
#include <stdlib.h>

#include "impl.h"

/* Rounds of backward jumps that a proof may need; only hostile input needs more. */
#define MAX_JUMP_ROUNDS	64
/* Rounds of proofs: a proof makes a function return for sure, which can prove its callers. */
#define MAX_PROOF_ROUNDS	32

#define ALL_CLAIMS	UINT8_MAX
/* The claims that a return proves */
#define RETURN_CLAIMS	(FLOW_SP | FLOW_FP | FLOW_RA)

/*
 * The claim before @op that the value of SP after @op rests on; 0: none. find_source_of_fp() does
 * the same for FP.
 */
static unsigned int find_source_of_sp(const struct arch_op *op)
{
	if (op->flags & ARCH_LOADS_SP)
		return FLOW_SP_SLOT;
	switch (op->effect) {
	case ARCH_SP_IS_FP:
	case ARCH_LEAVE:
		return FLOW_FP;
	case ARCH_LOSE_SP:
	case ARCH_LOSE_BOTH:
		return 0;
	default:
		return FLOW_SP;
	}
}

static unsigned int find_source_of_fp(const struct arch_op *op)
{
	if (op->flags & ARCH_LOADS_FP)
		return FLOW_FP_SLOT;
	switch (op->effect) {
	case ARCH_POP_FP:
	case ARCH_LEAVE:
		return FLOW_FP_SLOT;
	case ARCH_FP_IS_SP:
		return FLOW_SP;
	case ARCH_LOSE_FP:
	case ARCH_LOSE_BOTH:
		return 0;
	default:
		return FLOW_FP;
	}
}

/* The claims among @claims that @s makes */
static unsigned int get_made_claims(const struct arch_flow *arch, const struct arch_state *s,
				    unsigned int claims)
{
	return claims ? claims & flow_get_claims(arch, s) : 0;
}

/*
 * The claims of @s, before @op, that follow from the claims @proved of the state after it. A value
 * that was read back proves its slot if the place of the slot is known: from other claims, or
 * because the ABI has one place for it.
 */
static unsigned int infer_claims_before(const struct arch_flow *arch, const struct arch_state *s,
					const struct arch_op *op, unsigned int proved)
{
	unsigned int base = op->by_fp || op->effect == ARCH_LEAVE ? FLOW_FP : FLOW_SP;
	unsigned int needed = 0, loaded;

	if (!proved || s->outermost)
		return proved ? ALL_CLAIMS : 0;
	if (proved & FLOW_SP)
		needed |= find_source_of_sp(op);
	if (proved & FLOW_FP)
		needed |= find_source_of_fp(op);
	if (proved & FLOW_RA && op->flags & ARCH_LOADS_RA)
		needed |= FLOW_RA_SLOT;
	else if (proved & FLOW_RA && !(op->flags & ARCH_LOSES_RA))
		needed |= FLOW_RA;
	loaded = needed & (FLOW_FP_SLOT | FLOW_RA_SLOT | FLOW_SP_SLOT);
	if (arch->callee_area && loaded & FLOW_RA_SLOT && s->ra_slot == arch->abi_ra_slot)
		needed |= base;
	if (!(needed & base))
		needed &= ~loaded;
	/* a claim on a slot that was stored here was a claim on the register */
	if (proved & FLOW_FP_SLOT)
		needed |= s->fp_saved ? FLOW_FP_SLOT : needed & base ? FLOW_FP : 0;
	if (proved & FLOW_RA_SLOT)
		needed |= s->ra_saved ? FLOW_RA_SLOT : needed & base ? FLOW_RA : 0;
	if (proved & FLOW_SP_SLOT && s->sp_saved)
		needed |= FLOW_SP_SLOT;
	return get_made_claims(arch, s, needed);
}

/*
 * Does the node jump to an unknown place, with the return address in its register as on entry?
 * After a call, the address is there only if the function has read back the address that it had
 * saved. .init of s390x ends so.
 */
static bool ends_restored(struct flow *f, const struct flow_node *n)
{
	return f->arch->calls_leave_ra_in_reg && n->op.next == ARCH_JUMP_INDIRECT &&
	       !n->nr_targets && !f->func[n->func].taken && flow_is_entered(f->arch, &n->state);
}

/*
 * Does assembler code without a size jump to an unknown place with SP at the return address, as the
 * thousands of stubs of libGL do? Labels whose address is taken prove nothing: an interpreter jumps
 * from one label to the next.
 */
static bool ends_stub(struct flow *f, const struct flow_node *n)
{
	return f->func[n->func].named && n->op.next == ARCH_JUMP_INDIRECT && !n->nr_targets &&
	       flow_is_entered(f->arch, &n->state);
}

static bool contradicts_itself(struct flow *f, const struct flow_node *n)
{
	const struct arch_state *s = &n->state;

	switch (n->op.next) {
	case ARCH_BAD:
	case ARCH_RETURN_POP:
		return true;
	case ARCH_RETURN:
	case ARCH_MAYBE_RETURN:
		return s->outermost || (!s->unknown && !flow_is_entered(f->arch, s));
	case ARCH_CALL:
	case ARCH_CALL_UNKNOWN:
	case ARCH_CALL_POINTER:
		if (!s->unknown && !s->outermost && s->sp_known && s->sp_depth % f->arch->align)
			return true;
		break;
	}
	return flow_is_sigreturn(f, n);
}

/* Returns the claims of @s that hold at @pc, outside of the gaps. */
static unsigned int get_proved_outside(struct flow *f, uint64_t pc, const struct arch_state *s)
{
	const struct cfi_row *row = rows_find_rules(f->r, pc);
	struct arch_state known;

	if (!row || !flow_make_state(f->r->arch, row, &known))
		return 0;
	return flow_get_common_claims(f->arch, s, &known);
}

/*
 * May a proof pass an edge that may not exist? See above. Code without a caller has no frame that
 * could be wrong.
 */
static bool may_prove_back(const struct flow *f, const struct flow_node *n,
			   const struct flow_edge *e)
{
	return e->state.outermost ||
	       (f->mostly_gaps && (n->op.next == ARCH_CALL || n->op.next == ARCH_CALL_UNKNOWN));
}

static void prove_by_edge(struct flow *f, struct flow_node *n, const struct flow_edge *e)
{
	const struct flow_node *to;
	uint32_t byte = flow_find_byte(f, e->pc, NULL);
	unsigned int proved;

	if (e->kind == FLOW_EDGE_DOUBTFUL && !may_prove_back(f, n, e))
		return;
	if (byte == UINT32_MAX) {
		if (e->kind >= FLOW_EDGE_RETURN)
			return;
		if (!flow_may_leave(f, e->pc, &e->state))
			n->disproved = true;
		else
			n->proved |= infer_claims_before(f->arch, &n->state, &n->op,
							 get_proved_outside(f, e->pc, &e->state));
		return;
	}
	if (!f->node_of[byte])
		return;
	to = &f->node[f->node_of[byte] - 1];
	if (to->sure) {
		if (!flow_is_usable(f, to))
			return;
		if (e->kind != FLOW_EDGE_DOUBTFUL && flow_sp_differs(&e->state, &to->state))
			n->disproved = true;
		proved = ALL_CLAIMS;
	} else {
		if (e->kind != FLOW_EDGE_DOUBTFUL && to->disproved)
			n->disproved = true;
		proved = to->disproved ? 0 : to->proved;
	}
	if (proved)
		proved &= flow_get_common_claims(f->arch, &e->state, &to->state);
	n->proved |= infer_claims_before(f->arch, &n->state, &n->op, proved);
}

/* Returns the claims that the instruction itself proves. */
static unsigned int get_proved_here(struct flow *f, const struct flow_node *n)
{
	if (flow_ends_frames(&n->state, &n->op))
		return ALL_CLAIMS;
	if (((n->op.next == ARCH_RETURN || n->op.next == ARCH_MAYBE_RETURN) &&
	     flow_is_entered(f->arch, &n->state)) || ends_restored(f, n) || ends_stub(f, n))
		return RETURN_CLAIMS;
	if (f->func[n->func].taken && flow_calls_aligned(f, n))
		return ALL_CLAIMS;
	if (n->state.outermost && (n->op.next == ARCH_JUMP_INDIRECT || n->op.next == ARCH_STOP))
		return ALL_CLAIMS;
	return 0;
}

static bool prove_node(struct flow *f, struct flow_node *n)
{
	struct flow_edge edge[2];
	bool disproved = n->disproved;
	uint8_t proved = n->proved;
	unsigned int nr, i;

	if (contradicts_itself(f, n))
		n->disproved = true;
	else
		n->proved |= get_made_claims(f->arch, &n->state, get_proved_here(f, n));
	nr = flow_find_edges(f, n, edge);
	for (i = 0; i < nr; i++)
		prove_by_edge(f, n, &edge[i]);
	for (i = 0; i < n->nr_targets; i++) {
		flow_find_target(f, n, i, &edge[0]);
		prove_by_edge(f, n, &edge[0]);
	}
	return proved != n->proved || disproved != n->disproved;
}

/* Nodes that are not sure, from the last byte of the gaps to the first; until believe_proved() */
static uint32_t *find_unsure(const struct flow *f, uint32_t *nr)
{
	uint32_t *unsure = malloc((f->nr_nodes + 1ul) * sizeof(*unsure)), byte, i;

	*nr = 0;
	for (byte = f->size; unsure && byte--; ) {
		i = f->node_of[byte];
		if (i && !f->node[i - 1].sure)
			unsure[(*nr)++] = i - 1;
	}
	return unsure;
}

/* Prove the nodes that are not sure, until no proof adds a claim. */
static int prove_nodes(struct flow *f)
{
	uint32_t nr, i, *unsure = find_unsure(f, &nr);
	unsigned int round;
	bool again = true;

	if (!unsure)
		return -ENOMEM;
	/* first disprove claims, since wrong claims spoil proofs */
	for (round = 0; round < MAX_JUMP_ROUNDS && again; round++) {
		again = false;
		for (i = 0; i < nr; i++) {
			again |= prove_node(f, &f->node[unsure[i]]);
			f->steps += 1 + f->node[unsure[i]].nr_targets;
		}
		if (flow_costs_too_much(f))
			goto out;
	}
	for (i = 0; again && i < f->nr_nodes; i++)
		f->node[i].disproved = true;
out:
	free(unsure);
	return 0;
}

/* Drop all claims that are not proved; false if the rest makes no row. */
static bool drop_unproved_claims(struct flow *f, struct flow_node *n)
{
	struct arch_state s = n->state;
	struct cfi_row row;

	flow_drop_other_claims(f->arch, &s, n->proved);
	if (!flow_make_row(f->r->arch, &s, false, &row))
		return false;
	n->state = s;
	return true;
}

static bool believe_proved(struct flow *f)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < f->nr_nodes; i++) {
		if (f->node[i].sure || !f->node[i].proved || f->node[i].disproved ||
		    !drop_unproved_claims(f, &f->node[i]))
			continue;
		flow_mark_sure(f, i);
		any = true;
	}
	return any;
}

int flow_prove(struct flow *f)
{
	unsigned int round;
	int ret = 0;

	for (round = 0; round < MAX_PROOF_ROUNDS && !ret; round++) {
		ret = prove_nodes(f);
		if (ret || !believe_proved(f))
			break;
		ret = flow_walk(f);
	}
	return ret;
}
