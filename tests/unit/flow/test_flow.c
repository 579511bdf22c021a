// SPDX-License-Identifier: GPL-2.0
/*
 * test_flow.c - rows for code without .eh_frame
 *
 * Such code lies after the end of an FDE, at the entry of the program, or at a symbol.
 */
#include "flow_build.h"

/* This is glibc's clone3(): the FDE ends before the system call. */
static void clone3(void)
{
	/* mov $435,%eax | syscall; test %rax,%rax; jl 1f; je 2f; ret | 2: xor %ebp,%ebp; 1: hlt */
	code(0x2000, "b8 b3010000 0f05 4885c0 7c05 7401 c3 06 31ed f4");
	covered(0x2000, 5, DW_CFA_nop);
	covered(0x200f, 0x10, DW_CFA_undefined, 16);
}

static void code_after_the_end_of_an_fde_has_rows(void **state)
{
	(void)state;
	clone3();
	make_table();
	assert_sp(0x2004, 8);
	assert_sp(0x2005, 8);
	assert_sp(0x2006, 8);
	assert_sp(0x200d, 8);
	assert_sp(0x200e, 8);
	assert_outermost(0x200f);
	assert_int_equal(table.stats.flow_bytes, 10);
	assert_true(table.stats.gap_bytes >= 10);
}

