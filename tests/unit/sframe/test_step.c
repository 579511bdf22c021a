// SPDX-License-Identifier: GPL-2.0
/* test_step.c - steps from one frame to its caller, over a stack in an array */
#include <errno.h>

#include "tests/unit/unit.h"
#include "libunwind-user/sframe/sframe.h"

/* The stack: word n is at STACK + 8 * n. Reads outside of it fail. */
#define STACK	0x7ffd00000000ull
#define AT(n)	(STACK + 8 * (n))
#define NR	512

static u64 stack[NR];
static unsigned int reads;
static u8 code[32];
#define CODE	0x401000ull

static int read_stack(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	(void)ctx;
	reads++;
	assert_int_equal(addr % 8, 0);
	assert_in_range(nr, 1, 2);
	if (addr < STACK || addr > AT(NR) - 8 * nr)
		return -EFAULT;
	memcpy(words, stack + (addr - STACK) / 8, 8 * nr);
	return 0;
}

static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	(void)ctx;
	assert_true(reg != 6 && reg != 7);
	if (reg > 16)
		return -EINVAL;
	*value = AT(300 + reg);
	return 0;
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	(void)ctx;
	assert_in_range(size, 1, 16);
	if (addr < CODE || addr > CODE + sizeof(code) - size)
		return -EFAULT;
	memcpy(to, code + (addr - CODE), size);
	return 0;
}

#include "step_build.h"

static int setup(void **state)
{
	(void)state;
	start_step(SFRAME_ABI_AMD64, AT(10), AT(20));
	return 0;
}

#define SIGFRAME		((struct sframe_row) { .size = 1, .flags = SFRAME_ROW_SIGNAL, \
	.cfa = RULE(SP, 0, 160, 1), .ra = RULE(SP, 0, 168, 1), .fp = RULE(SP, 0, 120, 1) })

/* A step that fails leaves the state as it was. */
static int assert_step_fails(struct sframe_row row)
{
	struct ustep before = s;
	int ret = step(row);

	assert_true(ret);
	assert_memory_equal(&s, &before, sizeof(s));
	return ret;
}

static void a_frame_on_sp_keeps_fp(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(24), SAVED(-8), SAME)), 0);
	assert_state(0xdead0000 + 12, AT(13), AT(20), 0);
	assert_int_equal(reads, 1);
	assert_int_equal(s.frames, 1);
}

static void a_frame_on_fp_is_read_at_once(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(FP(16), SAVED(-8), SAVED(-16))), 0);
	assert_state(0xdead0000 + 21, AT(22), 0xdead0000 + 20, 0);
	assert_int_equal(reads, 1);
}

static void ra_may_be_anywhere(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(80), RULE(SP, 0, 16, 1), SAME)), 0);
	assert_state(0xdead0000 + 12, AT(20), AT(20), 0);
	assert_int_equal(step(ROW(SP(80), RULE(CFA, 0, 16, 0), SAME)), 0);
	assert_state(AT(32), AT(30), AT(20), 0);
}

static void the_cfa_may_be_above_a_saved_sp(void **state)
{
	struct sframe_row row = ROW(RULE(SP, 0, 16, 1), SAVED(-8), SAME);

	(void)state;
	row.cfa.add = 8;
	stack[12] = AT(30);
	assert_int_equal(step(row), 0);
	assert_state(0xdead0000 + 30, AT(31), AT(20), 0);
	/* only a signal frame leads to a stack below: OCaml marks its switches of stacks so */
	stack[33] = AT(3);
	assert_int_equal(assert_step_fails(row), -EINVAL);
	row.flags = SFRAME_ROW_SIGNAL;
	assert_int_equal(step(row), 0);
	assert_state(0xdead0000 + 3, AT(4), AT(20), USTEP_EXACT);
}

/* The kernel's signal frame holds SP itself */
static void a_saved_sp_is_not_a_signal_frame(void **state)
{
	struct sframe_row row = SIGFRAME;

	(void)state;
	row.cfa.add = 8;
	stack[10 + 160 / 8] = AT(40);
	assert_int_equal(step(row), 0);
	assert_false(s.flags & USTEP_SIGNAL);
}

