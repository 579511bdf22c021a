/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gen_flow.h - rows for code that no FDE covers, found by following it
 *
 *	gen_flow.c		the gaps, what is entered there, rows of what was found
 *	gen_flow_entry.c	where functions begin: symbols, the dynamic section, relocations
 *	gen_flow_calls.c	and what code with .eh_frame calls
 *	gen_flow_walk.c		instructions and functions, until no state changes any more
 *	gen_flow_edge.c		where an instruction goes on
 *	gen_flow_prove.c	what is not sure is proved by where it goes, or left out
 *	gen_flow_jump.c		indirect jumps by a table
 *	gen_flow_state.c	what one instruction does to a state; two states become one
 *	arch/NAME/flow*.c	decoding, and the table of an indirect jump
 *
 * A state is what is known of the frame in front of an instruction, whatever path led there. It
 * only ever loses knowledge: where paths disagree, nothing is said, and so there is no row.
 */
#ifndef GEN_FLOW_H
#define GEN_FLOW_H

#include "gen_impl.h"

/* ---------------------------- gen_flow_state.c --------------------------- */

/* What the frame pointer register holds. */
enum flow_fp {
	FLOW_FP_CALLER,		/* what it held when the function was entered */
	FLOW_FP_FRAME,		/* CFA - state.fp */
	FLOW_FP_OTHER,
};

struct flow_state {
	int32_t sp;		/* CFA - SP, if sp_known */
	int32_t fp;		/* CFA - FP, if FLOW_FP_FRAME */
	int32_t slot;		/* the caller's FP is saved at CFA + it, if saved */
	int32_t ra_slot;	/* the return address is, if ra_saved, */
	int32_t sp_slot;	/* and SP as it was on entry, if sp_saved */
	uint8_t fp_is;		/* enum flow_fp */
	bool sp_known, saved, ra_saved, sp_saved;
	bool ra_there;		/* the return address is in its register */
	bool mangled;		/* and signed, wherever it is (arm64) */
	bool back;		/* from a system call, and nothing but tests since */
	bool outermost;		/* there is no caller, and nothing else is valid */
	bool unknown;		/* nothing is known */
};

enum flow_effect {
	FLOW_NONE,
	FLOW_PUSH, FLOW_PUSH_FP,
	FLOW_POP, FLOW_POP_FP,
	FLOW_ADD_SP,		/* SP += n */
	FLOW_SP_IS_FP,		/* SP = FP + n */
	FLOW_FP_IS_SP,		/* FP = SP + n */
	FLOW_FP_IS_FP,		/* FP += n */
	FLOW_LEAVE,		/* SP = FP, pop FP */
	FLOW_LOSE_SP, FLOW_LOSE_FP, FLOW_LOSE_BOTH,
};

/* Where an instruction goes on. */
enum flow_next {
	FLOW_ON,
	FLOW_JUMP,		/* to target */
	FLOW_BRANCH,		/* to target or on */
	FLOW_CALL,		/* target, which may return */
	FLOW_CALL_ANY,		/* something, which may return, */
	FLOW_CALL_POINTER,	/* or returns, as what is called by pointers does */
	FLOW_JUMP_ANY,
	FLOW_RETURN,
	FLOW_MAYBE_RETURN,	/* or on */
	FLOW_RETURN_POP,	/* and takes arguments off the stack: no amd64 ABI does */
	FLOW_STOP,		/* nowhere */
	FLOW_BAD,		/* no instruction, or one that no user program has */
};

#define FLOW_ENTERS_KERNEL	0x1
#define FLOW_IS_SIGRETURN	0x2	/* loads the number of that system call */
#define FLOW_TAKES_ADDRESS	0x4	/* of target */
#define FLOW_ZEROES_FP		0x8
#define FLOW_TAKES_NUMBER	0x10	/* target, an address in files with fixed ones */
/* Of what is stored or loaded, see struct flow_op, these registers are a part. */
#define FLOW_STORES_FP		0x20
#define FLOW_STORES_RA		0x40
#define FLOW_STORES_SP		0x80
#define FLOW_LOADS_FP		0x100
#define FLOW_LOADS_RA		0x200
#define FLOW_LOADS_SP		0x400
#define FLOW_LOADS		(FLOW_LOADS_FP | FLOW_LOADS_RA | FLOW_LOADS_SP)
/* The register of the return address */
#define FLOW_LOSES_RA		0x800	/* gets another value, */
#define FLOW_SIGNS_RA		0x1000	/* or is signed (arm64), */
#define FLOW_CHECKS_RA		0x2000	/* or is as before that again */
#define FLOW_BEGINS		0x4000	/* functions begin so, and nothing comes back there */
#define FLOW_IF_ABOVE		0x8000	/* branches if an unsigned number is larger, or may be */

