// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * walk.c - follows code from the entries along all paths, until no state changes any more
 *
 * edge.c says where execution goes on, and whether that is sure. Code that is not reached for sure
 * gets rows only after it is proved, see prove.c. It gives way to code that is reached for sure.
 *
 * The effect of a function on SP and FP is taken from its returns. Functions outside the gaps
 * follow the ABI, which leaves both alone.
 *
 * A function is bad, and has no rows, if
 *	- a sure path reaches bytes that are not an instruction,
 *	- a sure path returns with SP not at the return address,
 *	- a sure path goes on in code with a row of .eh_frame that says something else,
 *	- a sure path reaches a signal trampoline, which has a signal frame, or
 *	- a path loses SP, and the function has no return with SP at its place and no call with SP
 *	  aligned. Such a function may be entered with another stack: the resolver of ld.so is
 *	  entered with two more words on it.
 */
#include <errno.h>

#include "impl.h"

#define MAX_NODES	(1u << 19)
/* Tests that ignore .eh_frame follow whole libraries. */
#define MAX_NODES_TEST	(1u << 22)
/*
 * How often nodes are visited: a state changes a handful of times, and few proofs take many rounds.
 * Only hostile input needs more; this many visits take a second or two.
 */
#define MAX_STEPS	(16ull << 20)
#define MAX_STEPS_TEST	(256ull << 20)
/* Instructions that takes_other_frame() looks at */
#define MAX_AHEAD	8

uint32_t flow_find_byte(const struct flow *f, uint64_t pc, const struct flow_gap **gap)
{
	uint32_t i;

	bisect(i, f->nr_gaps, f->gap[i].end > pc);
	if (i == f->nr_gaps || f->gap[i].start > pc)
		return UINT32_MAX;
	if (gap)
		*gap = &f->gap[i];
	return f->gap[i].first_byte + (pc - f->gap[i].start);
}

/* --------------------------------- queues -------------------------------- */

static void add_to_queue(struct flow *f, struct flow_queue *q, uint32_t node)
{
	if (vec_grow32(&q->node, &q->room, q->nr, sizeof(*q->node)))
		f->no_memory = true;
	else
		q->node[q->nr++] = node;
}

static void queue_late(struct flow *f, uint32_t node)
{
	if (f->node[node].queued_late)
		return;
	f->node[node].queued_late = true;
	add_to_queue(f, &f->late, node);
}

static void queue_node(struct flow *f, uint32_t node)
{
	if (!f->node[node].sure) {
		queue_late(f, node);
	} else if (!f->node[node].queued) {
		f->node[node].queued = true;
		add_to_queue(f, &f->queue, node);
	}
}

/* ------------------------------- functions ------------------------------- */

uint32_t flow_find_func(struct flow *f, uint32_t func)
{
	while (f->func[func].parent != func) {
		f->func[func].parent = f->func[f->func[func].parent].parent;
		func = f->func[func].parent;
	}
	return func;
}

static struct flow_func *get_func(struct flow *f, uint32_t node)
{
	return &f->func[flow_find_func(f, f->node[node].func)];
}

static void queue_calls(struct flow *f, uint32_t call)
{
	for (; call != FLOW_NO_CALL; call = f->call[call].next) {
		queue_node(f, f->call[call].node);
		f->steps++;
	}
}

/* Set a field of @func that its callers depend on, and queue them. */
static void set_fact(struct flow *f, struct flow_func *func, bool *fact)
{
	if (*fact)
		return;
	*fact = true;
	queue_calls(f, func->calls);
}

