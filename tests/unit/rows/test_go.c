// SPDX-License-Identifier: GPL-2.0
/* Go's own tables become rows, where the code shows what the tables lack. */
#include <errno.h>

#include "libunwind-user/gen/impl.h"
#include "libunwind-user/sframe/sframe.h"
#include "tests/unit/go/go_file.h"

static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

static int fresh(void **state)
{
	(void)state;
	start_file();
	gen_free(&table);
	/* functions without flags are of Go 1.16 */
	go_add("runtime.goexit", TEXT, GO_TOPFRAME | GO_ASM);
	put_list(&funcs[0].sp, 0, 8, 0, 0);
	return 0;
}

static int generate(void)
{
	int fd = make_file(), ret;

	gen_free(&table);
	ret = gen_from_fd(fd, &table);
	close(fd);
	if (!ret)
		assert_int_equal(gen_open(&table, &reader), 0);
	return ret;
}

static void make_table(uint64_t end)
{
	make_tab(end);
	assert_int_equal(generate(), 0);
}

static int look(uint64_t pc)
{
	return sframe_find(&reader, pc, &row);
}

/* CFA = SP + @off, RA is at CFA - 8, FP at CFA + @fp_off or, if that is 0, where it was */
static void assert_sp(uint64_t pc, int32_t off, int32_t fp_off)
{
	assert_int_equal(look(pc), 0);
	assert_int_equal(row.cfa.base, SFRAME_SP);
	assert_int_equal(row.cfa.off, off);
	assert_int_equal(row.ra.base, SFRAME_CFA);
	assert_int_equal(row.ra.off, -8);
	assert_int_equal(row.fp.base, fp_off ? SFRAME_CFA : SFRAME_SAME);
	assert_int_equal(row.fp.off, fp_off);
}

static void assert_by_fp(uint64_t pc)
{
	assert_int_equal(look(pc), 0);
	assert_int_equal(row.cfa.base, SFRAME_FP);
	assert_int_equal(row.cfa.off, 16);
	assert_int_equal(row.ra.off, -8);
	assert_int_equal(row.fp.off, -16);
}

#define assert_hole(pc)		assert_int_equal(look(pc), -ENOENT)
#define assert_unknown(pc)	assert_int_equal(look(pc), -ESRCH)
#define assert_outermost(pc) do {				\
	assert_int_equal(look(pc), 0);				\
	assert_int_equal(row.ra.base, SFRAME_UNDEFINED);	\
} while (0)

/* sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; nop; mov 16(%rsp),%rbp; add $24,%rsp; ret */
#define FRAME	"4883ec18 48896c2410 488d6c2410 90 488b6c2410 4883c418 c3"

static void add_frame(const char *name, uint64_t at, const char *hex)
{
	put_list(&func(name, at, 0, hex)->sp, 0, 4, 24, 20, 0, 1, 0, 0);
}

static void assert_frame(uint64_t at)
{
	assert_sp(at, 8, 0);
	assert_sp(at + 3, 8, 0);
	assert_sp(at + 4, 32, 0);
	assert_sp(at + 8, 32, 0);
	assert_sp(at + 9, 32, -16);
	assert_sp(at + 23, 32, -16);
	assert_sp(at + 24, 8, 0);
}

static void a_frame_by_sub(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, FRAME);
	make_table(0x1060);
	assert_frame(0x1040);
	assert_outermost(0x1000);
}

static void a_frame_by_push(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; nop; add $16,%rsp; pop %rbp; ret */
	magic = 0xfffffff1;
	put_list(&func("main.main", 0x1040, 0, "55 4889e5 4883ec10 90 4883c410 5d c3")->sp,
		 0, 1, 8, 7, 24, 5, 8, 1, 0, 1, 0, 0);
	make_table(0x1060);
	assert_sp(0x1040, 8, 0);
	assert_sp(0x1041, 16, -16);
	assert_sp(0x1048, 32, -16);
	assert_sp(0x104d, 16, -16);
	assert_sp(0x104e, 8, 0);
}

static void a_frame_that_does_not_save_fp_is_a_hole(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, "4883ec18 48895c2410 488d6c2410 90 488b6c2410 4883c418 c3");
	make_table(0x1060);
	assert_sp(0x1040, 8, 0);
	assert_hole(0x1044);
	assert_hole(0x1049);
}

