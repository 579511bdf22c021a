// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * elf.c - the functions of one ELF file as a sorted index
 *
 * Functions of .symtab and .dynsym go into one array. Where several have the same address (read,
 * __read, __libc_read), the index keeps the name a person would write: fewest leading underscores,
 * then global before weak before local. extent.c says which addresses each of them names. The file
 * is read, not mapped: a file that is cut short meanwhile must not raise SIGBUS.
 *
 * Other files may hold symbols for this file (.gnu_debugdata, separate debug files). The caller
 * adds them to the index with symtab_collect().
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/* The biggest programs have a few million; a broken size must not take all memory. */
#define MAX_SYMS	(16u << 20)
#define MAX_POOL	(1u << 30)

struct collect {
	struct symtab *tab;
	size_t room, pool_room;
	struct bounds bounds;
};

static uint32_t get_rank(const char *name, int bind)
{
	uint32_t rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;
	uint32_t under = strspn(name, "_");

	return rank + 4 * (15 - (under < 15 ? under : 15));
}

int symtab_add_func(struct collect *c, const GElf_Sym *s, const char *name)
{
	struct symtab *tab = c->tab;
	size_t len = strlen(name) + 1;
	struct sym *sym;

	if (tab->nr_syms >= MAX_SYMS || tab->pool_size + len > MAX_POOL)
		return 0;
	if (vec_grow(&tab->syms, &c->room, tab->nr_syms, 1, sizeof(*tab->syms)) ||
	    vec_grow(&tab->pool, &c->pool_room, tab->pool_size, len, 1))
		return -ENOMEM;
	memcpy(tab->pool + tab->pool_size, name, len);
	sym = &tab->syms[tab->nr_syms++];
	sym->addr = s->st_value;
	sym->size = s->st_size;
	sym->name = tab->pool_size;
	sym->unsized = false;
	sym->rank = get_rank(name, GELF_ST_BIND(s->st_info));
	tab->pool_size += len;
	return 0;
}

/* Does section @ndx hold code? Labels in assembler code carry no type. */
static bool is_code(Elf *elf, size_t ndx)
{
	Elf_Scn *scn = ndx && ndx < SHN_LORESERVE ? elf_getscn(elf, ndx) : NULL;
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

static int add_bound(struct collect *c, uint64_t addr)
{
	struct bounds *b = &c->bounds;

	if (b->nr >= MAX_SYMS)
		return 0;
	if (vec_reserve(b, 1))
		return -ENOMEM;
	b->v[b->nr++] = addr;
	return 0;
}

/*
 * Add a symbol of a function. Other symbols of code end the function before them, as do $x and the
 * like, which mark code and data. @all: the symbol is of .symtab, not of .dynsym.
 */
static int collect_sym(struct collect *c, Elf *elf, const GElf_Sym *s, const char *name, bool all)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || !s->st_value || type == STT_TLS)
		return 0;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && !is_code(elf, s->st_shndx))
		return 0;
	/*
	 * Linkers and strip drop all local symbols or none, also those of crt1.o; but strip keeps
	 * $x and the like.
	 */
	if (all && type != STT_SECTION && GELF_ST_BIND(s->st_info) == STB_LOCAL && name &&
	    *name != '$')
		c->bounds.complete = true;
	if (!name || !*name || (type == STT_NOTYPE && *name == '$') ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return add_bound(c, s->st_value);
	return symtab_add_func(c, s, name);
}

static int collect_table(struct collect *c, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr, i;
	int ret;

	if (!data || !data->d_buf || !shdr->sh_entsize)
		return 0;
	nr = data->d_size / shdr->sh_entsize;
	for (i = 0; i < nr; i++) {
		GElf_Sym s;

		if (i > INT32_MAX || !gelf_getsym(data, i, &s))
			break;
		ret = collect_sym(c, elf, &s, elf_strptr(elf, shdr->sh_link, s.st_name),
				  shdr->sh_type == SHT_SYMTAB);
		if (ret)
			return ret;
	}
	return 0;
}

int symtab_collect(struct collect *c, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	while (!ret && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_flags & SHF_EXECINSTR) {
			ret = add_bound(c, shdr.sh_addr);
			if (!ret)
				ret = add_bound(c, shdr.sh_addr + shdr.sh_size);
		} else if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM) {
			ret = collect_table(c, elf, scn, &shdr);
		}
	}
	return ret;
}

