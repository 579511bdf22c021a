// SPDX-License-Identifier: GPL-2.0
/*
 * test_gen_arch.c - makes tables for arm64 and s390x, on any machine
 *
 * The tests check rows, stubs, signal frames and the byte order.
 */
#include "arch_build.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

static int try_file(void)
{
	int fd = open_file(), ret;

	gen_free(&table);
	ret = gen_from_fd(fd, &table);
	close(fd);
	return ret;
}

static void open_table(void)
{
	assert_int_equal(gen_open(&table, &reader), 0);
	assert_int_equal(reader.swap, e.big_endian != SFRAME_NATIVE_BIG);
}

static void make_table(void)
{
	assert_int_equal(try_file(), 0);
	open_table();
}

static void assert_cfa(uint64_t pc, enum sframe_base base, int32_t off)
{
	assert_int_equal(sframe_find(&reader, pc, &row), 0);
	assert_int_equal(row.cfa.base, base);
	assert_int_equal(row.cfa.off, off);
	assert_false(row.cfa.deref);
}

static void assert_saved(const struct sframe_rule *rule, int32_t off)
{
	assert_int_equal(rule->base, SFRAME_CFA);
	assert_true(rule->deref);
	assert_int_equal(rule->off, off);
}

/* The table says that there are no rules, */
static void assert_hole(uint64_t pc)
{
	assert_int_equal(sframe_find(&reader, pc, &row), -ENOENT);
}

/* or nothing at all. */
static void assert_none(uint64_t pc)
{
	assert_int_equal(sframe_find(&reader, pc, &row), -ESRCH);
}

/* stmg %r11,%r15,88(%r15); aghi %r15,-168 */
#define S390X_PROLOGUE	DW_CFA_advance_loc | 6, DW_CFA_offset | 11, 9, DW_CFA_offset | 14, 6,	\
			DW_CFA_offset | 15, 5, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset,	\
			0xc8, 2

static void s390x_functions_save_sp_like_other_registers(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x40, S390X_PROLOGUE, DW_CFA_advance_loc | 20, DW_CFA_def_cfa_register, 11,
	     DW_CFA_advance_loc | 10, DW_CFA_restore | 15, DW_CFA_restore | 14,
	     DW_CFA_restore | 11, DW_CFA_def_cfa, 15, 0xa0, 1);
	make_table();
	assert_int_equal(table.data[0], 0xde);
	assert_int_equal(reader.arch->abi, SFRAME_ABI_S390X);
	assert_cfa(0x1000, SFRAME_SP, 160);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(0x1006, SFRAME_SP, 160);
	assert_saved(&row.ra, -48);
	assert_saved(&row.fp, -72);
	assert_cfa(0x100a, SFRAME_SP, 328);
	assert_saved(&row.ra, -48);
	assert_cfa(0x101e, SFRAME_FP, 328);
	assert_saved(&row.fp, -72);
	assert_cfa(0x1028, SFRAME_SP, 160);
	assert_int_equal(row.fp.base, SFRAME_SAME);
}

static void s390x_keeps_registers_in_others(void **state)
{
	(void)state;
	start_file(EM_S390);
	/* FP in f0, SP in f2, then RA in f4: all at once */
	func(0x1000, 0x20, DW_CFA_advance_loc | 4, DW_CFA_register, 11, 16, DW_CFA_advance_loc | 4,
	     DW_CFA_register, 15, 17, DW_CFA_advance_loc | 4, DW_CFA_register, 14, 18);
	/* not where the caller would look for it: its meaning is unknown */
	func(0x1100, 0x20, DW_CFA_register, 15, 5);
	func(0x1200, 0x20, DW_CFA_offset_extended_sf, 15, 0x7f);
	/* CFAs are multiples of 8 */
	func(0x1300, 0x20, DW_CFA_def_cfa_offset, 0xa1, 1);
	make_table();
	assert_cfa(0x1004, SFRAME_SP, 160);
	assert_int_equal(row.fp.base, SFRAME_REG);
	assert_int_equal(row.fp.reg, 16);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(0x100c, SFRAME_SP, 160);
	assert_int_equal(row.ra.base, SFRAME_REG);
	assert_int_equal(row.ra.reg, 18);
	assert_hole(0x1100);
	assert_hole(0x1200);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].nr, 2);
	assert_hole(0x1300);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CFA].nr, 1);
}

