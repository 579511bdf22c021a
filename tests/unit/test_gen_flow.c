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
	/* sub $24,%rsp | hlt, with a row that begins behind the code it is for */
	code(0x2100, "4883ec18 f4");
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
	/* what old linkers write into shared libraries */
	code(TEXT, "4889e7 f4");
	entry = TEXT;
	make_table();
	assert_hole(TEXT);
	/* in a segment that is no code, or nowhere */
	entry = DATA;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
	entry = 8;
	make_table();
	assert_int_equal(table.stats.flow_bytes, 0);
}

static void test_functions_of_symbols(void **state)
{
	(void)state;
	start_file();
	/* push %rbx; jmp to itself: never returns */
	func(0x2000, "53 ebfe");
	local(0x2100, "53 ebfe");
	local(0x2200, "53 5b c3");
	/* a part of a function, that is jumped to with 16 bytes more on the stack */
	func(0x2300, "4883ec18 0f8400000000 4883c418 c3");
	rel32(0x2306, 0x230a, 0x2400);
	local(0x2400, "fc 0f0b");
	make_table();
	assert_sp(0x2001, 16);
	assert_hole(0x2100);
	assert_sp(0x2201, 16);
	assert_sp(0x230a, 32);
	assert_sp(0x2400, 32);
	assert_sp(0x2401, 32);
}

static void test_a_symbol_that_is_not_entered_by_a_call(void **state)
{
	(void)state;
	start_file();
	/* ld.so's resolver: sub $32,%rsp; mov %rsp,%rbx; and $-16,%rsp; ...; jmp *%rax */
	func(0x2000, "4883ec20 4889e3 4883e4f0 ffe0");
	/* the same with a call in front: sub $24,%rsp; call *%rax; mov %rdi,%rsp; jmp *%rdx */
	func(0x2600, "4883ec18 ffd0 4889fc ffe2");
	/* __restore_rt: mov $15,%rax; syscall; it returns to a frame of its own kind */
	func(0x2100, "48c7c00f000000 0f05 0f0b");
	/* what lies behind it is padding and another function, and not reached from there */
	func(0x2300, "488d3d00000000 c3");
	rel32(0x2303, 0x2307, 0x2400);
	code(0x2400, "48c7c00f000000 0f05 6690 c3");
	/* no padding in between: a task in the kernel stands at the start of the function */
	func(0x2500, "48c7c00f000000 0f05");
	func(0x2509, "6690 c3");
	/* nor behind one that does not return, in a function that is not believed */
	local(0x2700, "53 b83c000000 0f05");
	func(0x2708, "6690 c3");
	/* mov $14,%eax; syscall; ret */
	func(0x2200, "b80e000000 0f05 c3");
	make_table();
	assert_hole(0x2000);
	assert_hole(0x2004);
	assert_sp(0x2604, 32);
	assert_sp(0x2606, 32);
	assert_hole(0x2609);
	assert_hole(0x2100);
	assert_hole(0x2109);
	assert_hole(0x2400);
	assert_hole(0x2407);
	assert_hole(0x2409);
	assert_hole(0x240b);
	assert_hole(0x2509);
	assert_sp(0x250b, 8);
	assert_hole(0x2708);
	assert_sp(0x2207, 8);
}

