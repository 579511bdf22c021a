// SPDX-License-Identifier: GPL-2.0
/* test_flow_s390x.c - rows for s390x code without .eh_frame */
#include "flow_arch.h"

/* Hexadecimal digits, blanks between them */
static void code(uint64_t addr, const char *hex)
{
	unsigned int b;
	int n;

	for (; sscanf(hex, " %2x%n", &b, &n) == 1; hex += n)
		file[addr++] = b;
}

#define entered(pc)	assert_row(pc, SFRAME_SP, 160, 0, 0)

/* The places of RA and FP in the caller's save area */
#define RA_AT		-48
#define FP_AT		-72

static int fresh_flow(void **state)
{
	(void)state;
	start_flow(EM_S390);
	return 0;
}

/* The parts of .init in crti.o and crtn.o */
static void init_that_ends_with_a_jump_to_r4_has_rows(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* stmg %r6,%r15,48(%r15); lgr %r1,%r15; aghi %r15,-160; stg %r1,0(%r15); larl %r12,.;
	 * lg %r1,0(%r1); ltgr %r1,%r1; je 1f; basr %r14,%r1; 1: lg %r4,272(%r15);
	 * lmg %r6,%r15,208(%r15); br %r4
	 */
	code(0x1100, "eb6ff0300024 b904001f a7fbff60 e310f0000024 c0c000000000 e31010000004"
	     "b9020011 a7840003 0de1 e340f1100004 eb6ff0d00004 07f4");
	make_table();
	entered(0x1100);
	assert_row(0x1106, SFRAME_SP, 160, RA_AT, FP_AT);
	assert_row(0x110e, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_row(0x1128, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_row(0x1130, SFRAME_SP, 320, RA_AT, FP_AT);
	entered(0x1136);
	assert_hole(0x1138);
	assert_int_equal(table.stats.flow_bytes, 0x38);
}

/* The call may not return: later code proves the code after it */
static void a_jump_with_everything_restored_proves_the_code_after_a_call(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* stmg %r6,%r15,48(%r15); aghi %r15,-160; brasl; lg %r4,272(%r15);
	 * lmg %r6,%r15,208(%r15); br %r4
	 */
	code(0x1100, "eb6ff0300024 a7fbff60 c0e500000773 e340f1100004 eb6ff0d00004 07f4");
	make_table();
	assert_row(0x110a, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_row(0x1110, SFRAME_SP, 320, RA_AT, FP_AT);
	entered(0x111c);
}

static void a_jump_without_r14_restored_proves_nothing(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* aghi %r15,160 in place of lmg */
	code(0x1200, "eb6ff0300024 a7fbff60 c0e5000006f3 e340f1100004 a7fb00a0 07f4");
	make_table();
	assert_row(0x120a, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_hole(0x1210);
	assert_hole(0x121a);
}

/*
 * After the last call of a covered function, which does not return, are instructions that others
 * execute (exrl), and then the next function: its frame is not the frame of the covered function.
 */
static void nothing_runs_out_of_an_fde_through_its_last_call(void **state)
{
	(void)state;
	/* brasl; mvc 0(1,%r4),0(%r3), with a frame of 416 bytes */
	code(0x1100, "c0e500000780 d20040003000");
	func(0x1100, 12, DW_CFA_def_cfa_offset, 0xa0, 3, DW_CFA_offset | 14, 6);
	/* stmg %r14,%r15,112(%r15); lay %r15,-168(%r15); lg %r1,328(%r15); brasl; br %r1 */
	code(0x110c, "ebeff0700024 e3f0ff58ff71 e310f1480004 c0e500000780 07f1");
	make_table();
	assert_hole(0x110c);
	assert_hole(0x1112);
	assert_hole(0x1118);
}

static void an_fde_does_not_run_on_after_its_end_without_a_proof(void **state)
{
	(void)state;
	/* lgr %r4,%r2; mvc 0(1,%r4),0(%r3) | lgr %r4,%r2; br %r1 */
	code(0x1200, "b9040042 d20040003000");
	func(0x1200, 10, DW_CFA_def_cfa_offset, 0xa0, 3, DW_CFA_offset | 14, 6);
	code(0x120a, "b9040042 07f1");
	make_table();
	assert_hole(0x120a);
}

static void a_return_proves_that_an_fde_with_a_call_runs_on_after_its_end(void **state)
{
	(void)state;
	code(0x1300, "c0e500000780 d20040003000");
	func(0x1300, 12, DW_CFA_def_cfa_offset, 0xa0, 3, DW_CFA_offset | 14, 6);
	/* lgr %r4,%r2; lg %r14,368(%r15); aghi %r15,256; br %r14 */
	code(0x130c, "b9040042 e3e0f1700004 a7fb0100 07fe");
	make_table();
	assert_row(0x130c, SFRAME_SP, 416, RA_AT, 0);
	assert_row(0x1310, SFRAME_SP, 416, RA_AT, 0);
}

/* brasl %r0 leaves the return address in r0, and that of the caller in r14. */
static void a_function_that_returns_to_r0_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* lgr %r1,%r0; br %r1 */
	code(0x1100, "b9040010 07f1");
	make_table();
	assert_hole(0x1100);
	assert_hole(0x1104);
}

static void a_copy_of_r0_that_is_not_jumped_to_changes_nothing(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* lgr %r1,%r0; br %r2 */
	code(0x1200, "b9040010 07f2");
	make_table();
	entered(0x1200);
	entered(0x1204);
}

static void a_jump_to_a_copy_of_another_register_than_r0_changes_nothing(void **state)
{
	(void)state;
	runs_at_start(0x1280);
	/* lgr %r1,%r3; br %r1 */
	code(0x1280, "b9040013 07f1");
	make_table();
	entered(0x1280);
	entered(0x1284);
}

static void a_function_with_a_call_that_returns_to_r0_is_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1300);
	/* aghi %r15,-224; stmg %r14,%r5,160(%r15); brasl, which may not return;
	 * lmg %r14,%r5,160(%r15); aghi %r15,224; lgr %r1,%r0; br %r1
	 */
	code(0x1300, "a7fbff20 ebe5f0a00024 c0e500000673 ebe5f0a00004 a7fb00e0 b9040010 07f1");
	make_table();
	assert_hole(0x1300);
	assert_hole(0x130a);
	assert_hole(0x1310);
}

static void a_frame_of_unknown_size_has_rows_by_fp(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* stmg %r11,%r15,88(%r15); lay %r15,-160(%r15); lgr %r11,%r15; sgr %r15,%r3;
	 * basr %r14,%r1; lmg %r11,%r15,248(%r11); br %r14
	 */
	code(0x1100, "ebbff0580024 e3f0ff60ff71 b90400bf b90900f3 0de1 ebbfb0f80004 07fe");
	make_table();
	assert_row(0x110c, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_row(0x1110, SFRAME_SP, 320, RA_AT, FP_AT);
	assert_row(0x1114, SFRAME_FP, 320, RA_AT, FP_AT);
	assert_row(0x1116, SFRAME_FP, 320, RA_AT, FP_AT);
	entered(0x111c);
	assert_hole(0x111e);
}

static void code_after_a_return_on_a_condition_has_rows(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* cgr %r1,%r2; ber %r14; stg %r14,112(%r15); lghi %r14,3; lg %r14,112(%r15);
	 * bner %r14; crbe %r2,%r3,0(%r14); br %r1
	 */
	code(0x1100, "b9200012 078e e3e0f0700024 a7e90003 e3e0f0700004 077e ec23e00080f6 07f1");
	make_table();
	entered(0x1104);
	entered(0x1106);
	assert_row(0x110c, SFRAME_SP, 160, RA_AT, 0);
	assert_row(0x1110, SFRAME_SP, 160, RA_AT, 0);
	/* RA is in both places, and for the functions it calls in its register */
	assert_int_equal(sframe_find(&reader, 0x1116, &row), 0);
	assert_int_equal(row.cfa.off, 160);
	assert_int_equal(sframe_find(&reader, 0x111e, &row), 0);
	assert_hole(0x1120);
}

static void a_return_on_a_condition_with_sp_elsewhere_makes_a_function_a_hole(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* aghi %r15,-8; ber %r14; aghi %r15,8; br %r14 */
	code(0x1200, "a7fbfff8 078e a7fb0008 07fe");
	make_table();
	assert_hole(0x1200);
	assert_hole(0x1206);
}

/* Each of these writes r11; those that write a pair or a range write r10 and r11 */
static const char *const writes[] = {
	"18b2", "b90400b2", "17b2", "1ca2", "1da2",		/* lr, lgr, xr, mr, dr */
	"58b02000", "48b02000", "43b02000", "bfb32000",		/* l, lh, ic, icm */
	"5ca02000", "41b02000", "89b00003", "8ca00003",		/* m, la, sll, srdl */
	"989c2000", "bab23000", "bba24000", "a5b30003",		/* lm, cs, cds, iill */
	"a7b90003", "a7ba0003", "a7b60002", "84b20002",		/* lghi, ahi, brct, brxh */
	"a7b50002", "a8a23000", "0ea2", "0e2a", "b22200b0",	/* bras, mvcle, mvcl, ipm */
	"b24f00b0", "b25200b2", "b25e00b2", "b3cd00b0",		/* ear, msr, srst, lgdr */
	"b39900b0", "b3e100b0", "b90d00a2", "b98600a2",		/* cfdbr, cgdtr, dsgr, mlgr */
	"b98300a2", "b92e00a2", "b93e000a", "b9e280b2",		/* flogr, km, kimd, locgr */
	"b9e830b2", "b9e338b2", "b9e100b2", "c0b000000000",	/* agrk, selgr, popcnt, larl */
	"c0b100000003", "c0bb00000003", "c2b900000003",		/* lgfi, nilf, afi */
	"c2b000000003", "c4b800000000", "e3b020000004",		/* msgfi, lgrl, lg */
	"e3b020000008", "e3b020000014", "e3a020000086",		/* ag, lgf, mlg */
	"e3a02000000d", "e3b020000071", "e3b020000090",		/* dsg, lay, llgc */
	"e3b020000077", "ebac20000004", "ebac20000098",		/* lgb, lmg, lmy */
	"ebac20000096", "ebb20003000d", "ebb20003001d",		/* lmh, sllg, rll */
	"ebb230000030", "ebb2300000e8", "ebb8200000e2",		/* csg, laag, locg */
	"ecb2003f0055", "ecb2000300d8", "ecb800030042",		/* risbg, ahik, lochi */
	"ccb800000003", "ccb600000003", "e7b000003021",		/* aih, brcth, vlgvg */
	"e6b000000050", "e3a020000084", "e3b020000053",		/* vcvb, mg, msc */
	"e3b02000009f", "e3a02000008f",				/* lat, lpq */
};

/* Each writes memory, a floating point register, or no register */
static const char *const others[] = {
	"b92000be", "59b02000", "60b02000", "68b02000",		/* cgr, c, std, ld */
	"b31a00be", "b3c100be", "50b02000", "e3e020000024",	/* adbr, ldgr, st, stg */
	"d20720003000", "d50720003000", "910e2000",		/* mvc, clc, tm */
	"e5482000000e", "e7b02000000e", "e7be20000036",		/* mvghi, vst, vlm */
	"e7be00003022", "b2b02000", "a7be0003",			/* vlvgg, stfle, chi */
	"c2bc00000003", "a7b10003", "c6bd00000000",		/* cgfi, tmll, crl */
	"c4eb00000000", "eb0e2000007a", "b24e001e",		/* stgrl, agsi, sar */
	"b9e2801e", "e31020000036", "b96080be",			/* locgr, pfd, cgrt */
	"edb020000019", "47000000", "c00400000000",		/* cdb, nop, jgnop */
	"b904001f", "0707", "eb1230000024", "a7f40002",		/* lgr %r1,%r15, nopr, stmg, j */
};

static void code_after_fp_is_written_is_a_hole(void **state)
{
	char hex[64];
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		n = strlen(writes[i]) / 2;
		start_flow(EM_S390);
		runs_at_start(0x1100);
		snprintf(hex, sizeof(hex), "0707 %s 0707 07fe", writes[i]);
		code(0x1100, hex);
		make_table();
		entered(0x1102);
		assert_hole(0x1102 + n);
		assert_hole(0x1104 + n);
	}
}

static void code_after_saved_registers_are_written_has_rows(void **state)
{
	char hex[64];
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		n = strlen(writes[i]) / 2;
		start_flow(EM_S390);
		runs_at_start(0x1200);
		/* stmg %r6,%r15,48(%r15); ... lmg %r6,%r15,48(%r15) */
		snprintf(hex, sizeof(hex), "eb6ff0300024 %s 0707 eb6ff0300004 07fe", writes[i]);
		code(0x1200, hex);
		make_table();
		assert_row(0x1206 + n, SFRAME_SP, 160, RA_AT, FP_AT);
		entered(0x120e + n);
	}
}