static void fp_may_be_saved_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(80), SAVED(-8), SAVED(-40))), 0);
	assert_state(0xdead0000 + 19, AT(20), 0xdead0000 + 15, 0);
	assert_int_equal(reads, 2);
}

/* Write the kernel's frame for the return from a signal at word @at */
static void sigframe(unsigned int at, u64 ip, u64 sp, u64 fp)
{
	unsigned int reg;

	for (reg = 0; reg < 16; reg++)
		stack[at + env.arch->sigs->regs[reg] / 8] = AT(400 + 2 * reg);
	stack[at + 120 / 8] = fp;
	stack[at + 160 / 8] = sp;
	stack[at + 168 / 8] = ip;
}

static void a_return_address_is_looked_up_before_itself(void **state)
{
	(void)state;
	assert_int_equal(ustep_pc(&s), 0x1234);
	assert_int_equal(step(ROW(SP(24), SAVED(-8), SAME)), 0);
	assert_int_equal(ustep_pc(&s), 0xdead0000 + 11);
	sigframe(13, 0x5678, AT(50), 0xf0f0);
	assert_int_equal(step(SIGFRAME), 0);
	assert_int_equal(ustep_pc(&s), 0x5678);
}

static void the_walk_ends_at_the_outermost_frame(void **state)
{
	(void)state;
	assert_int_equal(assert_step_fails(ROW(SAME, UNDEFINED, SAME)), USTEP_OUTERMOST);
	assert_int_equal(assert_step_fails(ROW(SP(8), UNDEFINED, SAME)), USTEP_OUTERMOST);
	assert_int_equal(reads, 0);
	stack[12] = 0;
	assert_int_equal(assert_step_fails(ROW(SP(24), SAVED(-8), SAME)), USTEP_OUTERMOST);
}

static void memory_that_cannot_be_read_is_an_error(void **state)
{
	struct sframe_row rows[] = {
		ROW(SP(8 * NR), SAVED(-8), SAME), ROW(SP(8 * NR), SAVED(-8), SAVED(-16)),
		ROW(SP(80), SAVED(8 * NR), SAME), ROW(SP(80), SAVED(-8), SAVED(8 * NR)),
		ROW(RULE(SP, 0, 8 * NR, 1), SAVED(-8), SAME),
		ROW(SP(80), RULE(FP, 0, 8 * NR, 1), SAME),
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(assert_step_fails(rows[i]), -EFAULT);
	s.fp = ~7ull;
	assert_int_equal(assert_step_fails(ROW(RULE(FP, 0, 0, 1), SAVED(-8), SAME)), -EFAULT);
}

static void the_stack_goes_up(void **state)
{
	(void)state;
	assert_int_equal(assert_step_fails(ROW(SP(0), SAVED(-8), SAME)), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(SP(-8), SAVED(-8), SAME)), -EINVAL);
	s.fp = AT(8);
	assert_int_equal(assert_step_fails(ROW(FP(16), SAVED(-8), SAVED(-16))), -EINVAL);
	s.fp = AT(9);
	assert_int_equal(step(ROW(FP(16), SAVED(-8), SAVED(-16))), 0);
	/* beyond the end of the address space is down */
	s.sp = ~7ull;
	assert_int_equal(assert_step_fails(ROW(SP(16), SAVED(-8), SAME)), -EINVAL);
	s.fp = ~7ull;
	assert_int_equal(assert_step_fails(ROW(FP(16), SAVED(-8), SAME)), -EINVAL);
}

static void unaligned_addresses_are_refused(void **state)
{
	(void)state;
	assert_int_equal(assert_step_fails(ROW(SP(12), SAVED(-8), SAME)), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(SP(16), SAVED(-4), SAME)), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(SP(16), SAVED(-8), SAVED(-12))), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(RULE(SP, 0, 4, 1), SAVED(-8), SAME)), -EINVAL);
	s.fp = AT(20) + 1;
	assert_int_equal(assert_step_fails(ROW(FP(16), SAVED(-8), SAVED(-16))), -EINVAL);
}

