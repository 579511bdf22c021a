// SPDX-License-Identifier: GPL-2.0
/*
 * test_flow_prove.c - rows for code that may never be reached
 *
 * Such code gets rows only if a proof succeeds. The tests show which proofs succeed and which
 * fail. The function at 0x2020 has .eh_frame and may or may not return, like abort().
 */
#include "flow_build.h"

#define MAY_RETURN	0x2020

/* Only the test's code lacks .eh_frame, or nearly all of the file does. */
static void start_bare(void)
{
	start_file();
	covered(MAY_RETURN, 1, DW_CFA_nop);
}

static void start(void)
{
	start_bare();
	covered(0x3000, 0x1800, DW_CFA_nop);
}

/* After abort() comes a part of another function, with a frame of any size. */
static void restoring_sp_from_fp_proves_fp(void **state)
{
	(void)state;
	start();
	/* push %rbp; mov %rsp,%rbp; push %rbx; sub $24,%rsp; call */
	func(0x2100, "55 4889e5 53 4883ec18 e800000000 "
	     /* mov %eax,%edi; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret */
	     "89c7 488d65f8 5b 5d c3");
	call(0x2109, MAY_RETURN);
	/* the same with leave, with mov %rbp,%rsp; pop %rbp, and with add $32,%rsp */
	func(0x2200, "55 4889e5 4883ec20 e800000000 90 c9 c3");
	call(0x2208, MAY_RETURN);
	func(0x2300, "55 4889e5 4883ec20 e800000000 90 4889ec 5d c3");
	call(0x2308, MAY_RETURN);
	func(0x2400, "55 4889e5 4883ec20 e800000000 90 4883c420 5d c3");
	call(0x2408, MAY_RETURN);
	/* the slot is read by FP, of which nothing says where it points; and by SP */
	func(0x2500, "55 488d6c24f0 4883ec20 e800000000 90 488b6d10 4883c420 59 c3");
	call(0x250a, MAY_RETURN);
	func(0x2600, "55 4883ec20 e800000000 90 488b6c2420 4883c428 c3");
	call(0x2605, MAY_RETURN);
	make_table();
	assert_row(0x2109, SFRAME_SP, 48, -16);
	assert_row(0x210e, SFRAME_FP, 16, -16);
	assert_row(0x2110, SFRAME_FP, 16, -16);
	assert_row(0x2114, SFRAME_SP, 24, -16);
	assert_sp(0x2116, 8);
	assert_row(0x220d, SFRAME_FP, 16, -16);
	assert_row(0x220e, SFRAME_FP, 16, -16);
	assert_row(0x230d, SFRAME_FP, 16, -16);
	assert_row(0x2311, SFRAME_SP, 16, -16);
	assert_row(0x240d, SFRAME_SP, 48, -16);
	assert_hole(0x250f);
	assert_sp(0x2514, 48);
	assert_row(0x260a, SFRAME_SP, 48, -16);
	assert_sp(0x2614, 8);
}

static void calls_in_a_row_that_may_not_return(void **state)
{
	(void)state;
	start();
	/* sub $24,%rsp; call; call; add $24,%rsp; ret */
	func(0x2100, "4883ec18 e800000000 e800000000 4883c418 c3");
	call(0x2104, MAY_RETURN);
	call(0x2109, MAY_RETURN);
	/* of what does return */
	func(0x2000, "c3");
	func(0x2200, "4883ec18 e800000000 e800000000 4883c418 c3");
	call(0x2204, MAY_RETURN);
	call(0x2209, 0x2000);
	/* by a branch around the second one */
	func(0x2300, "4883ec18 e800000000 7405 e800000000 4883c418 c3");
	call(0x2304, MAY_RETURN);
	call(0x230b, MAY_RETURN);
	make_table();
	assert_sp(0x2104, 32);
	assert_hole(0x2109);
	assert_sp(0x210e, 32);
	assert_sp(0x2209, 32);
	assert_sp(0x220e, 32);
	assert_sp(0x2309, 32);
	assert_sp(0x230b, 32);
	assert_sp(0x2310, 32);
}

static void calls_in_a_row_where_nothing_has_eh_frame(void **state)
{
	(void)state;
	start_bare();
	func(0x2100, "4883ec18 e800000000 e800000000 4883c418 c3");
	call(0x2104, MAY_RETURN);
	call(0x2109, MAY_RETURN);
	make_table();
	assert_sp(0x2104, 32);
	assert_sp(0x2109, 32);
	assert_sp(0x210e, 32);
}