static void an_instruction_that_does_not_write_fp_changes_nothing(void **state)
{
	char hex[64];
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		n = strlen(others[i]) / 2;
		start_flow(EM_S390);
		runs_at_start(0x1100);
		snprintf(hex, sizeof(hex), "0707 %s 0707 07fe", others[i]);
		code(0x1100, hex);
		make_table();
		entered(0x1102);
		if (strcmp(others[i], "a7f40002"))
			entered(0x1102 + n);
		entered(0x1104 + n);
	}
}

static void saved_registers_that_are_written_over_are_lost(void **state)
{
	(void)state;
	runs_at_start(0x1100);
	/* ber %r14; stmg %r6,%r15,48(%r15); mvc 72(16,%r15),0(%r2): over all but RA and SP;
	 * xc 108(8,%r15),0(%r2): over half of RA; lghi %r14,3; 1: nopr; j 1b
	 */
	code(0x1100, "078e eb6ff0300024 d21ff0482000 d707f06c2000 a7e90003 0707 a7f4ffff");
	make_table();
	assert_row(0x1108, SFRAME_SP, 160, RA_AT, FP_AT);
	assert_row(0x110e, SFRAME_SP, 160, RA_AT, 0);
	assert_row(0x1114, SFRAME_SP, 160, 0, 0);
	assert_hole(0x1118);
}

