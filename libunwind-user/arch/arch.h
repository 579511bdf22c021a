/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arch.h - what the generator must know about an architecture
 *
 * Each architecture has a directory, with those of these files that it needs:
 *
 *	arch.c		struct arch: registers, default rules
 *	patterns.c	instructions to look for: padding, system calls, signal trampolines
 *	plt.c		stubs of a PLT
 *	go.c		how Go's assembler sets up frames (amd64 and arm64)
 *	flow*.c		what one instruction does to the frame, and where execution goes on
 *	NAME.h		what these files share
 *
 * On i386, no code is followed for rows: its flow.c is only for comparing rows with code.
 *
 * Numbers that the table reader needs too are in sframe/sframe_NAME.h. The kernel uses the same
 * header.
 */
#ifndef ARCH_H
#define ARCH_H

#include <endian.h>
#include <string.h>

#include "libunwind-user/cfi/cfi.h"
#include "libunwind-user/sframe/sframe.h"

/* Read 32 bits of an instruction that is little-endian. */
static inline uint32_t arch_read_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* ---------------------------- one instruction ---------------------------- */

/*
 * These descriptions cover the frame only: where SP, FP and the return address are. flow/ follows
 * code by them, and gen/check.c compares .eh_frame with them.
 */

/* Content of the frame pointer register */
enum arch_fp {
	ARCH_FP_CALLER,		/* what it held when the function was entered */
	ARCH_FP_FRAME,		/* CFA - state.fp_depth */
	ARCH_FP_OTHER,
};

/* The known facts about the frame before an instruction */
struct arch_state {
	int32_t sp_depth;	/* CFA - SP, if sp_known */
	int32_t fp_depth;	/* CFA - FP, if ARCH_FP_FRAME */
	int32_t fp_slot;	/* if fp_saved: the caller's FP is saved at CFA + fp_slot */
	int32_t ra_slot;	/* if ra_saved: the return address, at CFA + ra_slot */
	int32_t sp_slot;	/* if sp_saved: SP as it was on entry, at CFA + sp_slot */
	uint8_t fp_is;		/* enum arch_fp */
	bool sp_known, fp_saved, ra_saved, sp_saved;
	bool ra_in_reg;		/* the return address is in its register */
	bool mangled;		/* the return address is signed, wherever it is (arm64) */
	bool after_syscall;	/* after a system call, with only tests since then */
	bool outermost;		/* there is no caller, and nothing else is valid */
	bool unknown;		/* nothing is known */
};

/* The effect of an instruction on SP and FP */
enum arch_effect {
	ARCH_NONE,
	ARCH_PUSH, ARCH_PUSH_FP,
	ARCH_POP, ARCH_POP_FP,
	ARCH_ADD_SP,		/* SP += n */
	ARCH_SP_IS_FP,		/* SP = FP + n */
	ARCH_FP_IS_SP,		/* FP = SP + n */
	ARCH_FP_IS_FP,		/* FP += n */
	ARCH_LEAVE,		/* SP = FP, pop FP */
	ARCH_LOSE_SP, ARCH_LOSE_FP, ARCH_LOSE_BOTH,
};

/* Where an instruction goes on. */
enum arch_next {
	ARCH_FALLTHROUGH,
	ARCH_JUMP,		/* to target */
	ARCH_BRANCH,		/* to target or on */
	ARCH_CALL,		/* of target, which may return */
	ARCH_CALL_UNKNOWN,	/* of something unknown, which may return */
	ARCH_CALL_POINTER,	/* through a pointer: such calls return */
	ARCH_JUMP_INDIRECT,
	ARCH_RETURN,
	ARCH_MAYBE_RETURN,	/* returns or goes on */
	ARCH_RETURN_POP,	/* returns and pops arguments, as no function of amd64 does */
	ARCH_STOP,		/* nowhere */
	ARCH_BAD,		/* not an instruction, or not of user programs */
};