static void unite_funcs(struct flow *f, uint32_t a, uint32_t b)
{
	struct flow_func *to, *from;

	a = flow_find_func(f, a);
	b = flow_find_func(f, b);
	if (a == b)
		return;
	to = &f->func[a];
	from = &f->func[b];
	if (to->may_return != from->may_return || to->does_return != from->does_return ||
	    to->unbalanced != from->unbalanced || to->loses_fp != from->loses_fp) {
		queue_calls(f, to->calls);
		queue_calls(f, from->calls);
	}
	from->parent = a;
	to->may_return |= from->may_return;
	to->does_return |= from->does_return;
	to->bad |= from->bad;
	to->unbalanced |= from->unbalanced;
	to->loses_fp |= from->loses_fp;
	to->lost |= from->lost;
	to->calls_aligned |= from->calls_aligned;
	if (from->calls == FLOW_NO_CALL)
		return;
	if (to->calls == FLOW_NO_CALL)
		to->calls = from->calls;
	else
		f->call[to->last_call].next = from->calls;
	to->last_call = from->last_call;
}

/* Let the node be queued when something about this function changes. */
static void add_call(struct flow *f, uint32_t node, uint32_t target)
{
	struct flow_func *func = &f->func[flow_find_func(f, target)];

	if (f->node[node].is_call)
		return;
	if (vec_grow32(&f->call, &f->room_calls, f->nr_calls, sizeof(*f->call))) {
		f->no_memory = true;
		return;
	}
	f->node[node].is_call = true;
	f->call[f->nr_calls] = (struct flow_call){ .node = node, .next = FLOW_NO_CALL };
	if (func->calls == FLOW_NO_CALL)
		func->calls = f->nr_calls;
	else
		f->call[func->last_call].next = f->nr_calls;
	func->last_call = f->nr_calls++;
}

static void mark_bad(struct flow *f, struct flow_func *func)
{
	func->bad = true;
	set_fact(f, func, &func->may_return);
	set_fact(f, func, &func->unbalanced);
}

/* --------------------------------- nodes --------------------------------- */

/* Add and queue the node at @byte, which is in @gap. Returns FLOW_NO_NODE if there is no room. */
static uint32_t add_node(struct flow *f, uint32_t byte, const struct flow_gap *gap,
			 const struct arch_state *state, uint32_t func, bool sure)
{
	uint32_t max = f->r->img->flags & ROWS_DROPS ? MAX_NODES_TEST : MAX_NODES;
	uint32_t n = f->nr_nodes, pc = gap->start + (byte - gap->first_byte);
	struct flow_node *node;

	if (n == max) {
		f->over_budget = true;
		return FLOW_NO_NODE;
	}
	if (vec_grow32(&f->node, &f->room_nodes, n, sizeof(*f->node))) {
		f->no_memory = true;
		return FLOW_NO_NODE;
	}
	node = &f->node[n];
	*node = (struct flow_node){
		.state = *state, .pc = pc, .func = func, .prev = FLOW_NO_NODE, .sure = sure,
	};
	f->arch->decode(f->decoder, f->code + byte, gap->end - pc,
			f->r->img->text.start + pc, &node->op);
	if (node->op.flags & ARCH_TAKES_ADDRESS ||
	    (node->op.flags & ARCH_TAKES_NUMBER && f->r->img->fixed))
		flow_note_address_taken(f, node->op.target);
	flow_mark_doubtful_edges(f, node);
	if (node->op.next == ARCH_JUMP_INDIRECT) {
		if (!vec_grow32(&f->jump, &f->room_jumps, f->nr_jumps, sizeof(*f->jump)))
			f->jump[f->nr_jumps++] = n;
		else
			f->no_memory = true;
	}
	f->nr_nodes++;
	f->node_of[byte] = n + 1;
	queue_node(f, n);
	return n;
}

void flow_mark_sure(struct flow *f, uint32_t node)
{
	f->node[node].sure = true;
	queue_node(f, node);
}

/* Another path reaches the node. A sure state replaces an unsure state, not the other way round. */
static void reach_node(struct flow *f, uint32_t n, const struct arch_state *s, uint32_t func,
		       bool sure)
{
	struct flow_node *node = &f->node[n];

	if (sure && !node->sure) {
		node->sure = true;
		node->state = *s;
		node->func = func;
		node->is_call = false;
		queue_node(f, n);
		return;
	}
	if (sure == node->sure && flow_merge_state(&node->state, s))
		queue_node(f, n);
	if (sure)
		unite_funcs(f, func, node->func);
}