/* After a call of _Unwind_Resume(), the landing pad of another function may come. */
static void calls_in_a_row_where_there_are_landing_pads(void **state)
{
	(void)state;
	start_bare();
	func(0x2100, "4883ec18 e800000000 e800000000 4883c418 c3");
	call(0x2104, MAY_RETURN);
	call(0x2109, MAY_RETURN);
	has_pads = true;
	make_table();
	assert_sp(0x2104, 32);
	assert_hole(0x2109);
	assert_sp(0x210e, 32);
}

/* Most of the file is dropped, like code of Go: its jumps are not known. */
static void calls_in_a_row_where_much_is_not_followed(void **state)
{
	(void)state;
	start_bare();
	func(0x2100, "4883ec18 e800000000 e800000000 4883c418 c3");
	call(0x2104, MAY_RETURN);
	call(0x2109, MAY_RETURN);
	far_size = 0x100000;
	make_table();
	assert_sp(0x2109, 32);
	far_size = 0x600000;
	make_table();
	assert_int_equal(table.stats.hole[STATS_CAUSE_FLOW].bytes, far_size);
	assert_int_equal(stats_get_nr_holes(&table.stats), 0);
	/* nothing is known of it: it is not a hole, and a walk uses frame pointers there */
	assert_hole(FAR);
	assert_hole(FAR + far_size - 1);
	assert_sp(0x2104, 32);
	assert_hole(0x2109);
	assert_sp(0x210e, 32);
}

/* The caller of a function that returns may know that it does not return this time. */
static void code_after_a_call_that_others_jump_to(void **state)
{
	(void)state;
	start();
	/* test %edi,%edi; je; ret; hlt */
	func(0x2000, "85ff 7401 c3 f4");
	/* sub $24,%rsp; call | another function's: mov %eax,%edi; hlt */
	func(0x2100, "4883ec18 e800000000 89c7 f4");
	call(0x2104, 0x2000);
	/* which nothing known leads to: sub $40,%rsp; jmp */
	code(0x2800, "4883ec28 e900000000 0606060606060606");
	jump(0x2804, 0x2109);
	/* by a branch */
	func(0x2200, "4883ec18 e800000000 89c7 f4");
	call(0x2204, 0x2000);
	code(0x2900, "4883ec28 0f8400000000 0606060606060606");
	rel32(0x2906, 0x290a, 0x2209);
	/* it proves itself, or nothing jumps there */
	func(0x2300, "4883ec18 e800000000 89c7 4883c418 c3");
	call(0x2304, 0x2000);
	code(0x2a00, "e900000000 0606060606060606");
	jump(0x2a00, 0x2309);
	func(0x2400, "4883ec18 e800000000 89c7 f4");
	call(0x2404, 0x2000);
	make_table();
	assert_sp(0x2104, 32);
	assert_hole(0x2109);
	assert_hole(0x210b);
	assert_sp(0x2204, 32);
	assert_hole(0x2209);
	assert_sp(0x2309, 32);
	assert_sp(0x230f, 8);
	assert_sp(0x2409, 32);
	assert_sp(0x240b, 32);
}

/* die() of mariadb-upgrade prints a message and calls exit(): no path leads to a return. */
static void nothing_surely_follows_a_call_of_a_function_without_a_return(void **state)
{
	(void)state;
	start();
	/* push %rbx; call; call; nop | push %rbx; pop %rbx; ret */
	code(0x2800, "53 e800000000 e800000000 0f1f440000");
	call(0x2801, MAY_RETURN);
	call(0x2806, MAY_RETURN);
	func(0x2810, "53 5b c3");
	/* the same with no padding in between, and with a branch around the first call */
	code(0x2900, "53 85ff 7405 e800000000 9090 e800000000");
	call(0x2905, MAY_RETURN);
	call(0x290c, MAY_RETURN);
	code(0x2911, "53 5b c3");
	/* sub $24,%rsp; call | another function's: mov %eax,%edi; hlt */
	func(0x2100, "4883ec18 e800000000 89c7 f4");
	call(0x2104, 0x2800);
	func(0x2200, "4883ec18 e800000000 89c7 f4");
	call(0x2204, 0x2900);
	/* push %rbx; test %edi,%edi; je 1f; push %rax; push %rax; call; 1: mov %eax,%edi; hlt */
	func(0x2300, "53 85ff 7407 50 50 e800000000 89c7 f4");
	call(0x2307, 0x2800);
	/* what proves itself: add $24,%rsp; ret */
	func(0x2400, "4883ec18 e800000000 4883c418 c3");
	call(0x2404, 0x2800);
	make_table();
	assert_sp(0x2104, 32);
	assert_hole(0x2109);
	assert_hole(0x210b);
	assert_sp(0x2204, 32);
	assert_hole(0x2209);
	assert_sp(0x2307, 32);
	assert_sp(0x230c, 16);
	assert_sp(0x230e, 16);
	assert_sp(0x2409, 32);
}