#define ARCH_ENTERS_KERNEL	0x1
#define ARCH_IS_SIGRETURN	0x2	/* loads the number of the system call rt_sigreturn */
#define ARCH_TAKES_ADDRESS	0x4	/* of target */
#define ARCH_ZEROES_FP		0x8
#define ARCH_TAKES_NUMBER	0x10	/* target: an address, if addresses in the file are fixed */
/* The stored or loaded memory, see struct arch_op, has these registers in it. */
#define ARCH_STORES_FP		0x20
#define ARCH_STORES_RA		0x40
#define ARCH_STORES_SP		0x80
#define ARCH_LOADS_FP		0x100
#define ARCH_LOADS_RA		0x200
#define ARCH_LOADS_SP		0x400
#define ARCH_LOADS		(ARCH_LOADS_FP | ARCH_LOADS_RA | ARCH_LOADS_SP)
/* The register of the return address */
#define ARCH_LOSES_RA		0x800	/* gets another value */
#define ARCH_SIGNS_RA		0x1000	/* is signed (arm64) */
#define ARCH_STRIPS_RA		0x2000	/* loses its signature (arm64) */
#define ARCH_STARTS_FUNC	0x4000	/* functions start with this; no jump returns to it */
#define ARCH_IF_ABOVE		0x8000	/* branches if, or maybe if, an unsigned number is larger */

/* An instruction, as far as the frame needs it. */
struct arch_op {
	uint64_t target;	/* address in the file */
	int32_t n;
	/* Memory that is accessed before the effect: */
	int32_t off;		/* from the base */
	uint16_t size;		/* bytes stored, or 0 */
	bool by_fp;		/* the base is FP, not SP */
	uint8_t fp_at, ra_at, sp_at;	/* from off on, if ARCH_STORES_ or ARCH_LOADS_ is set */
	uint16_t reg;		/* pushed or popped, a number of the decoder; 0: not a register */
	uint8_t effect, next;	/* enums above */
	uint8_t len;
	uint16_t flags;
};

#define ARCH_PC_THUNK	4	/* bytes, see is_pc_thunk() */
#define ARCH_MAX_TABLE	1024	/* entries of a jump table */
#define ARCH_MAX_TRAIL	16	/* instructions before an indirect jump that show its table */
#define ARCH_REFERENCE	8	/* bytes that show a reference, see find_reference() */

/* Where an indirect jump goes: entries of a table. */
struct arch_jump_table {
	uint64_t addr;		/* of the table */
	uint64_t base;		/* entries of 4 bytes count from here */
	uint32_t nr;
	uint8_t size;		/* 4: signed, from base; 8: addresses; 0: one target, addr */
	bool masked;		/* nr comes from a mask: the table may be shorter */
};

/* How to decode code, and what calls do. */
struct arch_flow {
	/* SP, FP and the return address as a call leaves them */
	struct arch_state entered;
	uint8_t align;			/* of SP, before calls */
	uint8_t callee_area;		/* bytes at SP that belong to the called function */
	int16_t abi_ra_slot;		/* the return address in these bytes, from the CFA on */
	uint8_t syscall_len;		/* of instructions that enter the kernel */
	bool calls_leave_ra_in_reg;	/* calls push no return address */
	bool callee_pops;		/* some functions pop their arguments */
	bool without_eh_frame;		/* a file without .eh_frame gets a table too */
	uint8_t insn;			/* instructions are at multiples of this */
	uint32_t relative, irelative;	/* types of relocations */
	/*
	 * Make a decoder, once for each table; it returns NULL if there is not enough memory.
	 * NULL: this architecture needs no decoder.
	 */
	void *(*open)(void);
	void (*close)(void *decoder);
	/* Decode the instruction at @p. Never fails: other bytes are ARCH_BAD. */
	void (*decode)(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
		       struct arch_op *op);
	/*
	 * Find the first instruction that may call, jump to or take the address of one of the
	 * @size bytes at @start. Search the @len bytes at @p, whose address is @addr: the first
	 * ARCH_REFERENCE bytes of an instruction show whether it may. Returns the offset of the
	 * instruction, or @len without one. NULL: code with rows is not searched.
	 */
	size_t (*find_reference)(const uint8_t *p, size_t len, uint64_t addr, uint64_t start,
				 uint64_t size, uint64_t *target);
	/* May the bytes be a jump or branch of more than a byte's distance? NULL: use decode(). */
	bool (*may_jump)(const uint8_t *p, uint64_t addr, uint64_t *target);
	/* Are the bytes a jump or branch to @p + @distance that may_jump() leaves out? */
	bool (*is_short_jump)(const uint8_t *p, int32_t distance);
	/*
	 * Find the jump table that code[@nr - 1], an indirect jump, uses, from the instructions
	 * that run before it. False if the table is not sure. NULL: no table ever is.
	 */
	bool (*find_jump_table)(void *decoder, const uint8_t *const *code, const uint8_t *len,
		      const uint64_t *addr, unsigned int nr, struct arch_jump_table *table);
};

