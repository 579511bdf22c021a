// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_flow_walk - from the entries along all paths, until no state changes any more
 *
 * A call goes on behind itself once its function is seen to return, so what lies behind the call of
 * one that never does (abort, exit) is not taken for its continuation. A function returns if it has
 * a return that is reached, or goes somewhere that is not followed: then it may. What it does to SP
 * and FP is taken from its returns; functions that are not in a gap have an ABI.
 *
 * A function is bad, and has no rows, if it
 *	- has bytes that are no instruction,
 *	- returns with SP not at the return address,
 *	- goes on in code with a row of .eh_frame that says something else,
 *	- is the trampoline of signals: that is a frame of its own kind.
 */
#include <errno.h>
#include <stdlib.h>

#include "gen_flow.h"

#define MAX_NODES	(1u << 19)
/* A state changes a handful of times; so often on average is for input made to be slow. */
#define MAX_STEPS	(8ull * MAX_NODES)

uint32_t flow_byte(const struct flow *f, uint64_t pc, const struct flow_gap **gap)
{
	uint32_t low = 0, high = f->nr_gaps, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (f->gap[mid].start > pc)
			high = mid;
		else if (f->gap[mid].end <= pc)
			low = mid + 1;
		else {
			if (gap)
				*gap = &f->gap[mid];
			return f->gap[mid].at + (pc - f->gap[mid].start);
		}
	}
	return UINT32_MAX;
}

/* ------------------------------- functions ------------------------------- */

uint32_t flow_func_of(struct flow *f, uint32_t func)
{
	while (f->func[func].parent != func) {
		f->func[func].parent = f->func[f->func[func].parent].parent;
		func = f->func[func].parent;
	}
	return func;
}

static struct flow_func *func_of(struct flow *f, const struct flow_node *node)
{
	return &f->func[flow_func_of(f, node->func)];
}

static void queue(struct flow *f, uint32_t node)
{
	if (f->node[node].queued)
		return;
	if (!gen_room(&f->queue, f->nr_queued, &f->room_queue, sizeof(*f->queue))) {
		f->no_memory = true;
		return;
	}
	f->node[node].queued = true;
	f->queue[f->nr_queued++] = node;
}

static void queue_calls(struct flow *f, uint32_t call)
{
	for (; call != FLOW_NO_CALL; call = f->call[call].next)
		queue(f, f->call[call].node);
}

/* Something was found out about a function; who calls it wants to know. */
static void learn(struct flow *f, struct flow_func *func, bool *what)
{
	if (*what)
		return;
	*what = true;
	queue_calls(f, func->calls);
}

static void unite(struct flow *f, uint32_t a, uint32_t b)
{
	struct flow_func *to, *from;

	a = flow_func_of(f, a);
	b = flow_func_of(f, b);
	if (a == b)
		return;
	to = &f->func[a];
	from = &f->func[b];
	if (to->returns != from->returns || to->unbalanced != from->unbalanced ||
	    to->loses_fp != from->loses_fp) {
		queue_calls(f, to->calls);
		queue_calls(f, from->calls);
	}
	from->parent = a;
	to->trusted |= from->trusted;
	to->returns |= from->returns;
	to->proved |= from->proved;
	to->bad |= from->bad;
	to->unbalanced |= from->unbalanced;
	to->loses_fp |= from->loses_fp;
	if (from->calls == FLOW_NO_CALL)
		return;
	if (to->calls == FLOW_NO_CALL)
		to->calls = from->calls;
	else
		f->call[to->last_call].next = from->calls;
	to->last_call = from->last_call;
}

static void add_call(struct flow *f, uint32_t node, uint32_t target)
{
	struct flow_func *func = &f->func[flow_func_of(f, target)];

	if (f->node[node].is_call)
		return;
	if (!gen_room(&f->call, f->nr_calls, &f->room_calls, sizeof(*f->call))) {
		f->no_memory = true;
		return;
	}
	f->node[node].is_call = true;
	f->call[f->nr_calls] = (struct flow_call){
		.node = node, .target = target, .next = FLOW_NO_CALL,
	};
	if (func->calls == FLOW_NO_CALL)
		func->calls = f->nr_calls;
	else
		f->call[func->last_call].next = f->nr_calls;
	func->last_call = f->nr_calls++;
}

