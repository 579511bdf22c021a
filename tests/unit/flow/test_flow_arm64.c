// SPDX-License-Identifier: GPL-2.0
/* test_flow_arm64.c - rows for arm64 code without .eh_frame */
#include "flow_arch.h"

#define RET		0xd65f03c0
#define NOP		0xd503201f
#define SVC		0xd4000001
#define MOV_X1_X2	0xaa0203e1
#define CBZ_X0_8	0xb4000040	/* over one instruction */
#define PUSH_FP_RA	0xa9bf7bfd	/* stp x29,x30,[sp,#-16]! */
#define POP_FP_RA	0xa8c17bfd	/* ldp x29,x30,[sp],#16 */
#define FP_IS_SP	0x910003fd
#define SP_IS_FP	0x910003bf

#define code(addr, ...) do {						\
	const uint32_t w_[] = { __VA_ARGS__ };				\
	unsigned int i_;						\
									\
	for (i_ = 0; i_ < sizeof(w_) / sizeof(*w_); i_++)		\
		put((addr) + 4 * i_, w_[i_], 4);			\
} while (0)

#define entered(pc)	assert_row(pc, SFRAME_SP, 0, 0, 0)

static uint32_t bl(uint64_t from, uint64_t to)
{
	return 0x94000000 | ((to - from) / 4 & 0x3ffffff);
}

static uint32_t b(uint64_t from, uint64_t to)
{
	return 0x14000000 | ((to - from) / 4 & 0x3ffffff);
}

static int fresh_flow(void **state)
{
	(void)state;
	start_flow(EM_AARCH64);
	return 0;
}

