// SPDX-License-Identifier: GPL-2.0
/*
 * test_flow_calls.c - rows for code without .eh_frame, by calls and returns
 *
 * The code after a call has rows if the called function returns. If nobody knows whether it
 * returns, a later return can prove or disprove the rows.
 */
#include "flow_build.h"

/*
 * @hex is at 0x2100 and has a call at @at of @callee: a function that returns; one that does not;
 * or one of which only an FDE is known, which may return.
 */
#define RETURNS		0x2000
#define ENDS		0x2010
#define MAY_RETURN	0x2020

static void caller(const char *hex, uint64_t at, uint64_t callee)
{
	func(RETURNS, "c3");
	func(ENDS, "0f0b");
	covered(MAY_RETURN, 1, DW_CFA_nop);
	func(0x2100, hex);
	call(at, callee);
}

static void code_after_a_call_of_a_function_that_returns_has_rows(void **state)
{
	(void)state;
	/* sub $8,%rsp; call; ud2: the code after the call proves nothing */
	caller("4883ec08 e800000000 0f0b", 0x2104, RETURNS);
	make_table();
	assert_sp(0x2109, 16);
}

static void code_after_a_call_of_a_function_that_never_returns_is_a_hole(void **state)
{
	(void)state;
	caller("4883ec08 e800000000 0f0b", 0x2104, ENDS);
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
}

static void code_after_a_call_that_may_return_is_a_hole_if_nothing_proves_it(void **state)
{
	(void)state;
	caller("4883ec08 e800000000 0f0b", 0x2104, MAY_RETURN);
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
}

static void a_return_proves_the_code_after_a_call_that_may_return(void **state)
{
	(void)state;
	/* sub $8,%rsp; call; add $8,%rsp; ret */
	caller("4883ec08 e800000000 4883c408 c3", 0x2104, MAY_RETURN);
	make_table();
	assert_sp(0x2109, 16);
	assert_sp(0x210d, 8);
}

static void a_return_with_sp_elsewhere_disproves_code_after_a_call(void **state)
{
	(void)state;
	/* je 1f; add $8,%rsp; 1: ret */
	caller("4883ec08 e800000000 7404 4883c408 c3", 0x2104, MAY_RETURN);
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
}

static void a_call_with_sp_not_aligned_disproves_code_after_a_call(void **state)
{
	(void)state;
	/* push %rax; call; pop %rcx; add $8,%rsp; ret */
	caller("4883ec08 e800000000 50 e800000000 59 4883c408 c3", 0x2104, MAY_RETURN);
	call(0x210a, MAY_RETURN);
	make_table();
	assert_hole(0x2109);
}

static void a_return_proves_no_code_after_a_call_that_never_returns(void **state)
{
	(void)state;
	caller("4883ec08 e800000000 4883c408 c3", 0x2104, ENDS);
	make_table();
	assert_hole(0x2109);
}

static void a_return_disproves_no_code_before_a_call_that_never_returns(void **state)
{
	(void)state;
	caller("4883ec08 e800000000 c3", 0x2104, ENDS);
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
}

static void padding_after_a_call_of_a_function_that_returns_is_a_hole(void **state)
{
	(void)state;
	/* call; nop; ud2: the compiler may know that this call does not return */
	caller("4883ec08 e800000000 90 0f0b", 0x2104, RETURNS);
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
}

static void code_after_a_call_by_a_pointer_has_rows(void **state)
{
	(void)state;
	func(0x2200, "4883ec08 ffd0 0f0b");
	make_table();
	assert_sp(0x2206, 16);
}

static void code_after_a_call_by_the_linkers_table_is_a_hole(void **state)
{
	(void)state;
	func(0x2300, "4883ec08 ff1500000000 0f0b");
	make_table();
	assert_hole(0x230a);
}

static void padding_after_a_call_by_a_pointer_is_a_hole(void **state)
{
	(void)state;
	func(0x2400, "4883ec08 ffd0 90 0f0b");
	make_table();
	assert_hole(0x2406);
}

static void a_symbol_that_ends_with_a_call_ends_the_code_after_it(void **state)
{
	(void)state;
	/* push; call; and after it another function: push %rax; pop %rax; pop %rax; ret */
	covered(MAY_RETURN, 1, DW_CFA_nop);
	code(0x2100, "50 e800000000 50 58 58 c3");
	call(0x2101, MAY_RETURN);
	symbol(0x2100, 6, STB_GLOBAL);
	make_table();
	assert_hole(0x2106);
}

static void a_symbol_that_goes_on_after_a_call_does_not_end_the_code_after_it(void **state)
{
	(void)state;
	covered(MAY_RETURN, 1, DW_CFA_nop);
	code(0x2200, "50 e800000000 50 58 58 c3");
	call(0x2201, MAY_RETURN);
	symbol(0x2200, 10, STB_GLOBAL);
	make_table();
	assert_sp(0x2206, 16);
	assert_sp(0x2209, 8);
}