/* The block is empty, and what comes next is the next function, or a part of one. */
static void a_default_that_is_never_taken(void **state)
{
	(void)state;
	start();
	/* push %rbx; cmp $2,%edi; ja; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax */
	func(0x2100, "53 83ff02 0f8700000000 486304ba 4801d0 ffe0");
	rel32(0x2106, 0x210a, 0x2200);
	/* of a function with more in its frame: mov %eax,%edi; hlt */
	code(0x2200, "89c7 f4");
	/* no switch */
	func(0x2300, "53 83ff02 0f8700000000 486304ba 5b c3");
	rel32(0x2306, 0x230a, 0x2400);
	code(0x2400, "89c7 f4");
	/* and a default that gets back to the right place */
	func(0x2500, "53 83ff02 0f8700000000 486304ba 4801d0 ffe0");
	rel32(0x2506, 0x250a, 0x2600);
	code(0x2600, "89c7 5b c3");
	/* one that another function goes to for sure: sub $40,%rsp; je; add $40,%rsp; ret */
	func(0x2700, "53 83ff02 0f8700000000 486304ba 4801d0 ffe0");
	rel32(0x2706, 0x270a, 0x2900);
	func(0x2800, "4883ec28 0f8400000000 4883c428 c3");
	rel32(0x2806, 0x280a, 0x2900);
	code(0x2900, "89c7 f4");
	make_table();
	assert_sp(0x210a, 16);
	assert_hole(0x2200);
	assert_sp(0x2400, 16);
	assert_sp(0x2600, 16);
	assert_sp(0x2602, 16);
	assert_sp(0x2900, 48);
	assert_sp(0x2902, 48);
}

static void a_branch_to_the_end_of_a_function(void **state)
{
	(void)state;
	start();
	/* push %rbx; jne to itself; padding up to the next function, which is not entered */
	func(0x2100, "53 75fe 66662e0f1f840000000000 6690");
	code(0x2110, "89c7 f4");
	/* a loop that is aligned: jne to pop; padding; loop: jne loop; pop %rbx; ret */
	func(0x2200, "53 750e 66662e0f1f840000000000 6690 75fe 90 5b c3");
	/* padding that is jumped to */
	func(0x2300, "53 0f8400000000 5b c3");
	rel32(0x2303, 0x2307, 0x2403);
	code(0x2403, "66662e0f1f840000000000 6690 89c7 f4");
	/* a nop may be all of a cold part, and what follows another one; or it gets back */
	func(0x2500, "53 0f8400000000 5b c3");
	rel32(0x2503, 0x2507, 0x2603);
	code(0x2603, "90 89c7 f4");
	func(0x2700, "53 e900000000");
	jump(0x2701, 0x2803);
	code(0x2803, "90 89c7 f4");
	func(0x2900, "53 e900000000");
	jump(0x2901, 0x2a03);
	code(0x2a03, "90 89c7 5b c3");
	make_table();
	assert_sp(0x2101, 16);
	assert_hole(0x2103);
	assert_hole(0x2110);
	assert_sp(0x2203, 16);
	assert_sp(0x2210, 16);
	assert_hole(0x2403);
	assert_hole(0x2410);
	assert_sp(0x2507, 16);
	assert_hole(0x2604);
	assert_hole(0x2804);
	assert_sp(0x2a03, 16);
	assert_sp(0x2a04, 16);
}

/* The compiler knows that the rest of the function is never reached: the next function follows. */
static void padding_does_not_lead_to_where_functions_are_aligned(void **state)
{
	(void)state;
	start();
	/* push %rbp; mov %rsp,%rbp; nop; nop | mov %eax,%edi; hlt */
	func(0x2100, "55 4889e5 0f1f4000 0f1f840000000000");
	code(0x2110, "89c7 f4");
	/* the same in front of a function with a frame of its own, which returns */
	func(0x2200, "55 4889e5 0f1f4000 0f1f840000000000");
	code(0x2210, "53 4883ec10 4883c410 5b c3");
	make_table();
	assert_row(0x2104, SFRAME_SP, 16, -16);
	assert_hole(0x2110);
	assert_hole(0x2112);
	assert_row(0x2204, SFRAME_SP, 16, -16);
	assert_hole(0x2210);
	assert_hole(0x2211);
}

