/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arch.h - what the generator must know about an architecture
 *
 * Each architecture has a folder of this shape:
 *
 *	arch.c		struct arch: registers, default rules
 *	code.c		instructions to look for: padding, system calls, signal trampolines
 *	plt.c		stubs of a PLT
 *	flow*.c		what one instruction does to the frame, and where execution goes on
 *	NAME.h		what these files share
 *
 * Numbers that the table reader needs too are in sframe/sframe_NAME.h. The kernel uses the same
 * header.
 */
#ifndef ARCH_H
#define ARCH_H

#include <endian.h>

#include "libunwind-user/cfi/cfi.h"
#include "libunwind-user/sframe/sframe.h"

/* ---------------------------- one instruction ---------------------------- */

/*
 * Only the frame counts here: where SP, FP and the return address are. flow/ follows code by these
 * descriptions, gen/check.c compares .eh_frame with them.
 */

/* What the frame pointer register holds. */
enum flow_fp {
	FLOW_FP_CALLER,		/* what it held when the function was entered */
	FLOW_FP_FRAME,		/* CFA - state.fp */
	FLOW_FP_OTHER,
};

/* What is known of the frame in front of an instruction. */
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

/* What an instruction does to SP and FP. */
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

#define FLOW_MAX_TABLE	1024
#define FLOW_MAX_TRAIL	16
#define FLOW_REFERENCE	8

/* Where an indirect jump goes: entries of a table. */
struct flow_table {
	uint64_t addr;		/* of the table */
	uint64_t base;		/* what entries of 4 bytes count from */
	uint32_t nr;
	uint8_t size;		/* 4: signed, from base; 8: addresses; 0: no table, but addr */
	bool masked;		/* nr is by a mask: the table may be shorter */
};

/* How code is decoded, and what calls do. */
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

/* ----------------------------- an architecture ---------------------------- */

/* What finds stubs of a PLT calls these, each with @ctx. Addresses are those of the file. */
struct arch_plt {
	void *ctx;
	/* @len bytes of code at @addr, valid until the next call; NULL: there are none. */
	const uint8_t *(*code)(void *ctx, uint64_t addr, size_t len);
	/* Stubs in [start, end), then their rows: @start of these counts from that of the stubs. */
	int (*fde)(void *ctx, uint64_t start, uint64_t end);
	int (*row)(void *ctx, uint64_t start, const struct cfi_state *state);
	/* The end of the stubs that came last is @end now. */
	void (*extend)(void *ctx, uint64_t end);
};

struct arch {
	const char *name;		/* as people say it */
	uint16_t machine;		/* EM_ */
	const struct sframe_arch *abi;	/* DWARF numbers of SP, FP, RA; rules for all rows */
	const char *const *reg_name;	/* by DWARF number, for people */
	unsigned int nr_names;
	uint8_t reg_pc;			/* in expressions of .eh_frame; 0: has no number */
	/*
	 * A CFA by another register than SP and FP is no frame but what is about to be restored,
	 * of which nothing says where SP is: longjmp(), setcontext().
	 */
	bool restores_by_cfa;
	/* The length of the padding at @p, not more than @len; 0 if it is something else. */
	size_t (*padding)(const uint8_t *p, size_t len);
	/*
	 * Bytes that stubs of a PLT push for the function of the dynamic loader they go on to, if
	 * glibc's FDE of that does not count them: its CFA is that much too low. Such an FDE is
	 * told by RA, which it has as the upper one of two words at the CFA before it takes any
	 * stack: no function of this architecture saves RA in its caller's frame. The FDE right
	 * behind it is a hole. 0: there is none. Source: glibc, sysdeps/aarch64/dl-trampoline.S.
	 */
	uint8_t plt_pushes;
	/*
	 * Does an instruction that enters the kernel end behind these two bytes? Then a task in
	 * the kernel can stand in what follows, although it never runs.
	 */
	bool (*enters_kernel)(const uint8_t *p);
	/*
	 * Where in the @len bytes of a function with one rule for all of them the CFA counts from
	 * a register that is gone: SP becomes that of another stack, or, @by_fp, FP does. @len if
	 * nowhere. 0: the first instruction does that. NULL: no function does.
	 */
	size_t (*leaves_stack)(const uint8_t *p, size_t len, bool by_fp);
	/*
	 * Are the @len bytes of such a function known, all of them, as what nothing calls, since
	 * a made-up return address points to it: __start_context() of glibc? NULL: none are.
	 */
	bool (*starts_stack)(const uint8_t *p, size_t len);
	/*
	 * The length of the instruction at @p if it is one of those that functions begin with, or
	 * pushes or pops memory. @bytes is what it pushes, less than 0 if it pops. 0: it is another
	 * one. NULL: rows are not compared with code.
	 */
	size_t (*pushes)(const uint8_t *p, size_t len, int32_t *bytes);
	/* The length of the jump, to @off from the end, that the @len bytes at @p end with; or 0 */
	size_t (*last_jump)(const uint8_t *p, size_t len, int32_t *off);
	/* Give @to the stubs in [start, end), which .eh_frame does not cover. 0 or what @to did. */
	int (*plt)(const struct arch_plt *to, uint64_t start, uint64_t end);
	/* How code is followed; NULL if it is not. */
	const struct flow_arch *flow;
};

extern const struct arch arch_amd64, arch_arm64, arch_s390x;

/* That of an EM_ and a byte order, and that of an SFRAME_ABI_; NULL: there is none. */
const struct arch *arch_of(uint16_t machine, bool big_endian);
const struct arch *arch_of_abi(uint8_t abi);

#endif
