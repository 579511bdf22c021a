// SPDX-License-Identifier: GPL-2.0
/*
 * go.c - compares the generated tables of Go programs with .debug_frame, at every pc
 *
 * Usage: go [-x] FILE...
 *
 * Go's linker writes .debug_frame, if it is not told to leave out debug information: CFA and RA for
 * each pc. libdw reads it. The made-up machine of oracle.c says if the table comes to the same.
 * .debug_frame does not speak of FP, see tests/stacks for that. Nor does it know of stacks that the
 * runtime switches: where a row counts from FP after such a switch, where the frame is outermost,
 * and where the table has no row, there is nothing to compare. The oracle counts these pcs, and
 * fails if they are more than one of a hundred (arm64: of thirty, since the runtime's functions in
 * assembler have frames in other forms there). On arm64 .debug_frame has RA at SP, also after a
 * function has moved SP again, which a few in assembler do. RA stays where it is.
 *
 *	-x	break the table on purpose, some bytes of rows: the oracle must find it
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"
#include "oracle.h"

#define MAX_PRINTED	20

struct file {
	const char *name;
	Dwarf_CFI *cfi;
	struct gen_table table;
	struct sframe_table reader;
	uint64_t pcs, holes, outermost, by_fp, signals, moved, wrong;
};

static uint64_t value_of(const struct sframe_rule *rule, uint64_t pc, uint64_t cfa, uint64_t same)
{
	uint64_t v;

	if (rule->base == SFRAME_SAME)
		return same;
	v = rule->base == SFRAME_CFA ? cfa : reg_value(machine->sp, pc);
	v += rule->off;
	return rule->deref ? memory(v) + rule->add : v;
}

static void compare(struct file *f, uint64_t pc, const struct answer *a)
{
	struct sframe_row row;
	uint64_t cfa, ra;
	int ret = sframe_find(&f->reader, pc, &row);

	f->pcs++;
	if (ret) {
		f->holes++;
		if (ret != -ENOENT && ret != -ESRCH)
			f->wrong++;
		return;
	}
	if (row.ra.base == SFRAME_UNDEFINED) {
		f->outermost++;
		return;
	}
	if (row.cfa.base != SFRAME_SP) {
		f->by_fp++;
		return;
	}
	f->signals += !!(row.flags & SFRAME_ROW_SIGNAL);
	cfa = value_of(&row.cfa, pc, 0, 0);
	ra = value_of(&row.ra, pc, cfa, machine->link ? reg_value(machine->ra, pc) : 0);
	if (machine->link && cfa == a->cfa && ra != a->ra && row.ra.base == SFRAME_CFA &&
	    -row.ra.off < row.cfa.off && a->ra == memory(reg_value(machine->sp, pc))) {
		f->moved++;
		return;
	}
	if ((cfa != a->cfa || ra != a->ra) && f->wrong++ < MAX_PRINTED)
		printf("%s: %#" PRIx64 ": %s differs\n", f->name, pc,
		       cfa != a->cfa ? "CFA" : "RA");
}

static void check_func(struct file *f, uint64_t start, uint64_t end)
{
	uint64_t pc, row_start = 0, row_end = 0;
	struct answer a;

	for (pc = start; pc < end; pc++) {
		if (pc >= row_end || pc < row_start) {
			if (ask_libdw(f->cfi, pc, &a, &row_start, &row_end) || a.outermost) {
				/* the last byte of a function is in no FDE */
				row_end = pc + 1;
				continue;
			}
		}
		compare(f, pc, &a);
	}
}

static void check_symbols(struct file *f, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;
	GElf_Sym sym;
	size_t i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size)
				check_func(f, sym.st_value, sym.st_value + sym.st_size);
		}
	}
}

/* Some rows in the middle of the table count from CFAs that are wrong by 8. */
static void break_table(struct gen_table *t)
{
	size_t i;

	for (i = 0; i < 64; i++)
		t->data[t->size / 2 + i] ^= 8;
}

static int check_file(const char *name, bool broken)
{
	struct file f = { .name = name };
	int fd = open(name, O_RDONLY | O_CLOEXEC), ret = 1;
	Dwarf *dwarf;
	Elf *elf;

	if (fd < 0 || gen_from_fd(fd, &f.table)) {
		printf("%s: no table\n", name);
		return 1;
	}
	if (broken)
		break_table(&f.table);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	f.cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	if (!elf || !f.cfi || !set_machine(elf) || gen_open(&f.table, &f.reader)) {
		printf("%s: no .debug_frame, or not a table\n", name);
		goto out;
	}
	check_symbols(&f, elf);
	printf("%s: %" PRIu64 " pcs: %" PRIu64 " without a row, %" PRIu64 " outermost, %" PRIu64
	       " by FP on another stack, %" PRIu64 " interrupted; %" PRIu64 " wrong\n", name, f.pcs,
	       f.holes, f.outermost, f.by_fp, f.signals, f.wrong);
	ret = f.wrong || !f.pcs || f.moved > 100 ||
	      (f.holes + f.outermost + f.by_fp) * (machine->link ? 30 : 100) > f.pcs;
out:
	gen_free(&f.table);
	dwarf_end(dwarf);
	close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	bool broken = argc > 1 && !strcmp(argv[1], "-x");
	int i, ret = 0;

	elf_version(EV_CURRENT);
	for (i = 1 + broken; i < argc; i++)
		ret |= check_file(argv[i], broken);
	return ret;
}