static void rules_with_an_invalid_base_are_refused(void **state)
{
	(void)state;
	assert_int_equal(assert_step_fails(ROW(SAME, SAVED(-8), SAME)), -EBADMSG);
	assert_int_equal(assert_step_fails(ROW(UNDEFINED, SAVED(-8), SAME)), -EBADMSG);
	assert_int_equal(assert_step_fails(ROW(SAVED(0), SAVED(-8), SAME)), -EBADMSG);
	assert_int_equal(assert_step_fails(ROW(RULE(REG + 1, 0, 0, 0), SAVED(-8), SAME)), -EBADMSG);
	assert_int_equal(assert_step_fails(ROW(SP(16), RULE(REG + 1, 0, 0, 0), SAME)), -EBADMSG);
	assert_int_equal(assert_step_fails(ROW(SP(16), SAVED(-8), UNDEFINED)), -EBADMSG);
}

static void the_innermost_frame_has_all_registers(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(REGISTER(10, 16), AT_REGISTER(10, 8), AT_REGISTER(10, 0))), 0);
	assert_state(0xdead0000 + 311, AT(312), 0xdead0000 + 310, 0);
	setup(NULL);
	/* as in a function that calls longjmp() */
	assert_int_equal(step(ROW(REGISTER(8, 0), REGISTER(2, 0), REGISTER(9, 0))), 0);
	assert_state(AT(302), AT(308), AT(309), 0);
	assert_int_equal(reads, 0);
	setup(NULL);
	assert_int_equal(assert_step_fails(ROW(REGISTER(17, 0), SAVED(-8), SAME)), -ENODATA);
	env.get_reg = NULL;
	assert_int_equal(assert_step_fails(ROW(REGISTER(10, 0), SAVED(-8), SAME)), -ENODATA);
	env.get_reg = get_reg;
}

static void a_caller_has_sp_and_fp_alone(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(24), SAVED(-8), SAME)), 0);
	assert_int_equal(assert_step_fails(ROW(REGISTER(10, 0), SAVED(-8), SAME)), -ENODATA);
	assert_int_equal(assert_step_fails(ROW(SP(80), REGISTER(3, 0), SAME)), -ENODATA);
	assert_int_equal(assert_step_fails(ROW(SP(80), SAVED(-8), AT_REGISTER(3, 0))), -ENODATA);
	assert_int_equal(assert_step_fails(ROW(SP(80), SAME, SAME)), -ENODATA);
	stack[19] = AT(40);
	assert_int_equal(step(ROW(RULE(FP, 0, -8, 1), SAVED(-8), RULE(FP, 0, 0, 1))), 0);
	assert_state(0xdead0000 + 39, AT(40), 0xdead0000 + 20, 0);
}

/* @row, of a table that says where rbx is kept */
static struct sframe_row keeping(struct sframe_row row, u32 slot)
{
	row.flags |= SFRAME_ROW_FLAGS_KEPT(slot);
	return row;
}

#define KEEPS(slot)	keeping(ROW(SP(24), SAVED(-8), SAME), slot)
#define BY_RBX(off)	ROW(REGISTER(3, off), SAVED(-8), SAME)

static void a_register_that_is_kept_is_known_in_callers(void **state)
{
	(void)state;
	/* as get_reg() has it, through two frames that do not save it */
	assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
	assert_state(0xdead0000 + 12, AT(13), AT(20), USTEP_KEPT);
	assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
	assert_state(0xdead0000 + 15, AT(16), AT(20), USTEP_KEPT);
	assert_int_equal(reads, 2);
	/* no other register is */
	assert_int_equal(assert_step_fails(ROW(REGISTER(12, 0), SAVED(-8), SAME)), -ENODATA);
	assert_int_equal(step(BY_RBX(16)), 0);
	assert_state(0xdead0000 + 304, AT(305), AT(20), 0);
}

