// SPDX-License-Identifier: GPL-2.0
/*
 * ends.c - find the reasons why incomplete stacks end
 *
 * The kernel's flag says that a walk gave up, and the last frame shows the place. The table of that
 * place gives the reason. The table is made now, from the file on this machine if it is the traced
 * file. So with the files of another machine, the reasons are known for its recordings too.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "libunwind-user/sframe/sframe.h"
#include "stat.h"

struct stat_table {
	bool usable;
	struct gen_table table;
	struct sframe_table reader;
	GElf_Phdr load[16];
	size_t nr_loads;
};

static void read_loads(struct stat_table *t, int fd)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Phdr ph;
	size_t nr, i;

	if (elf && !elf_getphdrnum(elf, &nr)) {
		for (i = 0; i < nr && t->nr_loads < 16 && gelf_getphdr(elf, i, &ph); i++)
			if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
				t->load[t->nr_loads++] = ph;
	}
	elf_end(elf);
}

/* Make and open the table of a file; NULL if there is not enough memory. */
static struct stat_table *open_table(const struct stat_file *f, const char *sysroot)
{
	struct stat_table *t = calloc(1, sizeof(*t));
	int fd = t ? stat_open_traced(f->file, sysroot) : -1;

	if (fd < 0)
		return t;
	read_loads(t, fd);
	t->usable = !gen_from_fd(fd, &t->table) && t->table.stats.table_fdes &&
		    !gen_open(&t->table, &t->reader);
	close(fd);
	return t;
}

static enum end_reason find_reason(const struct stat_table *t, uint64_t offset, bool innermost)
{
	struct sframe_row row;
	uint64_t pc = 0;
	size_t i;

	for (i = 0; i < t->nr_loads; i++) {
		if (offset - t->load[i].p_offset < t->load[i].p_filesz)
			break;
	}
	if (i < t->nr_loads)
		pc = offset - t->load[i].p_offset + t->load[i].p_vaddr;
	switch (i < t->nr_loads ? sframe_find(&t->reader, pc, &row) : -ESRCH) {
	case 0:
		break;
	case -ESRCH:
		return END_NOT_COVERED;
	default:
		return END_HOLE;
	}
	if (!innermost && (row.cfa.base == SFRAME_REG || row.ra.base == SFRAME_REG ||
			   row.fp.base == SFRAME_REG))
		return END_REGISTER;
	return END_COVERED;
}

enum end_reason stat_find_end_reason(struct stat_file *f, uint64_t offset, bool innermost,
				     const char *sysroot)
{
	if (f->known == STAT_NO_FILE)
		return END_NO_FILE;
	if (f->known == STAT_UNKNOWN)
		return END_UNKNOWN;
	if (f->cause != TABLES_COVERED)
		return END_NO_TABLE;
	if (!f->table)
		f->table = open_table(f, sysroot);
	if (!f->table || !f->table->usable)
		return END_UNKNOWN;
	return find_reason(f->table, offset - (!innermost && offset), innermost);
}

void stat_table_free(struct stat_table *t)
{
	if (!t)
		return;
	gen_free(&t->table);
	free(t);
}