/* push %rbx; nops | at a multiple of 16: @hex */
static void push_and_padding(uint64_t addr, const char *hex)
{
	func(addr, "53 0f1f440000 0f1f8000000000 0f1f00");
	code(addr + 16, hex);
}

static void padding_leads_to_a_loop(void **state)
{
	(void)state;
	start();
	/* mov %eax,%edi; jne or jmp back; hlt, so that nothing proves it */
	push_and_padding(0x2100, "89c7 75fc f4");
	push_and_padding(0x2200, "89c7 ebfc");
	/* ... with 32 bits */
	push_and_padding(0x2300, "89c7 0f85f8ffffff f4");
	/* a short jump over it leads there too, but nothing is known to reach this jump */
	push_and_padding(0x2400, "89c7 f4");
	code(0x23f0, "eb1e");
	/* jumps to the bytes next to it, or from farther than a short jump goes */
	push_and_padding(0x2500, "89c7 75fd f4");
	push_and_padding(0x2600, "89c7 75fb f4");
	push_and_padding(0x2700, "89c7 f4");
	code(0x2710 + 127, "eb80");
	/* an operand that looks like a jump back: mov $0xfd75,%eax */
	push_and_padding(0x2b00, "b875fd0000 f4");
	/* code that is not aligned */
	func(0x2800, "53 0f1f4000 89c7 f4");
	/* a proof leads through padding to where nothing jumps */
	push_and_padding(0x2900, "5b c3");
	/* more padding after a multiple of 16, up to where a jump goes */
	push_and_padding(0x2a00, "0f1f840000000000 0f1f840000000000 89c7 75fc f4");
	make_table();
	assert_sp(0x2110, 16);
	assert_sp(0x2114, 16);
	assert_sp(0x2210, 16);
	assert_sp(0x2318, 16);
	assert_sp(0x2410, 16);
	assert_sp(0x250d, 16);
	assert_hole(0x2510);
	assert_hole(0x2610);
	assert_hole(0x2710);
	assert_hole(0x2b10);
	assert_sp(0x2805, 16);
	assert_sp(0x2910, 16);
	assert_sp(0x2911, 8);
	assert_sp(0x2a10, 16);
	assert_sp(0x2a20, 16);
}

/*
 * soapdenovo2: a cold block stores through a null pointer, and has no end. A landing pad of another
 * function follows, and restores SP from the frame of that function.
 */
static void a_block_without_an_end(void **state)
{
	(void)state;
	start();
	/* push %rbx; je to the block; call; pop %rbx; ret: it returns, and aligns calls */
	func(0x2100, "53 0f8400000000 e800000000 5b c3");
	rel32(0x2103, 0x2107, 0x2800);
	call(0x2107, MAY_RETURN);
	/* mov (%rdx),%rax; movb $0,(%rdx) | mov -0x780(%rbp),%rsp; mov %rax,%rdi; hlt */
	code(0x2800, "488b02 c60200 488ba580f8ffff 4889c7 f4");
	/* the same, but the pad keeps SP: nothing shows that it is another function's */
	func(0x2200, "53 0f8400000000 e800000000 5b c3");
	rel32(0x2203, 0x2207, 0x2900);
	call(0x2207, MAY_RETURN);
	code(0x2900, "488b02 c60200 4889c7 f4");
	make_table();
	assert_sp(0x2101, 16);
	assert_sp(0x2107, 16);
	assert_hole(0x2803);
	assert_hole(0x2806);
	assert_hole(0x280d);
	assert_sp(0x2903, 16);
	assert_sp(0x2906, 16);
}

static void a_branch_out_of_an_fde(void **state)
{
	(void)state;
	start();
	/* je to itself | hlt: the branch may always be taken */
	code(0x2100, "74fe f4");
	covered(0x2100, 2, DW_CFA_nop);
	code(0x2200, "74fe 90 c3");
	covered(0x2200, 2, DW_CFA_nop);
	make_table();
	assert_hole(0x2102);
	assert_sp(0x2202, 8);
	assert_sp(0x2203, 8);
}

