// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_flow_prove - what is not reached for sure is right if it gets to where it must be
 *
 * Such code is what lies behind a call that may not return, and functions that are known by their
 * address only. If the state there is wrong, SP is off by something, and stays so, since
 * instructions move SP by what they say whatever it is. A return, or a jump to the start of a
 * function, needs SP at the return address, and FP as the caller left it: a path that ends there
 * with a state that says so proves all states on its way. So does one that gets to code which is
 * known to be right, with the state that is known there. The outermost frame never returns: it ends
 * where nothing comes behind, or the program is jumped to.
 *
 * A function whose address is taken may not return at all: those of threads. There a call is a
 * proof: the ABI wants SP at a multiple of 16 in front of it, so at the address that was taken SP
 * is 8 off that, as it is where a function begins, and is not at labels in the middle of one that
 * has calls. (Not so where SP is aligned at the start of functions, too.)
 *
 * What is proved is sure, and so is where it has to go from there, and the functions it calls:
 * those that never return have no other proof. All that is walked again.
 *
 * On the other hand, a path from which something contradictory cannot be avoided has a wrong state
 * somewhere, and none of it is believed, proved or not: a return with SP elsewhere; known code with
 * another state; no instruction; a call with SP not a multiple of 16, which the ABI wants.
 */
#include "gen_flow.h"

/* Backward jumps in a row that a proof may have to pass; more are for input made to be slow. */
#define MAX_ROUNDS	64
/* What is proved lets functions return for sure, and so on up the calls. */
#define MAX_RISES	32

/*
 * A jump to who knows where, with the return address in its register as on entry: behind a call it
 * is there only if it was read back from where a function had saved it. So .init of s390x ends.
 */
static bool ends_restored(struct flow *f, const struct flow_node *n)
{
	return f->arch->link && n->op.next == FLOW_JUMP_ANY && !n->nr_targets &&
	       !f->func[n->func].taken && flow_is_entered(f->arch, &n->state);
}

static bool contradicts_itself(struct flow *f, const struct flow_node *n)
{
	const struct flow_state *s = &n->state;

	switch (n->op.next) {
	case FLOW_BAD:
	case FLOW_RETURN_POP:
		return true;
	case FLOW_RETURN:
	case FLOW_MAYBE_RETURN:
		return s->outermost || (!s->unknown && !flow_is_entered(f->arch, s));
	case FLOW_CALL:
	case FLOW_CALL_ANY:
	case FLOW_CALL_POINTER:
		if (!s->unknown && !s->outermost && s->sp_known && s->sp % f->arch->align)
			return true;
		break;
	}
	return flow_is_sigreturn(f, n);
}

static void look_at_edge(struct flow *f, struct flow_node *n, const struct flow_edge *e)
{
	const struct flow_node *to;
	uint32_t byte = flow_byte(f, e->pc, NULL);
	bool must = e->kind != FLOW_EDGE_MAYBE_BACK;

	if (byte == UINT32_MAX) {
		if (e->kind >= FLOW_EDGE_BACK)
			return;
		if (!flow_may_leave(f, e->pc, &e->state))
			n->disproved = true;
		else if (flow_is_entered(f->arch, &e->state))
			n->proved = true;
		return;
	}
	if (!f->node_of[byte])
		return;
	to = &f->node[f->node_of[byte] - 1];
	if (!must && f->marks[byte] & (FLOW_ENTRY | FLOW_END))
		return;
	if (to->sure) {
		if (!flow_counts(f, to))
			return;
		if (must && flow_differ(&e->state, &to->state))
			n->disproved = true;
		n->proved |= flow_same(&e->state, &to->state);
		return;
	}
	if (must && to->disproved)
		n->disproved = true;
	n->proved |= to->proved && !to->disproved && flow_same(&e->state, &to->state);
}

static bool look_at(struct flow *f, struct flow_node *n)
{
	struct flow_edge edge[2], jump = { .kind = FLOW_EDGE_JUMP };
	bool proved = n->proved, disproved = n->disproved;
	unsigned int nr, i;

	if (contradicts_itself(f, n))
		n->disproved = true;
	else if ((n->op.next == FLOW_RETURN || n->op.next == FLOW_MAYBE_RETURN) &&
		 flow_is_entered(f->arch, &n->state))
		n->proved = true;
	else if (ends_restored(f, n))
		n->proved = true;
	else if (f->func[n->func].taken && flow_calls_aligned(f, n))
		n->proved = true;
	else if (n->state.outermost &&
		 (n->op.next == FLOW_JUMP_ANY || n->op.next == FLOW_STOP))
		n->proved = true;
	nr = flow_edges(f, n, edge);
	for (i = 0; i < nr; i++)
		look_at_edge(f, n, &edge[i]);
	jump.state = n->state;
	flow_step(f->arch, &jump.state, &n->op);
	for (i = 0; i < n->nr_targets; i++) {
		jump.pc = f->target[n->table + i];
		look_at_edge(f, n, &jump);
	}
	return proved != n->proved || disproved != n->disproved;
}

static void prove(struct flow *f)
{
	unsigned int round;
	bool again = true;
	uint32_t i, byte;

	/* what is disproved first, since it spoils proofs */
	for (round = 0; round < MAX_ROUNDS && again; round++) {
		again = false;
		for (byte = f->size; byte--; ) {
			i = f->node_of[byte];
			if (!i || f->node[i - 1].sure)
				continue;
			again |= look_at(f, &f->node[i - 1]);
			f->steps += 1 + f->node[i - 1].nr_targets;
		}
		if (flow_is_too_much(f))
			return;
	}
	for (i = 0; again && i < f->nr_nodes; i++)
		f->node[i].disproved = true;
}

static bool believe(struct flow *f)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < f->nr_nodes; i++) {
		if (f->node[i].sure || !f->node[i].proved || f->node[i].disproved)
			continue;
		flow_is_sure(f, i);
		any = true;
	}
	return any;
}

int flow_prove(struct flow *f)
{
	unsigned int round;
	int ret = 0;

	for (round = 0; round < MAX_RISES && !ret; round++) {
		prove(f);
		if (!believe(f))
			break;
		ret = flow_walk(f);
	}
	return ret;
}
