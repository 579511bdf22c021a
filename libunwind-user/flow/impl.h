/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the files that follow code share
 *
 *	flow.c		the gaps, where the walk enters them, rows for the code it followed
 *	entry.c		where functions start: symbols, the dynamic section, relocations
 *	calls.c		... and calls from code with .eh_frame
 *	walk.c		instructions and functions, until no state changes any more
 *	edge.c		where execution goes on after an instruction
 *	prove.c		proves what is not sure by where it goes, or leaves it out
 *	jump.c		indirect jumps through a table
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

extern const struct flow_state flow_outermost;

/* Does the instruction say that there is no caller? Then that is so in front of it, too. */
bool flow_ends_frames(const struct flow_state *s, const struct flow_op *op);

/* The state behind the instruction. */
void flow_step(const struct flow_arch *arch, struct flow_state *s, const struct flow_op *op);

/* @to is also reached with @s. Returns whether that changed it. */
bool flow_join(struct flow_state *to, const struct flow_state *s);

/* Do they say the same of the frame? Do they say different things of where SP, or else FP, is? */
bool flow_same(const struct flow_state *a, const struct flow_state *b);
bool flow_differ(const struct flow_state *a, const struct flow_state *b);

/* What a state claims, each of which can be proved by itself */
#define FLOW_SP		0x1	/* where SP is relative to the CFA */
#define FLOW_FP		0x2	/* what FP holds */
#define FLOW_SLOT	0x4	/* where the caller's FP is saved, */
#define FLOW_RA_SLOT	0x8	/* the return address, if there is a register for it, */
#define FLOW_SP_SLOT	0x10	/* and SP */
#define FLOW_RA		0x20	/* that the return address is in its register */

/* The claims of a state; those that two states both make; and a state without any but @claims. */
unsigned int flow_claims(const struct flow_arch *arch, const struct flow_state *s);
unsigned int flow_common(const struct flow_arch *arch, const struct flow_state *a,
			 const struct flow_state *b);
void flow_keep(const struct flow_arch *arch, struct flow_state *s, unsigned int claims);

/* Is it as at the start of a function: SP, FP and the return address in place? */
bool flow_is_entered(const struct flow_arch *arch, const struct flow_state *s);

/* Or is it known that SP or the return address is not, so that who returns here is lost? */
bool flow_cannot_return(const struct flow_arch *arch, const struct flow_state *s);

/*
 * A row for a state, with the CFA from SP if SP is known, and the caller's FP from its slot.
 * @by_fp: the CFA from FP, if it is the frame's, and the caller's FP and the return address from
 * their registers, if they are there, too.
 * Returns false if there can be none.
 */
bool flow_row(const struct arch *arch, const struct flow_state *s, bool by_fp,
	      struct cfi_state *row);

/* The other way round, for code that a row of .eh_frame leads to. */
bool flow_from_row(const struct arch *arch, const struct cfi_state *row, struct flow_state *s);

/* Does the row contradict the state? Not if they speak of different registers. */
bool flow_contradicts(const struct arch *arch, const struct flow_state *s,
		      const struct cfi_state *row);

/* ----------------------------- walk.c --------------------------- */

struct flow_gap {
	uint32_t start, end;	/* from text.start on */
	uint32_t at;		/* of its first byte in flow.code and flow.node_of */
};

/* Marks of a byte */
#define FLOW_ENTRY	0x1	/* a function begins here: a symbol, or it is called */
#define FLOW_TAKEN	0x2	/* its address is used: one may begin */
#define FLOW_END	0x4	/* a function ends in front of it */
#define FLOW_DEFAULT	0x10	/* where a jump by a table goes if the table has nothing */
#define FLOW_JUMPED_TO	0x20	/* something looks like a jump to it, reached or not */
#define FLOW_SIG	0x8	/* has a row already, as code that returns from signal handlers */

#define FLOW_NO_NODE	UINT32_MAX
#define FLOW_NO_CALL	UINT32_MAX
#define FLOW_NO_FUNC	UINT32_MAX

/*
 * An instruction that is reached. It is sure if that is so from an entry for sure, without going on
 * behind a call that may be one of those that do not return; see walk.c. The last three
 * are about those that are not, see prove.c.
 */
struct flow_node {
	struct flow_state state;
	struct flow_op op;
	uint32_t pc;		/* from text.start on */
	uint32_t func;
	uint32_t prev;		/* the only node that goes on here, or FLOW_NO_NODE */
	uint32_t table, nr_targets;	/* an indirect jump: where to, in flow.target */
	bool sure;
	bool queued, queued_late;
	bool is_call;		/* there is a flow_call of it */
	/* it may never go on, or jump, or have so many targets: see edge.c */
	bool on_maybe, jump_maybe, table_maybe;
	uint8_t proved;		/* claims of the state, FLOW_SP ... */
	bool disproved;
};

/* Sure nodes that jumps connect. Functions that share code become one: see flow_func_of(). */
struct flow_func {
	uint32_t parent;
	uint32_t calls, last_call;	/* flow_calls that want to know whether it returns */
	bool taken;		/* begins where its address is taken, and is not sure */
	bool returns;		/* may return */
	bool surely;		/* it does: there is a return, with SP at its place */
	bool bad;		/* contradicts itself or others */
	bool unbalanced;	/* returns with SP elsewhere, or is not understood at all */
	bool loses_fp;		/* returns with another FP */
	bool lost;		/* on some path the frame is not known any more */
	bool calls_aligned;	/* calls something with SP where the ABI wants it */
};