static void a_frame_record_with_signed_return_addresses_has_rows(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* paciasp; stp x29,x30,[sp,#-32]!; mov x29,sp; str x19,[sp,#16]; blr x3;
	 * ldr x19,[sp,#16]; ldp x29,x30,[sp],#32; autiasp; ret
	 */
	code(0x1100, 0xd503233f, 0xa9be7bfd, FP_IS_SP, 0xf9000bf3, 0xd63f0060, 0xf9400bf3,
	     0xa8c27bfd, 0xd50323bf, RET);
	make_table();
	entered(0x1100);
	assert_mangled(0x1104, SFRAME_SP, 0, 0, 0);
	assert_mangled(0x1108, SFRAME_SP, 32, -24, -32);
	assert_mangled(0x1110, SFRAME_SP, 32, -24, -32);
	assert_mangled(0x1118, SFRAME_SP, 32, -24, -32);
	assert_mangled(0x111c, SFRAME_SP, 0, 0, 0);
	entered(0x1120);
	assert_hole(0x1124);
	assert_int_equal(table.stats.flow_bytes, 0x24);
}

/* The trampoline gets its FDE while functions are searched by address. */
static void the_last_function_is_found_next_to_a_trampoline(void **state)
{
	uint64_t last = TEXT + TEXT_SIZE - 16;

	(void)state;
	runs_at_start(0x1100);
	code(0x1100, b(0x1100, last));
	code(0x1200, 0xd2801168, SVC);
	make_table();
	entered(0x1100);
	assert_int_equal(sframe_find(&reader, 0x1200, &row), 0);
	assert_true(row.flags & SFRAME_ROW_SIGNAL);
}

static void a_frame_of_4096_bytes_has_rows(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* sub sp,sp,#4096; str x30,[sp,#8]; blr x3; ldr x30,[sp,#8]; add sp,sp,#4096; ret */
	code(0x1100, 0xd14007ff, 0xf90007fe, 0xd63f0060, 0xf94007fe, 0x914007ff, RET);
	make_table();
	entered(0x1100);
	assert_row(0x1104, SFRAME_SP, 4096, 0, 0);
	assert_row(0x1108, SFRAME_SP, 4096, -4088, 0);
	assert_row(0x1110, SFRAME_SP, 4096, -4088, 0);
	entered(0x1114);
}

static void a_frame_of_unknown_size_has_rows_by_fp(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* sub sp,sp,x3; stur xzr,[x29,#-16]; mov sp,x29; ldr x30,[x29,#8]; ldr x29,[sp],#16 */
	code(0x1200, PUSH_FP_RA, FP_IS_SP, 0xcb2363ff, 0xf81f03bf, SP_IS_FP, 0xf94007be,
	     0xf84107fd, RET);
	make_table();
	assert_row(0x1208, SFRAME_SP, 16, -8, -16);
	assert_row(0x120c, SFRAME_FP, 16, -8, -16);
	assert_row(0x1210, SFRAME_FP, 16, -8, -16);
	assert_row(0x1214, SFRAME_SP, 16, -8, -16);
	assert_row(0x1218, SFRAME_SP, 16, -8, -16);
	entered(0x121c);
}

static void a_vector_store_moves_sp(void **state)
{
	(void)state;
	runs_at_start(0x1300);
	/* sub sp,sp,#32; st1 {v0.2d,v1.2d},[sp],#32; ret */
	code(0x1300, 0xd10083ff, 0x4c9fafe0, RET);
	make_table();
	assert_row(0x1304, SFRAME_SP, 32, 0, 0);
	entered(0x1308);
}

/* Each writes x29; the same with x30 in its place loses the return address */
static const uint32_t writes[] = {
	0xaa0003fd, 0x2a0003fd, 0x9100043d, 0x9240003d,	/* mov, mov w, add, and */
	0xb37d0c3d, 0xf280003d, 0x1000001d, 0x9b020c3d,	/* bfi, movk, adr, madd */
	0x9a82003d, 0xf940003d, 0xb862683d, 0xb980003d,	/* csel, ldr, ldr w, ldrsw */
	0xa940045d, 0x5800001d, 0xc85f7c3d, 0x6940045d,	/* ldp, ldr literal, ldxr, ldpsw */
	0xf821005d, 0xf821805d, 0xf8bfc03d, 0xd940003d,	/* ldadd, swp, ldapr, ldapur */
	0xd53bd05d, 0x4e083c1d, 0x4e042c1d, 0x9e66001d,	/* mrs, umov, smov, fmov */
	0x9e78001d, 0x9e59f41d, 0x0420e3fd, 0x04b0e3fd,	/* fcvtzs, fcvtzu, cntb, incw */
	0x0421503d, 0x04bf503d, 0x05e0a01d, 0x05f1a01d,	/* addvl, rdvl, lasta, clastb */
	0x2520803d, 0x252c883d, 0x04b0f3fd,		/* cntp, incp, sqincw */
};

/* The same, with another register in the usual place */
static const uint32_t also_write[] = {
	0xc87ff441, 0xc81d7c41, 0xc8bd7c41, 0x483c7c82,	/* ldaxp, stxr, cas, casp */
	0xa9407441, 0xf84087a1, 0xf8008fa1, 0x4cdf73a0,	/* ldp; ldr, str, ld1 with writeback */
};

/* Each of these has the number of x29, x30 or SP, and writes something else */
static const uint32_t others[] = {
	0x4e3fd7dd, 0xad40783d, 0xfd40003d, 0x4c40703d,	/* fadd, ldp q, ldr d, ld1 */
	0xce1f03dd, 0x04ff03dd, 0x8580403d, 0xeb1e03bf,	/* eor3, add z, ldr z, cmp */
	0xfa4d0ba4, 0xf90003a1, 0xf9800030, 0xd51bd05d,	/* ccmp, str, prfm, msr */
	0x4e040fdd, 0x9e6703dd, 0xaa1d03e1, 0xd5033bbf,	/* dup, fmov d, mov x1, dmb */
	0x5e1f43dd, 0x14000001, 0x37180020, 0x54000020,	/* sha256h, b, tbnz, b.eq */
};

static void code_after_fp_is_written_is_a_hole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		start_flow(EM_AARCH64);
		runs_at_start(0x1100);
		code(0x1100, NOP, writes[i], NOP, RET);
		make_table();
		/* its FP is nowhere, and callers see a return that leaves another FP */
		entered(0x1104);
		assert_hole(0x1108);
		assert_hole(0x110c);
	}
}

static void code_after_the_return_address_is_written_is_a_hole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		start_flow(EM_AARCH64);
		runs_at_start(0x1100);
		code(0x1100, NOP, writes[i] + 1, NOP, RET);
		make_table();
		/* its return address is not known: it is not a function */
		assert_hole(0x1104);
		assert_hole(0x1108);
	}
}

static void code_after_saved_registers_are_written_has_rows(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		start_flow(EM_AARCH64);
		runs_at_start(0x1100);
		code(0x1100, PUSH_FP_RA, writes[i], writes[i] + 1, NOP, POP_FP_RA, RET);
		make_table();
		assert_row(0x1108, SFRAME_SP, 16, -8, -16);
		assert_row(0x1110, SFRAME_SP, 16, -8, -16);
		entered(0x1114);
	}
}

static void code_after_fp_is_written_as_a_second_operand_is_a_hole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(also_write) / sizeof(*also_write); i++) {
		start_flow(EM_AARCH64);
		runs_at_start(0x1100);
		code(0x1100, NOP, also_write[i], NOP, RET);
		make_table();
		entered(0x1104);
		assert_hole(0x1108);
	}
}