/* longjmp() and setcontext() restore a frame that is not a caller's, and .eh_frame lacks SP */
static void arm64_restores_from_where_no_frame_is(void **state)
{
	(void)state;
	start_file(EM_AARCH64);
	func(0x1000, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 0, 0,
	     DW_CFA_offset_extended_sf, 30, 0x75);
	func(0x1100, 0x20, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 29, 32);
	make_table();
	assert_cfa(0x1000, SFRAME_SP, 0);
	assert_hole(0x1004);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].nr, 1);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].bytes, 0x1c);
	assert_cfa(0x1104, SFRAME_FP, 32);
}

static void s390x_leaves_its_stack(void **state)
{
	(void)state;
	start_file(EM_S390);
	/* nopr; lgr %r15,%r5; br %r4 */
	memcpy(file + 0x1000, "\x07\x00\xb9\x04\x00\xf5\x07\xf4", 8);
	func(0x1000, 8, DW_CFA_nop);
	/* lmg %r0,%r15,56(%r1); br %r14 */
	memcpy(file + 0x1100, "\xeb\x0f\x10\x38\x00\x04\x07\xfe", 8);
	func(0x1100, 8, DW_CFA_nop);
	/* lmg %r6,%r10,0(%r1); lmg %r6,%r15,48(%r15); lgr %r5,%r15: none of them */
	memcpy(file + 0x1200, "\xeb\x6a\x10\x00\x00\x04\xeb\x6f\xf0\x30\x00\x04"
	       "\xb9\x04\x00\x5f", 16);
	func(0x1200, 0x18, DW_CFA_nop);
	/* lgr %r15,%r11 is how functions end that have a frame pointer */
	memcpy(file + 0x1300, "\xb9\x04\x00\xfb\x07\xfe", 6);
	func(0x1300, 6, DW_CFA_nop);
	/* lgr %r15,%r5, and then lmg of %r11, in functions whose CFA is by %r11 */
	memcpy(file + 0x1400, "\xb9\x04\x00\xf5\x07\x00", 6);
	func(0x1400, 6, DW_CFA_def_cfa, 11, 0xa0, 1);
	memcpy(file + 0x1500, "\xeb\x6f\xb0\x30\x00\x04\x07\xfe", 8);
	func(0x1500, 8, DW_CFA_def_cfa, 11, 0xa0, 1);
	make_table();
	assert_cfa(0x1404, SFRAME_FP, 160);
	assert_cfa(0x1504, SFRAME_FP, 160);
	assert_hole(0x1506);
	assert_cfa(0x1004, SFRAME_SP, 160);
	assert_hole(0x1006);
	assert_cfa(0x1104, SFRAME_SP, 160);
	assert_hole(0x1106);
	assert_cfa(0x1216, SFRAME_SP, 160);
	assert_cfa(0x1304, SFRAME_SP, 160);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].nr, 3);
	assert_int_equal(table.stats.hole[CFI_CAUSE_SP].bytes, 6);
}

static void a_cie_may_name_another_register_for_ra(void **state)
{
	static const uint8_t enc = DW_EH_PE_sdata4 | DW_EH_PE_pcrel;

	(void)state;
	start_file(EM_S390);
	e.ra = 0;
	eh_cie_raw(&e, 1, "zR", &enc, 1);
	eh_ops(&e, DW_CFA_def_cfa, 15, 0xa0, 1);
	eh_end(&e);
	func(0x1000, 0x20, DW_CFA_advance_loc | 4, DW_CFA_offset | 0, 26);
	make_table();
	assert_cfa(0x1000, SFRAME_SP, 160);
	assert_int_equal(row.ra.base, SFRAME_REG);
	assert_int_equal(row.ra.reg, 0);
	assert_cfa(0x1004, SFRAME_SP, 160);
	assert_saved(&row.ra, -208);
}

