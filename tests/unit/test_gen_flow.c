// SPDX-License-Identifier: GPL-2.0
/* Rows for code without .eh_frame: what is entered, and where following it ends. */
#include "flow_build.h"

/* As glibc has clone3(): the FDE ends in front of the system call */
static void test_code_behind_the_end_of_an_fde(void **state)
{
	(void)state;
	start_file();
	/* mov $435,%eax | syscall; test %rax,%rax; jl 1f; je 2f; ret | 2: xor %ebp,%ebp; 1: hlt */
	code(0x2000, "b8 b3010000 0f05 4885c0 7c05 7401 c3 06 31ed f4");
	covered(0x2000, 5, DW_CFA_nop);
	covered(0x200f, 0x10, DW_CFA_undefined, 16);
	make_table();
	assert_sp(0x2004, 8);
	assert_sp(0x2005, 8);
	assert_sp(0x2006, 8);
	assert_sp(0x200d, 8);
	assert_sp(0x200e, 8);
	assert_outermost(0x200f);
	assert_int_equal(table.stats.flow_bytes, 10);
	assert_true(table.stats.gap_bytes >= 10);
	make_flags(GEN_NO_FLOW);
	assert_hole(0x2005);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void test_the_state_at_the_end_of_an_fde_is_that_behind_its_last_instruction(void **state)
{
	(void)state;
	start_file();
	/* push %rbp | pop %rbp; ret, the row of the push is that in front of it */
	code(0x2000, "90 55 5d c3");
	covered(0x2000, 2, DW_CFA_nop);
	/* sub $24,%rsp | add $24,%rsp; ret, with a row that begins behind the code it is for */
	code(0x2100, "4883ec18 4883c418 c3");
	covered(0x2100, 4, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 32);
	/* by the frame pointer */
	code(0x2200, "90 c9 c3");
	covered(0x2200, 1, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
	make_table();
	assert_row(0x2002, SFRAME_SP, 16, -16);
	assert_sp(0x2003, 8);
	assert_hole(0x2004);
	assert_hole(0x2104);
	assert_row(0x2201, SFRAME_FP, 16, -16);
	assert_sp(0x2202, 8);
}

static void test_what_does_not_run_behind_an_fde(void **state)
{
	(void)state;
	start_file();
	code(0x2000, "90 c3 90 c3");				/* ret */
	covered(0x2000, 2, DW_CFA_nop);
	code(0x2100, "e8 00000000 90 c3");			/* call: of abort(), say */
	rel32(0x2101, 0x2105, 0x2000);
	covered(0x2100, 5, DW_CFA_nop);
	code(0x2200, "eb 01 90 c3 90 c3");			/* what is skipped */
	covered(0x2200, 4, DW_CFA_nop);
	code(0x2300, "66 90 90 c3");				/* the end within a nop */
	covered(0x2300, 1, DW_CFA_nop);
	code(0x2400, "90 06 90 c3");				/* no instruction */
	covered(0x2400, 3, DW_CFA_nop);
	code(0x2500, "90 90 c3");				/* a row without words */
	covered(0x2500, 2, DW_CFA_undefined, 6);
	make_table();
	assert_hole(0x2002);
	assert_hole(0x2105);
	assert_hole(0x2204);
	assert_hole(0x2301);
	assert_hole(0x2403);
	assert_hole(0x2502);
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void test_bad_code_in_a_gap_is_a_hole(void **state)
{
	(void)state;
	start_file();
	/* one path is no instruction: none of it is believed */
	code(0x2000, "90 7401 c3 06");
	covered(0x2000, 1, DW_CFA_nop);
	/* a return with SP elsewhere */
	code(0x2100, "90 7402 5a c3 c3");
	covered(0x2100, 1, DW_CFA_def_cfa_offset, 16);
	/* on into an FDE with another row */
	code(0x2200, "90 52 90 c3");
	covered(0x2200, 1, DW_CFA_nop);
	covered(0x2202, 2, DW_CFA_nop);
	/* and the same with the right one */
	code(0x2300, "90 52 5a c3");
	covered(0x2300, 1, DW_CFA_nop);
	covered(0x2302, 2, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 8);
	make_table();
	assert_hole(0x2001);
	assert_hole(0x2003);
	assert_hole(0x2101);
	assert_hole(0x2103);
	assert_hole(0x2201);
	assert_sp(0x2301, 8);
}

/* As ld.so begins */
static void test_the_entry_of_the_process_has_no_caller(void **state)
{
	(void)state;
	start_file();
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
	/* in a segment that is no code, or nowhere */
	entry = DATA;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
	entry = 8;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_behind_the_end_of_an_fde),
		cmocka_unit_test(
			test_the_state_at_the_end_of_an_fde_is_that_behind_its_last_instruction),
		cmocka_unit_test(test_what_does_not_run_behind_an_fde),
		cmocka_unit_test(test_bad_code_in_a_gap_is_a_hole),
		cmocka_unit_test(test_the_entry_of_the_process_has_no_caller),
	};
	int ret = cmocka_run_group_tests_name("gen_flow", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