static void a_register_that_is_saved_is_read_where_it_is_needed(void **state)
{
	(void)state;
	stack[11] = AT(40);
	assert_int_equal(step(KEEPS(2)), 0);
	assert_state(0xdead0000 + 12, AT(13), AT(20), USTEP_KEPT_AT);
	assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
	assert_state(0xdead0000 + 15, AT(16), AT(20), USTEP_KEPT_AT);
	assert_int_equal(reads, 2);
	assert_int_equal(step(keeping(BY_RBX(32), 4)), 0);
	assert_state(0xdead0000 + 43, AT(44), AT(20), USTEP_KEPT_AT);
	assert_int_equal(reads, 4);
	/* it saves rbx at CFA - 32 itself */
	assert_int_equal(s.kept, AT(40));
	stack[40] = AT(80);
	assert_int_equal(step(BY_RBX(16)), 0);
	assert_state(0xdead0000 + 81, AT(82), AT(20), 0);
}

static void a_row_without_the_kept_register_loses_it(void **state)
{
	struct sframe_row unknown[] = {
		ROW(SP(24), SAVED(-8), SAME), ROW(SP(24), SAVED(-8), SAVED(-24)),
		KEEPS(SFRAME_KEPT_UNKNOWN),
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		setup(NULL);
		assert_int_equal(step(KEEPS(2)), 0);
		assert_int_equal(step(unknown[i]), 0);
		assert_int_equal(s.flags, 0);
		assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
		assert_int_equal(s.flags, 0);
		assert_int_equal(assert_step_fails(BY_RBX(200)), -ENODATA);
	}
	/* nor is it known if the innermost frame's registers cannot be read */
	setup(NULL);
	env.get_reg = NULL;
	assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
	assert_int_equal(s.flags, 0);
	env.get_reg = get_reg;
}

static void a_saved_register_may_lie_anywhere(void **state)
{
	(void)state;
	assert_int_equal(step(keeping(ROW(SP(24), SAVED(-8), SAME), 255)), 0);
	assert_int_equal(assert_step_fails(BY_RBX(0)), -EFAULT);
	s.kept = AT(20) + 4;
	assert_int_equal(assert_step_fails(BY_RBX(0)), -ENODATA);
	s.kept = ~7ull;
	assert_int_equal(assert_step_fails(BY_RBX(0)), -EFAULT);
	/* and hold anything: SP goes up or the walk ends */
	s.kept = AT(50);
	stack[50] = AT(5);
	assert_int_equal(assert_step_fails(BY_RBX(0)), -EINVAL);
	stack[50] = AT(60) + 1;
	assert_int_equal(assert_step_fails(BY_RBX(0)), -EINVAL);
}

static void an_interrupted_frame_keeps_what_the_signal_frame_has(void **state)
{
	(void)state;
	assert_int_equal(step(KEEPS(2)), 0);
	sigframe(13, 0x5678, AT(50), 0xf0f0);
	/* it replaces all registers, whatever the row says */
	assert_int_equal(step(keeping(SIGFRAME, 2)), 0);
	assert_state(0x5678, AT(50), 0xf0f0, USTEP_EXACT | USTEP_SIGNAL);
	assert_int_equal(step(KEEPS(SFRAME_KEPT_IN_REG)), 0);
	assert_state(0xdead0000 + 52, AT(53), 0xf0f0, USTEP_KEPT);
	assert_int_equal(s.kept, AT(406));
	assert_int_equal(step(BY_RBX(16)), 0);
	assert_state(0xdead0000 + 407, AT(408), 0xf0f0, 0);
}

static void a_signal_frame_may_lie_on_a_stack_of_its_own(void **state)
{
	(void)state;
	ustep_init(&s, 0x1234, AT(200), AT(20));
	s.flags = 0;
	sigframe(200, 0x5678, AT(50), 0xf0f0);
	assert_int_equal(step(SIGFRAME), 0);
	assert_state(0x5678, AT(50), 0xf0f0, USTEP_EXACT | USTEP_SIGNAL);
}

static void an_interrupted_frame_has_the_registers_that_were_saved(void **state)
{
	(void)state;
	s.flags = 0;
	sigframe(10, 0x5678, AT(50), 0xf0f0);
	assert_int_equal(step(SIGFRAME), 0);
	assert_int_equal(step(ROW(REGISTER(10, 0), AT_REGISTER(11, 8), REGISTER(3, 7))), 0);
	/* get_reg() would have said AT(310) */
	assert_state(0xdead0000 + 423, AT(420), AT(406) + 7, 0);
	assert_int_equal(assert_step_fails(ROW(REGISTER(10, 0), SAVED(-8), SAME)), -ENODATA);
}

