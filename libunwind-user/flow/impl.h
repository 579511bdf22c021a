/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the files that follow code share
 *
 *	flow.c		the gaps, where the walk enters them, rows for the code it followed
 *	entry.c		where functions start: symbols, the dynamic section, relocations
 *	calls.c		where functions start: calls from code with .eh_frame
 *	walk.c		instructions and functions, until no state changes any more
 *	edge.c		where execution goes on after an instruction
 *	prove.c		proves what is not sure by where it goes, or leaves it out
 *	jump.c		indirect jumps through a table
 *	v8.c		the builtins of V8, which have an ABI of their own
 *	state.c		what one instruction does to a state; merges two states
 *
 * arch/NAME/flow*.c decode, and find the table of an indirect jump.
 *
 * A state is what is known about the frame before an instruction, whatever path led there. A state
 * only ever loses knowledge: where paths disagree, that part of the state becomes unknown, and so
 * there is no row.
 */
#ifndef FLOW_IMPL_H
#define FLOW_IMPL_H

#include "flow.h"

/* ---------------------------- state.c --------------------------- */

extern const struct arch_state flow_outermost;

/* Does the instruction show that there is no caller, now and before it? */
bool flow_ends_frames(const struct arch_state *s, const struct arch_op *op);

/* Change @s to the state after the instruction. */
void flow_step(const struct arch_flow *arch, struct arch_state *s, const struct arch_op *op);

/* Merge @s into @to, which another path reaches with @s. Returns whether @to changed. */
bool flow_merge_state(struct arch_state *to, const struct arch_state *s);

/* Returns true if both states say the same about the frame. */
bool flow_is_same_state(const struct arch_state *a, const struct arch_state *b);

/* Returns true if the states disagree about SP; if SP is not known, about FP. */
bool flow_sp_differs(const struct arch_state *a, const struct arch_state *b);

/* The claims of a state. Each claim can be proved by itself. */
#define FLOW_SP		0x1	/* where SP is relative to the CFA */
#define FLOW_FP		0x2	/* what FP holds */
#define FLOW_FP_SLOT	0x4	/* where the caller's FP is saved */
#define FLOW_RA_SLOT	0x8	/* where the return address is saved, if it has a register */
#define FLOW_SP_SLOT	0x10	/* where SP is saved */
#define FLOW_RA		0x20	/* that the return address is in its register */

/* Returns the claims of a state. */
unsigned int flow_get_claims(const struct arch_flow *arch, const struct arch_state *s);

/* Returns the claims that both states make. */
unsigned int flow_get_common_claims(const struct arch_flow *arch, const struct arch_state *a,
				    const struct arch_state *b);

/* Drop all claims of the state but @claims. */
void flow_drop_other_claims(const struct arch_flow *arch, struct arch_state *s,
			    unsigned int claims);

/* Is the state that of a function's start: SP, FP and the return address in place? */
bool flow_is_entered(const struct arch_flow *arch, const struct arch_state *s);

/* Is SP or the return address known to be out of place, so that a return here would be wrong? */
bool flow_cannot_return(const struct arch_flow *arch, const struct arch_state *s);

/*
 * A row for a state, with the CFA from SP if SP is known, and the caller's FP from its slot.
 * @by_fp: the CFA from FP, if FP is the frame's. The caller's FP and the return address then come
 * from their registers, if they are there too.
 * Returns false if no row can express it.
 */
bool flow_make_row(const struct arch *arch, const struct arch_state *s, bool by_fp,
		   struct cfi_row *row);

/* The state that a row says, for code that a row of .eh_frame leads to. */
bool flow_make_state(const struct arch *arch, const struct cfi_row *row, struct arch_state *s);

/* Does the row contradict the state? It does not if the two use different registers. */
bool flow_contradicts(const struct arch *arch, const struct arch_state *s,
		      const struct cfi_row *row);

/* ----------------------------- walk.c --------------------------- */

struct flow_gap {
	uint32_t start, end;	/* from text.start on */
	uint32_t first_byte;	/* its index in flow.code, flow.marks and flow.node_of */
};

