// SPDX-License-Identifier: GPL-2.0
/* test_flow_insn.c - how each instruction of followed code changes the rows */
#include "flow_build.h"

static void push_and_pop(void **state)
{
	(void)state;
	start_file();
	/* push %rbx; push $1; push %rax; pushf; popf; pop %rcx; ret */
	func(0x2000, "53 6a01 50 9c 9d 59 59 5b c3");
	make_table();
	assert_sp(0x2000, 8);
	assert_sp(0x2001, 16);
	assert_sp(0x2003, 24);
	assert_sp(0x2004, 32);
	assert_sp(0x2005, 40);
	assert_sp(0x2006, 32);
	assert_sp(0x2007, 24);
	assert_sp(0x2008, 16);
	assert_sp(0x2009, 8);
	assert_hole(0x200a);
	assert_int_equal(table.stats.flow_bytes, 10);
}

static void arithmetic_on_the_stack_pointer(void **state)
{
	(void)state;
	start_file();
	/* add $-128; sub $-128; sub $2000; lea -8(%rsp),%rsp; add $2008 */
	func(0x2000, "4883c480 4883ec80 4881ecd0070000 488d6424f8 4881c4d8070000 c3");
	/* sub $8,%esp cuts SP to 32 bits; inc, xchg: nothing is known any more */
	func(0x2100, "7401 c3 83ec08 90 f4");
	func(0x2200, "48ffc4 90 c3");
	func(0x2300, "4894 90 c3");
	/* with a prefix that makes it two bytes */
	func(0x2400, "6650 90 6658 c3");
	make_table();
	assert_sp(0x2000, 8);
	assert_sp(0x2004, 136);
	assert_sp(0x2008, 8);
	assert_sp(0x200f, 2008);
	assert_sp(0x2014, 2016);
	assert_sp(0x201b, 8);
	assert_sp(0x2103, 8);
	assert_hole(0x2106);
	assert_hole(0x2203);
	assert_hole(0x2302);
	assert_hole(0x2402);
}

static void frame_pointer(void **state)
{
	(void)state;
	start_file();
	/* push %rbp; mov %rsp,%rbp; push %rbx; and $-64,%rsp; nop; lea -8(%rbp),%rsp; pop %rbx;
	 * pop %rbp; ret
	 */
	func(0x2000, "55 4889e5 53 4883e4c0 90 488d65f8 5b 5d c3");
	/* the same with sub %rax,%rsp, and leave */
	func(0x2100, "55 4889e5 4829c4 90 c9 c3");
	/* without a frame */
	func(0x2200, "4829c4 90 c3");
	/* FP becomes something else meanwhile */
	func(0x2300, "55 4889e5 4829c4 31ed 90 c9 c3");
	/* FP somewhere in the frame: lea 0x10(%rsp),%rbp; add $8,%rbp; mov %rbp,%rsp */
	func(0x2400, "55 4883ec20 488d6c2410 4883c508 4829c4 90 4889ec 4883c408 5d c3");
	make_table();
	assert_row(0x2001, SFRAME_SP, 16, -16);
	assert_row(0x2004, SFRAME_SP, 16, -16);
	assert_row(0x2005, SFRAME_SP, 24, -16);
	assert_row(0x2009, SFRAME_FP, 16, -16);
	assert_row(0x200e, SFRAME_SP, 24, -16);
	assert_row(0x200f, SFRAME_SP, 16, -16);
	assert_sp(0x2010, 8);
	assert_row(0x2107, SFRAME_FP, 16, -16);
	assert_row(0x2108, SFRAME_FP, 16, -16);
	assert_sp(0x2109, 8);
	assert_hole(0x2203);
	assert_hole(0x2309);
	assert_row(0x2411, SFRAME_FP, 24, -16);
	assert_row(0x2412, SFRAME_FP, 24, -16);
	assert_row(0x2415, SFRAME_SP, 24, -16);
	assert_row(0x2419, SFRAME_SP, 16, -16);
	assert_sp(0x241a, 8);
	make_flags(ROWS_BY_FP);
	assert_row(0x2004, SFRAME_FP, 16, -16);
}

