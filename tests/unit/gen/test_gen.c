// SPDX-License-Identifier: GPL-2.0
/*
 * test_gen.c - makes tables for small ELF files
 *
 * The tests check which code a table covers, by which rule, and where the table has holes.
 */
#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/cfi/cfi_build.h"
#include "libunwind-user/gen/gen.h"
#include "gen_build.h"
#include "libunwind-user/sframe/sframe.h"

#define TEXT_SIZE	0x20000
#define EH		0x30000
#define SDATA4_PCREL	(DW_EH_PE_sdata4 | DW_EH_PE_pcrel)

static struct eh e;
static uint8_t text[TEXT_SIZE];
static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

/* A section name and range for stubs, if any */
static uint64_t plt_start, plt_size;
static uint16_t machine, type;
static size_t cut;			/* bytes to leave off the end of the file */

static void start_file(void)
{
	eh_init(&e);
	e.vaddr = EH;
	eh_cie(&e, SDATA4_PCREL);
	memset(text, 0xc3, sizeof(text));	/* code, and no padding */
	plt_start = plt_size = cut = 0;
	machine = EM_X86_64;
	type = ET_DYN;
	gen_free(&table);
}

static void write_at(int fd, uint64_t off, const void *p, size_t len)
{
	assert_int_equal(pwrite(fd, p, len, off), len);
}

static int open_file(void)
{
	static const char names[] = "\0.eh_frame\0.plt\0.shstrtab";
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = type, .e_machine = machine, .e_version = EV_CURRENT,
		.e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		.e_shoff = EH + e.n + sizeof(names), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4, .e_shstrndx = 3, .e_ehsize = sizeof(eh),
	};
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT,
		  .p_filesz = TEXT_SIZE, .p_memsz = TEXT_SIZE },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = EH, .p_vaddr = EH,
		  .p_filesz = e.n, .p_memsz = e.n },
	};
	Elf64_Shdr sh[4] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = EH,
			.sh_offset = EH, .sh_size = e.n },
		[2] = { .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = plt_start, .sh_offset = plt_start, .sh_size = plt_size },
		[3] = { .sh_name = 16, .sh_type = SHT_STRTAB, .sh_offset = EH + e.n,
			.sh_size = sizeof(names) },
	};
	int fd = memfd_create("file", 0);

	assert_true(fd >= 0);
	write_at(fd, 0, &eh, sizeof(eh));
	write_at(fd, sizeof(eh), ph, sizeof(ph));
	write_at(fd, TEXT, text, sizeof(text));
	write_at(fd, EH, e.b, e.n);
	write_at(fd, EH + e.n, names, sizeof(names));
	write_at(fd, eh.e_shoff, sh, sizeof(sh));
	if (cut)
		assert_int_equal(ftruncate(fd, eh.e_shoff + sizeof(sh) - cut), 0);
	return fd;
}

static int try_file(void)
{
	int fd = open_file(), ret;

	ret = gen_from_fd(fd, &table);
	close(fd);
	return ret;
}

static void make_table(void)
{
	assert_int_equal(try_file(), 0);
	assert_int_equal(gen_open(&table, &reader), 0);
}

#define func(start, size, ...) EH_FUNC(&e, start, size, __VA_ARGS__)

static void assert_cfa(uint64_t pc, enum sframe_base base, int32_t off)
{
	assert_int_equal(sframe_find(&reader, pc, &row), 0);
	assert_int_equal(row.cfa.base, base);
	assert_int_equal(row.cfa.off, off);
	assert_false(row.cfa.deref);
}

/* The table covers the address, and says that it has no rules. */
static void assert_hole(uint64_t pc)
{
	assert_int_equal(sframe_find(&reader, pc, &row), -ENOENT);
}

/* The table does not cover the address. */
static void assert_none(uint64_t pc)
{
	assert_int_equal(sframe_find(&reader, pc, &row), -ESRCH);
}

#define PUSH_RBP	DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2