/* --------------------------------- nodes --------------------------------- */

/* A new node, not queued; FLOW_NO_NODE if there is no room. */
static uint32_t add_node(struct flow *f, uint32_t pc, uint32_t byte, const struct flow_gap *gap,
			 const struct flow_state *state, uint32_t func)
{
	struct flow_node *node;

	if (f->nr_nodes == MAX_NODES) {
		f->over_budget = true;
		return FLOW_NO_NODE;
	}
	if (!gen_room(&f->node, f->nr_nodes, &f->room_nodes, sizeof(*f->node))) {
		f->no_memory = true;
		return FLOW_NO_NODE;
	}
	node = &f->node[f->nr_nodes];
	*node = (struct flow_node){
		.state = *state, .pc = pc, .func = func, .prev = FLOW_NO_NODE,
	};
	f->arch->decode(f->decoder, f->code + byte, gap->end - pc,
			f->r->img->text.start + pc, &node->op);
	f->node_of[byte] = ++f->nr_nodes;
	return f->nr_nodes - 1;
}

uint32_t flow_enter(struct flow *f, uint32_t pc, const struct flow_state *state)
{
	const struct flow_gap *gap;
	uint32_t byte = flow_byte(f, pc, &gap), node, func = f->nr_funcs;

	f->marks[byte] |= FLOW_ENTRY;
	if (f->node_of[byte]) {
		node = f->node_of[byte] - 1;
		if (flow_join(&f->node[node].state, state))
			queue(f, node);
		return f->node[node].func;
	}
	if (!gen_room(&f->func, func, &f->room_funcs, sizeof(*f->func))) {
		f->no_memory = true;
		return FLOW_NO_FUNC;
	}
	node = add_node(f, pc, byte, gap, state, func);
	if (node == FLOW_NO_NODE)
		return FLOW_NO_FUNC;
	f->func[f->nr_funcs++] = (struct flow_func){
		.parent = func, .calls = FLOW_NO_CALL, .last_call = FLOW_NO_CALL,
	};
	queue(f, node);
	return func;
}

static void is_bad(struct flow *f, struct flow_func *func)
{
	func->bad = true;
	learn(f, func, &func->returns);
	learn(f, func, &func->unbalanced);
}

/* To code that .eh_frame or a PLT covers, or to something that is no code */
static void leave_gaps(struct flow *f, struct flow_func *func, uint64_t pc,
		       const struct flow_state *s)
{
	const struct cfi_state *row = rows_at(f->r, pc);

	if (!row || flow_contradicts(f->r->arch, s, row)) {
		is_bad(f, func);
		return;
	}
	if (flow_is_entered(s))
		func->proved = true;
	learn(f, func, &func->returns);
}

enum edge { EDGE_ON, EDGE_JUMP, EDGE_CALL };

/* From @from to @pc, which is reached with @s */
static void go(struct flow *f, uint32_t from, uint64_t pc, const struct flow_state *s,
	       enum edge edge)
{
	struct flow_func *func = func_of(f, &f->node[from]);
	const struct flow_gap *gap;
	uint32_t byte = flow_byte(f, pc, &gap), to;

	if (byte == UINT32_MAX) {
		/* behind a call may be anything */
		if (edge != EDGE_CALL)
			leave_gaps(f, func, pc, s);
		return;
	}
	if (edge == EDGE_CALL && f->marks[byte] & (FLOW_ENTRY | FLOW_END))
		return;
	if (edge == EDGE_JUMP && f->marks[byte] & FLOW_ENTRY && f->node_of[byte] &&
	    flow_is_entered(s)) {
		/* a tail call */
		to = f->node[f->node_of[byte] - 1].func;
		func->proved = true;
		add_call(f, from, to);
		if (f->func[flow_func_of(f, to)].returns)
			learn(f, func, &func->returns);
		if (f->func[flow_func_of(f, to)].unbalanced)
			is_bad(f, func);
		if (f->func[flow_func_of(f, to)].loses_fp)
			learn(f, func, &func->loses_fp);
		return;
	}
	if (!f->node_of[byte]) {
		to = add_node(f, pc, byte, gap, s, f->node[from].func);
		if (to == FLOW_NO_NODE)
			return;
		if (edge == EDGE_ON)
			f->node[to].prev = from;
		queue(f, to);
		return;
	}
	to = f->node_of[byte] - 1;
	if (f->node[to].prev != from)
		f->node[to].prev = FLOW_NO_NODE;
	if (flow_join(&f->node[to].state, s))
		queue(f, to);
	unite(f, f->node[from].func, f->node[to].func);
}

