/* SPDX-License-Identifier: GPL-2.0 */
/* flow_arch.h - the shared part of test_flow_arm64.c and test_flow_s390x.c */
#ifndef FLOW_ARCH_H
#define FLOW_ARCH_H

#include "tests/unit/gen/arch_build.h"
#include "flow_rows.h"
#include "libunwind-user/gen/impl.h"
#include "libunwind-user/sframe/sframe.h"

static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

/* The file has only one FDE, at the end of the code. */
static void start_flow(uint16_t elf_machine)
{
	gen_free(&table);
	start_file(elf_machine);
	func(TEXT + TEXT_SIZE - 16, 16, DW_CFA_nop);
}

/* A test that starts with such a file */
#define flow_test(name)	cmocka_unit_test_setup(name, fresh_flow)

/* Make the table of the file in the buffer */
static void make_file_table(void)
{
	int fd = memfd_create("file", 0);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, file, sizeof(file), 0), sizeof(file));
	gen_free(&table);
	assert_int_equal(gen_from_fd(fd, &table), 0);
	close(fd);
	assert_int_equal(gen_open(&table, &reader), 0);
}

static inline void make_table(void)
{
	end_file();
	make_file_table();
}

/* CFA = SP or FP + @cfa_off; RA and FP at CFA + n, or in their registers if 0 */
#define assert_row_flags(pc, reg, cfa_off, ra_off, fp_off, what) do {	\
	assert_int_equal(sframe_find(&reader, pc, &row), 0);		\
	assert_int_equal(row.cfa.base, reg);				\
	assert_int_equal(row.cfa.off, cfa_off);				\
	assert_int_equal(row.ra.base, ra_off ? SFRAME_CFA : SFRAME_SAME); \
	assert_int_equal(row.ra.off, ra_off);				\
	assert_int_equal(row.fp.base, fp_off ? SFRAME_CFA : SFRAME_SAME); \
	assert_int_equal(row.fp.off, fp_off);				\
	assert_int_equal(row.flags, what);				\
} while (0)

#define assert_row(pc, reg, cfa_off, ra_off, fp_off)			\
	assert_row_flags(pc, reg, cfa_off, ra_off, fp_off, 0)
#define assert_mangled(pc, reg, cfa_off, ra_off, fp_off)		\
	assert_row_flags(pc, reg, cfa_off, ra_off, fp_off, SFRAME_ROW_MANGLED)

#endif