static void rows_are_found(void **state)
{
	(void)state;
	start_file();
	func(0x2000, 0x40, PUSH_RBP, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
	     DW_CFA_advance_loc | 32, DW_CFA_def_cfa, 7, 8);
	make_table();
	assert_none(0x1fff);
	assert_cfa(0x2000, SFRAME_SP, 8);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_cfa(0x2001, SFRAME_SP, 16);
	assert_int_equal(row.fp.base, SFRAME_CFA);
	assert_int_equal(row.fp.off, -16);
	assert_cfa(0x2004, SFRAME_FP, 16);
	assert_cfa(0x2023, SFRAME_FP, 16);
	assert_cfa(0x2024, SFRAME_SP, 8);
	assert_cfa(0x203f, SFRAME_SP, 8);
	assert_none(0x2040);
	assert_int_equal(table.stats.covered_bytes, 0x40);
}

static uint8_t type_at(uint64_t pc)
{
	struct sframe_func f = {};
	uint32_t i;

	for (i = 0; !sframe_get_func(&reader, i, &f) && pc - f.start >= f.size; i++)
		;
	return SFRAME_FDE_TYPE(f.info2);
}

static void flexible_rules(void **state)
{
	(void)state;
	start_file();
	func(0x2000, 0x40, DW_CFA_def_cfa, 10, 0, DW_CFA_advance_loc | 4,
	     DW_CFA_expression, 6, 2, DW_OP_breg6, 0,
	     DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_advance_loc | 4,
	     DW_CFA_def_cfa, 7, 8, DW_CFA_register, 16, 5, DW_CFA_register, 6, 12);
	make_table();
	assert_cfa(0x2000, SFRAME_REG, 0);
	assert_int_equal(row.cfa.reg, 10);
	assert_int_equal(sframe_find(&reader, 0x2004, &row), 0);
	assert_int_equal(row.cfa.base, SFRAME_FP);
	assert_int_equal(row.cfa.off, -8);
	assert_true(row.cfa.deref);
	assert_int_equal(row.fp.base, SFRAME_FP);
	assert_true(row.fp.deref);
	assert_int_equal(row.ra.off, -8);
	assert_int_equal(type_at(0x2004), SFRAME_FDE_TYPE_FLEX);
	assert_cfa(0x2008, SFRAME_SP, 8);
	assert_int_equal(row.ra.base, SFRAME_REG);
	assert_int_equal(row.ra.reg, 5);
	assert_int_equal(row.fp.base, SFRAME_REG);
	assert_int_equal(row.fp.reg, 12);
}

/* CFA = *(rsp + @off) + @add */
static void assert_above(uint64_t pc, int32_t off, uint8_t add)
{
	assert_int_equal(sframe_find(&reader, pc, &row), 0);
	assert_int_equal(row.cfa.base, SFRAME_SP);
	assert_true(row.cfa.deref);
	assert_int_equal(row.cfa.off, off);
	assert_int_equal(row.cfa.add, add);
}

/* libcrypto aligns SP, and keeps the old one. OCaml 5 goes to another stack. */
static void sp_in_memory(void **state)
{
	(void)state;
	start_file();
	func(0x2000, 0x40, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0x98,
	     1, DW_OP_deref, DW_OP_plus_uconst, 8, DW_CFA_advance_loc | 4,
	     DW_CFA_def_cfa_expression, 7, DW_OP_breg7, 0x78, DW_OP_deref, DW_OP_plus_uconst, 0xff,
	     1, DW_OP_nop, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, 7, 24);
	func(0x3000, 0x40, DW_CFA_offset | 6, 3, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16,
	     DW_OP_deref, DW_OP_plus_uconst, 80);
	make_table();
	assert_cfa(0x2003, SFRAME_SP, 8);
	assert_above(0x2004, 152, 8);
	assert_int_equal(row.ra.off, -8);
	assert_int_equal(row.fp.base, SFRAME_SAME);
	assert_above(0x2008, -8, 255);
	assert_cfa(0x200c, SFRAME_SP, 24);
	assert_int_equal(row.cfa.add, 0);
	assert_int_equal(type_at(0x2004), SFRAME_FDE_TYPE_FLEX_ADD);
	assert_above(0x3000, 16, 80);
	assert_int_equal(row.fp.off, -24);
	assert_int_equal(table.stats.hole_bytes, 0);
}

