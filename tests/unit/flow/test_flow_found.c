// SPDX-License-Identifier: GPL-2.0
/*
 * test_flow_found.c - finds functions without .eh_frame
 *
 * Tables of the file, addresses in instructions, and jumps lead to such functions.
 */
#include "flow_build.h"

static void the_function_of_dt_init_has_rows(void **state)
{
	(void)state;
	/* push; jmp to itself: it never returns, so nothing is proved */
	code(0x2000, "53 ebfe");
	dynamic(DT_INIT, 0x2000);
	dynamic(DT_NULL, 0);
	make_table();
	assert_sp(0x2001, 16);
}

static void the_function_of_dt_fini_has_rows(void **state)
{
	(void)state;
	/* push; jmp to itself: it never returns, so nothing is proved */
	code(0x2000, "53 ebfe");
	dynamic(DT_FINI, 0x2000);
	dynamic(DT_NULL, 0);
	make_table();
	assert_sp(0x2001, 16);
}

static void a_function_of_dt_init_array_has_rows(void **state)
{
	(void)state;
	code(0x2020, "53 ebfe");
	dynamic(DT_INIT_ARRAY, DATA);
	dynamic(DT_INIT_ARRAYSZ, 8);
	dynamic(DT_NULL, 0);
	memcpy(data, (uint64_t[]){ 0x2020 }, 8);
	make_table();
	assert_sp(0x2021, 16);
}

static void a_function_of_dt_init_array_by_relocation_has_rows(void **state)
{
	(void)state;
	code(0x2030, "53 ebfe");
	dynamic(DT_INIT_ARRAY, DATA);
	dynamic(DT_INIT_ARRAYSZ, 16);
	dynamic(DT_NULL, 0);
	relocation(DATA + 8, R_X86_64_RELATIVE, 0x2030);
	make_table();
	assert_sp(0x2031, 16);
}

static void a_resolver_of_an_indirect_function_has_rows(void **state)
{
	(void)state;
	code(0x2040, "53 ebfe");
	relocation(DATA + 0x100, R_X86_64_IRELATIVE, 0x2040);
	make_table();
	assert_sp(0x2041, 16);
}

static void code_in_a_pointer_that_never_returns_is_a_hole(void **state)
{
	(void)state;
	code(0x2050, "53 ebfe");
	relocation(DATA + 0x108, R_X86_64_RELATIVE, 0x2050);
	make_table();
	assert_hole(0x2050);
}

static void code_in_a_pointer_that_returns_has_rows(void **state)
{
	(void)state;
	/* push; pop; ret */
	code(0x2060, "53 5b c3");
	relocation(DATA + 0x110, R_X86_64_RELATIVE, 0x2060);
	make_table();
	assert_sp(0x2061, 16);
}

/* lea @to(%rip),%rdi; ret; and code at @at */
static void taken(uint64_t to, uint64_t at, const char *hex)
{
	func(0x2000, "488d3d00000000 c3");
	rel32(0x2003, 0x2007, to);
	code(at, hex);
}

/* Such a symbol is of a function without a body: it may point into the middle of another one. */
static void a_symbol_without_a_size_is_no_function(void **state)
{
	(void)state;
	/* push; jmp to itself: it never returns, so nothing is proved */
	symbol(0x2080, 0, STB_GLOBAL);
	code(0x2080, "53 ebfe");
	symbol(0x2090, 3, STB_GLOBAL);
	code(0x2090, "53 ebfe");
	/* push; pop; ret: it is a function, as for an address that is taken */
	symbol(0x20a0, 0, STB_GLOBAL);
	code(0x20a0, "53 5b c3");
	make_table();
	assert_hole(0x2080);
	assert_hole(0x2081);
	assert_sp(0x2091, 16);
	assert_sp(0x20a1, 16);
}