static void go_call(struct flow *f, uint32_t from, const struct flow_state *s)
{
	struct flow_op op = f->node[from].op;
	uint64_t base = f->r->img->text.start;
	uint32_t target, next = f->node[from].pc + op.len;
	struct flow_state back = *s;
	struct flow_func *callee;

	if (op.target == base + next) {
		/* asks for its own address */
		back = (struct flow_state){ .unknown = true };
		go(f, from, next, &back, EDGE_ON);
		return;
	}
	if (op.target >= base && flow_byte(f, op.target - base, NULL) != UINT32_MAX) {
		target = flow_enter(f, op.target - base, &flow_entered);
		if (target == FLOW_NO_FUNC)
			return;
		add_call(f, from, target);
		callee = &f->func[flow_func_of(f, target)];
		if (!callee->returns)
			return;
		if (callee->unbalanced && !back.outermost) {
			back = (struct flow_state){ .unknown = true };
		} else if (callee->loses_fp) {
			op = (struct flow_op){ .effect = FLOW_LOSE_FP };
			flow_step(&back, &op);
		}
	}
	go(f, from, next, &back, EDGE_CALL);
}

static void returns(struct flow *f, struct flow_func *func, const struct flow_state *s)
{
	if (s->outermost || (s->sp_known && !s->unknown && s->sp != flow_entered.sp)) {
		is_bad(f, func);
		return;
	}
	if (flow_is_entered(s))
		func->proved = true;
	else if (s->sp_known && !s->unknown)
		learn(f, func, &func->loses_fp);
	learn(f, func, &func->returns);
}

static void walk_node(struct flow *f, uint32_t n)
{
	struct flow_node *node = &f->node[n];
	struct flow_func *func = func_of(f, node);
	uint64_t base = f->r->img->text.start;
	struct flow_op op = node->op;
	uint32_t next = node->pc + op.len;
	struct flow_state s = node->state;

	if (op.flags & FLOW_ENTERS_KERNEL && node->prev != FLOW_NO_NODE &&
	    f->node[node->prev].op.flags & FLOW_IS_SIGRETURN)
		is_bad(f, func);
	if (op.next == FLOW_RETURN) {
		returns(f, func, &s);
		return;
	}
	flow_step(&s, &op);
	switch (op.next) {
	case FLOW_ON:
		go(f, n, next, &s, EDGE_ON);
		break;
	case FLOW_BRANCH:
		go(f, n, next, &s, EDGE_ON);
		/* fallthrough */
	case FLOW_JUMP:
		go(f, n, op.target - base, &s, EDGE_JUMP);
		break;
	case FLOW_CALL:
		go_call(f, n, &s);
		break;
	case FLOW_CALL_ANY:
		go(f, n, next, &s, EDGE_CALL);
		break;
	case FLOW_JUMP_ANY:
		learn(f, func, &func->returns);
		break;
	case FLOW_STOP:
		break;
	default:
		is_bad(f, func);
	}
}

int flow_walk(struct flow *f)
{
	uint32_t node;

	while (f->nr_queued && !f->no_memory && !f->over_budget) {
		if (f->steps++ == MAX_STEPS)
			f->over_budget = true;
		node = f->queue[--f->nr_queued];
		f->node[node].queued = false;
		walk_node(f, node);
	}
	if (f->no_memory)
		return -ENOMEM;
	return f->over_budget ? -E2BIG : 0;
}
