// SPDX-License-Identifier: GPL-2.0
/* test_gen_i386.c - makes tables for 32-bit files of x86, on any machine */
#include "elf32_build.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

static int try_file(void)
{
	int fd = open_file32(), ret;

	gen_free(&table);
	ret = gen_from_fd(fd, &table);
	close(fd);
	return ret;
}

static void make_table(void)
{
	end_file();
	assert_int_equal(try_file(), 0);
	assert_int_equal(gen_open(&table, &reader), 0);
	assert_int_equal(reader.arch->abi, SFRAME_ABI_I386);
}

static void assert_rule(const struct sframe_rule *rule, enum sframe_base base, int32_t off,
			bool deref)
{
	assert_int_equal(rule->base, base);
	assert_int_equal(rule->off, off);
	assert_int_equal(rule->deref, deref);
}

static void assert_row(uint64_t pc, enum sframe_base base, int32_t off)
{
	assert_int_equal(sframe_find(&reader, pc, &row), 0);
	assert_rule(&row.cfa, base, off, false);
	assert_rule(&row.ra, SFRAME_CFA, -4, true);
}

static void rows_have_words_of_4_bytes(void **state)
{
	(void)state;
	start_file();
	/* push %ebp; mov %esp,%ebp; ...; leave; ret */
	CODE(0x1000, "\x55\x89\xe5");
	memset((uint8_t *)&file + 0x1003, 0x40, 0x13);
	CODE(0x1016, "\xc9\xc3");
	func(0x1000, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8, DW_CFA_offset | 5, 2,
	     DW_CFA_advance_loc | 2, DW_CFA_def_cfa_register, 5, DW_CFA_advance_loc | 20,
	     DW_CFA_restore | 5, DW_CFA_def_cfa, 4, 4);
	func(0x1100, 0x10, DW_CFA_undefined, 8);
	make_table();
	assert_row(0x1000, SFRAME_SP, 4);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_row(0x1001, SFRAME_SP, 8);
	assert_rule(&row.fp, SFRAME_CFA, -8, true);
	assert_row(0x1003, SFRAME_FP, 8);
	assert_row(0x1017, SFRAME_SP, 4);
	assert_int_equal(sframe_find(&reader, 0x1100, &row), 0);
	assert_int_equal(row.ra.base, SFRAME_UNDEFINED);
	assert_int_equal(sframe_find(&reader, 0x1200, &row), -ESRCH);
}

/* lea 4(%esp),%ecx; and $-16,%esp; push -4(%ecx); push %ebp; mov %esp,%ebp; push %ecx */
static void functions_that_align_their_stack(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc\x55\x89\xe5\x51");
	func(0x1000, 0x40, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, 1, 0, DW_CFA_advance_loc | 7,
	     DW_CFA_expression, 5, 2, DW_OP_breg5, 0, DW_CFA_advance_loc | 3,
	     DW_CFA_def_cfa_expression, 3, DW_OP_breg5, 0x7c, DW_OP_deref);
	make_table();
	assert_row(0x1004, SFRAME_REG, 0);
	assert_int_equal(row.cfa.reg, 1);
	assert_int_equal(sframe_find(&reader, 0x100e, &row), 0);
	assert_rule(&row.cfa, SFRAME_FP, -4, true);
	assert_rule(&row.ra, SFRAME_CFA, -4, true);
	assert_rule(&row.fp, SFRAME_FP, 0, true);
}