static void a_stub_is_proved_by_a_symbol_without_a_size(void **state)
{
	(void)state;
	/* mov (%rdi),%rax; jmp *%rax */
	symbol(0x20b0, 0, STB_GLOBAL);
	code(0x20b0, "488b07 ffe0");
	/* a label of an interpreter looks like that, too; a local symbol may be a label */
	relocation(DATA + 0x118, R_X86_64_RELATIVE, 0x20c0);
	code(0x20c0, "488b07 ffe0");
	local(0x20d0, "488b07 ffe0");
	/* SP is not at the return address */
	symbol(0x20e0, 0, STB_GLOBAL);
	code(0x20e0, "53 ffe0");
	make_table();
	assert_sp(0x20b0, 8);
	assert_sp(0x20b3, 8);
	assert_hole(0x20c0);
	assert_hole(0x20d0);
	assert_hole(0x20e0);
	assert_hole(0x20e1);
}

static void a_function_whose_address_is_taken_has_rows(void **state)
{
	(void)state;
	taken(0x2100, 0x2100, "53 5b c3");
	make_table();
	assert_sp(0x2101, 16);
}

static void a_label_after_a_push_whose_address_is_taken_is_a_hole(void **state)
{
	(void)state;
	/* as a function it would return 8 bytes off */
	taken(0x2301, 0x2300, "53 90 5b c3");
	make_table();
	assert_hole(0x2301);
}

static void data_whose_address_is_taken_is_a_hole(void **state)
{
	(void)state;
	taken(0x2500, 0x2500, "06 c3");
	make_table();
	assert_hole(0x2500);
}

static void a_threads_function_is_proved_by_a_call_with_sp_aligned(void **state)
{
	(void)state;
	/* sub $8,%rsp; call *%rax; nop; hlt */
	taken(0x2800, 0x2800, "4883ec08 ffd0 90 f4");
	make_table();
	assert_sp(0x2804, 16);
}

static void a_threads_function_is_disproved_by_a_call_with_sp_not_aligned(void **state)
{
	(void)state;
	/* sub $16,%rsp; call *%rax; nop; hlt */
	taken(0x2a00, 0x2a00, "4883ec10 ffd0 90 f4");
	make_table();
	assert_hole(0x2a04);
}

static void an_address_within_a_known_instruction_changes_nothing(void **state)
{
	(void)state;
	/* lea f(%rip),%rdi; push %rcx; mov $0xc3c3c3c3,%eax; pop %rcx; ret, f is in the mov */
	func(0x2600, "488d3d00000000 51 b8c3c3c3c3 59 c3");
	rel32(0x2603, 0x2607, 0x260a);
	make_table();
	assert_sp(0x260a, 16);
}

/*
 * push %rbx; [compare]; ja default; [between]; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax;
 * add %rdx,%rax; notrack jmp *%rax; three cases, and the default: pop %rbx; ret
 */
static void a_switch(const char *compare, const char *between)
{
	char hex[200];
	int32_t entry;
	unsigned int i;
	uint64_t at;

	snprintf(hex, sizeof(hex), "53 %s 0f8700000000 %s", compare, between);
	at = func(0x2000, hex);
	at = code(at, "488d1500000000");
	rel32(at - 4, at, DATA);
	code(at, "486304ba 4801d0 3effe0");
	at = 0x2001 + strlen(compare) / 2;
	rel32(at + 2, at + 6, 0x2200);
	code(0x2200, "5b c3");
	for (i = 0; i < 3; i++) {
		entry = 0x2100 + 0x10 * i - DATA;
		memcpy(data + 4 * i, &entry, 4);
		code(0x2100 + 0x10 * i, "90 5b c3");
	}
	/* after the table lies something else */
	entry = 0x2400 - DATA;
	memcpy(data + 12, &entry, 4);
	code(0x2400, "90 5b c3");
}