static void frame_pointer_saved_by_a_move(void **state)
{
	(void)state;
	start_file();
	/* sub $24,%rsp; mov %rbp,8(%rsp); mov %rdi,%rbp; nop; mov 8(%rsp),%rbp; add; ret */
	func(0x2000, "4883ec18 48896c2408 4889fd 90 488b6c2408 4883c418 c3");
	/* from another place: FP is still where it was */
	func(0x2100, "4883ec18 48896c2408 4889fd 90 488b6c2410 4883c418 c3");
	make_table();
	assert_sp(0x2004, 32);
	assert_row(0x2009, SFRAME_SP, 32, -24);
	assert_row(0x200c, SFRAME_SP, 32, -24);
	assert_row(0x200d, SFRAME_SP, 32, -24);
	assert_row(0x2012, SFRAME_SP, 32, -24);
	assert_sp(0x2016, 8);
	assert_row(0x210c, SFRAME_SP, 32, -24);
	assert_row(0x2116, SFRAME_SP, 8, -24);
	/* likewise: push %rbp; push %rbx; pop %rbp; pop %rbx; ret */
	start_file();
	func(0x2000, "55 53 5d 5b c3");
	make_table();
	assert_row(0x2003, SFRAME_SP, 16, -16);
	assert_row(0x2004, SFRAME_SP, 8, -16);
}

static void a_slot_that_is_written_over(void **state)
{
	(void)state;
	start_file();
	/* mov %rdi,12(%rsp) */
	func(0x2200, "4883ec18 48896c2408 4889fd 90 48897c240c 90 4883c418 c3");
	/* FP was saved in 32 bits only */
	func(0x2300, "4883ec18 896c2408 89fd 90 4883c418 c3");
	make_table();
	assert_row(0x220c, SFRAME_SP, 32, -24);
	assert_hole(0x2212);
	assert_sp(0x2304, 32);
	assert_hole(0x230a);
}

static void a_slot_below_the_stack_pointer(void **state)
{
	(void)state;
	start_file();
	/* mov %rbp,-8(%rsp); mov %rdi,%rbp; nop; mov -8(%rsp),%rbp; ret */
	func(0x2000, "48896c24f8 4889fd 90 488b6c24f8 c3");
	/* a push goes over it */
	func(0x2100, "48896c24f8 4889fd 50 90 58 c3");
	/* a call does */
	func(0x2200, "48896c24f8 4889fd 90 e800000000 31c0 c3");
	call(0x2209, 0x2000);
	make_table();
	assert_row(0x2005, SFRAME_SP, 8, -16);
	assert_row(0x2008, SFRAME_SP, 8, -16);
	assert_row(0x2108, SFRAME_SP, 8, -16);
	assert_hole(0x2109);
	assert_row(0x2208, SFRAME_SP, 8, -16);
	assert_hole(0x220e);
}

static void frame_pointer_lost(void **state)
{
	(void)state;
	start_file();
	/* mov %rdi,%rbp; nop; ret */
	func(0x2000, "4889fd 90 c3");
	/* by what reads it: add %rbp,%rax; cmp %rbp,%rax; test %rbp,%rbp; mov %rbp,%rax */
	func(0x2100, "4801e8 4839e8 4885ed 4889e8 480fafc5 90 c3");
	/* by what writes it somewhere among its operands: xchg %rbp,%rax; xadd %rbp,%rax */
	func(0x2200, "4895 90 c3");
	func(0x2300, "480fc1e8 90 c3");
	make_table();
	assert_sp(0x2000, 8);
	assert_hole(0x2003);
	assert_sp(0x2111, 8);
	assert_hole(0x2202);
	assert_hole(0x2304);
}

static void the_return_address_is_taken_or_replaced(void **state)
{
	(void)state;
	start_file();
	/* vfork() of musl: pop %rdx; mov $58,%al; syscall; push %rdx; ret */
	func(0x2000, "5a b03a 0f05 52 c3");
	/* and the same next to a return: je 1f; ret; 1: pop %rdx; nop; hlt */
	func(0x2300, "7401 c3 5a 90 f4");
	/* what hides a jump: mov %rax,(%rsp); ret, with another return elsewhere */
	func(0x2100, "7401 c3 48890424 90 c3");
	/* a barrier: lock orl $0,(%rsp); and a store that is not a barrier */
	func(0x2400, "f0830c2400 90 c3");
	func(0x2500, "7401 c3 f0830c2401 90 f4");
	/* writing 4 bytes of it, from below */
	func(0x2200, "7401 c3 48894424fc 90 c3");
	make_table();
	assert_hole(0x2000);
	assert_hole(0x2001);
	assert_hole(0x2006);
	assert_sp(0x2303, 8);
	assert_hole(0x2304);
	assert_sp(0x2405, 8);
	assert_hole(0x2508);
	assert_sp(0x2103, 8);
	assert_hole(0x2107);
	assert_sp(0x2203, 8);
	assert_hole(0x2208);
}