size_t symtab_find_build_id(Elf_Data *data, uint8_t id[UU_BUILD_ID_MAX])
{
	size_t pos = 0, name, desc;
	GElf_Nhdr nhdr;

	while (data && (pos = gelf_getnote(data, pos, &nhdr, &name, &desc)) > 0) {
		if (nhdr.n_type != NT_GNU_BUILD_ID || nhdr.n_namesz != sizeof("GNU") ||
		    memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) ||
		    !nhdr.n_descsz || nhdr.n_descsz > UU_BUILD_ID_MAX)
			continue;
		memcpy(id, (char *)data->d_buf + desc, nhdr.n_descsz);
		return nhdr.n_descsz;
	}
	return 0;
}

static void read_note(struct symtab *tab, Elf *elf, const GElf_Phdr *phdr)
{
	if (!tab->build_id_size)
		tab->build_id_size = symtab_find_build_id(elf_getdata_rawchunk(elf, phdr->p_offset,
			phdr->p_filesz, phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			tab->build_id);
}

size_t symbols_read_build_id(int fd, uint8_t id[UU_BUILD_ID_MAX])
{
	struct symtab tab = { .build_id_size = 0 };
	Elf *elf = NULL;
	GElf_Phdr phdr;
	size_t nr, i;

	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && !elf_getphdrnum(elf, &nr)) {
		for (i = 0; i < nr && i < 65535 && gelf_getphdr(elf, i, &phdr); i++) {
			if (phdr.p_type == PT_NOTE)
				read_note(&tab, elf, &phdr);
		}
	}
	elf_end(elf);
	memcpy(id, tab.build_id, tab.build_id_size);
	return tab.build_id_size;
}

static int read_segments(struct symtab *tab, Elf *elf)
{
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr) || nr > 65535)
		return -ENOEXEC;
	tab->segs = calloc(nr ? nr : 1, sizeof(*tab->segs));
	if (!tab->segs)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type == PT_NOTE)
			read_note(tab, elf, &phdr);
		if (phdr.p_type != PT_LOAD || phdr.p_offset + phdr.p_filesz < phdr.p_offset ||
		    phdr.p_vaddr + phdr.p_filesz < phdr.p_vaddr)
			continue;
		tab->segs[tab->nr_segs].exec = phdr.p_flags & PF_X;
		tab->segs[tab->nr_segs].offset = phdr.p_offset;
		tab->segs[tab->nr_segs].filesz = phdr.p_filesz;
		tab->segs[tab->nr_segs++].vaddr = phdr.p_vaddr;
	}
	return 0;
}

int symtab_read(struct symtab *tab, int fd, debug_collect_fn *collect_debug, void *arg)
{
	struct collect c = { .tab = tab };
	GElf_Ehdr ehdr;
	int ret = -ENOEXEC;
	Elf *elf;

	memset(tab, 0, sizeof(*tab));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		goto out;
	tab->machine = ehdr.e_machine;
	ret = read_segments(tab, elf);
	if (!ret)
		ret = symtab_collect(&c, elf);
	if (!ret)
		ret = golang_collect(tab, &c, elf, collect_debug);
	if (!ret && collect_debug)
		ret = collect_debug(arg, &c, elf);
	if (!ret)
		ret = extent_make(tab, &c.bounds, elf);
	free(c.bounds.v);
out:
	elf_end(elf);
	if (ret)
		symtab_free(tab);
	return ret;
}

void symtab_free(struct symtab *tab)
{
	golang_free(tab);
	free(tab->syms);
	free(tab->segs);
	free(tab->pool);
	free(tab->cover.v);
	memset(tab, 0, sizeof(*tab));
}

const struct sym *symtab_find(const struct symtab *tab, uint64_t addr)
{
	uint32_t i = cover_find(&tab->cover, addr);

	return i == COVER_NONE ? NULL : &tab->syms[i];
}

int symtab_to_addr(const struct symtab *tab, uint64_t offset, uint64_t *addr)
{
	size_t i;

	for (i = 0; i < tab->nr_segs; i++) {
		if (offset < tab->segs[i].offset ||
		    offset - tab->segs[i].offset >= tab->segs[i].filesz)
			continue;
		*addr = offset - tab->segs[i].offset + tab->segs[i].vaddr;
		return 0;
	}
	return -1;
}

int symtab_to_offset(const struct symtab *tab, uint64_t addr, uint64_t *offset)
{
	size_t i;

	for (i = 0; i < tab->nr_segs; i++) {
		if (addr < tab->segs[i].vaddr ||
		    addr - tab->segs[i].vaddr >= tab->segs[i].filesz)
			continue;
		*offset = addr - tab->segs[i].vaddr + tab->segs[i].offset;
		return 0;
	}
	return -1;
}