/* An instruction, as far as it matters here. */
struct flow_op {
	uint64_t target;	/* address in the file */
	int32_t n;
	/* Memory, which is accessed before the effect: */
	int32_t off;		/* of what is stored or loaded */
	uint16_t size;		/* bytes that are stored, or 0 */
	bool by_fp;		/* its base: FP or SP */
	uint8_t fp_at, ra_at, sp_at;	/* from off on, where FLOW_STORES_ or FLOW_LOADS_ says so */
	uint8_t effect, next;	/* enums above */
	uint8_t len;
	uint16_t flags;
};

struct flow_arch;		/* below */

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
bool flow_row(const struct gen_arch *arch, const struct flow_state *s, bool by_fp,
	      struct cfi_state *row);

/* The other way round, for code that a row of .eh_frame leads to. */
bool flow_from_row(const struct gen_arch *arch, const struct cfi_state *row, struct flow_state *s);

/* Does the row contradict the state? Not if they speak of different registers. */
bool flow_contradicts(const struct gen_arch *arch, const struct flow_state *s,
		      const struct cfi_state *row);

/* ----------------------------- gen_flow_walk.c --------------------------- */

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
 * behind a call that may be one of those that do not return; see gen_flow_walk.c. The last three
 * are about those that are not, see gen_flow_prove.c.
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
	bool on_maybe, jump_maybe;	/* it may never go on, or jump: see gen_flow_edge.c */
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

/* ----------------------------- gen_flow_edge.c --------------------------- */

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

/* ---------------------------- gen_flow_prove.c --------------------------- */

/*
 * Say of each node that is not sure whether it is proved or disproved. What is proved is sure then,
 * which is walked on from. Returns as flow_walk().
 */
int flow_prove(struct flow *f);

/* ------------------------------ gen_flow_entry.c ------------------------- */

/* Enter what is known to be a function, and mark where functions begin and end. */
int flow_find_entries(struct flow *f);

/* The address of this is used somewhere. */
void flow_take(struct flow *f, uint64_t addr);

/* ----------------------------- gen_flow_calls.c -------------------------- */

/* Enter what code that has rows calls. */
void flow_enter_called(struct flow *f);

/* ------------------------------ gen_flow_jump.c -------------------------- */

/* Look for the table of an indirect jump. Its targets are then in the node. */
void flow_find_table(struct flow *f, uint32_t node);

/* ------------------------------ architecture ----------------------------- */

#define FLOW_MAX_TABLE	1024
#define FLOW_MAX_TRAIL	16
#define FLOW_REFERENCE	8

/* Where an indirect jump goes: entries of a table. */
struct flow_table {
	uint64_t addr;		/* of the table */
	uint64_t base;		/* what entries of 4 bytes count from */
	uint32_t nr;
	uint8_t size;		/* 4: signed, from base; 8: addresses; 0: no table, but addr */
};

struct flow_arch {
	/* SP, FP and the return address as a call leaves them */
	struct flow_state entered;
	uint8_t align;			/* of SP, in front of calls */
	uint8_t callee_area;		/* bytes at SP that belong to who is called */
	int16_t abi_ra_slot;		/* where these have the return address, from the CFA on */
	uint8_t syscall_len;		/* of instructions that enter the kernel */
	bool link;			/* calls leave the return address in a register */
	bool alone;			/* a file without .eh_frame gets a table, too */
	uint8_t insn;			/* instructions are at multiples of it */
	uint32_t relative, irelative;	/* types of relocations */
	/* NULL if there is no memory. One for each table that is made; or NULL: none is needed. */
	void *(*open)(void);
	void (*close)(void *decoder);
	/* The instruction at @p; never fails, see FLOW_BAD. */
	void (*decode)(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
		       struct flow_op *op);
	/*
	 * Where in the @len bytes at @p, whose address is @addr, can the first instruction be that
	 * calls, jumps to or takes the address of one of the @size bytes at @start? It is told by
	 * FLOW_REFERENCE bytes. @len if there is none. NULL: what has rows is not searched.
	 */
	size_t (*find_reference)(const uint8_t *p, size_t len, uint64_t addr, uint64_t start,
				 uint64_t size, uint64_t *target);
	/* Is it a jump or branch, by more than a byte's distance? NULL: decode() shows it. */
	bool (*may_jump)(const uint8_t *p, uint64_t addr, uint64_t *target);
	/*
	 * The jump table that code[@nr - 1], an indirect jump, uses, from the instructions that
	 * run in front of it. False if it cannot be told for sure. NULL: it never can.
	 */
	bool (*table)(void *decoder, const uint8_t *const *code, const uint8_t *len,
		      const uint64_t *addr, unsigned int nr, struct flow_table *table);
};

#endif