/* The rule that ld writes for the entries of a .plt, and one nearly like it */
static void stubs_push_a_word(void **state)
{
	(void)state;
	start_file();
	func(0x1000, 0x40, DW_CFA_def_cfa_expression, 11, DW_OP_breg4, 4, DW_OP_breg8, 0,
	     DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit2, DW_OP_shl, DW_OP_plus);
	func(0x1100, 0x40, DW_CFA_def_cfa_expression, 11, DW_OP_breg4, 8, DW_OP_breg8, 0,
	     DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	make_table();
	assert_row(0x1000, SFRAME_SP, 4);
	assert_row(0x100a, SFRAME_SP, 4);
	assert_row(0x100b, SFRAME_SP, 8);
	assert_row(0x102f, SFRAME_SP, 8);
	assert_row(0x1030, SFRAME_SP, 4);
	assert_int_equal(sframe_find(&reader, 0x1100, &row), -ENOENT);
}

#define AT_SP(off)	DW_OP_breg4, (off) | 0x80, (off) >> 7
#define FRAME(sc)	DW_CFA_def_cfa_expression, 4, AT_SP((sc) + 28), DW_OP_deref,	\
			DW_CFA_expression, 8, 3, AT_SP((sc) + 56),			\
			DW_CFA_expression, 5, 3, AT_SP((sc) + 24)

/* The vDSO of 32-bit programs has such frames, which begin one byte early. */
static void frames_of_signals(void **state)
{
	(void)state;
	start_file();
	func(0x1000, 0x10, DW_CFA_nop);
	start_signals();
	func(0x10ff, 9, FRAME(4), DW_CFA_advance_loc | 2, FRAME(0));
	func(0x110f, 8, FRAME(160));
	make_table();
	assert_int_equal(sframe_find(&reader, 0x10ff, &row), 0);
	assert_true(row.flags & SFRAME_ROW_SIGNAL);
	assert_rule(&row.cfa, SFRAME_SP, 32, true);
	assert_rule(&row.ra, SFRAME_SP, 60, true);
	assert_rule(&row.fp, SFRAME_SP, 28, true);
	assert_int_equal(sframe_find(&reader, 0x1101, &row), 0);
	assert_rule(&row.cfa, SFRAME_SP, 28, true);
	assert_int_equal(sframe_find(&reader, 0x1116, &row), 0);
	assert_rule(&row.cfa, SFRAME_SP, sframe_arch_i386.sigs->sp, true);
	assert_rule(&row.ra, SFRAME_SP, sframe_arch_i386.sigs->ip, true);
	assert_rule(&row.fp, SFRAME_SP, sframe_arch_i386.sigs->fp, true);
}

static void assert_hole(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		assert_int_equal(sframe_find(&reader, from, &row), -ENOENT);
}

static void assert_rows(uint64_t from, uint64_t to, int32_t off)
{
	for (; from < to; from++)
		assert_row(from, SFRAME_SP, off);
}

/* From crti.o, without .eh_frame: mov (%esp),%ebx; ret, and one for %ecx */
static void functions_that_read_their_return_address(void **state)
{
	(void)state;
	start_file();
	func(0x1000, 0x0c, DW_CFA_def_cfa_offset, 8);
	CODE(0x100c, "\x66\x90\x66\x90\x8b\x1c\x24\xc3");
	CODE(0x1014, "\x8d\xb4\x26\0\0\0\0\x8d\x74\x26\0\x90\x8b\x0c\x24\xc3");
	/* after other code; and %ebp, the frame pointer */
	CODE(0x1030, "\x8b\x1c\x24\xc3");
	func(0x1040, 0x10, DW_CFA_def_cfa_offset, 8);
	CODE(0x1050, "\x8b\x2c\x24\xc3");
	make_table();
	assert_rows(0x1010, 0x1014, 4);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_rows(0x1020, 0x1024, 4);
	assert_int_equal(sframe_find(&reader, 0x1030, &row), -ESRCH);
	assert_int_equal(sframe_find(&reader, 0x1050, &row), -ESRCH);
}

/*
 * swapcontext() has this code: mov 4(%esp),%eax; push %ebx; inc %ebx; pop %ebx; mov 48(%eax),%esp;
 * push %ecx; ret. memcpy() has the other one: .eh_frame has the first push, but not sub $16,%esp.
 */
static void rows_that_the_code_contradicts_are_holes(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x8b\x44\x24\x04\x53\x43\x5b\x8b\x60\x30\x51\xc3");
	func(0x1000, 12, DW_CFA_nop);
	CODE(0x1100, "\x53\x83\xec\x10\x40\x83\xc4\x10\x5b\xc3");
	func(0x1100, 10, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc | 8,
	     DW_CFA_def_cfa_offset, 4);
	make_table();
	assert_rows(0x1000, 0x1005, 4);
	assert_hole(0x1005, 0x1007);
	assert_rows(0x1007, 0x100a, 4);
	assert_hole(0x100a, 0x100c);
	assert_rows(0x1100, 0x1101, 4);
	assert_rows(0x1101, 0x1104, 8);
	assert_hole(0x1104, 0x1108);
	assert_rows(0x1108, 0x1109, 8);
	assert_rows(0x1109, 0x110a, 4);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].bytes, 2 + 2 + 4);
}

/* push %ebx; call *%eax; pop %ebx; inc %eax; ret: the row is as wrong after the call as before */
static void a_wrong_row_is_wrong_after_a_call(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x53\xff\xd0\x5b\x40\xc3");
	func(0x1000, 6, DW_CFA_nop);
	make_table();
	assert_rows(0x1000, 0x1001, 4);
	assert_hole(0x1001, 0x1004);
	assert_rows(0x1004, 0x1006, 4);
}

/*
 * longjmp() has this code: mov %edi,%esp; mov 8(%ecx),%edi; jmp *%edx. ESP is in EDI and the return
 * address in EDX.
 */