static void rules_that_become_holes(void **state)
{
	(void)state;
	start_file();
	/* CFA = *(rsp + 8) - 8; FP lost; FP = CFA - 16; CFA = rip + 8 is not a rule here */
	func(0x2000, 0x10, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 8,
	     DW_OP_deref, DW_OP_lit8, DW_OP_minus, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, 7, 24);
	func(0x3000, 0x10, DW_CFA_undefined, 6);
	func(0x4000, 0x10, DW_CFA_val_offset, 6, 2);
	func(0x5000, 0x10, DW_CFA_same_value, 16);
	make_table();
	assert_cfa(0x2003, SFRAME_SP, 8);
	assert_hole(0x2004);
	assert_hole(0x2007);
	assert_cfa(0x2008, SFRAME_SP, 24);
	assert_hole(0x3000);
	assert_hole(0x4000);
	assert_hole(0x5000);
	assert_int_equal(table.stats.hole[CFI_CAUSE_EXPR].bytes, 4);
	assert_int_equal(table.stats.hole_bytes, 4 + 3 * 16);
	assert_int_equal(table.stats.covered_bytes, 12);
	assert_true(stats_get_unknown_bytes(&table.stats) > 0);
	/* they are stated, one block for all of them */
	assert_int_equal(table.stats.table_fdes, 2 + 4);
	assert_int_equal(table.stats.hole[STATS_CAUSE_FP].nr, 2);
	assert_int_equal(table.stats.hole[STATS_CAUSE_RA].bytes, 16);
}

static void outermost_and_signal_frames(void **state)
{
	static const uint8_t enc = SDATA4_PCREL;

	(void)state;
	start_file();
	func(0x2000, 0x20, DW_CFA_undefined, 16);
	eh_cie_raw(&e, 1, "zRS", &enc, 1);
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	/* __restore_rt */
	func(0x2fff, 0x11, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref,
	     DW_CFA_expression, 6, 3, DW_OP_breg7, 0xf8, 0x00,
	     DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa0, 0x01,
	     DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 0x01);
	make_table();
	assert_int_equal(sframe_find(&reader, 0x2010, &row), 0);
	assert_int_equal(row.ra.base, SFRAME_UNDEFINED);
	assert_int_equal(sframe_find(&reader, 0x2fff, &row), 0);
	assert_int_equal(row.flags, SFRAME_ROW_SIGNAL);
	assert_int_equal(row.cfa.off, 160);
	assert_true(row.cfa.deref);
	assert_int_equal(row.ra.off, 168);
	assert_int_equal(row.fp.off, 120);
	assert_none(0x3010);
}

static void padding_has_the_rule_of_the_function_after_it(void **state)
{
	(void)state;
	start_file();
	func(0x2000, 0x10, DW_CFA_def_cfa_offset, 16);
	func(0x2020, 0x10, DW_CFA_def_cfa_offset, 24);
	func(0x2040, 0x10, DW_CFA_def_cfa_offset, 32);
	func(0x2060, 0x10, DW_CFA_undefined, 6);
	func(0x2100, 0x10, DW_CFA_def_cfa_offset, 40);
	memcpy(text + 0x1010, "\x66\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x44\0\0", 16);
	memset(text + 0x1030, 0x90, 15);	/* and one byte of code */
	memset(text + 0x1050, 0xcc, 16);	/* in front of a hole */
	memset(text + 0x1070, 0, 0x90);		/* too much of it */
	make_table();
	assert_cfa(0x200f, SFRAME_SP, 16);
	assert_cfa(0x2010, SFRAME_SP, 24);
	assert_cfa(0x201f, SFRAME_SP, 24);
	assert_cfa(0x2020, SFRAME_SP, 24);
	assert_none(0x2030);
	assert_none(0x203f);
	assert_none(0x2050);
	assert_none(0x2070);
	assert_none(0x20ff);
	assert_int_equal(table.stats.padding_bytes, 16);
}