static uint32_t add_func(struct flow *f)
{
	if (vec_grow32(&f->func, &f->room_funcs, f->nr_funcs, sizeof(*f->func))) {
		f->no_memory = true;
		return FLOW_NO_FUNC;
	}
	f->func[f->nr_funcs] = (struct flow_func){
		.parent = f->nr_funcs, .calls = FLOW_NO_CALL, .last_call = FLOW_NO_CALL,
	};
	return f->nr_funcs++;
}

uint32_t flow_enter(struct flow *f, uint32_t pc, const struct arch_state *state, bool sure)
{
	const struct flow_gap *gap;
	uint32_t byte = flow_find_byte(f, pc, &gap), n, func;

	f->marks[byte] |= FLOW_ENTRY;
	n = f->node_of[byte] - 1;
	if (f->node_of[byte] && f->node[n].sure >= sure) {
		reach_node(f, n, state, f->node[n].func, sure);
		return f->node[n].func;
	}
	func = add_func(f);
	if (func == FLOW_NO_FUNC)
		return func;
	if (f->node_of[byte])
		reach_node(f, n, state, func, sure);
	else if (add_node(f, byte, gap, state, func, sure) == FLOW_NO_NODE)
		return FLOW_NO_FUNC;
	return func;
}

bool flow_may_leave(struct flow *f, uint64_t pc, const struct arch_state *s)
{
	const struct cfi_row *row = rows_find_rules(f->r, pc);

	return row && !flow_contradicts(f->r->arch, s, row);
}

bool flow_is_sigreturn(const struct flow *f, const struct flow_node *node)
{
	return node->op.flags & ARCH_ENTERS_KERNEL && node->prev != FLOW_NO_NODE &&
	       f->node[node->prev].op.flags & ARCH_IS_SIGRETURN;
}

/*
 * Does the code take SP from FP, or from memory at FP, where FP is not the frame's, before it
 * branches, calls or returns? A compiler can end a block without a jump where it knows that
 * execution never comes to the end. Then the walk goes on in a block of another function. Landing
 * pads start so.
 */
static bool takes_other_frame(struct flow *f, const struct flow_node *node)
{
	const struct arch_op *op;
	uint32_t byte, i;

	for (i = 0; i < MAX_AHEAD; i++) {
		op = &node->op;
		if (op->effect == ARCH_SP_IS_FP || op->effect == ARCH_LEAVE ||
		    (op->flags & ARCH_LOADS_SP && op->by_fp))
			return node->state.fp_is != ARCH_FP_FRAME && !node->state.outermost;
		byte = flow_find_byte(f, node->pc + op->len, NULL);
		if (op->next != ARCH_FALLTHROUGH || byte == UINT32_MAX || !f->node_of[byte])
			break;
		node = &f->node[f->node_of[byte] - 1];
	}
	return false;
}

bool flow_is_usable(struct flow *f, const struct flow_node *node)
{
	const struct flow_func *func = &f->func[flow_find_func(f, node->func)];

	if (node->op.next == ARCH_BAD || !node->sure || func->bad ||
	    (!node->proved && takes_other_frame(f, node)))
		return false;
	return func->does_return || func->calls_aligned || !func->lost || node->proved;
}

bool flow_calls_aligned(const struct flow *f, const struct flow_node *n)
{
	return f->arch->entered.sp_depth % f->arch->align &&
	       (n->op.next == ARCH_CALL || n->op.next == ARCH_CALL_UNKNOWN ||
		n->op.next == ARCH_CALL_POINTER) && !n->state.unknown && !n->state.outermost &&
	       n->state.sp_known && n->state.sp_depth % f->arch->align == 0;
}

/* --------------------------------- edges --------------------------------- */