static void a_return_address_in_a_register_is_a_hole(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x89\xfc\x8b\x79\x08\xff\xe2");
	func(0x1000, 7, DW_CFA_register, 4, 7, DW_CFA_register, 8, 2);
	make_table();
	assert_hole(0x1000, 0x1007);
}

/*
 * inc %eax, which is a prefix in 64-bit code; push %ebp; push $1; sub $0x88,%esp; call; add; pop of
 * each; a call of a function that pops its argument; ret
 */
static void right_rows_are_no_holes(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x40\x55\x6a\x01\x81\xec\x88\0\0\0\xe8\0\0\0\0\x81\xc4\x88\0\0\0"
	     "\x58\x5d\x50\xff\xd0\x40\xc3");
	func(0x1000, 28, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 8,
	     DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 12,
	     DW_CFA_advance_loc | 6, DW_CFA_def_cfa_offset, 0x94, 1,
	     DW_CFA_advance_loc | 11, DW_CFA_def_cfa_offset, 12,
	     DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8,
	     DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 4,
	     DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8,
	     DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 4);
	make_table();
	assert_rows(0x1000, 0x1002, 4);
	assert_rows(0x1002, 0x1004, 8);
	assert_rows(0x1004, 0x100a, 12);
	assert_rows(0x100a, 0x1015, 0x94);
	assert_rows(0x1017, 0x1018, 4);
	assert_rows(0x101a, 0x101c, 4);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].nr, 0);
}

/*
 * After a call of a function that pops its argument, SP is where the next row says; if that counts
 * from FP, it is not known. Padding after a call that does not return, or before the function, does
 * not go on.
 */
static void calls_move_sp(void **state)
{
	(void)state;
	start_file();
	/* nop; push %eax; call; jmp; push %eax; call; nop; inc %eax; ret */
	CODE(0x1000, "\x90\x50\xe8\0\0\0\0\xeb\x07\x50\xe8\0\0\0\0\x90\x40\xc3");
	func(0x1000, 18, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 12,
	     DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	     DW_CFA_advance_loc | 5, DW_CFA_def_cfa_offset, 12,
	     DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 16,
	     DW_CFA_advance_loc | 6, DW_CFA_def_cfa_offset, 12);
	/* push %ebp; mov %esp,%ebp; test; je to the leave; push %eax; call; leave; ret */
	CODE(0x1100, "\x55\x89\xe5\x85\xc0\x74\x06\x50\xe8\0\0\0\0\xc9\xc3");
	func(0x1100, 15, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8,
	     DW_CFA_advance_loc | 2, DW_CFA_def_cfa_register, 5,
	     DW_CFA_advance_loc | 11, DW_CFA_def_cfa, 4, 4);
	make_table();
	assert_rows(0x1001, 0x1002, 12);
	assert_rows(0x1002, 0x1007, 16);
	assert_rows(0x1007, 0x100a, 12);
	assert_rows(0x100a, 0x1010, 16);
	assert_rows(0x1010, 0x1012, 12);
	assert_row(0x1107, SFRAME_FP, 8);
	assert_row(0x110d, SFRAME_FP, 8);
	assert_rows(0x110e, 0x110f, 4);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].nr, 0);
}

/*
 * lea -0x2000(%esp),%eax; sub $0x1000,%esp; orl $0,(%esp); cmp %eax,%esp; jne to the sub; inc %eax;
 * add $0x2000,%esp; ret: a loop takes a large stack page by page
 */
static void loops_that_take_a_stack(void **state)
{
	(void)state;
	start_file();
	CODE(0x1000, "\x8d\x84\x24\0\xe0\xff\xff\x81\xec\0\x10\0\0\x83\x0c\x24\0\x39\xc4\x75\xf2"
	     "\x40\x81\xc4\0\x20\0\0\xc3");
	func(0x1000, 29, DW_CFA_advance_loc | 7, DW_CFA_def_cfa, 0, 0x84, 0x40,
	     DW_CFA_advance_loc | 14, DW_CFA_def_cfa_register, 4,
	     DW_CFA_advance_loc | 7, DW_CFA_def_cfa_offset, 4);
	make_table();
	assert_rows(0x1000, 0x1007, 4);
	assert_row(0x1007, SFRAME_REG, 0x2004);
	assert_row(0x1014, SFRAME_REG, 0x2004);
	assert_rows(0x1015, 0x101c, 0x2004);
	assert_rows(0x101c, 0x101d, 4);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].nr, 0);
}

/* ret, which has no FDE; lea (%esp,%ebx,4),%esp; cmpl $0,(%esp); je; call; ... */
#define AFTER_MAKECONTEXT "\xc3\x8d\x24\x9c\x83\x3c\x24\0\x74\x07\xe8\xd7\x19\0\0\xeb\x02" \
	"\x31\xc0\x83\xe4\xf0\x83\xec\x0c\x50\xe8\x47\xef\xff\xff\xf4"

