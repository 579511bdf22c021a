// SPDX-License-Identifier: GPL-2.0
/* test_gen_code.c - finds the code of a file, by sections or by segments */
#include "tests/unit/flow/flow_build.h"

#define CODE		(SHF_ALLOC | SHF_EXECINSTR)
#define SHDRS		0x80000		/* the offset of the section headers */

static Elf64_Shdr shdr[80];
static unsigned int nr_shdrs;

/* The file of flow_build.h, with only what is not code from its own section headers */
static int start_sections(void)
{
	Elf64_Ehdr eh;
	int fd = open_file();

	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	assert_int_equal(pread(fd, shdr, 7 * sizeof(*shdr), eh.e_shoff), 7 * sizeof(*shdr));
	shdr[2].sh_flags = SHF_ALLOC;
	nr_shdrs = 7;
	return fd;
}

static void section(uint64_t addr, uint64_t size, uint32_t type, uint64_t flags)
{
	shdr[nr_shdrs++] = (Elf64_Shdr){
		.sh_type = type, .sh_flags = flags, .sh_addr = addr, .sh_offset = addr,
		.sh_size = size,
	};
}

static void make_sections(int fd)
{
	Elf64_Ehdr eh;

	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	eh.e_shoff = SHDRS;
	eh.e_shnum = nr_shdrs;
	put_file(fd, 0, &eh, sizeof(eh));
	if (nr_shdrs)
		put_file(fd, SHDRS, shdr, nr_shdrs * sizeof(*shdr));
	gen_free(&table);
	assert_int_equal(gen_from_fd(fd, &table), 0);
	close(fd);
	assert_int_equal(gen_open(&table, &reader), 0);
}

/* Functions at 0x2000, with .eh_frame, and at 0x2100 and 0x3000, without: ret, all of them */
static int start_functions(void)
{
	start_file();
	code(0x2000, "c3");
	covered(0x2000, 0x100, DW_CFA_nop);
	func(0x2100, "c3");
	func(0x3000, "c3");
	return start_sections();
}

static void assert_by_segments(void)
{
	assert_int_equal(table.stats.text_bytes, TEXT_SIZE);
	assert_int_equal(table.stats.gap_bytes, TEXT_SIZE - 0x100);
	assert_sp(0x2000, 8);
	assert_sp(0x2100, 8);
	assert_sp(0x3000, 8);
}

static void sections_separate_code_from_data(void **state)
{
	int fd = start_functions();

	(void)state;
	/* not sorted by address */
	section(0x2100, 0x80, SHT_PROGBITS, CODE);
	section(0x2000, 0x100, SHT_PROGBITS, CODE);
	section(0x2180, 0x2000, SHT_PROGBITS, SHF_ALLOC);
	make_sections(fd);
	assert_int_equal(table.stats.text_bytes, 0x180);
	assert_int_equal(table.stats.gap_bytes, 0x80);
	assert_int_equal(table.stats.covered_bytes, 0x101);
	assert_sp(0x2000, 8);
	assert_sp(0x2100, 8);
	assert_hole(0x3000);
	/* the table is still registered for the segment */
	assert_int_equal(table.text_start, TEXT);
	assert_int_equal(table.text_size, TEXT_SIZE);
}

static void padding_between_sections_is_no_code(void **state)
{
	int fd;

	(void)state;
	start_file();
	code(0x2000, "c3 90 90 90");
	covered(0x2000, 1, DW_CFA_nop);
	covered(0x2004, 1, DW_CFA_nop);
	fd = start_sections();
	section(0x2000, 1, SHT_PROGBITS, CODE);
	section(0x2004, 4, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_int_equal(table.stats.text_bytes, 5);
	assert_int_equal(table.stats.covered_bytes, 2);
	assert_hole(0x2002);
}

static void without_sections_segments_are_code(void **state)
{
	int fd;

	(void)state;
	start_file();
	code(0x2000, "c3");
	covered(0x2000, 0x100, DW_CFA_nop);
	dynamic(DT_INIT, 0x2100);
	code(0x2100, "c3");
	dynamic(DT_FINI, 0x3000);
	code(0x3000, "c3");
	fd = start_sections();
	make_sections(fd);		/* headers, but none for code */
	assert_by_segments();
	fd = start_sections();
	/* not mapped, not in the file, not in a segment that has code, and across its end */
	section(0x2000, 0x100, SHT_PROGBITS, SHF_EXECINSTR);
	section(0x2000, 0x100, SHT_NOBITS, CODE);
	section(DATA, 0x100, SHT_PROGBITS, CODE);
	section(TEXT + TEXT_SIZE - 1, 2, SHT_PROGBITS, CODE);
	section(0x2000, -0x2000ull + 1, SHT_PROGBITS, CODE);
	section(-1ull, 2, SHT_PROGBITS, CODE);
	section(0x2000, 0, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_by_segments();
}

static void sections_that_are_not_believed(void **state)
{
	unsigned int i;
	int fd = start_functions();

	(void)state;
	/* overlapping */
	section(0x2000, 0x101, SHT_PROGBITS, CODE);
	section(0x2100, 0x100, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_by_segments();
	/* .eh_frame knows of other code */
	fd = start_functions();
	section(0x2001, 0x200, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_by_segments();
	/* the limit, and one more */
	fd = start_functions();
	section(0x2000, 0x101, SHT_PROGBITS, CODE);
	for (i = 1; i < IMAGE_MAX_RANGES; i++)
		section(0x2200 + i, 1, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_int_equal(table.stats.text_bytes, 0x101 + i - 1);
	fd = start_functions();
	section(0x2000, 0x101, SHT_PROGBITS, CODE);
	for (i = 1; i <= IMAGE_MAX_RANGES; i++)
		section(0x2200 + i, 1, SHT_PROGBITS, CODE);
	make_sections(fd);
	assert_by_segments();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_separate_code_from_data),
		cmocka_unit_test(padding_between_sections_is_no_code),
		cmocka_unit_test(without_sections_segments_are_code),
		cmocka_unit_test(sections_that_are_not_believed),
	};
	int ret = cmocka_run_group_tests_name("gen_code", tests, NULL, NULL);

	gen_free(&table);
	return ret;
}