/* stp x29, x30, [sp, #-32]!; mov x29, sp, with paciasp in front */
static void arm64_signs_ra(void **state)
{
	(void)state;
	start_file(EM_AARCH64);
	func(0x1000, 0x40, DW_CFA_advance_loc | 1, NEGATE_RA, DW_CFA_advance_loc | 1,
	     DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
	     DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register, 29, DW_CFA_advance_loc | 2,
	     DW_CFA_remember_state, DW_CFA_restore | 30, DW_CFA_restore | 29, DW_CFA_def_cfa, 31, 0,
	     DW_CFA_advance_loc | 1, NEGATE_RA, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	make_table();
	assert_int_equal(table.data[0], 0xe2);
	assert_int_equal(reader.arch->abi, SFRAME_ABI_ARM64_LE);
	assert_cfa(0x1000, SFRAME_SP, 0);
	assert_int_equal(row.flags, 0);
	assert_cfa(0x1004, SFRAME_SP, 0);
	assert_int_equal(row.flags, SFRAME_ROW_MANGLED);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(0x1008, SFRAME_SP, 32);
	assert_int_equal(row.flags, SFRAME_ROW_MANGLED);
	assert_saved(&row.ra, -24);
	assert_saved(&row.fp, -32);
	assert_cfa(0x100c, SFRAME_FP, 32);
	assert_cfa(0x1014, SFRAME_SP, 0);
	assert_int_equal(row.flags, SFRAME_ROW_MANGLED);
	assert_cfa(0x1018, SFRAME_SP, 0);
	assert_int_equal(row.flags, 0);
	assert_cfa(0x101c, SFRAME_FP, 32);
	assert_int_equal(row.flags, SFRAME_ROW_MANGLED);
}

#define RA_PUSHED	DW_CFA_offset_extended_sf, 30, 0x7f	/* CFA + 8 */

/* glibc's functions for lazy binding: what the PLT has pushed is not counted */
static void arm64_counts_what_a_plt_has_pushed(void **state)
{
	(void)state;
	start_file(EM_AARCH64);
	func(0x1000, 0x40, DW_CFA_advance_loc | 1, RA_PUSHED, DW_CFA_advance_loc | 1,
	     DW_CFA_def_cfa_offset, 0xd0, 1, DW_CFA_offset | 29, 26, DW_CFA_advance_loc | 2,
	     DW_CFA_restore | 29, DW_CFA_def_cfa_offset, 0, DW_CFA_advance_loc | 1,
	     DW_CFA_def_cfa_offset_sf, 2);
	/* the one right after it does not show that */
	func(0x1040, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32,
	     DW_CFA_offset | 30, 3);
	/* the FDEs of other functions are right */
	func(0x1080, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	     DW_CFA_offset | 30, 1);
	func(0x10c0, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, RA_PUSHED);
	func(0x1100, 0x40, DW_CFA_def_cfa, 29, 0, RA_PUSHED);
	make_table();
	assert_cfa(0x1000, SFRAME_SP, 16);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(0x1004, SFRAME_SP, 16);
	assert_saved(&row.ra, -8);
	assert_cfa(0x1008, SFRAME_SP, 224);
	assert_saved(&row.ra, -8);
	assert_saved(&row.fp, -224);
	assert_cfa(0x1010, SFRAME_SP, 16);
	assert_saved(&row.ra, -8);
	assert_cfa(0x1014, SFRAME_SP, 0);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_hole(0x1040);
	assert_hole(0x1044);
	assert_cfa(0x1080, SFRAME_SP, 0);
	assert_cfa(0x1084, SFRAME_SP, 16);
	assert_saved(&row.ra, -8);
	assert_cfa(0x10c4, SFRAME_SP, 16);
	assert_saved(&row.ra, 8);
	assert_cfa(0x1100, SFRAME_FP, 0);
	assert_saved(&row.ra, 8);
}

static void put_insns(size_t at, const uint32_t *insn, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		put(at + 4 * i, insn[i], 4);
}

#define insns(at, ...) do {						\
	const uint32_t i_[] = { __VA_ARGS__ };				\
									\
	put_insns(at, i_, sizeof(i_) / sizeof(*i_));			\
} while (0)