/* .gopclntab says 24, the code 40: one of the two is damaged */
static void a_frame_of_another_size_is_a_hole(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, "4883ec28 48896c2410 488d6c2410 90 488b6c2410 4883c428 c3");
	make_table(0x1060);
	assert_hole(0x1044);
}

static void an_end_that_does_not_restore_fp_is_a_hole(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, "4883ec18 48896c2410 488d6c2410 90 488b5c2410 4883c418 c3");
	make_table(0x1060);
	assert_sp(0x1049, 32, -16);
	assert_hole(0x1058);
}

static void tops_of_stacks(void **state)
{
	(void)state;
	put_list(&func("runtime.mstart", 0x1040, GO_TOPFRAME | GO_ASM, "e800000000 c3")->sp,
		 0, 6, 0, 0);
	put_list(&func("runtime.sigtramp", 0x1060, GO_TOPFRAME | GO_ASM, "90 c3")->sp, 0, 2, 0, 0);
	put_list(&func("_rt0_amd64_linux", 0x1080, GO_ASM, "90 c3")->sp, 0, 2, 0, 0);
	make_table(0x10a0);
	assert_outermost(0x1045);
	assert_sp(0x1060, 8, 0);
	assert_outermost(0x1080);
	/* mstart() has a caller, clone(), which has none from mov %rsi,%rsp on */
	put_list(&func("runtime.clone", 0x10a0, GO_SPWRITE | GO_ASM,
		       "0f05 c3 4889f4 41ffd4 90")->sp, 0, 10, 0, 0);
	make_table(0x10c0);
	assert_sp(0x1045, 8, 0);
	assert_sp(0x10a5, 8, 0);
	assert_outermost(0x10a6);
	assert_outermost(0x10a8);
}

/* mov 56(%rdx),%rsp; call *%rdi; ret */
#define SWITCH	"90 488b6238 ffd7 c3"