static void test_what_lies_behind_a_call(void **state)
{
	(void)state;
	start_file();
	func(0x2000, "c3");				/* returns */
	func(0x2010, "0f0b");				/* does not */
	covered(0x2020, 1, DW_CFA_nop);			/* may */
	/* sub $8,%rsp; call; then ud2, so that nothing is proved there */
	func(0x2100, "4883ec08 e800000000 0f0b");
	call(0x2104, 0x2000);
	func(0x2200, "4883ec08 e800000000 0f0b");
	call(0x2204, 0x2010);
	func(0x2300, "4883ec08 e800000000 0f0b");
	call(0x2304, 0x2020);
	/* add $8,%rsp; ret: proved */
	func(0x2400, "4883ec08 e800000000 4883c408 c3");
	call(0x2404, 0x2020);
	/* je 1f; add $8,%rsp; 1: ret: disproved */
	func(0x2500, "4883ec08 e800000000 7404 4883c408 c3");
	call(0x2504, 0x2020);
	/* so it is by a call with SP not aligned: push %rax; call; pop %rcx; add $8,%rsp; ret */
	func(0x2580, "4883ec08 e800000000 50 e800000000 59 4883c408 c3");
	call(0x2584, 0x2020);
	call(0x258a, 0x2020);
	/* nothing is followed behind what does not return, so nothing is proved or contradicts */
	func(0x2680, "4883ec08 e800000000 4883c408 c3");
	call(0x2684, 0x2010);
	func(0x2600, "4883ec08 e800000000 c3");
	call(0x2604, 0x2010);
	make_table();
	assert_sp(0x2109, 16);
	assert_sp(0x2204, 16);
	assert_hole(0x2209);
	assert_sp(0x2304, 16);
	assert_hole(0x2309);
	assert_sp(0x2409, 16);
	assert_sp(0x240d, 8);
	assert_sp(0x2504, 16);
	assert_hole(0x2509);
	assert_hole(0x2589);
	assert_sp(0x2604, 16);
	assert_hole(0x2609);
	assert_hole(0x2689);
}

static void test_padding_behind_a_call_may_be_the_end(void **state)
{
	(void)state;
	start_file();
	func(0x2000, "c3");
	/* call; nop; ud2: the caller may know that this call does not return */
	func(0x2100, "4883ec08 e800000000 90 0f0b");
	call(0x2104, 0x2000);
	/* by a pointer; by one of the linker's table */
	func(0x2200, "4883ec08 ffd0 0f0b");
	func(0x2300, "4883ec08 ff1500000000 0f0b");
	func(0x2400, "4883ec08 ffd0 90 0f0b");
	make_table();
	assert_sp(0x2104, 16);
	assert_hole(0x2109);
	assert_sp(0x2206, 16);
	assert_hole(0x230a);
	assert_hole(0x2406);
}

static void test_symbols_end_what_lies_behind_a_call(void **state)
{
	(void)state;
	start_file();
	covered(0x2020, 1, DW_CFA_nop);
	/* call; and behind it, by its size, another function: sub $8,%rsp; add $8,%rsp; ret */
	code(0x2100, "50 e800000000 50 58 58 c3");
	call(0x2101, 0x2020);
	symbol(0x2100, 6, STB_GLOBAL);
	code(0x2200, "50 e800000000 50 58 58 c3");
	call(0x2201, 0x2020);
	symbol(0x2200, 10, STB_GLOBAL);
	make_table();
	assert_hole(0x2106);
	assert_sp(0x2206, 16);
	assert_sp(0x2209, 8);
}

static void test_functions_that_do_not_keep_the_abi(void **state)
{
	(void)state;
	start_file();
	func(0x2000, "5a c3");				/* takes its return address */
	func(0x2010, "c20800");				/* ret $8 */
	func(0x2020, "31c0 89c5 c3");			/* mov %eax,%ebp; ret */
	func(0x2100, "e800000000 90 c3");
	call(0x2100, 0x2010);
	func(0x2200, "e800000000 90 c3");
	call(0x2200, 0x2020);
	/* push %rbp; call; pop %rbp: saved, so not lost */
	func(0x2300, "55 e800000000 90 5d c3");
	call(0x2301, 0x2020);
	/* je 1f; ret; 1: call 2f; 2: nop; hlt, for the address of code */
	func(0x2400, "7401 c3 e800000000 90 f4");
	make_table();
	assert_hole(0x2000);
	assert_hole(0x2010);
	assert_hole(0x2106);
	assert_hole(0x2205);
	assert_row(0x2306, SFRAME_SP, 16, -16);
	assert_sp(0x2308, 8);
	assert_sp(0x2403, 8);
	assert_hole(0x2408);
}

static void test_tail_calls(void **state)
{
	(void)state;
	start_file();
	func(0x2000, "53 5b c3");
	func(0x2100, "53 5b e900000000");
	jump(0x2102, 0x2000);
	/* a call of what lies behind it, and is a function that does not return */
	func(0x2480, "50 e800000000");
	func(0x2486, "53 f4");
	/* with something left on the stack: both cannot be right */
	func(0x2200, "53 e900000000");
	jump(0x2201, 0x2300);
	func(0x2300, "fc 0f0b");
	/* who calls a function that ends so goes on */
	func(0x2400, "50 e800000000 0f0b");
	call(0x2401, 0x2100);
	make_table();
	assert_sp(0x2102, 8);
	assert_sp(0x2001, 16);
	assert_hole(0x2300);
	assert_sp(0x2406, 16);
	assert_sp(0x2481, 16);
	assert_sp(0x2486, 8);
	assert_sp(0x2487, 16);
}