static void of_an_unknown_signal_frame_no_registers_are_known(void **state)
{
	struct sframe_row row = SIGFRAME;

	(void)state;
	s.flags = 0;
	sigframe(10, 0x5678, AT(50), 0xf0f0);
	row.fp.off = 128;
	assert_int_equal(step(row), 0);
	assert_state(0x5678, AT(50), AT(406), USTEP_EXACT);
	assert_int_equal(assert_step_fails(ROW(REGISTER(10, 0), SAVED(-8), SAME)), -ENODATA);
	/* one past the last, and in the innermost frame's callback a known one */
	s.flags = USTEP_EXACT | USTEP_SIGNAL;
	s.sig_kind = 0;
	assert_int_equal(assert_step_fails(ROW(REGISTER(16, 0), SAVED(-8), SAME)), -ENODATA);
	s.sig = 4;
	assert_int_equal(assert_step_fails(ROW(REGISTER(10, 0), SAVED(-8), SAME)), -ENODATA);
}

/* Signal frames that lead to one another, with @nr of them before the cycle's first */
static void cycle(unsigned int nr, unsigned int length)
{
	unsigned int i, steps;
	int ret = 0;

	setup(NULL);
	s.flags = 0;
	s.sp = AT(0);
	for (i = 0; i < nr + length; i++)
		sigframe(22 * i, 0x1000 + i, AT(22 * (i + 1 < nr + length ? i + 1 : nr)), 0);
	for (steps = 0; !ret && steps < 512; steps++)
		ret = step(SIGFRAME);
	assert_int_equal(ret, -EINVAL);
	assert_true(steps <= 4 * (nr + length) + 2);
}

static void there_are_no_cycles(void **state)
{
	unsigned int nr, length;

	(void)state;
	for (nr = 0; nr < 8; nr++) {
		for (length = 1; length < 14; length++)
			cycle(nr, length);
	}
}

static void many_signal_frames_are_no_cycle(void **state)
{
	int i;

	(void)state;
	s.flags = 0;
	s.sp = AT(0);
	for (i = 0; i < 20; i++)
		sigframe(22 * i, 0x1000, AT(22 * (i + 1)), 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(step(SIGFRAME), 0);
}

static void a_signal_return_is_recognized_by_its_code(void **state)
{
	static const u8 trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	struct sframe_row row;
	size_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 16, trampoline, sizeof(trampoline));
	ustep_init(&s, CODE + 16, AT(10), 0);
	assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
	assert_true(sframe_row_holds(&row, ustep_pc(&s)));
	sigframe(10, 0x5678, AT(50), 0xf0f0);
	assert_int_equal(step(row), 0);
	assert_state(0x5678, AT(50), 0xf0f0, USTEP_EXACT | USTEP_SIGNAL);

	/* a handler returns to the first byte, and no table covers the byte before it */
	ustep_init(&s, CODE + 16, AT(10), 0);
	s.flags = 0;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
	assert_true(sframe_row_holds(&row, ustep_pc(&s)));

	/* at the system call, or in it: only the innermost frame can be */
	s.ip = CODE + 16 + 7;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	s.flags = USTEP_EXACT;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
	s.ip = CODE + 16 + 9;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
	s.flags = 0;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	s.flags = USTEP_EXACT;

	s.ip = CODE + 15;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	s.ip = CODE + 31;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	s.ip = 3;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	s.ip = CODE + 16;
	for (i = 0; i < sizeof(trampoline); i++) {
		code[16 + i] ^= 1;
		assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
		code[16 + i] ^= 1;
	}
	env.read_code = NULL;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
	env.read_code = read_code;
}

