// SPDX-License-Identifier: GPL-2.0
/*
 * test_sframe_gas.c - reads .sframe sections that this machine's assembler and linker write
 *
 * binutils write version 1 (2.40), version 2 (2.41 and later) or version 3 (2.46 and later).
 * Tables of sframe_build.h share this project's reading of the format. Tables that binutils write
 * do not share it.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "libunwind-user/sframe/sframe.h"

/* The comment next to an instruction has its length, and the rule before it. */
static const char source[] =
	"	.text\n"
	"	.globl frame, leaf, far\n"
	"frame:	.cfi_startproc\n"
	"	push %rbp\n"			/* 1 byte; SP + 8 */
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	mov %rsp, %rbp\n"		/* 3 bytes; SP + 16, FP at -16 */
	"	.cfi_def_cfa_register 6\n"
	"	nop\n"				/* FP + 16, FP at -16 */
	"	pop %rbp\n"
	"	.cfi_def_cfa 7, 8\n"
	"	.cfi_restore 6\n"
	"	ret\n"				/* SP + 8 */
	"	.cfi_endproc\n"
	"	.balign 16\n"
	"leaf:	.cfi_startproc\n"
	"	nop\n"				/* SP + 8 */
	"	ret\n"
	"	.cfi_endproc\n"
	/* longer than 256 bytes: starts of two bytes; a frame that takes words of four */
	"	.balign 4096\n"
	"far:	.cfi_startproc\n"
	"	sub $0x12340, %rsp\n"		/* 7 bytes; SP + 8 */
	"	.cfi_def_cfa_offset 0x12348\n"
	"	.fill 700, 1, 0x90\n"		/* SP + 0x12348 */
	"	add $0x12340, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"				/* SP + 8 */
	"	.cfi_endproc\n";

static char dir[] = "/tmp/ustack-gas-XXXXXX";
static struct sframe_table t;
static u64 frame, leaf, far;
static Elf *elf;
static int fd = -1;

static bool assemble(void)
{
	char path[64], cmd[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/a.s", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(source, f);
	assert_int_equal(fclose(f), 0);
	snprintf(cmd, sizeof(cmd), "as --gsframe -o %s/a.o %s/a.s 2>/dev/null && "
		 "ld -shared -o %s/a.so %s/a.o 2>/dev/null", dir, dir, dir, dir);
	if (system(cmd))
		return false;
	snprintf(path, sizeof(path), "%s/a.so", dir);
	fd = open(path, O_RDONLY);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	return elf && gelf_getclass(elf) == ELFCLASS64;
}

static void find_symbols(Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *name;
	GElf_Sym sym;
	int i;

	for (i = 0; gelf_getsym(data, i, &sym); i++) {
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!strcmp(name, "frame"))
			frame = sym.st_value;
		else if (!strcmp(name, "leaf"))
			leaf = sym.st_value;
		else if (!strcmp(name, "far"))
			far = sym.st_value;
	}
}

static int setup(void **state)
{
	Elf_Scn *scn = NULL;
	const char *name;
	Elf_Data *data;
	GElf_Shdr sh;
	size_t str;

	(void)state;
	memset(&t, 0, sizeof(t));
	if (!mkdtemp(dir))
		return -1;
	if (!assemble())
		return 0;
	if (elf_getshdrstrndx(elf, &str))
		return -1;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			return -1;
		name = elf_strptr(elf, str, sh.sh_name);
		if (!strcmp(name, ".sframe")) {
			data = elf_getdata(scn, NULL);
			t.mem = data->d_buf;
			t.size = data->d_size;
			t.base = sh.sh_addr;
		} else if (!strcmp(name, ".text")) {
			t.text_start = sh.sh_addr;
			t.text_size = sh.sh_size;
		} else if (sh.sh_type == SHT_DYNSYM) {
			find_symbols(scn, &sh);
		}
	}
	return 0;
}

static int teardown(void **state)
{
	char cmd[64];

	(void)state;
	elf_end(elf);
	close(fd);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

static void assert_row(u64 pc, u8 base, s32 off, s32 fp)
{
	struct sframe_row row;

	assert_int_equal(sframe_find(&t, pc, &row), 0);
	assert_int_equal(row.cfa.base, base);
	assert_int_equal(row.cfa.off, off);
	assert_int_equal(row.cfa.deref, 0);
	assert_int_equal(row.ra.base, SFRAME_CFA);
	assert_int_equal(row.ra.off, -8);
	assert_int_equal(row.fp.base, fp ? SFRAME_CFA : SFRAME_SAME);
	assert_int_equal(row.fp.off, fp);
	assert_true(sframe_row_holds(&row, pc));
}

static void the_assemblers_table_is_read(void **state)
{
	struct sframe_row row;
	u32 i;

	(void)state;
	if (!t.mem) {
		printf("skipped: this machine's as and ld write no .sframe for amd64\n");
		skip();
	}
	assert_int_equal(sframe_open(&t), 0);
	printf("binutils of this machine: version %u\n", t.version);
	assert_int_equal(t.nr_fdes, 3);

	assert_row(frame, SFRAME_SP, 8, 0);
	for (i = 1; i < 4; i++)
		assert_row(frame + i, SFRAME_SP, 16, -16);
	for (i = 4; i < 6; i++)
		assert_row(frame + i, SFRAME_FP, 16, -16);
	assert_row(frame + 6, SFRAME_SP, 8, 0);
	assert_int_equal(sframe_find(&t, frame + 7, &row), -ESRCH);
	assert_row(leaf, SFRAME_SP, 8, 0);
	assert_row(leaf + 1, SFRAME_SP, 8, 0);
	assert_int_equal(sframe_find(&t, leaf + 2, &row), -ESRCH);
	for (i = 0; i < 7; i++)
		assert_row(far + i, SFRAME_SP, 8, 0);
	for (; i < 7 + 700 + 7; i++)
		assert_row(far + i, SFRAME_SP, 0x12348, 0);
	assert_row(far + i, SFRAME_SP, 8, 0);
	assert_int_equal(sframe_find(&t, far + i + 1, &row), -ESRCH);
	assert_int_equal(sframe_find(&t, frame - 1, &row), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_assemblers_table_is_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