static void an_instruction_that_writes_neither_changes_nothing(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		start_flow(EM_AARCH64);
		runs_at_start(0x1100);
		code(0x1100, others[i], NOP, RET);
		make_table();
		entered(0x1100);
		entered(0x1104);
		entered(0x1108);
	}
}

static void half_of_a_saved_return_address_is_no_return_address(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* cbz x0, 1f; ret; 1: str w30,[sp,#-16]!; mov x30,x0: gone */
	code(0x1100, CBZ_X0_8, RET, 0xb81f0ffe, 0xaa0003fe, NOP, b(0x1114, 0x1114));
	make_table();
	assert_row(0x110c, SFRAME_SP, 16, 0, 0);
	assert_hole(0x1110);
}

static void a_saved_return_address_that_is_written_over_is_lost(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* str x30,[sp,#-16]!; stp x1,x2,[sp]; mov x30,x0 */
	code(0x1200, CBZ_X0_8, RET, 0xf81f0ffe, 0xa9000be1, NOP, 0xaa0003fe, NOP,
	     b(0x121c, 0x121c));
	make_table();
	assert_row(0x120c, SFRAME_SP, 16, -16, 0);
	assert_row(0x1210, SFRAME_SP, 16, 0, 0);
	assert_row(0x1214, SFRAME_SP, 16, 0, 0);
	assert_hole(0x1218);
}

static void a_call_loses_a_return_address_that_is_saved_below_sp(void **state)
{
	(void)state;
	runs_at_start(0x1300);
	/* push; add sp,sp,#16; blr x3: memory below SP belongs to the callee */
	code(0x1300, CBZ_X0_8, RET, PUSH_FP_RA, 0x910043ff, 0xd63f0060, MOV_X1_X2,
	     b(0x1318, 0x1318));
	make_table();
	entered(0x1310);
	assert_hole(0x1314);
}

static void an_atomic_instruction_loses_the_return_address_that_it_writes_over(void **state)
{
	(void)state;
	runs_at_start(0x1400);
	/* str x30,[sp,#-16]!; ldadd x1,x2,[sp] */
	code(0x1400, CBZ_X0_8, RET, 0xf81f0ffe, 0xf82103e2, 0xaa0003fe, NOP, b(0x1418, 0x1418));
	make_table();
	assert_row(0x140c, SFRAME_SP, 16, -16, 0);
	assert_row(0x1410, SFRAME_SP, 16, 0, 0);
	assert_hole(0x1414);
}

static void a_function_with_zeros_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	code(0x1100, NOP, CBZ_X0_8, 0, RET);
	make_table();
	assert_hole(0x1100);
}

static void a_function_with_an_instruction_of_sme_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	code(0x1100, NOP, CBZ_X0_8, 0xc0800000, RET);
	make_table();
	assert_hole(0x1100);
}

static void a_function_with_a_return_that_has_sp_elsewhere_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	code(0x1100, NOP, 0xd10043ff, RET);
	make_table();
	assert_hole(0x1100);
}

static void a_function_with_a_return_to_a_signed_address_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	code(0x1100, NOP, 0xd503233f, RET);
	make_table();
	assert_hole(0x1100);
}

static void a_return_proves_the_code_after_a_call_that_may_return(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	code(0x1100, PUSH_FP_RA, bl(0x1104, 0x1ff0), NOP, POP_FP_RA, RET);
	make_table();
	assert_row(0x1108, SFRAME_SP, 16, -8, -16);
	entered(0x1110);
}

static void another_function_right_after_a_call_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* the call may not return: bti c; ret */
	code(0x1200, PUSH_FP_RA, bl(0x1204, 0x1ff0), 0xd503245f, RET);
	make_table();
	assert_row(0x1204, SFRAME_SP, 16, -8, -16);
	assert_hole(0x1208);
	assert_hole(0x120c);
}

static void the_entry_of_the_process_has_no_caller(void **state)
{
	(void)state;
	entry = 0x1100;
	/* mov x29,#0; mov x0,sp; bl; br x16, and a type of file that is fixed */
	code(0x1100, 0xd280001d, 0x910003e0, bl(0x1108, 0x1ff0), 0xd61f0200);
	end_file();
	put(offsetof(Elf64_Ehdr, e_type), ET_EXEC, 2);
	make_file_table();
	assert_outermost(0x1100);
	assert_outermost(0x1108);
	assert_outermost(0x110c);
	assert_hole(0x1110);
}

