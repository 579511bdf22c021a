// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * extent.c - which addresses each symbol names
 *
 * A symbol with a size names the bytes of its size and no others. Where several symbols have an
 * address, the symbol that starts last is the innermost and wins.
 *
 * Hand-written assembler often gives no size. Then nothing in the file says where the function
 * ends. Such a symbol names the code up to the first thing that can be another function: a symbol
 * of any kind, the end of a symbol, the end of the section, the start of an FDE, the end of its own
 * FDE.
 *
 * This rule holds only while the file knows its functions. A stripped file has the exported
 * functions alone: between two of them there can be others that left no trace. There the FDE is the
 * only proof, and without an FDE the symbol names its first byte. A symbol without a size can share
 * its address with a symbol that has a size. It is then another name for that function, or a
 * function that the compiler found to be empty: it names nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/cfi/cfi.h"
#include "impl.h"

struct ranges {
	struct extent_fde {
		uint64_t start, end;
	} *v;
	size_t nr, room;
};

static int add_fde(void *arg, uint64_t start, uint64_t end)
{
	struct ranges *r = arg;

	if (vec_reserve(r, 1))
		return -ENOMEM;
	r->v[r->nr].start = start;
	r->v[r->nr++].end = end;
	return CFI_SKIP;
}

/* Starts and ends of functions from .eh_frame, as far as it is not damaged */
static int read_fdes(struct ranges *r, Elf *elf)
{
	static const struct cfi_ops ops = { .fde = add_fde };
	const char *ident = elf_getident(elf, NULL);
	struct cfi_section sec = { .addr_size = 8 };
	struct cfi_stats stats;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	const char *name;
	size_t strings;
	int ret = 0;

	if (!ident || elf_getshdrstrndx(elf, &strings))
		return 0;
	sec.big_endian = ident[EI_DATA] == ELFDATA2MSB;
	sec.addr_size = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	while (!ret && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		data = name && !strcmp(name, ".eh_frame") ? elf_rawdata(scn, NULL) : NULL;
		if (!data || !data->d_buf)
			continue;
		sec.data = data->d_buf;
		sec.size = data->d_size;
		sec.vaddr = shdr.sh_addr;
		ret = cfi_parse(&sec, &ops, r, &stats);
	}
	return ret;
}

static int compare_numbers(const void *a, const void *b)
{
	return cmp_int(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_fdes(const void *a, const void *b)
{
	const struct extent_fde *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

/* Sort by address, then size; of equal ones, the best name first. */
static int compare_syms(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->addr, y->addr);
	RETURN_IF_DIFFERENT(x->size, y->size);
	RETURN_IF_DIFFERENT(y->rank, x->rank);
	return cmp_int(x->name, y->name);
}

static uint64_t get_end(const struct sym *s)
{
	return s->size > UINT64_MAX - s->addr ? UINT64_MAX : s->addr + s->size;
}

/* Keep one of the symbols with the same address and size. Returns whether some have no size. */
static bool drop_aliases(struct symtab *tab)
{
	size_t i, nr = 0, unsized = 0;

	for (i = 0; i < tab->nr_syms; i++) {
		const struct sym *s = &tab->syms[i];

		if (nr && tab->syms[nr - 1].addr == s->addr) {
			if (tab->syms[nr - 1].size == s->size)
				continue;
			if (!tab->syms[nr - 1].size) {
				nr--;
				unsized--;
			}
		}
		unsized += !s->size;
		tab->syms[nr++] = *s;
	}
	tab->nr_syms = nr;
	return unsized;
}

static int add_bounds(struct symtab *tab, struct bounds *b, const struct ranges *fdes)
{
	size_t i, n = b->nr;

	if (vec_reserve(b, 2 * tab->nr_syms + fdes->nr))
		return -ENOMEM;
	for (i = 0; i < tab->nr_syms; i++) {
		b->v[n++] = tab->syms[i].addr;
		if (tab->syms[i].size)
			b->v[n++] = get_end(&tab->syms[i]);
	}
	for (i = 0; i < fdes->nr; i++)
		b->v[n++] = fdes->v[i].start;
	b->nr = n;
	qsort(b->v, n, sizeof(*b->v), compare_numbers);
	return 0;
}

/* The positions of find_end() in two sorted lists. Symbols come by address, so they only rise. */
struct list_positions {
	size_t bound, fde;
};

/* Returns where a symbol without a size ends. */
static uint64_t find_end(const struct sym *s, const struct bounds *b, const struct ranges *fdes,
			 struct list_positions *c)
{
	uint64_t end;

	while (c->bound < b->nr && b->v[c->bound] <= s->addr)
		c->bound++;
	end = c->bound < b->nr ? b->v[c->bound] : s->addr + 1;
	while (c->fde < fdes->nr && fdes->v[c->fde].end <= s->addr)
		c->fde++;
	if (c->fde < fdes->nr && fdes->v[c->fde].start <= s->addr)
		return end < fdes->v[c->fde].end ? end : fdes->v[c->fde].end;
	return b->complete ? end : s->addr + 1;
}

static int find_ends(struct symtab *tab, struct bounds *b, Elf *elf)
{
	struct ranges fdes = {};
	struct list_positions c = {};
	int ret = read_fdes(&fdes, elf);
	size_t i;

	if (!ret)
		ret = add_bounds(tab, b, &fdes);
	if (!ret && fdes.nr)
		qsort(fdes.v, fdes.nr, sizeof(*fdes.v), compare_fdes);
	for (i = 0; !ret && i < tab->nr_syms; i++) {
		if (tab->syms[i].size)
			continue;
		tab->syms[i].size = find_end(&tab->syms[i], b, &fdes, &c) - tab->syms[i].addr;
		tab->syms[i].unsized = true;
	}
	free(fdes.v);
	return ret;
}

int extent_make(struct symtab *tab, struct bounds *b, Elf *elf)
{
	uint64_t place = 0;
	struct cover_in *in;
	size_t i;
	int ret;

	if (!tab->nr_syms)
		return 0;
	qsort(tab->syms, tab->nr_syms, sizeof(*tab->syms), compare_syms);
	if (drop_aliases(tab)) {
		ret = find_ends(tab, b, elf);
		if (ret)
			return ret;
	}
	in = malloc(tab->nr_syms * sizeof(*in));
	if (!in)
		return -ENOMEM;
	for (i = 0; i < tab->nr_syms; i++) {
		const struct sym *s = &tab->syms[i];

		/* known sizes before unknown ones, then the later start, then the better name */
		place += i && s->addr != s[-1].addr;
		in[i] = (struct cover_in){
			.lo = s->addr, .hi = get_end(s), .owner = i,
			.rank = (uint64_t)!s->unsized << 63 | place << 6 | s->rank,
		};
	}
	ret = cover_make(&tab->cover, in, tab->nr_syms);
	free(in);
	return ret;
}