struct flow_call {
	uint32_t node;
	uint32_t next;		/* call of the same function */
};

/* Nodes that wait */
struct flow_queue {
	uint32_t *node;
	uint32_t nr, room;
};

struct flow {
	struct gen_rows *r;
	const struct flow_arch *arch;
	void *decoder;

	struct flow_gap *gap;
	uint32_t nr_gaps, room_gaps;
	uint32_t size;		/* bytes in all gaps */
	uint8_t *code;		/* by byte of the gaps */
	uint8_t *marks;		/* FLOW_ENTRY ... */
	uint32_t *node_of;	/* its node + 1 */

	struct flow_node *node;
	uint32_t nr_nodes, room_nodes;
	struct flow_func *func;
	uint32_t nr_funcs, room_funcs;
	struct flow_call *call;
	uint32_t nr_calls, room_calls;
	/* sure ones first, so that they are there when others come */
	struct flow_queue queue, late;
	uint32_t *target;	/* of indirect jumps, pcs */
	uint32_t nr_targets, room_targets;
	uint32_t *jump;		/* nodes of indirect jumps */
	uint32_t nr_jumps, room_jumps, next_jump;
	uint32_t *taken;	/* addresses taken, from text.start on */
	uint32_t nr_taken, room_taken;
	struct gen_range array[3];	/* of functions to run at start and end */
	unsigned int nr_arrays;
	bool bare;		/* nearly all of the code is in gaps */
	uint64_t steps;
	bool over_budget, no_memory;
};

/* The byte of the gaps at @pc (from text.start on), or UINT32_MAX. @gap may be NULL. */
uint32_t flow_byte(const struct flow *f, uint64_t pc, const struct flow_gap **gap);

/*
 * Code at @pc, which is in a gap, is reached with @state, as a function of its own. Returns it, or
 * FLOW_NO_FUNC without memory.
 */
uint32_t flow_enter(struct flow *f, uint32_t pc, const struct flow_state *state, bool sure);

/* Has this file taken more work than any that is what it seems? */
bool flow_is_too_much(const struct flow *f);

/* This node is reached for sure after all. */
void flow_is_sure(struct flow *f, uint32_t node);

/* Until nothing changes. Returns 0, -E2BIG if that is too much work, or -ENOMEM. */
int flow_walk(struct flow *f);

uint32_t flow_func_of(struct flow *f, uint32_t func);

/* A call with SP where the ABI wants it, and is it not there all the time? */
bool flow_calls_aligned(const struct flow *f, const struct flow_node *node);

/* Does what is known of a node count? */
bool flow_counts(struct flow *f, const struct flow_node *node);

/* May what is outside of the gaps be reached with this state? @pc from text.start on */
bool flow_may_leave(struct flow *f, uint64_t pc, const struct flow_state *s);

/* Is this where a signal handler returns to? */
bool flow_is_sigreturn(const struct flow *f, const struct flow_node *node);

/* ----------------------------- edge.c --------------------------- */

enum flow_kind {
	FLOW_EDGE_ON, FLOW_EDGE_JUMP,
	FLOW_EDGE_BACK,		/* from a call that does return */
	FLOW_EDGE_MAYBE,	/* from one that may; or a branch that may never be taken */
};

struct flow_edge {
	uint64_t pc;		/* from text.start on; may be anything */
	struct flow_state state;	/* there */
	enum flow_kind kind;
};

/* Where a node goes, but for the targets of an indirect jump; and number @i of these. */
unsigned int flow_edges(struct flow *f, const struct flow_node *node, struct flow_edge edge[2]);
void flow_target(struct flow *f, const struct flow_node *node, uint32_t i, struct flow_edge *edge);

/*
 * Padding at @pc, behind which another function may begin. And padding up to where it may, which
 * is not fallen through or jumped to.
 */
bool flow_is_padding(struct flow *f, uint64_t pc);
bool flow_is_end(struct flow *f, uint64_t pc);

/* Does a function begin at @pc by what its first instruction is? */
bool flow_begins(struct flow *f, uint64_t pc);

/* Does a call ask for its own address? There may be a function behind that does not return. */
bool flow_is_own_address(struct flow *f, const struct flow_node *node);

/* Mark what bytes that look like jumps jump to. */
void flow_find_jumps(struct flow *f);

/* Does this new node jump or branch to where it may never go? The default of a switch is marked. */
void flow_find_maybe(struct flow *f, struct flow_node *node);

/* ---------------------------- prove.c --------------------------- */

/*
 * Say of each node that is not sure whether it is proved or disproved. What is proved is sure then,
 * which is walked on from. Returns as flow_walk().
 */
int flow_prove(struct flow *f);

/* ------------------------------ entry.c ------------------------- */

/* Enter what is known to be a function, and mark where functions begin and end. */
int flow_find_entries(struct flow *f);

/* The address of this is used somewhere. */
void flow_take(struct flow *f, uint64_t addr);

/* ----------------------------- calls.c -------------------------- */

/* Enter what code that has rows calls. */
void flow_enter_called(struct flow *f);

/* ------------------------------ jump.c -------------------------- */

/* Look for the table of an indirect jump. Its targets are then in the node. */
void flow_find_table(struct flow *f, uint32_t node);

#endif