/* Walk a jump to the start of another function, which then returns to the caller of this one. */
static void walk_tail_call(struct flow *f, uint32_t from, uint32_t to)
{
	struct flow_func *func, *callee;

	add_call(f, from, f->node[to].func);
	func = get_func(f, from);
	callee = get_func(f, to);
	if (callee->may_return)
		set_fact(f, func, &func->may_return);
	if (!f->node[from].sure)
		return;
	if (callee->does_return)
		set_fact(f, func, &func->does_return);
	if (callee->unbalanced)
		mark_bad(f, func);
	if (callee->loses_fp)
		set_fact(f, func, &func->loses_fp);
}

/* Walk an edge out of the code that is followed, perhaps into a function with .eh_frame. */
static void walk_out(struct flow *f, uint32_t from, const struct flow_edge *e, bool sure)
{
	struct flow_func *func = get_func(f, from);

	if (e->kind >= FLOW_EDGE_RETURN)
		return;
	if (sure && !flow_may_leave(f, e->pc, &e->state))
		mark_bad(f, func);
	else
		set_fact(f, func, &func->may_return);
}

/* Does the code at the end of the edge look like that of another function, or like none? */
static bool leads_elsewhere(struct flow *f, const struct flow_edge *e, uint32_t byte)
{
	if (e->kind == FLOW_EDGE_DOUBTFUL)
		return f->marks[byte] & (FLOW_ENTRY | FLOW_END) ||
		       (e->state.outermost && flow_is_padding(f, e->pc)) ||
		       flow_is_func_start(f, e->pc);
	/* no call leads there, but the code looks like that of a called function */
	return e->kind == FLOW_EDGE_JUMP && e->state.outermost && flow_is_func_start(f, e->pc);
}

/* Walk an edge to code that no other edge has led to. */
static void walk_to_new_code(struct flow *f, uint32_t from, const struct flow_edge *e,
			     uint32_t byte, const struct flow_gap *gap, bool sure)
{
	uint32_t func = f->node[from].func, to;

	/*
	 * The code after a possible edge may belong to another function; it joins this function if
	 * a later edge leads back here.
	 */
	if (e->kind == FLOW_EDGE_DOUBTFUL) {
		func = add_func(f);
		if (func == FLOW_NO_FUNC)
			return;
		set_fact(f, get_func(f, from), &get_func(f, from)->may_return);
	}
	to = add_node(f, byte, gap, &e->state, func, sure);
	if (to != FLOW_NO_NODE && e->kind == FLOW_EDGE_FALLTHROUGH)
		f->node[to].prev = from;
}

/* Walk an edge to a node that there is. If the edge is sure, the two functions are one. */
static void walk_to_node(struct flow *f, uint32_t from, const struct flow_edge *e, uint32_t to,
			 bool sure)
{
	if (f->node[to].prev != from)
		f->node[to].prev = FLOW_NO_NODE;
	/* the walk does not follow the other function from here */
	if (!sure)
		set_fact(f, get_func(f, from), &get_func(f, from)->may_return);
	reach_node(f, to, &e->state, f->node[from].func, sure);
}

/*
 * Walk one edge of a node if the edge is as sure as @sure says. If it is less sure than that, queue
 * the node for the late pass.
 */
static void walk_edge(struct flow *f, uint32_t from, const struct flow_edge *e, bool sure)
{
	bool is_sure = f->node[from].sure && e->kind != FLOW_EDGE_DOUBTFUL;
	const struct flow_gap *gap;
	uint32_t byte;

	if (is_sure != sure) {
		if (!is_sure)
			queue_late(f, from);
		return;
	}
	byte = flow_find_byte(f, e->pc, &gap);
	if (byte == UINT32_MAX)
		walk_out(f, from, e, sure);
	else if (leads_elsewhere(f, e, byte))
		return;
	else if (!f->node_of[byte])
		walk_to_new_code(f, from, e, byte, gap, sure);
	else if (e->kind == FLOW_EDGE_JUMP && f->marks[byte] & FLOW_ENTRY &&
		 flow_is_entered(f->arch, &e->state))
		walk_tail_call(f, from, f->node_of[byte] - 1);
	else
		walk_to_node(f, from, e, f->node_of[byte] - 1, sure);
}