/* Marks of a byte */
#define FLOW_ENTRY	0x1	/* a function starts here: a symbol or a call says so */
#define FLOW_TAKEN	0x2	/* its address is used: a function may start here */
#define FLOW_END	0x4	/* a function ends before it */
#define FLOW_SIG	0x8	/* code to which signal handlers return, and that has a row */
#define FLOW_DEFAULT	0x10	/* a switch goes here if its table has no entry for the value */
#define FLOW_JUMPED_TO	0x20	/* some bytes look like a jump to it, whether reached or not */
#define FLOW_NAMED	0x40	/* a symbol without a size, that other files can see, is here */

#define FLOW_NO_NODE	UINT32_MAX
#define FLOW_NO_CALL	UINT32_MAX
#define FLOW_NO_FUNC	UINT32_MAX

/*
 * An instruction that is reached. It is sure if a path from a sure entry leads to it, and no call
 * on this path may be a call that does not return; see walk.c. The last fields, from
 * doubtful_fallthrough on, are for nodes that are not sure, see prove.c.
 */
struct flow_node {
	struct arch_state state;
	struct arch_op op;
	uint32_t pc;		/* from text.start on */
	uint32_t func;
	uint32_t prev;		/* the only node that goes on here, or FLOW_NO_NODE */
	uint32_t table, nr_targets;	/* an indirect jump: where to, in flow.target */
	bool sure;
	bool queued, queued_late;
	bool is_call;		/* there is a flow_call with this node */
	/* the instruction may never go on; never jump; have fewer targets: see edge.c */
	bool doubtful_fallthrough, doubtful_jump, doubtful_table;
	uint8_t proved;		/* claims of the state, FLOW_SP ... */
	bool disproved;
};

/* Sure nodes that jumps connect. Functions that share code become one: see flow_find_func(). */
struct flow_func {
	uint32_t parent;
	uint32_t calls, last_call;	/* flow_calls that depend on whether the function returns */
	bool taken;		/* known by its address only, and not sure */
	bool named;		/* ... and known by a symbol without a size */
	bool may_return;
	bool does_return;	/* there is a return, with SP at its place */
	bool bad;		/* contradicts itself or others */
	bool unbalanced;	/* returns with SP elsewhere, or is not understood */
	bool loses_fp;		/* returns with another FP */
	bool lost;		/* some path loses the frame */
	bool calls_aligned;	/* has a call with SP aligned as the ABI wants */
};

struct flow_call {
	uint32_t node;
	uint32_t next;		/* call of the same function */
};

/* Nodes that wait for their turn */
struct flow_queue {
	uint32_t *node;
	uint32_t nr, room;
};

struct flow {
	struct rows *r;
	const struct arch_flow *arch;
	void *decoder;

	struct flow_gap *gap;
	uint32_t nr_gaps, room_gaps;
	uint32_t size;		/* bytes in all gaps */
	uint8_t *code;		/* by byte of the gaps: the byte */
	uint8_t *marks;		/* by byte of the gaps: FLOW_ENTRY ... */
	uint32_t *node_of;	/* by byte of the gaps: the node that starts there, + 1; or 0 */

	struct flow_node *node;
	uint32_t nr_nodes, room_nodes;
	struct flow_func *func;
	uint32_t nr_funcs, room_funcs;
	struct flow_call *call;
	uint32_t nr_calls, room_calls;
	/* late: nodes, or edges of nodes, that are not sure. They wait until @queue is empty */
	struct flow_queue queue, late;
	uint32_t *target;	/* pcs that indirect jumps lead to */
	uint32_t nr_targets, room_targets;
	uint32_t *jump;		/* nodes of indirect jumps */
	uint32_t nr_jumps, room_jumps, next_jump;
	uint32_t *taken;	/* addresses taken, from text.start on */
	uint32_t nr_taken, room_taken;
	struct image_range array[3];	/* the arrays of functions to run at start and end */
	unsigned int nr_arrays;
	bool mostly_gaps;		/* nearly all of the code is in gaps */
	uint64_t steps;
	bool over_budget, no_memory;
};

/*
 * Returns the index of the byte at @pc (from text.start on) in flow.code, or UINT32_MAX outside of
 * the gaps. Sets *@gap, if @gap is not NULL.
 */