#define BTI		0xd503245f
#define NOP		0xd503201f
#define PLT0		0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220, NOP, NOP
#define PLTN		0x90000110, 0xf9400211, 0x91000210, 0xd61f0220

static void arm64_stubs(void **state)
{
	(void)state;
	start_file(EM_AARCH64);
	func(0x1000, 0x10, DW_CFA_nop);
	plt_size = 0x100;
	insns(PLT, PLT0, NOP, PLTN, PLTN);
	/* with bti and autia1716 */
	insns(PLT + 0x40, BTI, PLT0, BTI, 0x90000110, 0xf9400211, 0x91000210, 0xd503219f,
	      0xd61f0220);
	/* TLS descriptors */
	insns(PLT + 0x78, 0xa9bf0fe2, 0x90000102, 0x90000103, 0xf9400042, 0x91000063, 0xd61f0040,
	      NOP, NOP);
	/* another register in its jump */
	insns(PLT + 0x98, 0x90000110, 0xf9400211, 0x91000210, 0xd61f0200);
	make_table();
	assert_cfa(PLT, SFRAME_SP, 0);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(PLT + 4, SFRAME_SP, 16);
	assert_saved(&row.ra, -8);
	assert_cfa(PLT + 0x1f, SFRAME_SP, 16);
	assert_cfa(PLT + 0x20, SFRAME_SP, 0);
	assert_cfa(PLT + 0x3f, SFRAME_SP, 0);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(PLT + 0x44, SFRAME_SP, 0);
	assert_cfa(PLT + 0x48, SFRAME_SP, 16);
	assert_cfa(PLT + 0x60, SFRAME_SP, 0);
	assert_cfa(PLT + 0x77, SFRAME_SP, 0);
	assert_cfa(PLT + 0x78, SFRAME_SP, 0);
	assert_cfa(PLT + 0x7c, SFRAME_SP, 16);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_cfa(PLT + 0x97, SFRAME_SP, 16);
	assert_none(PLT + 0x98);
	assert_int_equal(table.stats.plt_bytes, 0x98);
}

static const uint8_t s390x_plt0[] = {
	0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24, 0xc0, 0x10, 0, 0, 0x12, 0x34, 0xd2, 0x07, 0xf0, 0x30,
	0x10, 0x08, 0xe3, 0x10, 0x10, 0x10, 0x00, 0x04, 0x07, 0xf1, 0x07, 0, 0x07, 0, 0x07, 0,
};

static const uint8_t s390x_pltn[] = {
	0xc0, 0x10, 0, 0, 0x56, 0x78, 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04, 0x07, 0xf1, 0x0d, 0x10,
	0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14, 0xc0, 0xf4, 0xff, 0xff, 0xff, 0xe5, 0, 0, 0, 0x18,
};

static void s390x_stubs(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x10, DW_CFA_nop);
	plt_size = 0xa0;
	memcpy(file + PLT, s390x_plt0, 32);
	memcpy(file + PLT + 32, s390x_pltn, 32);
	memcpy(file + PLT + 64, s390x_pltn, 32);
	memcpy(file + PLT + 98, s390x_pltn, 32);
	/* a load of another register */
	memcpy(file + PLT + 130, s390x_pltn, 30);
	file[PLT + 130 + 7] = 0x20;
	make_table();
	assert_none(PLT - 1);
	assert_cfa(PLT, SFRAME_SP, 160);
	assert_int_equal(row.ra.base, SFRAME_SAME);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_cfa(PLT + 95, SFRAME_SP, 160);
	assert_none(PLT + 96);
	assert_cfa(PLT + 98, SFRAME_SP, 160);
	assert_cfa(PLT + 129, SFRAME_SP, 160);
	assert_none(PLT + 130);
	assert_int_equal(table.stats.plt_bytes, 128);
}