/* --------------------------- frames of Go programs ------------------------ */

/* Code of a function around a pc: @p is at the pc, with so many bytes before and from it on. */
struct arch_go_code {
	const uint8_t *p;
	size_t before, after;
};

/*
 * Where a function saves RA and FP, as offsets from the CFA, and from which byte on they are there
 */
struct arch_go_frame {
	uint8_t from;
	int32_t fp, ra;
};

enum arch_go_end { ARCH_GO_JUMP, ARCH_GO_RESTORED, ARCH_GO_LOST };

/*
 * Go's own tables say only where SP is. These functions look at the code that Go's assembler adds
 * to functions with a frame. Source: Go, src/cmd/internal/obj/x86/obj6.go and arm64/obj7.go,
 * preprocess().
 */
struct arch_go {
	uint8_t pushed;			/* bytes that a call pushes */
	/*
	 * At the pc, SP is for the first time below where it was at entry, by @size bytes. Has FP
	 * (and RA, if calls push nothing) been saved, or does the next instruction save it?
	 */
	bool (*is_frame_saved)(const struct arch_go_code *code, uint32_t size,
			       struct arch_go_frame *frame);
	/*
	 * At the pc, SP is where it was at entry, and was @size bytes below just before. Did the
	 * instructions before the pc do that, and restore FP (and RA)? ARCH_GO_JUMP: other
	 * instructions end there, so that code jumps to the pc.
	 */
	enum arch_go_end (*classify_end)(const struct arch_go_code *code, uint32_t size);
	/*
	 * At the pc, RA has been popped. Is it in a register, for the code up to where it is pushed
	 * again? Returns its DWARF number, or 0. NULL: calls push nothing.
	 */
	uint8_t (*find_popped_ra)(const struct arch_go_code *code);
	/*
	 * A signal handler that makes a thread call runtime.asyncPreempt() or sigpanic() pushes the
	 * pc as a call does, and nothing else.
	 */
	bool injects_calls;
};

/* ----------------------------- an architecture ---------------------------- */

/* Callbacks of arch.add_plt_rows(), each called with @ctx. Addresses are those of the file. */
struct arch_plt {
	void *ctx;
	/* @len bytes of code at @addr, valid until the next call; NULL: no such bytes. */
	const uint8_t *(*code)(void *ctx, uint64_t addr, size_t len);
	/* Stubs in [start, end), then their rows. @start of a row counts from the stubs' start. */
	int (*fde)(void *ctx, uint64_t start, uint64_t end);
	int (*row)(void *ctx, uint64_t start, const struct cfi_row *rules);
	/* Move the end of the last stubs to @end. */
	void (*extend)(void *ctx, uint64_t end);
};

