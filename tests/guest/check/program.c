// SPDX-License-Identifier: GPL-2.0
/* The few facts of an ELF file that convert a file offset back to an address. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event.h"

static int report_bad(const char *path, const char *why)
{
	fprintf(stderr, "%s: cannot be used as a program: %s\n", path, why);
	return -EINVAL;
}

static void add_load(struct program *p, uint64_t offset, uint64_t vaddr, uint64_t size)
{
	if (p->nr_load == sizeof(p->load) / sizeof(p->load[0]))
		return;
	p->load[p->nr_load].offset = offset;
	p->load[p->nr_load].vaddr = vaddr;
	p->load[p->nr_load++].size = size;
}

int program_read(struct program *p, const char *path)
{
	FILE *f = fopen(path, "r");
	static char head[4096];
	Elf64_Ehdr *e64 = (void *)head;
	Elf32_Ehdr *e32 = (void *)head;
	size_t size, i;

	if (!f)
		return report_bad(path, strerror(errno));
	size = fread(head, 1, sizeof(head), f);
	fclose(f);
	if (size < sizeof(*e64) || memcmp(head, ELFMAG, SELFMAG))
		return report_bad(path, "it is not an ELF file");
	memset(p, 0, sizeof(*p));
	p->path = path;
	p->base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (e64->e_ident[EI_CLASS] == ELFCLASS64) {
		Elf64_Phdr *ph = (void *)(head + e64->e_phoff);

		if (e64->e_phoff + e64->e_phnum * sizeof(*ph) > size)
			return report_bad(path, "its program headers are not in its first page");
		p->entry = e64->e_entry;
		for (i = 0; i < e64->e_phnum; i++) {
			if (ph[i].p_type == PT_LOAD)
				add_load(p, ph[i].p_offset, ph[i].p_vaddr, ph[i].p_filesz);
		}
	} else {
		Elf32_Phdr *ph = (void *)(head + e32->e_phoff);

		if (e32->e_phoff + e32->e_phnum * sizeof(*ph) > size)
			return report_bad(path, "its program headers are not in its first page");
		p->entry = e32->e_entry;
		for (i = 0; i < e32->e_phnum; i++) {
			if (ph[i].p_type == PT_LOAD)
				add_load(p, ph[i].p_offset, ph[i].p_vaddr, ph[i].p_filesz);
		}
	}
	return 0;
}

uint64_t program_address(const struct program *p, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < p->nr_load; i++) {
		if (offset >= p->load[i].offset &&
		    offset - p->load[i].offset < p->load[i].size)
			return offset - p->load[i].offset + p->load[i].vaddr;
	}
	return 0;
}