static void switches_of_stacks(void **state)
{
	static const char *const names[] = {
		"runtime.mcall", "runtime.systemstack", "runtime.morestack",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		put_list(&func(names[i], 0x1040 + 0x20 * i, GO_SPWRITE | GO_ASM, SWITCH)->sp,
			 0, 8, 0, 0);
	make_table(0x10a0);
	for (i = 0; i < 3; i++)
		assert_sp(0x1044 + 0x20 * i, 8, 0);
	assert_outermost(0x1045);
	assert_unknown(0x1065);
	assert_hole(0x1085);
}

/* ...; call 0x1080; call 0x10a0; ... */
#define TWO_CALLS	"4883ec18 48896c2410 488d6c2410 e82d000000 e848000000 488b6c2410 " \
			"4883c418 c3"

static void calls_that_stop_a_goroutine_have_no_caller(void **state)
{
	static const char *const names[] = {
		"runtime.goschedImpl", "runtime.gopreempt_m", "runtime.preemptPark",
	};
	struct go_built *stop, *caller;
	unsigned int i;

	(void)state;
	caller = func("runtime.newstack", 0x1040, 0, TWO_CALLS);
	put_list(&caller->sp, 0, 4, 24, 29, 0, 1, 0, 0);
	stop = func("runtime.goschedImpl", 0x1080, 0, "c3");
	put_list(&stop->sp, 0, 1, 0, 0);
	put_list(&func("runtime.shrinkstack", 0x10a0, 0, "c3")->sp, 0, 1, 0, 0);
	for (i = 0; i < 3; i++) {
		stop->name = names[i];
		make_table(0x10c0);
		assert_sp(0x104d, 32, -16);
		assert_outermost(0x104e);
		assert_outermost(0x1052);
		assert_sp(0x1053, 32, -16);
		assert_sp(0x105d, 32, -16);
		assert_sp(0x1061, 8, 0);
	}
	/* elsewhere such a call comes from mcall(), which ends the stack */
	caller->name = "runtime.gosched_m";
	make_table(0x10c0);
	assert_sp(0x104e, 32, -16);
}

static void a_way_back_to_before_the_switch(void **state)
{
	(void)state;
	/* mov 56(%rdx),%rsp; jmp to the start */
	put_list(&func("runtime.morestack", 0x1040, GO_SPWRITE | GO_ASM, "90 488b6238 ebf9")->sp,
		 0, 7, 0, 0);
	make_table(0x1060);
	assert_hole(0x1040);
}

/* The runtime calls the vDSO on another stack, with FP in its frame. */
static void another_stack_by_fp(void **state)
{
	(void)state;
	/* ...; mov 56(%rdx),%rsp; call *%rax; mov %r12,%rsp; ... */
	put_list(&func("runtime.nanotime1", 0x1040, GO_SPWRITE | GO_ASM,
		       "4883ec18 48896c2410 488d6c2410 488b6238 ffd0 4c89e4 488b6c2410 4883c418 c3")
		  ->sp, 0, 4, 24, 28, 0, 1, 0, 0);
	make_table(0x1080);
	assert_sp(0x1051, 32, -16);
	assert_by_fp(0x1052);
	assert_by_fp(0x1053);
	assert_by_fp(0x105b);
	assert_hole(0x105c);
	assert_sp(0x1060, 8, 0);
	/* not if FP gets another value: mov %rax,%rbp */
	code(0x1054, "4889c5");
	make_table(0x1080);
	assert_hole(0x1052);
}

static void an_injected_call_is_no_call(void **state)
{
	(void)state;
	add_frame("runtime.sigpanic", 0x1040, FRAME);
	add_frame("runtime.panic", 0x1080, FRAME);
	make_table(0x10a0);
	assert_frame(0x1040);
	look(0x1050);
	assert_true(row.flags & SFRAME_ROW_SIGNAL);
	look(0x1090);
	assert_false(row.flags & SFRAME_ROW_SIGNAL);
}

/* The unwinder recognizes this code by its bytes. A row of the function before it would hide it. */
static void code_that_returns_from_signals_has_no_row(void **state)
{
	(void)state;
	put_list(&func("main.a", 0x1040, 0, "c3")->sp, 0, 1, 0, 0);
	put_list(&func("runtime.sigreturn", 0x1060, GO_ASM, "48c7c00f000000 0f05 cc")->sp,
		 0, 10, 0, 0);
	make_table(0x1080);
	assert_unknown(0x1060);
	assert_unknown(0x105f);
	assert_unknown(0x1069);
}

static void assembler_that_loses_fp(void **state)
{
	(void)state;
	/* nop; xor %ebp,%ebp; nop; ret, without a frame */
	put_list(&func("crypto.block", 0x1040, GO_ASM, "90 31ed 90 c3")->sp, 0, 5, 0, 0);
	/* mov %rbp,-16(%rsp); xor %ebp,%ebp is lost even so, but not mov -16(%rsp),%rbp */
	put_list(&func("crypto.kept", 0x1060, GO_ASM, "48896c24f0 90 488b6c24f0 90 c3")->sp,
		 0, 13, 0, 0);
	make_table(0x1080);
	assert_sp(0x1042, 8, 0);
	assert_hole(0x1043);
	assert_sp(0x106b, 8, 0);
}

/* The child of vfork() overwrites what is on the stack. */
static void a_return_address_in_a_register(void **state)
{
	(void)state;
	put_list(&func("syscall.rawVforkSyscall", 0x1040, GO_ASM, "90 415c 0f05 4154 c3")->sp,
		 0, 3, -8, 4, 0, 1, 0, 0);
	make_table(0x1060);
	assert_sp(0x1042, 8, 0);
	assert_int_equal(look(0x1045), 0);
	assert_int_equal(row.cfa.base, SFRAME_SP);
	assert_int_equal(row.cfa.off, 0);
	assert_int_equal(row.ra.base, SFRAME_REG);
	assert_int_equal(row.ra.reg, 12);
	assert_false(row.ra.deref);
	assert_sp(0x1047, 8, 0);
	/* pushed again from another one */
	code(0x1045, "4153");
	make_table(0x1060);
	assert_hole(0x1045);
}

/* After FP was saved, an unknown instruction does not matter. */
static void assembler_with_unknown_instructions(void **state)
{
	(void)state;
	put_list(&func("crypto.saved", 0x1040, GO_ASM, "4883ec18 48896c2410 06 90 488b6c2410 "
		       "4883c418 c3")->sp, 0, 4, 24, 16, 0, 1, 0, 0);
	put_list(&func("crypto.bare", 0x1060, GO_ASM, "90 06 90 c3")->sp, 0, 4, 0, 0);
	make_table(0x1080);
	assert_sp(0x104a, 32, -16);
	assert_sp(0x1060, 8, 0);
	assert_hole(0x1062);
}

static void a_table_among_other_data(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, FRAME);
	how = IN_RELRO;
	make_table(0x1060);
	assert_frame(0x1040);
	how = NO_SECTIONS;
	make_table(0x1060);
	assert_frame(0x1040);
}