static void arm64_keeps_ra_in_a_register_and_signs_it(void **state)
{
	struct sframe_row row = ROW(SP(0), SAME, SAME);
	const u64 sign = 0x007f000000000000;

	(void)state;
	env.arch = sframe_arch(SFRAME_ABI_ARM64_LE);
	env.ra_mask = sign;
	s.flags |= USTEP_INNERMOST;
	/* get_reg() knows none above 16, and x30 is the link register */
	assert_int_equal(assert_step_fails(row), -ENODATA);
	row.ra = (struct sframe_rule)REGISTER(16, 0);
	assert_int_equal(step(row), 0);
	/* SP stays, once: a caller has a frame */
	assert_state(AT(316), AT(10), AT(20), 0);
	assert_int_equal(assert_step_fails(ROW(SP(0), SAVED(-8), SAME)), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(SP(0), FP(0), SAME)), -EINVAL);

	stack[11] = 0x401234 | sign;
	row = ROW(SP(16), SAVED(-8), SAVED(-16));
	row.flags = SFRAME_ROW_MANGLED;
	assert_int_equal(step(row), 0);
	assert_state(0x401234, AT(12), 0xdead0000 + 10, 0);
	env.ra_mask = 0;
}

static void s390x_has_the_cfa_above_sp(void **state)
{
	(void)state;
	env.arch = sframe_arch(SFRAME_ABI_S390X);
	/* a leaf: RA in r14 of the innermost frame, SP stays */
	assert_int_equal(step(ROW(SP(160), SAME, SAME)), 0);
	assert_state(AT(314), AT(10), AT(20), 0);
	assert_int_equal(step(ROW(SP(320), SAVED(-48), SAVED(-72))), 0);
	assert_state(0xdead0000 + 44, AT(30), 0xdead0000 + 41, 0);
}

/* Most functions of s390x save RA in their caller's frame, and only then take one */
static void s390x_has_ra_saved_before_there_is_a_frame(void **state)
{
	(void)state;
	env.arch = sframe_arch(SFRAME_ABI_S390X);
	assert_int_equal(step(ROW(SP(160), SAVED(-48), SAVED(-72))), 0);
	assert_state(0xdead0000 + 24, AT(10), 0xdead0000 + 21, 0);
	/* In the innermost frame only, and not below SP */
	assert_int_equal(assert_step_fails(ROW(SP(160), SAVED(-48), SAVED(-72))), -EINVAL);
	s.flags = USTEP_EXACT;
	assert_int_equal(assert_step_fails(ROW(SP(160), SAVED(-168), SAME)), -EINVAL);
	assert_int_equal(assert_step_fails(ROW(SP(160), SAVED(-161), SAME)), -EINVAL);
	assert_int_equal(step(ROW(SP(160), SAVED(-160), SAME)), 0);
}

/* Two kinds of signal frames, both with the interrupted SP where a row would have the CFA */
static void s390x_signal_frames_are_recognized_by_code(void **state)
{
	static const u16 ip[] = { 344, 184 }, sp[] = { 472, 312 }, fp[] = { 440, 280 };
	static const u8 svc[] = { 173, 119 };
	struct sframe_row row, wrong = ROW(SP(160), SAME, SAME);
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		setup(NULL);
		env.arch = sframe_arch(SFRAME_ABI_S390X);
		code[16] = 0x0a;
		code[17] = svc[i];
		stack[10 + ip[i] / 8] = 0x5678;
		stack[10 + sp[i] / 8] = AT(200);
		stack[10 + fp[i] / 8] = 0xf0f0;
		/* f2 has number 17 and comes after f0 and f1 */
		stack[10 + (ip[i] - 8 + 216 + 16) / 8] = 0xf2f2;
		ustep_init(&s, CODE + 16, AT(10), 0);
		s.flags = USTEP_NO_FP;
		assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
		/* the rule of the vDSO's unwind information for it */
		assert_int_equal(step(i ? wrong : row), 0);
		assert_state(0x5678, AT(200), 0xf0f0, USTEP_EXACT | USTEP_SIGNAL);
		assert_int_equal(step(ROW(SP(160), REGISTER(17, 0), SAME)), 0);
		assert_state(0xf2f2, AT(200), 0xf0f0, 0);
		/* that of a function without calls is for no caller, where no such code is */
		assert_int_equal(assert_step_fails(wrong), -EINVAL);
	}
}