static void s390x_and_arm64_pad_with_instructions(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x10, DW_CFA_nop);
	memcpy(file + 0x1010, "\x07\x07\x07\0\x47\0\0\0\xc0\x04\0\0\0\0\0\0", 16);
	func(0x1020, 0x10, DW_CFA_nop);
	/* svc: a task in the system call has this frame */
	memcpy(file + 0x102e, "\x0a\x01\x07\x07", 4);
	func(0x1032, 0x10, DW_CFA_nop);
	/* bcr 15,%r7 is a jump */
	memcpy(file + 0x1042, "\x07\xf7", 2);
	func(0x1044, 0x10, DW_CFA_nop);
	make_table();
	assert_cfa(0x1010, SFRAME_SP, 160);
	assert_cfa(0x101f, SFRAME_SP, 160);
	assert_none(0x1030);
	assert_none(0x1042);
	assert_int_equal(table.stats.padding_bytes, 16);
	start_file(EM_AARCH64);
	func(0x1000, 0x10, DW_CFA_nop);
	insns(0x1010, NOP, 0, NOP);
	func(0x101c, 0x10, DW_CFA_nop);
	insns(0x1028, 0xd4000001, NOP);
	func(0x1030, 0x10, DW_CFA_nop);
	make_table();
	assert_cfa(0x1010, SFRAME_SP, 0);
	assert_none(0x102c);
	assert_int_equal(table.stats.padding_bytes, 12);
}

#define SIGRETURN	0xd2801168, 0xd4000001		/* mov x8, #139; svc #0 */

static void arm64_returns_from_signals(void **state)
{
	(void)state;
	start_file(EM_AARCH64);
	insns(0x1100, NOP, SIGRETURN);
	insns(0x1ff8, SIGRETURN);
	/* only that: frame pointers know more */
	assert_int_equal(try_file(), -ENODATA);
	func(0x1000, 0x10, DW_CFA_nop);
	func(0x1200, 0x10, DW_CFA_nop);
	make_table();
	assert_none(0x10ff);
	assert_int_equal(sframe_find(&reader, 0x1103, &row), 0);
	assert_int_equal(row.flags, SFRAME_ROW_SIGNAL);
	assert_int_equal(row.cfa.base, SFRAME_SP);
	assert_true(row.cfa.deref);
	assert_int_equal(row.cfa.off, 560);
	assert_int_equal(row.ra.off, 568);
	assert_int_equal(row.fp.off, 544);
	assert_int_equal(sframe_find(&reader, 0x110b, &row), 0);
	assert_none(0x110c);
	assert_int_equal(sframe_find(&reader, 0x1fff, &row), 0);
	assert_int_equal(row.flags, SFRAME_ROW_SIGNAL);
}

static void s390x_returns_from_signals(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x10, DW_CFA_nop);
	memcpy(file + 0x1010, "\x0a\xad\0\0\x07\x07\x07\x07\x0a\x77\0\0", 12);
	memcpy(file + 0x1020, "\x0a\x01\0\0", 4);
	func(0x1010, 4, DW_CFA_nop);
	func(0x1018, 4, DW_CFA_nop);
	func(0x1020, 4, DW_CFA_nop);
	make_table();
	assert_cfa(0x100f, SFRAME_SP, 160);
	assert_hole(0x1010);
	assert_hole(0x1018);
	assert_cfa(0x1020, SFRAME_SP, 160);
	assert_int_equal(table.stats.hole[STATS_CAUSE_SIGNAL].nr, 2);
	assert_int_equal(table.stats.hole[STATS_CAUSE_SIGNAL].bytes, 8);
}

static int read_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	uint64_t base = *(uint64_t *)ctx;

	if (addr - base > FILE_SIZE || len > FILE_SIZE - (addr - base))
		return -EFAULT;
	memcpy(to, file + (addr - base), len);
	return 0;
}

