// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * golang.c - the functions of a Go program that has no symbols
 *
 * Stripped Go programs keep .gopclntab, see go/go.h: names of all functions, files and lines. In a
 * position-independent program that a linker of C made, the table is a part of .data.rel.ro.
 * Programs with symbols do not need it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/go/go.h"

#define TABLE_ALIGN	32

static bool has_symbols(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

/* Find the table in the @size bytes at @data. @t gets the bytes from there on. */
static bool search_data(const uint8_t *data, size_t size, uint64_t vaddr, struct go_table *t)
{
	size_t i;

	for (i = -vaddr & (TABLE_ALIGN - 1); i + GO_HEADER <= size; i += TABLE_ALIGN) {
		*t = (struct go_table){ .data = data + i, .size = size - i };
		if (go_may_open(data + i) && !go_open(t))
			return true;
	}
	return false;
}

/* Find the table in the file. Sets *@vaddr to its address. */
static bool find_table(Elf *elf, struct go_table *t, uint64_t *vaddr)
{
	Elf_Scn *scn = NULL, *relro = NULL;
	bool is_go = false;
	GElf_Shdr shdr;
	Elf_Data *data;
	const char *name;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, strings, shdr.sh_name) : NULL;
		if (!name || shdr.sh_type == SHT_NOBITS)
			continue;
		if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
			break;
		if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"))
			is_go = true;
		else if (!strcmp(name, ".data.rel.ro"))
			relro = scn;
	}
	if (!scn && is_go)
		scn = relro;
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || !gelf_getshdr(scn, &shdr) || data->d_size > GO_MAX_TABLE ||
	    !search_data(data->d_buf, data->d_size, shdr.sh_addr, t))
		return false;
	*vaddr = shdr.sh_addr + (t->data - (const uint8_t *)data->d_buf);
	return true;
}

/* The room arch knows this, too, but symbols are read without Capstone. */
static bool is_relative(uint16_t machine, uint32_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE;
	case EM_S390:
		return type == R_390_RELATIVE;
	default:
		return false;
	}
}

/* The word that a relocation puts at @addr; 0: not known. */
static uint64_t find_relocated(Elf *elf, uint16_t machine, uint64_t addr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;
	GElf_Rela rela;
	int i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(scn, NULL);
		for (i = 0; data && gelf_getrela(data, i, &rela); i++) {
			if (rela.r_offset == addr &&
			    is_relative(machine, GELF_R_TYPE(rela.r_info)))
				return rela.r_addend;
		}
	}
	return 0;
}

static bool open_table(Elf *elf, struct go_table *t)
{
	uint64_t vaddr;
	GElf_Ehdr ehdr;

	if (!find_table(elf, t, &vaddr) || !gelf_getehdr(elf, &ehdr))
		return false;
	if (!t->text_start && go_find_text_field(t))
		t->text_start = find_relocated(elf, ehdr.e_machine, vaddr + go_find_text_field(t));
	if (!t->text_start && go_find_text_field(t))
		t->text_start = go_find_text_by_entry(t, ehdr.e_entry);
	return t->nr_funcs && (t->text_start || !go_find_text_field(t));
}

/* Copy the table, for lines. */
static int copy_table(struct symtab *tab, const struct go_table *t)
{
	uint8_t *bytes = malloc(t->size);

	tab->go = malloc(sizeof(*tab->go));
	if (!bytes || !tab->go) {
		free(bytes);
		free(tab->go);
		tab->go = NULL;
		return -ENOMEM;
	}
	memcpy(bytes, t->data, t->size);
	*tab->go = *t;
	tab->go->data = bytes;
	return 0;
}

int golang_collect(struct symtab *tab, struct collect *c, Elf *elf, bool lines)
{
	struct go_table t;
	struct go_func f;
	const char *name;
	uint32_t i;
	int ret = 0;

	if (has_symbols(elf) || !open_table(elf, &t))
		return 0;
	for (i = 0; i < t.nr_funcs && !ret; i++) {
		GElf_Sym sym = { .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC) };

		if (go_get_func(&t, i, &f) || f.start == f.end)
			continue;
		sym.st_value = f.start;
		sym.st_size = f.end - f.start;
		name = go_get_name(&t, f.name);
		if (name && *name)
			ret = symtab_add_func(c, &sym, name);
	}
	return ret || !lines ? ret : copy_table(tab, &t);
}

bool symtab_find_go_line(const struct symtab *tab, uint64_t addr, const char **file, uint32_t *line)
{
	struct go_func f;

	return tab->go && !go_find_func(tab->go, addr, &f) &&
	       go_find_line(tab->go, &f, addr, file, line);
}

void golang_free(struct symtab *tab)
{
	if (tab->go)
		free((void *)tab->go->data);
	free(tab->go);
}