uint32_t flow_find_byte(const struct flow *f, uint64_t pc, const struct flow_gap **gap);

/*
 * Enter code at @pc, which is in a gap, with @state, as a function of its own. Returns the
 * function, or FLOW_NO_FUNC if there is not enough memory.
 */
uint32_t flow_enter(struct flow *f, uint32_t pc, const struct arch_state *state, bool sure);

/* Did this file cost more steps than any file of a compiler? */
bool flow_costs_too_much(const struct flow *f);

/* Mark a node as reached for sure after all. */
void flow_mark_sure(struct flow *f, uint32_t node);

/* Walk until nothing changes. Returns 0, -E2BIG if that is too much work, or -ENOMEM. */
int flow_walk(struct flow *f);

/* The function that @func has become part of, or @func itself. */
uint32_t flow_find_func(struct flow *f, uint32_t func);

/* Is this a call with SP aligned as the ABI wants, where SP is not aligned at entry? */
bool flow_calls_aligned(const struct flow *f, const struct flow_node *node);

/* May rows and proofs rely on the state of this node? */
bool flow_is_usable(struct flow *f, const struct flow_node *node);

/* May code go on with this state at @pc, outside of the gaps? @pc counts from text.start. */
bool flow_may_leave(struct flow *f, uint64_t pc, const struct arch_state *s);

/* Does a signal handler return to this node? */
bool flow_is_sigreturn(const struct flow *f, const struct flow_node *node);

/* ----------------------------- edge.c --------------------------- */

enum flow_edge_kind {
	FLOW_EDGE_FALLTHROUGH, FLOW_EDGE_JUMP,
	FLOW_EDGE_RETURN,	/* from a call that does return */
	FLOW_EDGE_DOUBTFUL,	/* from a call that may return; a branch that may never jump */
};

struct flow_edge {
	uint64_t pc;		/* from text.start on; may be anything */
	struct arch_state state;	/* there */
	enum flow_edge_kind kind;
};

/*
 * Find where a node goes, except for the targets of an indirect jump. flow_find_target() finds
 * target number @i of an indirect jump.
 */
unsigned int flow_find_edges(struct flow *f, const struct flow_node *node,
			     struct flow_edge edge[2]);
void flow_find_target(struct flow *f, const struct flow_node *node, uint32_t i,
		      struct flow_edge *edge);

/* Is this padding at @pc, after which another function may start? */
bool flow_is_padding(struct flow *f, uint64_t pc);

/*
 * Is this padding up to where functions are aligned? Then no code that ever runs falls through or
 * jumps to it.
 */
bool flow_is_func_end(struct flow *f, uint64_t pc);

/* Does the instruction at @pc, in a gap, show that a function starts there? */
bool flow_is_func_start(struct flow *f, uint64_t pc);

/* Does a call only read its own address? A function that does not return may follow such a call. */
bool flow_is_own_address(struct flow *f, const struct flow_node *node);

/* Mark the targets of bytes that look like jumps. */
void flow_find_jumps(struct flow *f);

/*
 * Find out whether this new node has a jump or branch that may never be taken. Marks the default of
 * a switch.
 */
void flow_mark_doubtful_edges(struct flow *f, struct flow_node *node);

/* ---------------------------- prove.c --------------------------- */

/*
 * Prove or disprove each node that is not sure. A proved node becomes sure, and the walk goes on
 * from it. Returns as flow_walk().
 */
int flow_prove(struct flow *f);

/* ------------------------------ entry.c ------------------------- */

/* Enter all known functions, and mark where functions start and end. */
int flow_find_entries(struct flow *f);

/* Note that some code or data uses the address @addr. */
void flow_note_address_taken(struct flow *f, uint64_t addr);

/* ----------------------------- calls.c -------------------------- */

/* Enter the functions in gaps that code with rows calls. */
void flow_enter_called(struct flow *f);

/* ------------------------------ jump.c -------------------------- */

/* Look for the table of the indirect jump @node, and note its targets. */
void flow_find_jump_table(struct flow *f, uint32_t node);

#endif