/* musl begins a thread like this. */
static void a_zero_frame_pointer_is_the_outermost_frame(void **state)
{
	(void)state;
	start_file();
	/* mov $56,%al; syscall; test; jne 1f; xor %ebp,%ebp; pop %rdi; call *%r9; hlt; 1: ret */
	func(0x2000, "b038 0f05 85c0 7509 31ed 5f 41ffd1 89c7 f4 c3");
	/* if FP is saved, the zero means nothing */
	func(0x2100, "55 31ed 90 5d c3");
	/* code that returns has a caller: a contradiction */
	func(0x2200, "0f05 31ed 90 c3");
	/* a register to compute with; what was in it may be anywhere */
	func(0x2300, "31ed 90 f4");
	/* no matter how long ago the system call was */
	func(0x2400, "0f05 50 31ed 90 f4");
	make_table();
	assert_sp(0x2006, 8);
	assert_outermost(0x2008);
	assert_outermost(0x200a);
	assert_outermost(0x200b);
	assert_outermost(0x2010);
	assert_sp(0x2011, 8);
	assert_row(0x2103, SFRAME_SP, 16, -16);
	assert_sp(0x2105, 8);
	assert_hole(0x2200);
	assert_hole(0x2202);
	assert_hole(0x2204);
	assert_sp(0x2300, 8);
	assert_hole(0x2302);
	assert_sp(0x2403, 16);
	assert_hole(0x2405);
}

static void paths_that_disagree(void **state)
{
	(void)state;
	start_file();
	/* je 1f; push %rax; 1: cld; ud2 */
	func(0x2000, "7401 50 fc 0f0b");
	/* agree by FP only: push %rbp; mov %rsp,%rbp; je 1f; push %rax; 1: cld; leave; ret */
	func(0x2100, "55 4889e5 7401 50 fc c9 c3");
	/* one path has saved FP, the other has not; in either order */
	func(0x2200, "4883ec18 7405 48896c2408 fc 4889fd 90 0f0b");
	func(0x2300, "4883ec18 7402 eb05 48896c2408 fc 4889fd 90 0f0b");
	/* one has set FP, the other has not; then sub %rax,%rsp */
	func(0x2400, "7401 c3 55 7403 4889e5 fc 4829c4 90 0f0b");
	func(0x2500, "7401 c3 55 7402 eb03 4889e5 fc 4829c4 90 0f0b");
	make_table();
	assert_hole(0x2003);
	assert_row(0x2106, SFRAME_SP, 16, -16);
	assert_row(0x2107, SFRAME_FP, 16, -16);
	assert_sp(0x220b, 32);
	assert_hole(0x220f);
	assert_sp(0x230d, 32);
	assert_hole(0x2311);
	assert_row(0x2409, SFRAME_SP, 16, -16);
	assert_hole(0x240d);
	assert_row(0x250b, SFRAME_SP, 16, -16);
	assert_hole(0x250f);
}

static void an_instruction_within_another(void **state)
{
	(void)state;
	start_file();
	/* je 1f; lock 1: cmpxchg %ecx,(%rdi); ret */
	func(0x2000, "7401 f00fb10f c3");
	make_table();
	assert_sp(0x2002, 8);
	assert_sp(0x2003, 8);
	assert_sp(0x2006, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(push_and_pop),
		cmocka_unit_test(arithmetic_on_the_stack_pointer),
		cmocka_unit_test(frame_pointer),
		cmocka_unit_test(frame_pointer_saved_by_a_move),
		cmocka_unit_test(a_slot_that_is_written_over),
		cmocka_unit_test(a_slot_below_the_stack_pointer),
		cmocka_unit_test(frame_pointer_lost),
		cmocka_unit_test(the_return_address_is_taken_or_replaced),
		cmocka_unit_test(a_zero_frame_pointer_is_the_outermost_frame),
		cmocka_unit_test(paths_that_disagree),
		cmocka_unit_test(an_instruction_within_another),
	};
	int ret = cmocka_run_group_tests_name("flow_insn", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