static void note_return(struct flow *f, uint32_t n)
{
	const struct arch_state *s = &f->node[n].state;
	struct flow_func *func = get_func(f, n);

	if (f->node[n].sure) {
		if (flow_cannot_return(f->arch, s)) {
			mark_bad(f, func);
			return;
		}
		if (flow_is_entered(f->arch, s))
			set_fact(f, func, &func->does_return);
		else if (s->sp_known && !s->unknown)
			set_fact(f, func, &func->loses_fp);
	}
	set_fact(f, func, &func->may_return);
}

static void walk_node(struct flow *f, uint32_t n, bool sure)
{
	struct flow_edge edge[2];
	uint64_t base = f->r->img->text.start;
	struct arch_op op = f->node[n].op;
	unsigned int nr, i;
	uint32_t callee;

	if (sure && (op.next == ARCH_BAD || op.next == ARCH_RETURN_POP ||
		     flow_is_sigreturn(f, &f->node[n])))
		mark_bad(f, get_func(f, n));
	if (op.next == ARCH_RETURN || op.next == ARCH_MAYBE_RETURN)
		note_return(f, n);
	if (op.next == ARCH_JUMP_INDIRECT && !f->node[n].nr_targets)
		set_fact(f, get_func(f, n), &get_func(f, n)->may_return);
	if (op.next == ARCH_CALL && op.target >= base && !flow_is_own_address(f, &f->node[n]) &&
	    flow_find_byte(f, op.target - base, NULL) != UINT32_MAX) {
		callee = flow_enter(f, op.target - base, &f->arch->entered,
				    f->node[n].sure);
		if (callee == FLOW_NO_FUNC)
			return;
		add_call(f, n, callee);
	}
	nr = flow_find_edges(f, &f->node[n], edge);
	if (sure && nr && edge[0].state.unknown && !f->node[n].state.unknown)
		get_func(f, n)->lost = true;
	if (sure && flow_calls_aligned(f, &f->node[n]))
		get_func(f, n)->calls_aligned = true;
	for (i = 0; i < nr; i++)
		walk_edge(f, n, &edge[i], sure);
	f->steps += f->node[n].nr_targets;
	for (i = 0; i < f->node[n].nr_targets; i++) {
		flow_find_target(f, &f->node[n], i, &edge[0]);
		walk_edge(f, n, &edge[0], sure);
	}
}

static bool walk_queue(struct flow *f)
{
	uint32_t n;

	if (f->queue.nr) {
		n = f->queue.node[--f->queue.nr];
		f->node[n].queued = false;
		walk_node(f, n, true);
		return true;
	}
	if (!f->late.nr)
		return false;
	n = f->late.node[--f->late.nr];
	f->node[n].queued_late = false;
	walk_node(f, n, false);
	return true;
}

static bool find_jump_tables(struct flow *f)
{
	bool found = false;
	uint32_t n;

	while (f->next_jump < f->nr_jumps && !f->no_memory) {
		n = f->jump[f->next_jump++];
		flow_find_jump_table(f, n);
		if (!f->node[n].nr_targets)
			continue;
		queue_node(f, n);
		found = true;
	}
	return found;
}

bool flow_costs_too_much(const struct flow *f)
{
	return f->steps > (f->r->img->flags & ROWS_DROPS ? MAX_STEPS_TEST : MAX_STEPS);
}

int flow_walk(struct flow *f)
{
	do {
		while (!f->no_memory && !f->over_budget && walk_queue(f)) {
			f->steps++;
			if (flow_costs_too_much(f))
				f->over_budget = true;
		}
	} while (!f->no_memory && !f->over_budget && find_jump_tables(f));
	if (f->no_memory)
		return -ENOMEM;
	return f->over_budget ? -E2BIG : 0;
}