static void clear_text_start(void)
{
	make_tab(0x1080);
	put(24, 0, 8);
	how = IN_RELRO;
}

static void where_the_code_starts(void **state)
{
	(void)state;
	add_frame("main.main", 0x1040, FRAME);
	func("_rt0_amd64_linux", 0x1060, GO_ASM, "c3");
	clear_text_start();
	relocated_text = TEXT;
	assert_int_equal(generate(), 0);
	assert_frame(0x1040);
	relocated_text = 0;
	entry = 0x1060;
	assert_int_equal(generate(), 0);
	assert_frame(0x1040);
	/* functions would not be in the code */
	entry = 0x9060;
	generate();
	assert_int_equal(table.stats.go_bytes, 0);
}

/* Before Go 1.17, nothing says which functions switch stacks. */
static void tables_without_flags_are_not_used(void **state)
{
	(void)state;
	magic = 0xfffffffa;
	text_start = 0;
	add_frame("main.main", 0x1040, FRAME);
	make_table(0x1060);
	assert_frame(0x1040);
	funcs[0].flags = 0;
	make_tab(0x1060);
	generate();
	assert_int_equal(table.stats.go_bytes, 0);
}

/* str x30,[sp,#-32]!; stur x29,[sp,#-8]; sub x29,sp,#8; nop; ldp x29,x30,[sp,#-8]; add sp; ret */
static void a_frame_of_arm64(void **state)
{
	(void)state;
	machine = EM_AARCH64;
	quantum = 4;
	put_list(&func("main.main", 0x1040, 0, "fe0f1ef8 fd831ff8 fd2300d1 1f2003d5 fdfb7fa9 "
		       "ff830091 c0035fd6")->sp, 0, 1, 32, 5, 0, 1, 0, 0);
	make_table(0x1060);
	assert_int_equal(look(0x1040), 0);
	assert_int_equal(row.cfa.off, 0);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_int_equal(look(0x1044), 0);
	assert_int_equal(row.cfa.off, 32);
	assert_int_equal(row.ra.off, -32);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_int_equal(look(0x1048), 0);
	assert_int_equal(row.ra.off, -32);
	assert_int_equal(row.fp.off, -40);
	assert_int_equal(look(0x1058), 0);
	assert_int_equal(row.cfa.off, 0);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	/* FP is not saved: mov x0,x0 */
	code(0x1044, "e00300aa");
	make_table(0x1060);
	assert_hole(0x1044);
}

/* Whatever .gopclntab contains, the generator ends with a readable table. */
static void damaged_tables(void **state)
{
	size_t at;
	uint8_t was;

	(void)state;
	add_frame("runtime.sigpanic", 0x1040, FRAME);
	put_list(&func("runtime.mcall", 0x1080, GO_SPWRITE | GO_ASM, SWITCH)->sp, 0, 8, 0, 0);
	make_tab(0x10a0);
	for (at = 0; at < tab_size; at++) {
		was = tab[at];
		tab[at] ^= at & 1 ? 0x80 : 0xff;
		generate();
		tab[at] = was;
	}
	for (tab_size--; tab_size > 8; tab_size -= 8)
		generate();
}

#define go_test(name)	cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		go_test(a_frame_by_sub),
		go_test(a_frame_by_push),
		go_test(a_frame_that_does_not_save_fp_is_a_hole),
		go_test(a_frame_of_another_size_is_a_hole),
		go_test(an_end_that_does_not_restore_fp_is_a_hole),
		go_test(tops_of_stacks),
		go_test(switches_of_stacks),
		go_test(calls_that_stop_a_goroutine_have_no_caller),
		go_test(a_way_back_to_before_the_switch),
		go_test(another_stack_by_fp),
		go_test(an_injected_call_is_no_call),
		go_test(code_that_returns_from_signals_has_no_row),
		go_test(assembler_that_loses_fp),
		go_test(a_return_address_in_a_register),
		go_test(assembler_with_unknown_instructions),
		go_test(a_table_among_other_data),
		go_test(where_the_code_starts),
		go_test(tables_without_flags_are_not_used),
		go_test(a_frame_of_arm64),
		go_test(damaged_tables),
	};
	int ret = cmocka_run_group_tests_name("rows_go", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