static void padding_after_a_system_call_is_a_hole(void **state)
{
	(void)state;
	start_file();
	func(0x2000, 0x10, DW_CFA_def_cfa_offset, 16);
	func(0x2020, 0x10, DW_CFA_def_cfa_offset, 24);
	memcpy(text + 0x100e, "\x0f\x05", 2);
	memset(text + 0x1010, 0x90, 16);
	make_table();
	assert_cfa(0x200f, SFRAME_SP, 16);
	assert_none(0x2010);
	assert_none(0x201f);
	assert_cfa(0x2020, SFRAME_SP, 24);
	assert_int_equal(table.stats.padding_bytes, 0);
}

static void overlapping_fdes(void **state)
{
	(void)state;
	start_file();
	func(0x4000, 0x10, DW_CFA_def_cfa_offset, 32);		/* not in order */
	func(0x2000, 0x20, DW_CFA_def_cfa_offset, 16);
	func(0x2010, 0x20, DW_CFA_def_cfa_offset, 24);
	func(0x3000, 0x10, DW_CFA_def_cfa_offset, 16);		/* the same twice: one */
	func(0x3000, 0x10, DW_CFA_def_cfa_offset, 16);
	func(0x3800, 0x10, DW_CFA_def_cfa_offset, 16);		/* same start, other rules */
	func(0x3800, 0x10, DW_CFA_def_cfa_offset, 24);
	func(0x37e0, 0x10, DW_CFA_def_cfa_offset, 40);		/* padding in front of them */
	memset(text + 0x27f0, 0x90, 16);
	make_table();
	assert_cfa(0x200f, SFRAME_SP, 16);
	assert_hole(0x2010);
	assert_hole(0x201f);
	assert_hole(0x202f);
	assert_cfa(0x3000, SFRAME_SP, 16);
	assert_cfa(0x37ef, SFRAME_SP, 40);
	assert_none(0x37f0);
	assert_none(0x37ff);
	assert_hole(0x3800);
	assert_hole(0x380f);
	assert_cfa(0x4000, SFRAME_SP, 32);
	assert_int_equal(table.stats.hole[STATS_CAUSE_OVERLAP].nr, 2);
}

static void fdes_outside_of_code(void **state)
{
	(void)state;
	start_file();
	func(EH, 0x10, DW_CFA_nop);
	func(TEXT + TEXT_SIZE - 8, 0x10, DW_CFA_nop);
	func(TEXT + TEXT_SIZE - 16, 8, DW_CFA_nop);
	make_table();
	assert_cfa(TEXT + TEXT_SIZE - 16, SFRAME_SP, 8);
	assert_none(TEXT + TEXT_SIZE - 8);
	assert_int_equal(table.stats.hole[STATS_CAUSE_OUTSIDE].nr, 2);
}

/* A stub of 8 or 16 bytes, as hexadecimal digits; the operands are 0x11 to 0x44 */
struct stub {
	const char *bytes;
	unsigned int size, pushed;
};

static const struct stub stubs[] = {
	{ "ff2511223344 6811223344 e911223344", 16, 11 },
	{ "f30f1efa 6811223344 f2e911223344 90", 16, 9 },
	{ "f30f1efa 6811223344 e911223344 6690", 16, 9 },
	{ "6811223344 f2e911223344 0f1f440000", 16, 5 },
	{ "f30f1efa f2ff2511223344 0f1f440000", 16, 0 },
	{ "f30f1efa ff2511223344 660f1f440000", 16, 0 },
	{ "ff2511223344 6690", 8, 0 },
	{ "f2ff2511223344 90", 8, 0 },
};