static void code_after_the_end_of_an_fde_is_a_hole_if_code_is_not_followed(void **state)
{
	(void)state;
	clone3();
	make_flags(ROWS_NO_FLOW);
	assert_hole(0x2005);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void an_fde_ends_with_the_state_after_its_last_instruction(void **state)
{
	(void)state;
	/* push %rbp | pop %rbp; ret, the row of the push is the state before it */
	code(0x2000, "90 55 5d c3");
	covered(0x2000, 2, DW_CFA_nop);
	make_table();
	assert_row(0x2002, SFRAME_SP, 16, -16);
	assert_sp(0x2003, 8);
	assert_hole(0x2004);
}

static void a_row_that_starts_within_the_last_instruction_is_not_followed(void **state)
{
	(void)state;
	/* sub $24,%rsp | hlt */
	code(0x2100, "4883ec18 f4");
	covered(0x2100, 4, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 32);
	make_table();
	assert_hole(0x2104);
}

static void a_row_by_the_frame_pointer_goes_on_after_the_end_of_its_fde(void **state)
{
	(void)state;
	/* nop | leave; ret */
	code(0x2200, "90 c9 c3");
	covered(0x2200, 1, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
	make_table();
	assert_row(0x2201, SFRAME_FP, 16, -16);
	assert_sp(0x2202, 8);
}

static void nothing_runs_out_of_an_fde_that_ends_with_a_return(void **state)
{
	(void)state;
	/* nop; ret | nop; ret */
	code(0x2000, "90 c3 90 c3");
	covered(0x2000, 2, DW_CFA_nop);
	make_table();
	assert_hole(0x2002);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void nothing_runs_out_of_an_fde_that_ends_with_a_call(void **state)
{
	(void)state;
	/* call: of abort(), say | nop; ret */
	code(0x2000, "e8 00000000 90 c3");
	call(0x2000, 0x2100);
	code(0x2100, "c3");
	covered(0x2000, 5, DW_CFA_nop);
	covered(0x2100, 1, DW_CFA_nop);
	make_table();
	assert_hole(0x2005);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void nothing_runs_out_of_an_fde_whose_last_instruction_is_jumped_over(void **state)
{
	(void)state;
	/* jmp 1f; nop; 1: ret | nop; ret */
	code(0x2000, "eb 01 90 c3 90 c3");
	covered(0x2000, 4, DW_CFA_nop);
	make_table();
	assert_hole(0x2004);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void nothing_runs_out_of_an_fde_that_ends_within_an_instruction(void **state)
{
	(void)state;
	/* xchg %ax,%ax in two; nop; ret */
	code(0x2000, "66 90 90 c3");
	covered(0x2000, 1, DW_CFA_nop);
	make_table();
	assert_hole(0x2001);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void nothing_runs_out_of_an_fde_with_a_byte_that_is_no_instruction(void **state)
{
	(void)state;
	/* nop; no instruction; nop | ret */
	code(0x2000, "90 06 90 c3");
	covered(0x2000, 3, DW_CFA_nop);
	make_table();
	assert_hole(0x2003);
	assert_int_equal(table.stats.flow_bytes, 0);
}

/* A virtual function that the compiler found to be never called */
static void nothing_runs_out_of_an_fde_without_a_proof(void **state)
{
	(void)state;
	/* endbr64 | the next function, or a part of one: mov %eax,%edi; hlt */
	code(0x2100, "f30f1efa 89c7 f4");
	covered(0x2100, 4, DW_CFA_nop);
	/* push %rbp; mov %rsp,%rbp; nop | the same */
	code(0x2204, "55 4889e5 0f1f840000000000 89c7 f4");
	covered(0x2204, 4, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6);
	make_table();
	assert_hole(0x2104);
	assert_hole(0x2106);
	assert_hole(0x2210);
	assert_hole(0x2212);
}

static void nothing_runs_out_of_an_fde_whose_row_cannot_be_written(void **state)
{
	(void)state;
	/* nop; nop | ret */
	code(0x2000, "90 90 c3");
	covered(0x2000, 2, DW_CFA_undefined, 6);
	make_table();
	assert_hole(0x2002);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void one_path_that_is_no_instruction_makes_a_gap_a_hole(void **state)
{
	(void)state;
	func(0x2000, "90 7401 c3 06");
	make_table();
	assert_hole(0x2001);
	assert_hole(0x2003);
}

static void a_return_with_sp_elsewhere_makes_a_gap_a_hole(void **state)
{
	(void)state;
	/* push %rdx; je 1f; pop %rdx; ret; 1: ret */
	func(0x2100, "52 7402 5a c3 c3");
	make_table();
	assert_hole(0x2101);
	assert_hole(0x2103);
}

static void a_gap_that_runs_into_an_fde_with_another_row_is_a_hole(void **state)
{
	(void)state;
	/* nop | push %rdx | nop; ret */
	code(0x2200, "90 52 90 c3");
	covered(0x2200, 1, DW_CFA_nop);
	covered(0x2202, 2, DW_CFA_nop);
	make_table();
	assert_hole(0x2201);
}

static void a_gap_that_runs_into_an_fde_with_the_same_row_has_rows(void **state)
{
	(void)state;
	/* nop | push %rdx | pop %rdx; ret */
	code(0x2300, "90 52 5a c3");
	covered(0x2300, 1, DW_CFA_nop);
	covered(0x2302, 2, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 8);
	make_table();
	assert_sp(0x2301, 8);
}

/* The start of ld.so */
static void the_entry_of_the_process_has_no_caller(void **state)
{
	(void)state;
	/* mov %rsp,%rdi; call f; mov %rax,%r12; and $-16,%rsp; jmp *%r12 */
	code(0x2000, "4889e7 e8 00000000 4989c4 4883e4f0 41ffe4");
	rel32(0x2004, 0x2008, 0x2100);
	entry = 0x2000;
	covered(0x2100, 0x10, DW_CFA_nop);
	make_table();
	assert_hole(0x1fff);
	assert_outermost(0x2000);
	assert_outermost(0x2007);
	assert_outermost(0x2008);
	assert_outermost(0x2011);
	assert_hole(0x2012);
	assert_int_equal(table.stats.flow_bytes, 0x12);
}

/* Old linkers write such an entry into shared libraries. */
static void an_entry_at_the_start_of_text_is_not_believed(void **state)
{
	(void)state;
	code(TEXT, "4889e7 f4");
	entry = TEXT;
	make_table();
	assert_hole(TEXT);
}

static void an_entry_in_data_is_not_followed(void **state)
{
	(void)state;
	code(TEXT, "4889e7 f4");
	entry = DATA;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void an_entry_outside_all_segments_is_not_followed(void **state)
{
	(void)state;
	code(TEXT, "4889e7 f4");
	entry = 8;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void a_global_function_that_never_returns_has_rows(void **state)
{
	(void)state;
	/* push %rbx; jmp to itself */
	func(0x2000, "53 ebfe");
	make_table();
	assert_sp(0x2001, 16);
}

static void a_local_function_that_never_returns_is_a_hole(void **state)
{
	(void)state;
	local(0x2100, "53 ebfe");
	make_table();
	assert_hole(0x2100);
}

static void a_local_function_that_returns_has_rows(void **state)
{
	(void)state;
	local(0x2200, "53 5b c3");
	make_table();
	assert_sp(0x2201, 16);
}

static void a_local_symbol_that_is_jumped_to_has_the_state_of_the_jump(void **state)
{
	(void)state;
	/* a part of a function, that is jumped to with 24 bytes more on the stack */
	func(0x2300, "4883ec18 0f8400000000 4883c418 c3");
	rel32(0x2306, 0x230a, 0x2400);
	local(0x2400, "fc 0f0b");
	make_table();
	assert_sp(0x230a, 32);
	assert_sp(0x2400, 32);
	assert_sp(0x2401, 32);
}

static void a_function_that_jumps_to_a_pointer_after_it_aligned_sp_is_a_hole(void **state)
{
	(void)state;
	/* ld.so's resolver: sub $32,%rsp; mov %rsp,%rbx; and $-16,%rsp; ...; jmp *%rax */
	func(0x2000, "4883ec20 4889e3 4883e4f0 ffe0");
	make_table();
	assert_hole(0x2000);
	assert_hole(0x2004);
}

static void a_function_that_calls_before_it_leaves_the_stack_has_rows_up_to_there(void **state)
{
	(void)state;
	/* sub $24,%rsp; call *%rax; mov %rdi,%rsp; jmp *%rdx */
	func(0x2600, "4883ec18 ffd0 4889fc ffe2");
	make_table();
	assert_sp(0x2604, 32);
	assert_sp(0x2606, 32);
	assert_hole(0x2609);
}

static void a_symbol_of_a_signal_trampoline_is_a_hole(void **state)
{
	(void)state;
	/* __restore_rt: mov $15,%rax; syscall; it returns to a frame of its own kind */
	func(0x2100, "48c7c00f000000 0f05 0f0b");
	make_table();
	assert_hole(0x2100);
	assert_hole(0x2109);
}

static void nothing_after_a_signal_trampoline_is_reached_from_it(void **state)
{
	(void)state;
	/* after it are padding and another function */
	func(0x2300, "488d3d00000000 c3");
	rel32(0x2303, 0x2307, 0x2400);
	code(0x2400, "48c7c00f000000 0f05 6690 c3");
	make_table();
	assert_hole(0x2400);
	assert_hole(0x2407);
	assert_hole(0x2409);
	assert_hole(0x240b);
}

static void the_start_of_a_function_right_after_a_signal_trampoline_is_a_hole(void **state)
{
	(void)state;
	/* no padding in between: the pc of a task in the kernel is the start of the function */
	func(0x2500, "48c7c00f000000 0f05");
	func(0x2509, "6690 c3");
	make_table();
	assert_hole(0x2509);
	assert_sp(0x250b, 8);
}

static void the_start_of_a_function_right_after_a_system_call_is_a_hole(void **state)
{
	(void)state;
	/* exit(), which does not return, in a function that is not believed */
	local(0x2700, "53 b83c000000 0f05");
	func(0x2708, "6690 c3");
	make_table();
	assert_hole(0x2708);
}

static void a_function_with_another_system_call_has_rows(void **state)
{
	(void)state;
	/* mov $14,%eax; syscall; ret */
	func(0x2200, "b80e000000 0f05 c3");
	make_table();
	assert_sp(0x2207, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(code_after_the_end_of_an_fde_has_rows),
		flow_test(code_after_the_end_of_an_fde_is_a_hole_if_code_is_not_followed),
		flow_test(an_fde_ends_with_the_state_after_its_last_instruction),
		flow_test(a_row_that_starts_within_the_last_instruction_is_not_followed),
		flow_test(a_row_by_the_frame_pointer_goes_on_after_the_end_of_its_fde),
		flow_test(nothing_runs_out_of_an_fde_that_ends_with_a_return),
		flow_test(nothing_runs_out_of_an_fde_that_ends_with_a_call),
		flow_test(nothing_runs_out_of_an_fde_whose_last_instruction_is_jumped_over),
		flow_test(nothing_runs_out_of_an_fde_that_ends_within_an_instruction),
		flow_test(nothing_runs_out_of_an_fde_with_a_byte_that_is_no_instruction),
		flow_test(nothing_runs_out_of_an_fde_without_a_proof),
		flow_test(nothing_runs_out_of_an_fde_whose_row_cannot_be_written),
		flow_test(one_path_that_is_no_instruction_makes_a_gap_a_hole),
		flow_test(a_return_with_sp_elsewhere_makes_a_gap_a_hole),
		flow_test(a_gap_that_runs_into_an_fde_with_another_row_is_a_hole),
		flow_test(a_gap_that_runs_into_an_fde_with_the_same_row_has_rows),
		flow_test(the_entry_of_the_process_has_no_caller),
		flow_test(an_entry_at_the_start_of_text_is_not_believed),
		flow_test(an_entry_in_data_is_not_followed),
		flow_test(an_entry_outside_all_segments_is_not_followed),
		flow_test(a_global_function_that_never_returns_has_rows),
		flow_test(a_local_function_that_never_returns_is_a_hole),
		flow_test(a_local_function_that_returns_has_rows),
		flow_test(a_local_symbol_that_is_jumped_to_has_the_state_of_the_jump),
		flow_test(a_function_that_jumps_to_a_pointer_after_it_aligned_sp_is_a_hole),
		flow_test(
			a_function_that_calls_before_it_leaves_the_stack_has_rows_up_to_there),
		flow_test(a_symbol_of_a_signal_trampoline_is_a_hole),
		flow_test(nothing_after_a_signal_trampoline_is_reached_from_it),
		flow_test(the_start_of_a_function_right_after_a_signal_trampoline_is_a_hole),
		flow_test(the_start_of_a_function_right_after_a_system_call_is_a_hole),
		flow_test(a_function_with_another_system_call_has_rows),
	};
	int ret = cmocka_run_group_tests_name("flow", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