/* The row of a jump is the row of its target. */
static void jumps_from_covered_code(void **state)
{
	(void)state;
	start();
	/* large enough to be searched for */
	code(0x2f00, "c3");
	/* where a call that does not return goes on, too: sub $40,%rsp; call; [cld; hlt] */
	func(0x2100, "4883ec28 e800000000 fc f4");
	call(0x2104, MAY_RETURN);
	code(0x2180, "e900000000");
	jump(0x2180, 0x2109);
	covered(0x2180, 5, DW_CFA_def_cfa_offset, 32);
	/* a branch may never be taken: its target has to be proved; with a call on the way */
	code(0x2280, "0f8400000000 0f8400000000 e800000000 c3");
	rel32(0x2282, 0x2286, 0x2300);
	rel32(0x2288, 0x228c, 0x2400);
	call(0x228c, 0x2f00);
	covered(0x2280, 18, DW_CFA_def_cfa_offset, 32);
	code(0x2300, "4883c418 c3");
	code(0x2400, "90 f4");
	/* nor may a nop be more than the end of a function */
	code(0x2580, "e900000000");
	jump(0x2580, 0x2603);
	covered(0x2580, 5, DW_CFA_def_cfa_offset, 32);
	code(0x2603, "90 89c7 f4");
	make_table();
	assert_sp(0x2104, 48);
	assert_sp(0x2109, 32);
	assert_sp(0x210a, 32);
	assert_sp(0x2300, 32);
	assert_hole(0x2400);
	assert_hole(0x2604);
}

/* A row that is jumped to proves what it speaks of. */
static void jumps_to_covered_code(void **state)
{
	(void)state;
	start();
	/* sub $24,%rsp; call; [nop; jmp] */
	func(0x2100, "4883ec18 e800000000 90 e900000000");
	call(0x2104, MAY_RETURN);
	jump(0x210a, 0x2180);
	covered(0x2180, 5, DW_CFA_def_cfa_offset, 32);
	/* another one */
	func(0x2200, "4883ec18 e800000000 90 e900000000");
	call(0x2204, MAY_RETURN);
	jump(0x220a, 0x2280);
	covered(0x2280, 5, DW_CFA_def_cfa_offset, 48);
	/* push %rbp; mov %rsp,%rbp; sub $32,%rsp; call; [nop; jmp] */
	func(0x2300, "55 4889e5 4883ec20 e800000000 90 e900000000");
	call(0x2308, MAY_RETURN);
	jump(0x230e, 0x2380);
	covered(0x2380, 5, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
	make_table();
	assert_sp(0x2109, 32);
	assert_sp(0x210a, 32);
	assert_hole(0x2209);
	assert_row(0x230d, SFRAME_FP, 16, -16);
}

/* After pop %rbp, the row stays */
static void a_slot_that_was_popped(void **state)
{
	(void)state;
	start();
	code(0x2f00, "c3");
	/* pop %rbp | jmp f, with FP said to be below SP */
	code(0x2100, "5d e900000000");
	jump(0x2101, 0x2200);
	covered(0x2100, 6, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8);
	code(0x2200, "53 ebfe");
	make_table();
	assert_sp(0x2200, 8);
	assert_sp(0x2201, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restoring_sp_from_fp_proves_fp),
		cmocka_unit_test(calls_in_a_row_that_may_not_return),
		cmocka_unit_test(calls_in_a_row_where_nothing_has_eh_frame),
		cmocka_unit_test(calls_in_a_row_where_there_are_landing_pads),
		cmocka_unit_test(calls_in_a_row_where_much_is_not_followed),
		cmocka_unit_test(code_after_a_call_that_others_jump_to),
		cmocka_unit_test(nothing_surely_follows_a_call_of_a_function_without_a_return),
		cmocka_unit_test(a_default_that_is_never_taken),
		cmocka_unit_test(a_branch_to_the_end_of_a_function),
		cmocka_unit_test(padding_does_not_lead_to_where_functions_are_aligned),
		cmocka_unit_test(padding_leads_to_a_loop),
		cmocka_unit_test(a_block_without_an_end),
		cmocka_unit_test(a_branch_out_of_an_fde),
		cmocka_unit_test(jumps_from_covered_code),
		cmocka_unit_test(jumps_to_covered_code),
		cmocka_unit_test(a_slot_that_was_popped),
	};
	int ret = cmocka_run_group_tests_name("flow_prove", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