static void another_function_right_after_the_entry_is_a_hole(void **state)
{
	(void)state;
	entry = 0x1100;
	/* the call does not return, and bti c; brk is another function */
	code(0x1100, 0xd280001d, bl(0x1104, 0x1ff0), 0xd503245f, 0xd4200000);
	end_file();
	put(offsetof(Elf64_Ehdr, e_type), ET_EXEC, 2);
	make_file_table();
	assert_outermost(0x1104);
	assert_hole(0x1108);
}

static void code_after_a_system_call_has_rows(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* mov x8,#64; svc #0; ret */
	code(0x1100, 0xd2800808, SVC, RET);
	make_table();
	entered(0x1104);
	entered(0x1108);
}

static void a_signal_trampoline_is_recognized_by_its_bytes(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* mov x8,#139; svc #0 */
	code(0x1200, 0xd2801168, SVC, RET);
	make_table();
	assert_int_equal(sframe_find(&reader, 0x1200, &row), 0);
	assert_true(row.flags & SFRAME_ROW_SIGNAL);
	assert_int_equal(sframe_find(&reader, 0x1204, &row), 0);
	assert_true(row.flags & SFRAME_ROW_SIGNAL);
	assert_hole(0x1208);
}

/* Because of an erratum, ld moves one instruction elsewhere. Code jumps there and back. */
static void an_instruction_that_the_linker_moved_has_the_row_of_its_place(void **state)
{
	(void)state;
	func(0x1100, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 1,
	     DW_CFA_offset | 29, 2, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 0,
	     DW_CFA_restore | 30, DW_CFA_restore | 29);
	code(0x1100, PUSH_FP_RA, NOP, b(0x1108, 0x1800), NOP, POP_FP_RA, NOP, RET, NOP);
	/* ldr x1,[x0] */
	code(0x1800, 0xf9400001, b(0x1804, 0x110c));
	make_table();
	assert_row(0x1108, SFRAME_SP, 16, -8, -16);
	assert_row(0x1800, SFRAME_SP, 16, -8, -16);
	assert_row(0x1804, SFRAME_SP, 16, -8, -16);
	assert_hole(0x1808);
}

static void an_instruction_that_jumps_to_another_frame_was_not_moved(void **state)
{
	(void)state;
	func(0x1100, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 1,
	     DW_CFA_offset | 29, 2, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 0,
	     DW_CFA_restore | 30, DW_CFA_restore | 29);
	code(0x1100, PUSH_FP_RA, NOP, NOP, NOP, POP_FP_RA, NOP, RET, NOP);
	func(0x1200, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32);
	code(0x1200, NOP, NOP, b(0x1208, 0x1900), NOP, RET);
	code(0x1900, 0xf9400001, b(0x1904, 0x110c));
	make_table();
	assert_hole(0x1900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(a_frame_record_with_signed_return_addresses_has_rows),
		flow_test(the_last_function_is_found_next_to_a_trampoline),
		flow_test(a_frame_of_4096_bytes_has_rows),
		flow_test(a_frame_of_unknown_size_has_rows_by_fp),
		flow_test(a_vector_store_moves_sp),
		flow_test(code_after_fp_is_written_is_a_hole),
		flow_test(code_after_the_return_address_is_written_is_a_hole),
		flow_test(code_after_saved_registers_are_written_has_rows),
		flow_test(code_after_fp_is_written_as_a_second_operand_is_a_hole),
		flow_test(an_instruction_that_writes_neither_changes_nothing),
		flow_test(half_of_a_saved_return_address_is_no_return_address),
		flow_test(a_saved_return_address_that_is_written_over_is_lost),
		flow_test(a_call_loses_a_return_address_that_is_saved_below_sp),
		flow_test(an_atomic_instruction_loses_the_return_address_that_it_writes_over),
		flow_test(a_function_with_zeros_is_a_hole),
		flow_test(a_function_with_an_instruction_of_sme_is_a_hole),
		flow_test(a_function_with_a_return_that_has_sp_elsewhere_is_a_hole),
		flow_test(a_function_with_a_return_to_a_signed_address_is_a_hole),
		flow_test(a_return_proves_the_code_after_a_call_that_may_return),
		flow_test(another_function_right_after_a_call_is_a_hole),
		flow_test(the_entry_of_the_process_has_no_caller),
		flow_test(another_function_right_after_the_entry_is_a_hole),
		flow_test(code_after_a_system_call_has_rows),
		flow_test(a_signal_trampoline_is_recognized_by_its_bytes),
		flow_test(an_instruction_that_the_linker_moved_has_the_row_of_its_place),
		flow_test(an_instruction_that_jumps_to_another_frame_was_not_moved),
	};
	int ret = cmocka_run_group_tests_name("gen_flow_arm64", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