static void test_functions_that_run_at_start_and_end(void **state)
{
	(void)state;
	start_file();
	/* all of them push and never return, so nothing is proved */
	code(0x2000, "53 ebfe");
	code(0x2010, "53 ebfe");
	code(0x2020, "53 ebfe");
	code(0x2030, "53 ebfe");
	code(0x2040, "53 ebfe");
	code(0x2050, "53 ebfe");
	code(0x2060, "53 5b c3");
	dynamic(DT_INIT, 0x2000);
	dynamic(DT_FINI, 0x2010);
	dynamic(DT_INIT_ARRAY, DATA);
	dynamic(DT_INIT_ARRAYSZ, 16);
	dynamic(DT_NULL, 0);
	memcpy(data, (uint64_t[]){ 0x2020 }, 8);
	relocation(DATA + 8, R_X86_64_RELATIVE, 0x2030);
	relocation(DATA + 0x100, R_X86_64_IRELATIVE, 0x2040);
	relocation(DATA + 0x108, R_X86_64_RELATIVE, 0x2050);
	relocation(DATA + 0x110, R_X86_64_RELATIVE, 0x2060);
	make_table();
	assert_sp(0x2001, 16);
	assert_sp(0x2011, 16);
	assert_sp(0x2021, 16);
	assert_sp(0x2031, 16);
	assert_sp(0x2041, 16);
	assert_hole(0x2050);
	assert_sp(0x2061, 16);
}

static void test_addresses_that_are_taken(void **state)
{
	(void)state;
	start_file();
	/* lea f(%rip),%rdi; ret */
	func(0x2000, "488d3d00000000 c3");
	rel32(0x2003, 0x2007, 0x2100);
	code(0x2100, "53 5b c3");
	/* of a label behind a push: a return is 8 bytes off */
	func(0x2200, "488d3d00000000 c3");
	rel32(0x2203, 0x2207, 0x2301);
	code(0x2300, "53 90 5b c3");
	/* of data */
	func(0x2400, "488d3d00000000 c3");
	rel32(0x2403, 0x2407, 0x2500);
	code(0x2500, "06 c3");
	/* of a thread's function: sub $8,%rsp; call; nop; hlt, and with SP not aligned */
	func(0x2700, "488d3d00000000 c3");
	rel32(0x2703, 0x2707, 0x2800);
	code(0x2800, "4883ec08 ffd0 90 f4");
	func(0x2900, "488d3d00000000 c3");
	rel32(0x2903, 0x2907, 0x2a00);
	code(0x2a00, "4883ec10 ffd0 90 f4");
	/* within an instruction that is known: push %rcx; mov $0xc3c3c3c3,%eax; pop %rcx */
	func(0x2600, "488d3d00000000 51 b8c3c3c3c3 59 c3");
	rel32(0x2603, 0x2607, 0x260a);
	make_table();
	assert_sp(0x2101, 16);
	assert_hole(0x2301);
	assert_hole(0x2500);
	assert_sp(0x260a, 16);
	assert_sp(0x2804, 16);
	assert_hole(0x2a04);
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
	/* behind the table lies something else */
	entry = 0x2400 - DATA;
	memcpy(data + 12, &entry, 4);
	code(0x2400, "90 5b c3");
}

static void test_jump_tables(void **state)
{
	(void)state;
	start_file();
	a_switch("83ff02", "89ff");			/* cmp $2,%edi; mov %edi,%edi */
	make_table();
	assert_sp(0x2100, 16);
	assert_sp(0x2110, 16);
	assert_sp(0x2121, 16);
	assert_sp(0x2122, 8);
	assert_sp(0x2201, 8);
	assert_hole(0x2400);
	/* a nop, and what nothing proves behind it: an empty case, perhaps */
	start_file();
	a_switch("83ff02", "89ff");
	code(0x2120, "90 89c7 f4");
	make_table();
	assert_sp(0x2111, 16);
	assert_hole(0x2121);
	/* movzbl %dil,%edi behind cmp $2,%dil */
	start_file();
	a_switch("4080ff02", "400fb6ff");
	make_table();
	assert_sp(0x2121, 16);
	assert_hole(0x2400);
	/* one more entry is one that is no code: none counts */
	start_file();
	a_switch("83ff03", "89ff");
	memset(data + 12, 0, 4);
	make_table();
	assert_hole(0x2100);
	assert_sp(0x2200, 16);
}