static void each_case_of_a_jump_table_has_rows(void **state)
{
	(void)state;
	a_switch("83ff02", "89ff");			/* cmp $2,%edi; mov %edi,%edi */
	make_table();
	assert_sp(0x2100, 16);
	assert_sp(0x2110, 16);
	assert_sp(0x2121, 16);
	assert_sp(0x2122, 8);
	assert_sp(0x2201, 8);
}

static void nothing_after_the_end_of_a_jump_table_is_a_case(void **state)
{
	(void)state;
	a_switch("83ff02", "89ff");
	make_table();
	assert_sp(0x2121, 16);
	assert_hole(0x2400);
}

static void a_case_of_a_nop_and_code_that_nothing_proves_is_a_hole(void **state)
{
	(void)state;
	/* an empty case, perhaps */
	a_switch("83ff02", "89ff");
	code(0x2120, "90 89c7 f4");
	make_table();
	assert_sp(0x2111, 16);
	assert_hole(0x2121);
}

/* clang leaves out the end of a table that it knows is not used; the next table lies there. */
static void a_case_of_a_jump_table_that_a_mask_bounds_has_to_be_proved(void **state)
{
	int32_t entry;
	unsigned int i;
	uint64_t at;

	(void)state;
	/* push %rbx; and $3,%edi; lea; movslq; add; jmp */
	at = func(0x2000, "53 83e703 488d1500000000");
	rel32(at - 4, at, DATA);
	code(at, "486304ba 4801d0 3effe0");
	for (i = 0; i < 4; i++) {
		entry = 0x2100 + 0x10 * i - DATA;
		memcpy(data + 4 * i, &entry, 4);
		code(0x2100 + 0x10 * i, i < 2 ? "90 5b c3" : "31c0 90 f4");
	}
	make_table();
	assert_sp(0x2001, 16);
	assert_sp(0x2100, 16);
	assert_sp(0x2112, 8);
	assert_hole(0x2120);
	assert_hole(0x2132);
}

static void a_comparison_of_a_byte_bounds_a_jump_table(void **state)
{
	(void)state;
	/* cmp $2,%dil; movzbl %dil,%edi */
	a_switch("4080ff02", "400fb6ff");
	make_table();
	assert_sp(0x2121, 16);
	assert_hole(0x2400);
}

static void no_case_of_a_jump_table_counts_if_one_is_no_code(void **state)
{
	(void)state;
	a_switch("83ff03", "89ff");
	memset(data + 12, 0, 4);
	make_table();
	assert_hole(0x2100);
	assert_sp(0x2200, 16);
}

static void a_comparison_of_another_register_bounds_no_jump_table(void **state)
{
	(void)state;
	/* cmp $2,%esi; mov %edi,%edi */
	a_switch("83fe02", "89ff");
	make_table();
	assert_hole(0x2100);
}

static void a_bound_is_lost_if_the_index_changes(void **state)
{
	(void)state;
	/* cmp $2,%edi; add $1,%edi */
	a_switch("83ff02", "83c701");
	make_table();
	assert_hole(0x2100);
}

static void a_bound_is_lost_if_the_index_is_loaded(void **state)
{
	(void)state;
	/* cmp $2,%edi; mov 8(%rsp),%rdi */
	a_switch("83ff02", "488b7c2408");
	make_table();
	assert_hole(0x2100);
}

static void a_bound_is_lost_if_the_flags_change(void **state)
{
	(void)state;
	/* cmp $2,%edi; test %esi,%esi; mov %edi,%edi */
	a_switch("83ff0285f6", "89ff");
	make_table();
	assert_hole(0x2100);
}

static void a_jump_to_an_address_in_a_register_is_followed(void **state)
{
	(void)state;
	/* push %rbx; lea f(%rip),%rax; pop %rbx; jmp *%rax, as __libc_start_main() of musl ends */
	func(0x2000, "53 488d0500000000 5b ffe0");
	rel32(0x2004, 0x2008, 0x2100);
	code(0x2100, "53 ebfe");
	make_table();
	assert_sp(0x2101, 16);
}