static void put_stub(uint8_t *to, const char *hex)
{
	unsigned int b;
	int n;

	while (sscanf(hex, " %2x%n", &b, &n) == 1) {
		*to++ = b;
		hex += n;
	}
}

static void stubs_without_eh_frame(void **state)
{
	const struct stub *s;
	unsigned int i, off, start;

	(void)state;
	for (s = stubs; s < stubs + sizeof(stubs) / sizeof(*stubs); s++) {
		/* at a multiple of 16, as a pattern, and of 8, row by row */
		for (start = 0x2000; start <= 0x2008; start += 8) {
			start_file();
			plt_start = start;
			plt_size = s->size * 4 + 8;	/* and 8 bytes of something else */
			for (i = 0; i < 4; i++)
				put_stub(text + start - TEXT + i * s->size, s->bytes);
			make_table();
			assert_none(start - 1);
			for (off = 0; off < s->size * 4; off++)
				assert_cfa(start + off, SFRAME_SP, s->pushed &&
					   off % s->size >= s->pushed ? 16 : 8);
			assert_none(start + off);
			assert_int_equal(table.stats.plt_bytes, s->size * 4);
		}
	}
}

static void the_first_stub_and_an_fde_in_between(void **state)
{
	(void)state;
	start_file();
	plt_start = 0x2000;
	plt_size = 0x40;
	/* push 0x100(%rip); jmp *0x102(%rip): slots 8 bytes apart */
	put_stub(text + 0x1000, "ff3500010000 ff2502010000 0f1f4000");
	put_stub(text + 0x1010, stubs[0].bytes);
	put_stub(text + 0x1020, stubs[0].bytes);
	/* a stub for TLS descriptors: like the first stub, but with other slots */
	put_stub(text + 0x1030, "ff3500010000 ff2502020000 0f1f4000");
	func(0x2010, 0x10, DW_CFA_def_cfa_offset, 64);
	make_table();
	assert_cfa(0x2000, SFRAME_SP, 16);
	assert_cfa(0x2005, SFRAME_SP, 16);
	assert_cfa(0x2006, SFRAME_SP, 24);
	assert_cfa(0x200f, SFRAME_SP, 24);
	assert_cfa(0x2010, SFRAME_SP, 64);
	assert_cfa(0x201b, SFRAME_SP, 64);
	assert_cfa(0x2020, SFRAME_SP, 8);
	assert_cfa(0x202b, SFRAME_SP, 16);
	assert_none(0x2030);
	/* elsewhere, the same bytes mean nothing */
	plt_size = 0;
	gen_free(&table);
	make_table();
	assert_none(0x2000);
	assert_none(0x2020);
}

static void the_plt_of_ld(void **state)
{
	static const uint8_t plt[] = {
		DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 6, DW_CFA_def_cfa_offset, 24,
		DW_CFA_advance_loc | 10, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
		DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
		DW_OP_shl, DW_OP_plus,
	};
	unsigned int off;

	(void)state;
	start_file();
	eh_func(&e, 0x2000, 0x1000, plt, sizeof(plt));
	make_table();
	assert_cfa(0x2000, SFRAME_SP, 16);
	assert_cfa(0x2006, SFRAME_SP, 24);
	for (off = 0x10; off < 0x1000; off++)
		assert_cfa(0x2000 + off, SFRAME_SP, off % 16 >= 11 ? 16 : 8);
	assert_true(table.stats.table_fres <= 4);
	/* the rule counts from multiples of 16, the table's from the start of the function */
	start_file();
	eh_func(&e, 0x2008, 0x1000, plt, sizeof(plt));
	make_table();
	assert_cfa(0x2008, SFRAME_SP, 16);
	assert_hole(0x2018);
	assert_int_equal(table.stats.hole[STATS_CAUSE_PLT].nr, 1);
}