static void a_function_that_takes_its_return_address_is_a_hole(void **state)
{
	(void)state;
	/* pop %rdx; ret */
	func(0x2000, "5a c3");
	make_table();
	assert_hole(0x2000);
}

static void a_function_that_returns_with_sp_elsewhere_is_a_hole(void **state)
{
	(void)state;
	/* ret $8 */
	func(0x2010, "c20800");
	func(0x2100, "e800000000 90 c3");
	call(0x2100, 0x2010);
	make_table();
	assert_hole(0x2010);
	assert_hole(0x2106);
}

static void code_after_a_call_of_a_function_that_loses_fp_is_a_hole(void **state)
{
	(void)state;
	/* mov %eax,%ebp; ret */
	func(0x2020, "31c0 89c5 c3");
	func(0x2200, "e800000000 90 c3");
	call(0x2200, 0x2020);
	make_table();
	assert_hole(0x2205);
}

static void a_caller_that_saves_fp_may_call_a_function_that_loses_it(void **state)
{
	(void)state;
	func(0x2020, "31c0 89c5 c3");
	/* push %rbp; call; nop; pop %rbp; ret */
	func(0x2300, "55 e800000000 90 5d c3");
	call(0x2301, 0x2020);
	make_table();
	assert_row(0x2306, SFRAME_SP, 16, -16);
	assert_sp(0x2308, 8);
}

static void a_call_for_the_address_of_code_is_no_call(void **state)
{
	(void)state;
	/* je 1f; ret; 1: call 2f; 2: nop; hlt */
	func(0x2400, "7401 c3 e800000000 90 f4");
	make_table();
	assert_sp(0x2403, 8);
	assert_hole(0x2408);
}

static void a_jump_to_a_function_is_a_tail_call(void **state)
{
	(void)state;
	func(0x2000, "53 5b c3");
	func(0x2100, "53 5b e900000000");
	jump(0x2102, 0x2000);
	make_table();
	assert_sp(0x2102, 8);
	assert_sp(0x2001, 16);
}

static void a_function_that_ends_with_a_tail_call_returns_to_its_caller(void **state)
{
	(void)state;
	func(0x2000, "53 5b c3");
	func(0x2100, "53 5b e900000000");
	jump(0x2102, 0x2000);
	func(0x2400, "50 e800000000 0f0b");
	call(0x2401, 0x2100);
	make_table();
	assert_sp(0x2406, 16);
}

static void a_call_of_the_function_right_after_it_is_a_call(void **state)
{
	(void)state;
	/* push; call 1f; 1: a function that does not return */
	func(0x2480, "50 e800000000");
	func(0x2486, "53 f4");
	make_table();
	assert_sp(0x2481, 16);
	assert_sp(0x2486, 8);
	assert_sp(0x2487, 16);
}

static void a_function_that_is_jumped_to_with_sp_elsewhere_is_a_hole(void **state)
{
	(void)state;
	/* as a function it has SP at its return address: both cannot be right */
	func(0x2200, "53 e900000000");
	jump(0x2201, 0x2300);
	func(0x2300, "fc 0f0b");
	make_table();
	assert_hole(0x2300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(code_after_a_call_of_a_function_that_returns_has_rows),
		flow_test(code_after_a_call_of_a_function_that_never_returns_is_a_hole),
		flow_test(code_after_a_call_that_may_return_is_a_hole_if_nothing_proves_it),
		flow_test(a_return_proves_the_code_after_a_call_that_may_return),
		flow_test(a_return_with_sp_elsewhere_disproves_code_after_a_call),
		flow_test(a_call_with_sp_not_aligned_disproves_code_after_a_call),
		flow_test(a_return_proves_no_code_after_a_call_that_never_returns),
		flow_test(a_return_disproves_no_code_before_a_call_that_never_returns),
		flow_test(padding_after_a_call_of_a_function_that_returns_is_a_hole),
		flow_test(code_after_a_call_by_a_pointer_has_rows),
		flow_test(code_after_a_call_by_the_linkers_table_is_a_hole),
		flow_test(padding_after_a_call_by_a_pointer_is_a_hole),
		flow_test(a_symbol_that_ends_with_a_call_ends_the_code_after_it),
		flow_test(a_symbol_that_goes_on_after_a_call_does_not_end_the_code_after_it),
		flow_test(a_function_that_takes_its_return_address_is_a_hole),
		flow_test(a_function_that_returns_with_sp_elsewhere_is_a_hole),
		flow_test(code_after_a_call_of_a_function_that_loses_fp_is_a_hole),
		flow_test(a_caller_that_saves_fp_may_call_a_function_that_loses_it),
		flow_test(a_call_for_the_address_of_code_is_no_call),
		flow_test(a_jump_to_a_function_is_a_tail_call),
		flow_test(a_function_that_ends_with_a_tail_call_returns_to_its_caller),
		flow_test(a_call_of_the_function_right_after_it_is_a_call),
		flow_test(a_function_that_is_jumped_to_with_sp_elsewhere_is_a_hole),
	};
	int ret = cmocka_run_group_tests_name("gen_flow_calls", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