static void a_call_without_a_frame_loses_the_saved_registers(void **state)
{
	(void)state;
	runs_at_start(0x1200);
	/* the area belongs to the callee: ber %r14; stmg; basr %r14,%r1 */
	code(0x1200, "078e eb6ff0300024 0de1 1812 a7f4ffff");
	make_table();
	assert_row(0x1208, SFRAME_SP, 160, RA_AT, FP_AT);
	assert_hole(0x120a);
}

static void sp_that_is_loaded_from_elsewhere_is_lost(void **state)
{
	(void)state;
	runs_at_start(0x1300);
	/* ber %r14; stmg; lg %r15,0(%r15) */
	code(0x1300, "078e eb6ff0300024 e3f0f0000004 0707 a7f4ffff");
	make_table();
	assert_row(0x1308, SFRAME_SP, 160, RA_AT, FP_AT);
	assert_hole(0x130e);
}

static void a_function_with_an_unknown_instruction_is_a_hole(void **state)
{
	static const char *const bad[] = {
		"0000", "44102000", "c61000000000",		/* zeros, ex, exrl */
		"0aad", "0a77",					/* sigreturn */
		"0d41", "0714", "b2b20000", "e30020000046",	/* basr, bcr, lpswe, bctg */
		"ec23400080f6",					/* crb to r4 */
	};
	char hex[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		start_flow(EM_S390);
		runs_at_start(0x1100);
		snprintf(hex, sizeof(hex), "078e %s 07fe", bad[i]);
		code(0x1100, hex);
		make_table();
		assert_hole(0x1100);
		assert_hole(0x1102);
	}
}