/* Longer than one block holds, longer than 64 KiB, with offsets of all widths */
static void long_functions(void **state)
{
	uint8_t ops[40000];
	unsigned int i, n = 0;

	(void)state;
	start_file();
	for (i = 1; i < 4000; i++) {
		ops[n++] = DW_CFA_advance_loc1;
		ops[n++] = 20;
		ops[n++] = DW_CFA_def_cfa_offset;
		ops[n++] = 0x80 | (i & 0x7f);
		ops[n++] = 0x80 | (i >> 7 & 0x7f);
		ops[n++] = i >> 5 & 0x70;
	}
	eh_func(&e, 0x1000, 80000, ops, n);
	make_table();
	for (i = 1; i < 4000; i++) {
		int32_t off = (i & 0x7f) | (i >> 7 & 0x7f) << 7 | (i >> 5 & 0x70) << 14;

		assert_cfa(0x1000 + 20 * i, SFRAME_SP, off);
		assert_cfa(0x1000 + 20 * i + 19, SFRAME_SP, off);
	}
	assert_none(0x1000 + 80000);
	for (i = 0; i < reader.nr_fdes; i++) {
		struct sframe_func f;

		assert_int_equal(sframe_get_func(&reader, i, &f), 0);
		assert_true(f.nr_fres <= 32);
	}
}

static void equal_functions_share(void **state)
{
	uint64_t i;

	(void)state;
	start_file();
	/* apart, so that they cannot be merged */
	for (i = 0; i < 100; i++)
		func(0x2000 + i * 0x100, 0x40 + i, PUSH_RBP, DW_CFA_advance_loc | 4,
		     DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc | 32, DW_CFA_def_cfa_offset, 8);
	make_table();
	assert_int_equal(reader.nr_fdes, 100);
	assert_int_equal(table.stats.table_fres, 4);
	for (i = 0; i < 100; i++) {
		assert_cfa(0x2000 + i * 0x100 + 5, SFRAME_SP, 32);
		assert_none(0x2000 + i * 0x100 + 0x40 + i);
	}
}

/* Bytes of instructions, for one FDE */
struct ops {
	uint8_t b[512];
	size_t n;
};

static void put_op(struct ops *o, const void *p, size_t n)
{
	assert_true(o->n + n <= sizeof(o->b));
	memcpy(o->b + o->n, p, n);
	o->n += n;
}

