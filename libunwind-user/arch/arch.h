/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arch.h - what the generator must know of an architecture
 *
 * Each has a folder of this shape:
 *
 *	arch.c		struct gen_arch: registers, default rules
 *	code.c		instructions that are looked for: padding, system calls, signal trampolines
 *	plt.c		stubs of a PLT
 *	flow*.c		how code is followed, if it is
 *	NAME.h		what these share
 *
 * Numbers that the reader of tables needs as well are in ../sframe_NAME.h, where the kernel has
 * them from, too.
 */
#ifndef ARCH_H
#define ARCH_H

#include "libunwind-user/gen/impl.h"
#include "libunwind-user/sframe/sframe_read.h"

struct flow_arch;

struct gen_arch {
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
	/* The stubs in [start, end), which .eh_frame does not cover: rows_add_*() for each. */
	int (*plt)(struct gen_rows *r, uint64_t start, uint64_t end);
	/* How code is followed; NULL if it is not. */
	const struct flow_arch *flow;
};

extern const struct gen_arch gen_amd64, gen_arm64, gen_s390x;

#endif