static void a_mapped_file_gives_the_same_table(void **state)
{
	static const uint16_t machines[] = { EM_S390, EM_AARCH64 };
	uint64_t at = 0x3ff80000000, bias;
	struct gen_table mapped;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		start_file(machines[i]);
		func(0x1000, 0x40, DW_CFA_advance_loc | 1, DW_CFA_offset | e.ra, 6);
		make_table();
		assert_int_equal(gen_from_memory(read_memory, &at, at, &mapped, &bias), 0);
		assert_int_equal(bias, at);
		assert_int_equal(mapped.size, table.size);
		assert_memory_equal(mapped.data, table.data, table.size);
		gen_free(&mapped);
	}
}

static void other_byte_orders_are_other_architectures(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x10, DW_CFA_nop);
	e.big_endian = false;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	start_file(EM_AARCH64);
	e.big_endian = true;
	assert_int_equal(try_file(), -EOPNOTSUPP);
}

static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	(void)ctx;
	if (reg != 14 && reg != 30)
		return -EINVAL;
	*value = 0x1020;
	return 0;
}

/* Walk from a leaf whose RA is in its register to its caller, and to the caller's caller. */
static void walk(u64 sp, u64 frame, u64 ra_at, u64 fp_at)
{
	struct ustep_env env = { .arch = reader.arch, .read = read_stack, .get_reg = get_reg };
	struct ustep s;

	env.ra_mask = reader.arch->mangles_ra ? 0xff7full << 48 : 0;
	memset(stack, 0xee, sizeof(stack));
	set_word(ra_at, reader.arch->mangles_ra ? 0x0025000000001204 : 0x1204);
	set_word(fp_at, 0x1122334455667788);
	ustep_init(&s, 0x1100, sp, 0x5200);
	assert_int_equal(sframe_find(&reader, ustep_pc(&s), &row), 0);
	assert_int_equal(ustep_row(&s, &env, &row), 0);
	assert_int_equal(s.ip, 0x1020);
	assert_int_equal(s.sp, sp);
	assert_int_equal(sframe_find(&reader, ustep_pc(&s), &row), 0);
	assert_int_equal(ustep_row(&s, &env, &row), 0);
	assert_int_equal(s.ip, 0x1204);
	assert_int_equal(s.sp, sp + frame);
	assert_int_equal(s.fp, 0x1122334455667788);
	assert_int_equal(sframe_find(&reader, ustep_pc(&s), &row), 0);
	assert_int_equal(ustep_row(&s, &env, &row), USTEP_OUTERMOST);
}

static void stacks_of_either_byte_order_are_walked(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x40, S390X_PROLOGUE);
	func(0x1100, 0x10, DW_CFA_nop);
	func(0x1200, 0x10, DW_CFA_undefined, 14);
	make_table();
	walk(0x5100, 168, 0x5100 + 168 + 112, 0x5100 + 168 + 88);
	start_file(EM_AARCH64);
	func(0x1000, 0x40, NEGATE_RA, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4,
	     DW_CFA_offset | 30, 3);
	func(0x1100, 0x10, DW_CFA_nop);
	func(0x1200, 0x10, DW_CFA_undefined, 30);
	make_table();
	walk(0x5100, 32, 0x5108, 0x5100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s390x_functions_save_sp_like_other_registers),
		cmocka_unit_test(s390x_keeps_registers_in_others),
		cmocka_unit_test(arm64_restores_from_where_no_frame_is),
		cmocka_unit_test(s390x_leaves_its_stack),
		cmocka_unit_test(a_cie_may_name_another_register_for_ra),
		cmocka_unit_test(arm64_signs_ra),
		cmocka_unit_test(arm64_counts_what_a_plt_has_pushed),
		cmocka_unit_test(arm64_stubs),
		cmocka_unit_test(s390x_stubs),
		cmocka_unit_test(s390x_and_arm64_pad_with_instructions),
		cmocka_unit_test(arm64_returns_from_signals),
		cmocka_unit_test(s390x_returns_from_signals),
		cmocka_unit_test(a_mapped_file_gives_the_same_table),
		cmocka_unit_test(other_byte_orders_are_other_architectures),
		cmocka_unit_test(stacks_of_either_byte_order_are_walked),
	};
	int ret = cmocka_run_group_tests_name("gen_arch", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