/* ld.so of glibc begins so. e_entry of a shared object counts if it is not the start of .text. */
static void the_entry_of_the_process_has_no_caller(void **state)
{
	(void)state;
	entry = 0x1100;
	/* lgr %r2,%r15; aghi %r15,-160; xc 0(8,%r15),0(%r15); brasl; lgr %r8,%r2;
	 * aghi %r15,160; br %r8
	 */
	code(0x1100, "b904002f a7fbff60 d707f000f000 c0e500000777 b9040082 a7fb00a0 07f8");
	end_file();
	put(offsetof(Elf64_Ehdr, e_type), ET_EXEC, 2);
	make_file_table();
	assert_outermost(0x1100);
	assert_outermost(0x110e);
	assert_outermost(0x1114);
	assert_outermost(0x111c);
	assert_hole(0x111e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(init_that_ends_with_a_jump_to_r4_has_rows),
		flow_test(a_jump_with_everything_restored_proves_the_code_after_a_call),
		flow_test(a_jump_without_r14_restored_proves_nothing),
		flow_test(nothing_runs_out_of_an_fde_through_its_last_call),
		flow_test(an_fde_does_not_run_on_after_its_end_without_a_proof),
		flow_test(a_return_proves_that_an_fde_with_a_call_runs_on_after_its_end),
		flow_test(a_function_that_returns_to_r0_is_a_hole),
		flow_test(a_copy_of_r0_that_is_not_jumped_to_changes_nothing),
		flow_test(a_jump_to_a_copy_of_another_register_than_r0_changes_nothing),
		flow_test(a_function_with_a_call_that_returns_to_r0_is_a_hole),
		flow_test(a_frame_of_unknown_size_has_rows_by_fp),
		flow_test(code_after_a_return_on_a_condition_has_rows),
		flow_test(a_return_on_a_condition_with_sp_elsewhere_makes_a_function_a_hole),
		flow_test(code_after_fp_is_written_is_a_hole),
		flow_test(code_after_saved_registers_are_written_has_rows),
		flow_test(an_instruction_that_does_not_write_fp_changes_nothing),
		flow_test(saved_registers_that_are_written_over_are_lost),
		flow_test(a_call_without_a_frame_loses_the_saved_registers),
		flow_test(sp_that_is_loaded_from_elsewhere_is_lost),
		flow_test(a_function_with_an_unknown_instruction_is_a_hole),
		flow_test(the_entry_of_the_process_has_no_caller),
	};
	int ret = cmocka_run_group_tests_name("gen_flow_s390x", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