#define op(o, ...) \
	put_op(o, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

#define RBX		3
#define FUNC_SIZE	48

/*
 * A function of FUNC_SIZE bytes: at some of them the rule for rbx, or that for the CFA, changes.
 * @kept gets what rows then have to say, for each byte.
 */
static void put_keeper(uint64_t start, uint32_t *seed, uint8_t *kept)
{
	struct ops o = {};
	uint8_t slot = CFI_KEPT_IN_REG, n, last = 0, at;

	for (at = 0; at < FUNC_SIZE; at++) {
		*seed = *seed * 1103515245 + 12345;
		n = *seed >> 16 & 7;
		if (at && !(*seed >> 24 & 3)) {
			op(&o, DW_CFA_advance_loc | (at - last));
			last = at;
			switch (n) {
			case 0:
				op(&o, DW_CFA_same_value, RBX);
				slot = CFI_KEPT_IN_REG;
				break;
			case 1:
				op(&o, DW_CFA_restore | RBX);
				slot = CFI_KEPT_IN_REG;
				break;
			case 2: case 3:
				op(&o, DW_CFA_offset | RBX, 2 + 3 * (*seed >> 20 & 1));
				slot = 2 + 3 * (*seed >> 20 & 1);
				break;
			case 4:
				/* nothing of these fits into a row */
				switch (*seed >> 20 & 7) {
				case 0:
					op(&o, DW_CFA_undefined, RBX);
					break;
				case 1:
					op(&o, DW_CFA_val_offset, RBX, 3);
					break;
				case 2:
					op(&o, DW_CFA_offset | RBX, 1);
					break;
				case 3:
					op(&o, DW_CFA_offset | RBX, 0x82, 0x02);
					break;
				case 4:
					op(&o, DW_CFA_register, RBX, 12);
					break;
				case 5:
					op(&o, DW_CFA_offset_extended_sf, RBX, 0x7e);
					break;
				default:
					op(&o, DW_CFA_expression, RBX, 2, DW_OP_breg0 + 7, 8);
				}
				slot = CFI_KEPT_UNKNOWN;
				break;
			default:
				op(&o, DW_CFA_def_cfa_offset, 8 * n);
			}
		}
		kept[at] = slot;
	}
	eh_fde(&e, start, FUNC_SIZE);
	eh_bytes(&e, o.b, o.n);
	eh_end(&e);
}

/* Where the CFA counts from rbx anywhere in a file, all rows say where the callers' rbx is. */
static void rows_say_where_rbx_is_kept(void **state)
{
	enum { FUNCS = 300 };
	static uint8_t kept[FUNCS * FUNC_SIZE];
	uint32_t seed = 1, i, told = 0;
	size_t without;

	(void)state;
	start_file();
	for (i = 0; i < FUNCS; i++)
		put_keeper(TEXT + i * FUNC_SIZE, &seed, kept + i * FUNC_SIZE);
	make_table();
	without = table.size;
	assert_int_equal(reader.kept, 0);
	assert_int_equal(table.data[SFRAME_HDR_AUXHDR_LEN_OFF], 0);
	for (i = 0; i < sizeof(kept); i++) {
		assert_int_equal(sframe_find(&reader, TEXT + i, &row), 0);
		assert_int_equal(row.flags, 0);
	}

	gen_free(&table);
	func(TEXT + FUNCS * FUNC_SIZE, 16, DW_CFA_advance_loc | 4, DW_CFA_offset | RBX, 4,
	     DW_CFA_def_cfa, RBX, 32);
	make_table();
	assert_int_equal(reader.kept, SFRAME_KEPT_SIZE);
	assert_true(table.size > without);
	for (i = 0; i < sizeof(kept); i++) {
		assert_int_equal(sframe_find(&reader, TEXT + i, &row), 0);
		assert_int_equal(SFRAME_ROW_KEPT(row.flags), kept[i]);
		told += kept[i] > CFI_KEPT_IN_REG;
	}
	assert_true(told > FUNCS);
	assert_int_equal(sframe_find(&reader, TEXT + i + 4, &row), 0);
	assert_int_equal(row.cfa.base, SFRAME_REG);
	assert_int_equal(row.cfa.reg, RBX);
	assert_int_equal(SFRAME_ROW_KEPT(row.flags), 4);
}

/* A frame of a signal has its own rbx; where SP is not the CFA, no rule counts from the CFA. */
static void rows_that_do_not_say_where_rbx_is(void **state)
{
	static const uint8_t enc = SDATA4_PCREL;

	(void)state;
	start_file();
	func(TEXT, 16, DW_CFA_offset | RBX, 2, DW_CFA_def_cfa, RBX, 32);
	func(TEXT + 16, 16, DW_CFA_offset | RBX, 2, DW_CFA_def_cfa, 5, 0, DW_CFA_register, 7, 8,
	     DW_CFA_register, 6, 9, DW_CFA_register, 16, 2);
	eh_cie_raw(&e, 1, "zRS", &enc, 1);
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	func(TEXT + 32, 16, DW_CFA_offset | RBX, 2);
	make_table();
	assert_int_equal(sframe_find(&reader, TEXT, &row), 0);
	assert_int_equal(SFRAME_ROW_KEPT(row.flags), 2);
	assert_int_equal(sframe_find(&reader, TEXT + 16, &row), 0);
	assert_int_equal(row.cfa.reg, 8);
	assert_int_equal(SFRAME_ROW_KEPT(row.flags), SFRAME_KEPT_UNKNOWN);
	assert_int_equal(sframe_find(&reader, TEXT + 32, &row), 0);
	assert_int_equal(row.flags, SFRAME_ROW_SIGNAL);
}

static void files_for_which_there_is_no_table(void **state)
{
	int fd;

	(void)state;
	start_file();
	func(0x2000, 0x40, DW_CFA_nop);
	machine = EM_386;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	machine = EM_X86_64;
	type = ET_REL;
	assert_int_equal(try_file(), -EOPNOTSUPP);
	type = ET_DYN;
	e.n = 0;
	assert_int_equal(try_file(), -ENODATA);
	fd = memfd_create("empty", 0);
	assert_int_equal(gen_from_fd(fd, &table), -ENOEXEC);
	write_at(fd, 0, "\177ELF\2\1\1", 7);
	assert_int_equal(gen_from_fd(fd, &table), -ENOEXEC);
	close(fd);
	assert_int_equal(gen_from_fd(-1, &table), -EBADF);
}

static void files_cut_short(void **state)
{
	int ret;

	(void)state;
	for (cut = 1; cut < 0x2f000; cut = cut < 0x200 ? cut + 1 : cut + 0xfff) {
		size_t c = cut;

		start_file();
		func(0x2000, 0x40, DW_CFA_nop);
		cut = c;
		ret = try_file();
		if (!ret) {
			assert_int_equal(table.stats.nr_fdes, 1);
			gen_free(&table);
		} else {
			assert_true(ret == -ENOEXEC || ret == -ENODATA);
		}
	}
	cut = 0;
}

/* This must not take hours: each function could start a block with all that follow */
static void very_many_equal_functions(void **state)
{
	(void)state;
	gen_free(&table);
	make_many(300000);
	alarm(300);
	assert_int_equal(gen_from_memory(read_many, NULL, 0, &table, NULL), 0);
	alarm(0);
	assert_int_equal(table.stats.nr_fdes, 300000);
	assert_int_equal(table.stats.covered_bytes, 300000 * 16);
	assert_int_equal(table.stats.table_fres, 1);
	free(many);
	gen_free(&table);
}

static int read_self(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	memcpy(to, (void *)(uintptr_t)addr, len);
	return 0;
}

static int read_nothing(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	(void)addr;
	(void)to;
	(void)len;
	return -EIO;
}

static void the_vdso(void **state)
{
	uint64_t addr = getauxval(AT_SYSINFO_EHDR), bias = 0;

	(void)state;
	assert_int_equal(gen_from_memory(read_nothing, NULL, addr, &table, NULL), -EIO);
	if (!addr)
		skip();
	assert_int_equal(gen_from_memory(read_self, NULL, addr, &table, &bias), 0);
	assert_int_equal(bias, addr);
	assert_true(table.stats.nr_fdes > 3);
	assert_true(table.stats.covered_bytes > 100);
	assert_int_equal(gen_open(&table, &reader), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found),
		cmocka_unit_test(flexible_rules),
		cmocka_unit_test(sp_in_memory),
		cmocka_unit_test(rules_that_become_holes),
		cmocka_unit_test(outermost_and_signal_frames),
		cmocka_unit_test(padding_has_the_rule_of_the_function_after_it),
		cmocka_unit_test(padding_after_a_system_call_is_a_hole),
		cmocka_unit_test(overlapping_fdes),
		cmocka_unit_test(fdes_outside_of_code),
		cmocka_unit_test(stubs_without_eh_frame),
		cmocka_unit_test(the_first_stub_and_an_fde_in_between),
		cmocka_unit_test(the_plt_of_ld),
		cmocka_unit_test(long_functions),
		cmocka_unit_test(equal_functions_share),
		cmocka_unit_test(rows_say_where_rbx_is_kept),
		cmocka_unit_test(rows_that_do_not_say_where_rbx_is),
		cmocka_unit_test(files_for_which_there_is_no_table),
		cmocka_unit_test(files_cut_short),
		cmocka_unit_test(very_many_equal_functions),
		cmocka_unit_test(the_vdso),
	};
	int ret = cmocka_run_group_tests_name("gen", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
