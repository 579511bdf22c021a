// SPDX-License-Identifier: GPL-2.0
/* test_flow_v8.c - rows for the builtins of V8 */
#include "flow_build.h"

#define BLOCK_SIZE	(512u << 10)
#define BARRIER		FAR
#define BUILTIN		(FAR + 0x100)
#define OTHER		(FAR + 0x200)

static uint64_t at_far(uint64_t addr, const char *hex)
{
	uint8_t *to = far_text + (addr - FAR);
	unsigned int b;
	int n;

	for (; sscanf(hex, " %2x%n", &b, &n) == 1; hex += n)
		*to++ = b;
	return FAR + (to - far_text);
}

static void builtin(const char *name, uint64_t addr, const char *hex)
{
	symbol(addr, at_far(addr, hex) - addr, STB_LOCAL);
	name_symbol(name);
}

static void builtin_calls(uint64_t addr, uint64_t to)
{
	int32_t d = to - (addr + 5);

	far_text[addr - FAR] = 0xe8;
	memcpy(far_text + (addr + 1 - FAR), &d, sizeof(d));
}

static int fresh_block(void **state)
{
	fresh_file(state);
	far_size = BLOCK_SIZE;
	symbol(FAR, 0, STB_LOCAL);
	syms[nr_syms - 1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
	name_symbol("v8_Default_embedded_blob_code_");
	/* push %rbp; mov %rsp,%rbp; call *%rax; mov %rbp,%rsp; pop %rbp; ret */
	builtin("Builtins_RecordWriteSaveFP", BARRIER, "55 4889e5 ffd0 4889ec 5d c3");
	return 0;
}

#define v8_test(name)	cmocka_unit_test_setup(name, fresh_block)

/* FP leads on there, and marks the stack. */
#define assert_not_covered(pc)	assert_int_equal(sframe_find(&reader, pc, &row), -ESRCH)

static void a_frame_is_known_from_its_first_to_its_last_instruction(void **state)
{
	(void)state;
	make_table();
	assert_sp(BARRIER, 8);
	assert_sp(BARRIER + 1, 16);
	assert_row(BARRIER + 4, SFRAME_FP, 16, -16);
	/* SP may be anywhere after a call */
	assert_row(BARRIER + 6, SFRAME_FP, 16, -16);
	assert_row(BARRIER + 9, SFRAME_FP, 16, -16);
	assert_sp(BARRIER + 10, 8);
	assert_not_covered(BARRIER + 11);
}

static void a_callee_may_pop_its_arguments(void **state)
{
	(void)state;
	/* push %rax; call *%rbx; ret: without a frame, nothing is known at the call or after it */
	builtin("Builtins_Frameless", BUILTIN, "50 ffd3 c3");
	make_table();
	assert_sp(BUILTIN, 8);
	assert_not_covered(BUILTIN + 1);
	assert_not_covered(BUILTIN + 3);
}

static void a_write_barrier_leaves_sp_as_it_was(void **state)
{
	(void)state;
	/* call barrier; ret */
	builtin("Builtins_Frameless", BUILTIN, "e8 00000000 c3");
	builtin_calls(BUILTIN, BARRIER);
	make_table();
	assert_sp(BUILTIN + 4, 8);
	assert_sp(BUILTIN + 5, 8);
}

static void a_builtin_that_is_no_write_barrier_may_move_sp(void **state)
{
	(void)state;
	builtin("Builtins_Frameless", BUILTIN, "e8 00000000 c3");
	builtin("Builtins_Other", OTHER, "c3");
	builtin_calls(BUILTIN, OTHER);
	make_table();
	assert_not_covered(BUILTIN + 4);
	assert_not_covered(BUILTIN + 5);
}

static void a_return_address_that_is_popped_and_pushed_again(void **state)
{
	(void)state;
	/* pop %rcx; push %rax; push %rcx; push %rbp; mov %rsp,%rbp; call *%rax; int3 */
	builtin("Builtins_Args", BUILTIN, "59 50 51 55 4889e5 ffd0 cc");
	/* pop %rcx; push %rax; ret */
	builtin("Builtins_Other", OTHER, "59 50 c3");
	make_table();
	assert_sp(BUILTIN, 8);
	assert_not_covered(BUILTIN + 1);
	assert_not_covered(BUILTIN + 2);
	assert_sp(BUILTIN + 3, 8);
	assert_row(BUILTIN + 7, SFRAME_FP, 16, -16);
	/* RAX is not the return address */
	assert_not_covered(OTHER + 2);
}

static void arguments_that_are_popped_before_the_return(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; leave; pop %rcx; lea 8(%rsp,%rdx,8),%rsp; push %rcx; ret */
	builtin("Builtins_Args", BUILTIN, "55 4889e5 c9 59 488d64d408 51 c3");
	make_table();
	assert_sp(BUILTIN + 5, 8);
	assert_not_covered(BUILTIN + 6);
	assert_not_covered(BUILTIN + 11);
	assert_sp(BUILTIN + 12, 8);
}

static void a_handler_of_exceptions_runs_with_the_frame(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; call *%rax; leave; ret; call *%rbx; leave; ret */
	builtin("Builtins_Catches", OTHER, "55 4889e5 ffd0 c9 c3 ffd3 c9 c3");
	make_table();
	assert_row(OTHER + 8, SFRAME_FP, 16, -16);
	assert_sp(OTHER + 11, 8);
}

/* Such code may be where a table of jumps leads to, and run before the frame is made. */
static void nothing_is_assumed_where_a_table_may_lead(void **state)
{
	(void)state;
	/* lea 0(%rip),%rbx in front of the same code: an address in it */
	builtin("Builtins_Switches", OTHER, "488d1d00000000 55 4889e5 ffd0 c9 c3 ffd3 c9 c3");
	make_table();
	assert_row(OTHER + 11, SFRAME_FP, 16, -16);
	assert_not_covered(OTHER + 15);
}

static void a_builtin_without_a_frame_has_no_rows(void **state)
{
	(void)state;
	builtin("Builtins_Frameless", BUILTIN, "c3 ffd3 c3");
	make_table();
	assert_sp(BUILTIN, 8);
	assert_not_covered(BUILTIN + 2);
}

static void a_builtin_that_contradicts_other_code_has_no_rows(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; leave; ret; and a jump to the ret, with the frame */
	builtin("Builtins_Odd", BUILTIN, "55 4889e5 c9 c3 90 ebfc");
	make_table();
	assert_sp(BUILTIN + 5, 8);
	assert_not_covered(BUILTIN + 6);
}

static void paths_that_disagree(void **state)
{
	(void)state;
	/* je 1f; push %rax; 1: nop; ret */
	builtin("Builtins_Odd", BUILTIN, "7401 50 90 c3");
	make_table();
	assert_sp(BUILTIN + 2, 8);
	assert_not_covered(BUILTIN + 3);
}

static void builtins_that_nothing_calls(void **state)
{
	(void)state;
	/* push %rax; pop %rax; ret */
	builtin("Builtins_InterpreterEnterAtBytecode", BUILTIN, "50 58 c3");
	builtin("Builtins_ContinueToJavaScriptBuiltin", OTHER, "50 58 c3");
	make_table();
	assert_not_covered(BUILTIN);
	assert_not_covered(OTHER);
}

static void without_symbols_nothing_is_known(void **state)
{
	(void)state;
	nr_syms = 1;
	make_table();
	assert_not_covered(BARRIER);
}

static void without_the_symbol_of_the_block_nothing_is_known(void **state)
{
	(void)state;
	/* pop %rcx; push %rax; push %rcx; ret */
	builtin("Builtins_Args", BUILTIN, "59 50 51 c3");
	syms[1].st_name = 0;
	make_table();
	assert_not_covered(BUILTIN + 3);
}

static void symbols_outside_of_the_block(void **state)
{
	(void)state;
	symbol(0x2000, code(0x2000, "53 ebfe") - 0x2000, STB_LOCAL);
	name_symbol("Builtins_Elsewhere");
	make_table();
	assert_not_covered(0x2000);
	assert_sp(BARRIER, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		v8_test(a_frame_is_known_from_its_first_to_its_last_instruction),
		v8_test(a_callee_may_pop_its_arguments),
		v8_test(a_write_barrier_leaves_sp_as_it_was),
		v8_test(a_builtin_that_is_no_write_barrier_may_move_sp),
		v8_test(a_return_address_that_is_popped_and_pushed_again),
		v8_test(arguments_that_are_popped_before_the_return),
		v8_test(a_handler_of_exceptions_runs_with_the_frame),
		v8_test(nothing_is_assumed_where_a_table_may_lead),
		v8_test(a_builtin_without_a_frame_has_no_rows),
		v8_test(a_builtin_that_contradicts_other_code_has_no_rows),
		v8_test(paths_that_disagree),
		v8_test(builtins_that_nothing_calls),
		v8_test(without_symbols_nothing_is_known),
		v8_test(without_the_symbol_of_the_block_nothing_is_known),
		v8_test(symbols_outside_of_the_block),
	};
	int ret = cmocka_run_group_tests_name("flow_v8", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
