// SPDX-License-Identifier: GPL-2.0
/* Code that goes to another stack while .eh_frame is silent: makecontext(), swapcontext(). */
#include "gen_build.h"
#include "arch/arch.h"
#include "sframe_read.h"

static size_t leaves(const char *code, size_t len)
{
	return gen_amd64.leaves_stack((const uint8_t *)code, len);
}

#define LEAVES(code)	leaves(code, sizeof(code) - 1)

static void a_function_that_begins_with_another_stack(void **state)
{
	(void)state;
	assert_int_equal(LEAVES("\x48\x89\xdc"), 0);			/* mov %rbx, %rsp */
	assert_int_equal(LEAVES("\x4c\x89\xe4\xc3"), 0);		/* mov %r12, %rsp */
	assert_int_equal(LEAVES("\x48\x8b\xe3"), 0);			/* the other form */
	assert_int_equal(LEAVES("\x49\x8b\xe4"), 0);
	assert_int_equal(LEAVES("\xf3\x0f\x1e\xfa\x48\x89\xdc"), 0);	/* behind endbr64 */
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

#define START(i)	(TEXT + (i) * 16)
#define FDE_SIZE(i)	(TEXT + 8 * 16 + 8 + 24 + (i) * 24 + 12)

static void neither_counts_from_the_stack_that_was_left(void **state)
{
	struct gen_table table;
	struct sframe_row row;
	struct sframe_table t;
	uint64_t pc;

	(void)state;
	make_many(8);
	memset(many + TEXT, 0xc3, 8 * 16);
	/* function 1 ends early, padding follows; 2 is where a coroutine returns to; 5 swaps */
	many[FDE_SIZE(1)] = 8;
	memset(many + START(1) + 8, 0x90, 8);
	memcpy(many + START(2), "\x48\x89\xdc", 3);
	many[FDE_SIZE(3)] = 8;
	memset(many + START(3) + 8, 0x90, 8);
	memcpy(many + START(5) + 2, "\x48\x8b\xa2\xa0\0\0\0", 7);
	assert_int_equal(gen_from_memory(read_many, NULL, 0, &table, NULL), 0);
	assert_int_equal(gen_open(&table, &t), 0);
	for (pc = START(0); pc < START(8); pc++) {
		bool hole = pc >= START(5) + 9 && pc < START(6);
		bool outermost = pc >= START(1) + 8 && pc < START(3);

		assert_int_equal(sframe_find(&t, pc, &row), hole ? -ENOENT : 0);
		assert_true(hole || (row.ra.base == SFRAME_UNDEFINED) == outermost);
	}
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].nr, 1);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].bytes, 7);
	assert_int_equal(table.stats.padding_bytes, 16);
	gen_free(&table);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_begins_with_another_stack),
		cmocka_unit_test(sp_of_a_ucontext),
		cmocka_unit_test(neither_counts_from_the_stack_that_was_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