struct arch {
	const char *name;		/* for people */
	uint16_t machine;		/* EM_ */
	const struct sframe_arch *abi;	/* DWARF numbers of SP, FP, RA; rules for all rows */
	const char *const *reg_name;	/* by DWARF number, for people */
	unsigned int nr_names;
	uint8_t reg_pc;			/* of the pc, in expressions of .eh_frame; 0: no number */
	/*
	 * The CFA of this row counts from another register than SP and FP. Is the function about to
	 * restore another frame, so that the row describes no frame and nothing says where SP is?
	 * See longjmp(), setcontext(). NULL: no row is such a row.
	 */
	bool (*restores_by)(const struct cfi_row *row);
	/* The length of the padding at @p, at most @len; 0 if the bytes are not padding. */
	size_t (*get_padding_length)(const uint8_t *p, size_t len);
	/*
	 * Bytes that stubs of a PLT push before they go on to a function of the dynamic loader, if
	 * glibc's FDE of that function does not count them: its CFA is that much too low. RA shows
	 * such an FDE: it is the upper of two words at the CFA before the function takes any
	 * stack, and no function of this architecture saves RA in its caller's frame. The FDE
	 * right after it is a hole. 0: no such FDE. Source: glibc,
	 * sysdeps/aarch64/dl-trampoline.S.
	 */
	uint8_t plt_pushes;
	/*
	 * Do these two bytes end an instruction that enters the kernel? Then the pc of a task in
	 * the kernel can be right after them, even in code that never runs.
	 */
	bool (*ends_system_call)(const uint8_t *last_two);
	/*
	 * The @len bytes of a function have one rule. Find the first place where the register of
	 * its CFA is lost: SP, or with @by_fp FP, becomes that of another stack. @len: there is no
	 * such place. 0: the first instruction does that. NULL: no function of this architecture
	 * does.
	 */
	size_t (*find_stack_switch)(const uint8_t *p, size_t len, bool by_fp);
	/*
	 * Are all @len bytes of such a function those of a known function that nothing calls,
	 * __start_context() of glibc? A made-up return address leads to it. NULL: there is no such
	 * function.
	 */
	bool (*starts_stack)(const uint8_t *p, size_t len);
	/*
	 * Do the @len bytes between two FDEs contain that function's code? Then they become a hole.
	 * NULL: there is no such code.
	 */
	bool (*has_stack_start)(const uint8_t *p, size_t len);
	/*
	 * The length of the instruction at @p if functions start with such an instruction, or if
	 * it pushes or pops memory. @bytes is what it pushes, less than 0 if it pops. 0: another
	 * instruction. NULL: not known, so if rows are compared, then those of all functions.
	 */
	size_t (*decode_push)(const uint8_t *p, size_t len, int32_t *bytes);
	/* The length of the jump, to @off from the end, that the @len bytes at @p end with; or 0 */
	size_t (*find_last_jump)(const uint8_t *p, size_t len, int32_t *off);
	/*
	 * Give @to the stubs in [start, end), which .eh_frame does not cover. Returns 0, or what
	 * a callback of @to returned.
	 */
	int (*add_plt_rows)(const struct arch_plt *to, uint64_t start, uint64_t end);
	/*
	 * The ARCH_PC_THUNK bytes at @p are a function that reads its return address and returns.
	 * NULL: there are no such functions.
	 */
	bool (*is_pc_thunk)(const uint8_t *p);
	/* How to compare rows with code; NULL: rows are not compared. */
	const struct arch_flow *compare;
	/* How to follow code without rows; NULL: such code is not followed. */
	const struct arch_flow *flow;
	/* Frames of Go programs; NULL: not known. */
	const struct arch_go *go;
};

extern const struct arch arch_amd64, arch_arm64, arch_s390x, arch_i386;

/* The architecture of an EM_ and a byte order, or of an SFRAME_ABI_; NULL: not known. */
const struct arch *arch_find(uint16_t machine, bool big_endian);
const struct arch *arch_find_by_abi(uint8_t abi);

#endif