/* clang leaves out the end of a table that it knows is not used; the next table lies there. */
static void test_a_jump_table_that_a_mask_bounds(void **state)
{
	int32_t entry;
	unsigned int i;
	uint64_t at;

	(void)state;
	start_file();
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

static void test_jumps_without_a_bound(void **state)
{
	(void)state;
	/* the comparison is of another register; the index changes; SP, hence nothing, is known */
	start_file();
	a_switch("83fe02", "89ff");
	make_table();
	assert_hole(0x2100);
	start_file();
	a_switch("83ff02", "83c701");
	make_table();
	assert_hole(0x2100);
	start_file();
	a_switch("83ff02", "488b7c2408");
	make_table();
	assert_hole(0x2100);
	/* the flags are of what lies between */
	start_file();
	a_switch("83ff0285f6", "89ff");
	make_table();
	assert_hole(0x2100);
}

static void test_a_jump_to_an_address_at_hand(void **state)
{
	(void)state;
	start_file();
	/* push %rbx; lea f(%rip),%rax; pop %rbx; jmp *%rax, as __libc_start_main() of musl ends */
	func(0x2000, "53 488d0500000000 5b ffe0");
	rel32(0x2004, 0x2008, 0x2100);
	code(0x2100, "53 ebfe");
	make_table();
	assert_sp(0x2101, 16);
}

static void test_calls_from_covered_code(void **state)
{
	(void)state;
	start_file();
	/* an operand that looks like a call, and a call */
	code(0x2000, "b8e8000000 e800000000 c3");
	rel32(0x2002, 0x2006, 0x2200);
	call(0x2005, 0x2100);
	covered(0x2000, 11, DW_CFA_nop);
	code(0x2100, "53 ebfe");
	code(0x2200, "53 ebfe");
	/* behind what is no instruction */
	code(0x2700, "06 e800000000 c3");
	call(0x2701, 0x2800);
	covered(0x2700, 7, DW_CFA_nop);
	code(0x2800, "53 ebfe");
	/* jmp, from where SP is at the return address and where it is not */
	code(0x2300, "e900000000");
	jump(0x2300, 0x2400);
	covered(0x2300, 5, DW_CFA_nop);
	code(0x2400, "53 ebfe");
	code(0x2500, "e900000000");
	jump(0x2500, 0x2600);
	covered(0x2500, 5, DW_CFA_def_cfa_offset, 16);
	code(0x2600, "53 ebfe");
	make_table();
	assert_sp(0x2101, 16);
	assert_hole(0x2201);
	assert_sp(0x2401, 16);
	assert_sp(0x2600, 16);
	assert_sp(0x2601, 24);
	assert_hole(0x2801);
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
		cmocka_unit_test(test_functions_of_symbols),
		cmocka_unit_test(test_a_symbol_that_is_not_entered_by_a_call),
		cmocka_unit_test(test_what_lies_behind_a_call),
		cmocka_unit_test(test_padding_behind_a_call_may_be_the_end),
		cmocka_unit_test(test_symbols_end_what_lies_behind_a_call),
		cmocka_unit_test(test_functions_that_do_not_keep_the_abi),
		cmocka_unit_test(test_tail_calls),
		cmocka_unit_test(test_functions_that_run_at_start_and_end),
		cmocka_unit_test(test_addresses_that_are_taken),
		cmocka_unit_test(test_jump_tables),
		cmocka_unit_test(test_a_jump_table_that_a_mask_bounds),
		cmocka_unit_test(test_jumps_without_a_bound),
		cmocka_unit_test(test_a_jump_to_an_address_at_hand),
		cmocka_unit_test(test_calls_from_covered_code),
	};
	int ret = cmocka_run_group_tests_name("gen_flow", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
