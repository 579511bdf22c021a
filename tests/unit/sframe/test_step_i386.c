// SPDX-License-Identifier: GPL-2.0
/* test_step_i386.c - steps of 32-bit programs: words of 4 bytes, three kinds of signal frames */
#include <errno.h>

#include "tests/unit/unit.h"
#include "libunwind-user/sframe/sframe.h"

/* The stack: word n is at STACK + 4 * n. It ends with the address space. */
#define NR	64
#define STACK	(0x100000000ull - 4 * NR)
#define AT(n)	(STACK + 4 * (n))
#define CODE	0x8048000u

static u32 stack[NR];
static unsigned int reads;
static u8 code[32];

static int read_stack(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	unsigned int i;

	(void)ctx;
	reads++;
	assert_int_equal(addr % 4, 0);
	assert_in_range(nr, 1, 2);
	assert_true(addr <= UINT32_MAX);
	if (addr < STACK || addr > AT(NR) - 4 * nr)
		return -EFAULT;
	for (i = 0; i < nr; i++)
		words[i] = stack[(addr - STACK) / 4 + i];
	return 0;
}

/* The upper half of a register is not of the program. */
static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	(void)ctx;
	assert_true(reg != 4 && reg != 5);
	*value = 0xffffffff00000000 | AT(40 + reg);
	return 0;
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	(void)ctx;
	if (addr < CODE || addr > CODE + sizeof(code) - size)
		return -EFAULT;
	memcpy(to, code + (addr - CODE), size);
	return 0;
}

#include "step_build.h"

static int setup(void **state)
{
	(void)state;
	start_step(SFRAME_ABI_I386, AT(9), AT(21));
	return 0;
}

static void words_have_4_bytes(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(12), SAVED(-4), SAME)), 0);
	assert_state(0xdead0000 + 11, AT(12), AT(21), 0);
	/* RA and FP at once, where they are adjacent */
	assert_int_equal(step(ROW(FP(8), SAVED(-4), SAVED(-8))), 0);
	assert_state(0xdead0000 + 22, AT(23), 0xdead0000 + 21, 0);
	assert_int_equal(reads, 2);
	assert_int_equal(step(ROW(SP(20), SAVED(-4), SAVED(-16))), 0);
	assert_state(0xdead0000 + 27, AT(28), 0xdead0000 + 24, 0);
	assert_int_equal(reads, 4);
	assert_int_equal(step(ROW(SP(6), SAVED(-4), SAME)), -EINVAL);
	assert_int_equal(step(ROW(SP(8), SAVED(-2), SAME)), -EINVAL);
}

static void registers_have_4_bytes(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(REGISTER(1, 0), SAVED(-4), REGISTER(2, 4))), 0);
	assert_state(0xdead0000 + 40, AT(41), AT(43), 0);
}

/* Such a stack does not go up. */
static void nothing_is_above_4_gib(void **state)
{
	(void)state;
	assert_int_equal(step(ROW(SP(4 * NR), SAVED(-4), SAME)), -EINVAL);
	s.fp = AT(NR - 1);
	assert_int_equal(step(ROW(FP(8), SAVED(-4), SAVED(-8))), -EINVAL);
	assert_int_equal(step(ROW(SP(8), SAVED(4 * NR), SAME)), -EFAULT);
	assert_int_equal(step(ROW(SP(8), SAVED(-4), FP(4))), 0);
	assert_state(0xdead0000 + 10, AT(11), 0, 0);
}

/* Write a signal frame whose sigcontext is @at bytes above SP: ecx, esp, ebp and eip */
static void sigframe(unsigned int at)
{
	stack[9 + (at + 40) / 4] = AT(30);
	stack[9 + (at + 28) / 4] = AT(12);
	stack[9 + (at + 24) / 4] = 0xf0f0;
	stack[9 + (at + 56) / 4] = 0x5678;
}

/* Step by the code at @ip, then by a row that counts from ecx. */
static void step_from_signal(u32 ip, u32 flags, unsigned int at)
{
	struct sframe_row row;

	setup(NULL);
	sigframe(at);
	s.ip = ip;
	s.flags = flags;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), 0);
	assert_true(sframe_row_holds(&row, ustep_pc(&s)));
	assert_int_equal(step(row), 0);
	assert_state(0x5678, AT(12), 0xf0f0, USTEP_EXACT | USTEP_SIGNAL);
	assert_int_equal(step(ROW(REGISTER(1, 0), SAVED(-4), SAME)), 0);
	assert_state(0xdead0000 + 29, AT(30), 0xf0f0, 0);
}

static void assert_no_signal(u32 ip, u32 flags)
{
	struct sframe_row row;

	s.ip = ip;
	s.flags = flags;
	assert_int_equal(ustep_sigreturn(&s, &env, &row), -ENOENT);
}

static void a_handler_with_siginfo_returns_to_rt_sigreturn(void **state)
{
	static const u8 insns[] = { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 16, insns, sizeof(insns));
	step_from_signal(CODE + 16, 0, 160);
	step_from_signal(CODE + 16, USTEP_EXACT, 160);
	step_from_signal(CODE + 16 + 5, USTEP_EXACT, 160);
	step_from_signal(CODE + 16 + 7, USTEP_EXACT, 160);
	assert_no_signal(CODE + 16 + 5, 0);
	assert_no_signal(CODE + 16 + 1, USTEP_EXACT);
}

static void another_handler_returns_to_a_pop(void **state)
{
	static const u8 insns[] = { 0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 16, insns, sizeof(insns));
	step_from_signal(CODE + 16, 0, 4);
	step_from_signal(CODE + 16, USTEP_EXACT, 4);
	/* a word less is on the stack */
	step_from_signal(CODE + 16 + 1, USTEP_EXACT, 0);
	step_from_signal(CODE + 16 + 6, USTEP_EXACT, 0);
	step_from_signal(CODE + 16 + 8, USTEP_EXACT, 0);
	assert_no_signal(CODE + 16 + 6, 0);
	assert_no_signal(CODE + 16 + 2, USTEP_EXACT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words_have_4_bytes, setup),
		cmocka_unit_test_setup(registers_have_4_bytes, setup),
		cmocka_unit_test_setup(nothing_is_above_4_gib, setup),
		cmocka_unit_test_setup(a_handler_with_siginfo_returns_to_rt_sigreturn, setup),
		cmocka_unit_test_setup(another_handler_returns_to_a_pop, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