static void other_stacks_are_holes(void **state)
{
	(void)state;
	start_file();
	CODE(0x1010, AFTER_MAKECONTEXT);
	func(0x1000, 0x10, DW_CFA_nop);
	/* setcontext() is about to restore from eax */
	func(0x1040, 0x10, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, 0, 0);
	/* other code after a function */
	CODE(0x1080, AFTER_MAKECONTEXT);
	CODE(0x1089, "\x08");
	func(0x1070, 0x10, DW_CFA_nop);
	/* cut off by the next function */
	CODE(0x10d0, AFTER_MAKECONTEXT);
	func(0x10c0, 0x10, DW_CFA_nop);
	func(0x10ef, 0x10, DW_CFA_nop);
	make_table();
	assert_rows(0x1000, 0x1010, 4);
	assert_hole(0x1010, 0x1030);
	assert_rows(0x1040, 0x1044, 4);
	assert_hole(0x1044, 0x1050);
	assert_int_equal(sframe_find(&reader, 0x1080, &row), -ESRCH);
	assert_int_equal(sframe_find(&reader, 0x10d0, &row), -ESRCH);
	assert_rows(0x10ef, 0x10ff, 4);
}

/* Walks of 64-bit code open tables of their own ABI only, and no bit of the header may be wrong. */
static void the_table_has_a_number_of_its_own(void **state)
{
	struct sframe_table t;
	uint8_t *head;
	unsigned int i;

	(void)state;
	start_file();
	func(0x1000, 0x10, DW_CFA_nop);
	make_table();
	head = table.data;
	assert_int_equal(head[SFRAME_HDR_ABI_OFF], 0x83);
	assert_true(reader.arch->is_32bit);
	for (i = 0; i < SFRAME_HDR_SIZE; i++) {
		if (i == SFRAME_HDR_FDEOFF_OFF || i == SFRAME_HDR_NUM_FRES_OFF)
			i += 4;
		head[i] ^= 0x80;
		t = (struct sframe_table) { .mem = table.data, .size = table.size };
		assert_true(sframe_open(&t));
		head[i] ^= 0x80;
	}
}

static void only_i386_has_32_bits(void **state)
{
	(void)state;
	start_file();
	func(0x1000, 0x10, DW_CFA_nop);
	make_table();
	/* x32 */
	file.eh.e_machine = EM_X86_64;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	file.eh.e_machine = EM_ARM;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	file.eh.e_machine = EM_386;
	file.eh.e_ident[EI_CLASS] = ELFCLASS64;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	file.eh.e_ident[EI_CLASS] = ELFCLASS32;
	file.eh.e_phentsize = sizeof(Elf64_Phdr);
	assert_int_equal(try_file(), -ENOEXEC);
	file.eh.e_phentsize = sizeof(Elf32_Phdr);
	/* without section headers, by PT_GNU_EH_FRAME */
	file.eh.e_shnum = 0;
	assert_int_equal(try_file(), 0);
	assert_int_equal(gen_open(&table, &reader), 0);
	assert_row(0x1000, SFRAME_SP, 4);
}

/* Any answer is fine, a crash is not. */
static void broken_headers(void **state)
{
	uint8_t *head = (uint8_t *)&file;
	size_t i;

	(void)state;
	start_file();
	func(0x1000, 0x10, DW_CFA_nop);
	end_file();
	for (i = 0; i < sizeof(Elf32_Ehdr) + sizeof(file.ph); i++) {
		head[i] ^= 0xff;
		try_file();
		head[i] ^= 0xff;
	}
	for (i = SHDRS; i < SHDRS + 3 * sizeof(Elf32_Shdr); i++) {
		head[i] ^= 0xff;
		try_file();
		head[i] ^= 0xff;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_words_of_4_bytes),
		cmocka_unit_test(functions_that_align_their_stack),
		cmocka_unit_test(stubs_push_a_word),
		cmocka_unit_test(functions_that_read_their_return_address),
		cmocka_unit_test(frames_of_signals),
		cmocka_unit_test(rows_that_the_code_contradicts_are_holes),
		cmocka_unit_test(a_wrong_row_is_wrong_after_a_call),
		cmocka_unit_test(a_return_address_in_a_register_is_a_hole),
		cmocka_unit_test(right_rows_are_no_holes),
		cmocka_unit_test(calls_move_sp),
		cmocka_unit_test(loops_that_take_a_stack),
		cmocka_unit_test(other_stacks_are_holes),
		cmocka_unit_test(the_table_has_a_number_of_its_own),
		cmocka_unit_test(only_i386_has_32_bits),
		cmocka_unit_test(broken_headers),
	};
	int ret = cmocka_run_group_tests_name("gen_i386", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