static void a_call_from_covered_code_enters_a_function(void **state)
{
	(void)state;
	/* an operand that looks like a call, and a call */
	code(0x2000, "b8e8000000 e800000000 c3");
	rel32(0x2002, 0x2006, 0x2200);
	call(0x2005, 0x2100);
	covered(0x2000, 11, DW_CFA_nop);
	code(0x2100, "53 ebfe");
	code(0x2200, "53 ebfe");
	make_table();
	assert_sp(0x2101, 16);
	assert_hole(0x2201);
}

static void a_call_after_a_byte_that_is_no_instruction_enters_nothing(void **state)
{
	(void)state;
	code(0x2700, "06 e800000000 c3");
	call(0x2701, 0x2800);
	covered(0x2700, 7, DW_CFA_nop);
	code(0x2800, "53 ebfe");
	make_table();
	assert_hole(0x2801);
}

static void a_jump_with_sp_at_the_return_address_enters_a_function(void **state)
{
	(void)state;
	code(0x2300, "e900000000");
	jump(0x2300, 0x2400);
	covered(0x2300, 5, DW_CFA_nop);
	code(0x2400, "53 ebfe");
	make_table();
	assert_sp(0x2401, 16);
}

static void a_jump_with_sp_elsewhere_goes_on_with_the_same_frame(void **state)
{
	(void)state;
	code(0x2500, "e900000000");
	jump(0x2500, 0x2600);
	covered(0x2500, 5, DW_CFA_def_cfa_offset, 16);
	code(0x2600, "53 ebfe");
	make_table();
	assert_sp(0x2600, 16);
	assert_sp(0x2601, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(the_function_of_dt_init_has_rows),
		flow_test(the_function_of_dt_fini_has_rows),
		flow_test(a_function_of_dt_init_array_has_rows),
		flow_test(a_function_of_dt_init_array_by_relocation_has_rows),
		flow_test(a_resolver_of_an_indirect_function_has_rows),
		flow_test(code_in_a_pointer_that_never_returns_is_a_hole),
		flow_test(code_in_a_pointer_that_returns_has_rows),
		flow_test(a_symbol_without_a_size_is_no_function),
		flow_test(a_stub_is_proved_by_a_symbol_without_a_size),
		flow_test(a_function_whose_address_is_taken_has_rows),
		flow_test(a_label_after_a_push_whose_address_is_taken_is_a_hole),
		flow_test(data_whose_address_is_taken_is_a_hole),
		flow_test(a_threads_function_is_proved_by_a_call_with_sp_aligned),
		flow_test(a_threads_function_is_disproved_by_a_call_with_sp_not_aligned),
		flow_test(an_address_within_a_known_instruction_changes_nothing),
		flow_test(each_case_of_a_jump_table_has_rows),
		flow_test(nothing_after_the_end_of_a_jump_table_is_a_case),
		flow_test(a_case_of_a_nop_and_code_that_nothing_proves_is_a_hole),
		flow_test(a_case_of_a_jump_table_that_a_mask_bounds_has_to_be_proved),
		flow_test(a_comparison_of_a_byte_bounds_a_jump_table),
		flow_test(no_case_of_a_jump_table_counts_if_one_is_no_code),
		flow_test(a_comparison_of_another_register_bounds_no_jump_table),
		flow_test(a_bound_is_lost_if_the_index_changes),
		flow_test(a_bound_is_lost_if_the_index_is_loaded),
		flow_test(a_bound_is_lost_if_the_flags_change),
		flow_test(a_jump_to_an_address_in_a_register_is_followed),
		flow_test(a_call_from_covered_code_enters_a_function),
		flow_test(a_call_after_a_byte_that_is_no_instruction_enters_nothing),
		flow_test(a_jump_with_sp_at_the_return_address_enters_a_function),
		flow_test(a_jump_with_sp_elsewhere_goes_on_with_the_same_frame),
	};
	int ret = cmocka_run_group_tests_name("gen_flow_found", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
