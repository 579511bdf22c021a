// SPDX-License-Identifier: GPL-2.0
/*
 * test_gen_stack.c - code that switches to another stack without a word in .eh_frame
 *
 * makecontext() and swapcontext() have such code.
 */
#include "gen_build.h"
#include "libunwind-user/arch/arch.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

static size_t leaves(const char *code, size_t len)
{
	/* where the CFA is by FP, SP may be anything */
	assert_int_equal(arch_amd64.find_stack_switch((const uint8_t *)code, len, true), len);
	return arch_amd64.find_stack_switch((const uint8_t *)code, len, false);
}

#define LEAVES(code)	leaves(code, sizeof(code) - 1)

static void a_function_that_begins_with_another_stack(void **state)
{
	(void)state;
	assert_int_equal(LEAVES("\x48\x89\xdc"), 0);			/* mov %rbx, %rsp */
	assert_int_equal(LEAVES("\x4c\x89\xe4\xc3"), 0);		/* mov %r12, %rsp */
	assert_int_equal(LEAVES("\x48\x8b\xe3"), 0);			/* the other form */
	assert_int_equal(LEAVES("\x49\x8b\xe4"), 0);
	assert_int_equal(LEAVES("\xf3\x0f\x1e\xfa\x48\x89\xdc"), 0);	/* after endbr64 */
	assert_int_equal(LEAVES("\x48\x89\xe3\xc3"), 4);		/* mov %rsp, %rbx */
	assert_int_equal(LEAVES("\x48\x8b\xdc\xc3"), 4);
	assert_int_equal(LEAVES("\x90\x48\x89\xdc"), 4);		/* not the first one */
	assert_int_equal(LEAVES("\x48\x89"), 2);
	assert_int_equal(LEAVES(""), 0);
}

static void sp_of_a_ucontext(void **state)
{
	(void)state;
	assert_int_equal(LEAVES("\x90\x48\x8b\xa2\xa0\0\0\0\x51\xc3"), 8);
	assert_int_equal(LEAVES("\x48\x8b\xa7\xa0\0\0\0"), 7);
	assert_int_equal(LEAVES("\x48\x8b\x9a\xa0\0\0\0\x51\xc3"), 9);	/* into rbx */
	assert_int_equal(LEAVES("\x48\x8b\xa2\xa8\0\0\0\x51"), 8);	/* another field */
	assert_int_equal(LEAVES("\x48\x8b\xa2\xa0\0\0\1\x51"), 8);
	assert_int_equal(LEAVES("\x90\x48\x8b\xa2\xa0\0\0"), 7);	/* cut off */
}

#define START_CONTEXT "\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff\x74\x08\xe8\x6f\xc1\xfe\xff" \
	"\x48\x89\xc7\xe8\xf7\x8e\xfe\xff\xf4"
#define START_CONTEXT_SIZE	26

static bool starts(const char *code, size_t len)
{
	return arch_amd64.starts_stack((const uint8_t *)code, len);
}

static void only_glibcs_start_context_has_no_caller(void **state)
{
	static const char known[] = "\xf3\x0f\x1e\xfa" START_CONTEXT;
	char other[sizeof(known)];
	size_t i;

	(void)state;
	assert_true(starts(known, sizeof(known) - 1));
	assert_true(starts(known + 4, START_CONTEXT_SIZE));
	assert_false(starts(known + 4, START_CONTEXT_SIZE - 1));
	assert_false(starts(known + 4, START_CONTEXT_SIZE + 1));
	assert_false(starts(known, START_CONTEXT_SIZE));
	for (i = 4; i < sizeof(known) - 1; i++) {
		bool called = (i >= 17 && i < 21) || (i >= 25 && i < 29);

		memcpy(other, known, sizeof(known));
		other[i] ^= 4;
		assert_int_equal(starts(other, sizeof(known) - 1), called);
	}
}

#define START(i)	(TEXT + (i) * 16)
#define FDE(i)		(TEXT + 8 * 16 + 8 + 24 + (i) * 24)
#define FDE_PC(i)	(FDE(i) + 8)
#define FDE_SIZE(i)	(FDE(i) + 12)
#define FDE_CODE(i)	(FDE(i) + 17)

/* DW_CFA_def_cfa: rbp, 16; DW_CFA_offset: rbp at CFA - 16 */
#define CFA_BY_FP	"\x0c\6\x10\x86\2"

static void rows_count_from_a_stack_that_is_there(void **state)
{
	struct gen_table table;
	struct sframe_row row;
	struct sframe_table t;
	uint64_t pc;

	(void)state;
	make_many(8);
	memset(many + TEXT, 0xc3, 8 * 16);
	/* function 1 ends early, padding follows; 2 is where a coroutine returns to */
	many[FDE_SIZE(1)] = 8;
	memset(many + START(1) + 8, 0x90, 8);
	memcpy(many + START(2), START_CONTEXT, START_CONTEXT_SIZE);
	many[FDE_SIZE(2)] = START_CONTEXT_SIZE;
	many[FDE_PC(3)] += START_CONTEXT_SIZE - 16;
	many[FDE_SIZE(3)] = 32 - START_CONTEXT_SIZE;
	/* who knows who comes to 4; 5 swaps; 6 and 7 have a frame that they repair SP from */
	memcpy(many + START(4), "\x48\x89\xdc", 3);
	memcpy(many + START(5) + 2, "\x48\x8b\xa2\xa0\0\0\0", 7);
	memcpy(many + START(6), "\x4c\x89\xec", 3);
	memcpy(many + FDE_CODE(6), CFA_BY_FP, 5);
	memcpy(many + START(7) + 2, "\x48\x8b\xa5\xa0\0\0\0", 7);
	memcpy(many + FDE_CODE(7), CFA_BY_FP, 5);
	assert_int_equal(gen_from_memory(read_many, NULL, 0, &table, NULL), 0);
	assert_int_equal(gen_open(&table, &t), 0);
	for (pc = START(0); pc < START(8); pc++) {
		bool hole = (pc >= START(5) + 9 && pc < START(6)) ||
			    (pc >= START(4) && pc < START(5));
		bool outermost = pc >= START(1) + 8 && pc < START(2) + START_CONTEXT_SIZE;

		assert_int_equal(sframe_find(&t, pc, &row), hole ? -ENOENT : 0);
		if (hole)
			continue;
		assert_int_equal(row.ra.base == SFRAME_UNDEFINED, outermost);
		if (outermost)
			continue;
		assert_int_equal(row.cfa.base, pc >= START(6) ? SFRAME_FP : SFRAME_SP);
		assert_int_equal(row.cfa.off, pc >= START(6) ? 16 : 8);
		assert_int_equal(row.ra.off, -8);
	}
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].nr, 2);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].bytes, 7 + 16);
	assert_int_equal(table.stats.padding_bytes, 8);
	gen_free(&table);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_begins_with_another_stack),
		cmocka_unit_test(sp_of_a_ucontext),
		cmocka_unit_test(only_glibcs_start_context_has_no_caller),
		cmocka_unit_test(rows_count_from_a_stack_that_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