static void a_step_without_fp_goes_on_by_sp(void **state)
{
	(void)state;
	s.flags = USTEP_NO_FP;
	assert_int_equal(assert_step_fails(ROW(FP(16), SAVED(-8), SAVED(-16))), -ENODATA);
	assert_int_equal(assert_step_fails(ROW(SP(24), SAVED(-8), FP(0))), -ENODATA);
	assert_int_equal(step(ROW(SP(24), SAVED(-8), SAME)), 0);
	assert_int_equal(s.flags, USTEP_NO_FP);
	assert_int_equal(step(ROW(SP(24), SAVED(-8), SAVED(-16))), 0);
	assert_state(0xdead0000 + 15, AT(16), 0xdead0000 + 14, 0);
}

static void a_step_without_sp_goes_on_by_fp(void **state)
{
	(void)state;
	s.flags = USTEP_NO_SP;
	assert_int_equal(assert_step_fails(ROW(SP(24), SAVED(-8), SAME)), -ENODATA);
	assert_int_equal(assert_step_fails(ROW(FP(16), RULE(SP, 0, 8, 1), SAME)), -ENODATA);
	assert_int_equal(step(ROW(FP(16), SAVED(-8), SAVED(-16))), 0);
	assert_state(0xdead0000 + 21, AT(22), 0xdead0000 + 20, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_frame_on_sp_keeps_fp, setup),
		cmocka_unit_test_setup(a_frame_on_fp_is_read_at_once, setup),
		cmocka_unit_test_setup(ra_may_be_anywhere, setup),
		cmocka_unit_test_setup(the_cfa_may_be_above_a_saved_sp, setup),
		cmocka_unit_test_setup(a_saved_sp_is_not_a_signal_frame, setup),
		cmocka_unit_test_setup(fp_may_be_saved_elsewhere, setup),
		cmocka_unit_test_setup(a_return_address_is_looked_up_before_itself, setup),
		cmocka_unit_test_setup(the_walk_ends_at_the_outermost_frame, setup),
		cmocka_unit_test_setup(memory_that_cannot_be_read_is_an_error, setup),
		cmocka_unit_test_setup(the_stack_goes_up, setup),
		cmocka_unit_test_setup(unaligned_addresses_are_refused, setup),
		cmocka_unit_test_setup(rules_with_an_invalid_base_are_refused, setup),
		cmocka_unit_test_setup(the_innermost_frame_has_all_registers, setup),
		cmocka_unit_test_setup(a_caller_has_sp_and_fp_alone, setup),
		cmocka_unit_test_setup(a_register_that_is_kept_is_known_in_callers, setup),
		cmocka_unit_test_setup(a_register_that_is_saved_is_read_where_it_is_needed, setup),
		cmocka_unit_test_setup(a_row_without_the_kept_register_loses_it, setup),
		cmocka_unit_test_setup(a_saved_register_may_lie_anywhere, setup),
		cmocka_unit_test_setup(an_interrupted_frame_keeps_what_the_signal_frame_has, setup),
		cmocka_unit_test_setup(a_signal_frame_may_lie_on_a_stack_of_its_own, setup),
		cmocka_unit_test_setup(an_interrupted_frame_has_the_registers_that_were_saved,
				       setup),
		cmocka_unit_test_setup(of_an_unknown_signal_frame_no_registers_are_known, setup),
		cmocka_unit_test_setup(there_are_no_cycles, setup),
		cmocka_unit_test_setup(many_signal_frames_are_no_cycle, setup),
		cmocka_unit_test_setup(a_signal_return_is_recognized_by_its_code, setup),
		cmocka_unit_test_setup(arm64_keeps_ra_in_a_register_and_signs_it, setup),
		cmocka_unit_test_setup(s390x_has_the_cfa_above_sp, setup),
		cmocka_unit_test_setup(s390x_has_ra_saved_before_there_is_a_frame, setup),
		cmocka_unit_test_setup(s390x_signal_frames_are_recognized_by_code, setup),
		cmocka_unit_test_setup(a_step_without_fp_goes_on_by_sp, setup),
		cmocka_unit_test_setup(a_step_without_sp_goes_on_by_fp, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
