// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lines.c - from (file, offset) to source lines and all functions at that address
 *
 * The line table gives the innermost line. From there, each inlined call gives the line of the next
 * outer function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"

/* Deeper than any compiler inlines. */
#define MAX_DEPTH	512

struct lines {
	struct uu_frame frames[MAX_DEPTH];
};

static struct named *find_slot(struct named *v, size_t room, uint64_t die)
{
	size_t i = (die * 0x9e3779b97f4a7c15ull >> 20) & (room - 1);

	while (v[i].die != UINT64_MAX && v[i].die != die)
		i = (i + 1) & (room - 1);
	return &v[i];
}

static int grow_names(struct debug *d)
{
	size_t room = d->names_room ? d->names_room * 2 : 256, i;
	struct named *v = malloc(room * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (i = 0; i < room; i++) {
		v[i].die = UINT64_MAX;
		v[i].name = NULL;
		v[i].demangled = NULL;
	}
	for (i = 0; i < d->names_room; i++)
		if (d->names[i].die != UINT64_MAX)
			*find_slot(v, room, d->names[i].die) = d->names[i];
	free(d->names);
	d->names = v;
	d->names_room = room;
	return 0;
}

/* The name of a DIE, demangled once; NULL without one. */
static const char *get_die_name(struct uu_symbols *syms, struct debug *d, uint64_t die)
{
	struct named *n;

	if (2 * d->nr_names >= d->names_room && grow_names(d))
		return NULL;
	n = find_slot(d->names, d->names_room, die);
	if (n->die != die) {
		n->die = die;
		d->nr_names++;
		n->name = dw_get_name(&d->dw, die);
		if (n->name && !syms->no_demangle && d->dw.text_budget >= 0)
			n->demangled = symbols_demangle(n->name);
		if (n->demangled)
			d->dw.text_budget -= strlen(n->demangled);
	}
	return n->demangled ? n->demangled : n->name;
}

/* The number of functions from the outermost one to @func; 0: more than MAX_DEPTH. */
static size_t get_depth(const struct dw_unit *u, uint32_t func)
{
	size_t n = 0;

	/* parents come first in the array, so this ends */
	for (; func != DW_NO_FUNC; func = u->funcs[func].parent)
		if (++n > MAX_DEPTH)
			return 0;
	return n;
}

static size_t read_frames(struct uu_symbols *syms, struct debug *d, uint64_t addr,
			  struct uu_frame *fr)
{
	struct dw_unit *u = dw_find_unit_at(&d->dw, addr);
	const struct dw_row *row;
	uint32_t func;
	size_t n, i;

	if (!u)
		return 0;
	memset(fr, 0, sizeof(*fr));
	row = dw_read_lines(&d->dw, u) ? NULL : dw_find_row(&u->lines, addr);
	if (row) {
		fr->file = dw_get_path(&d->dw, u, row->file);
		fr->line = row->line;
	}
	func = u->split || dw_read_funcs(&d->dw, u) ? DW_NO_FUNC : cover_find(&u->cover, addr);
	n = func == COVER_NONE ? 0 : get_depth(u, func);
	for (i = 0; i < n; i++, func = u->funcs[func].parent) {
		const struct dw_func *f = &u->funcs[func];

		fr[i].name = get_die_name(syms, d, f->named);
		fr[i].inlined = i + 1 < n;
		if (i + 1 == n)
			break;
		fr[i + 1].file = dw_get_path(&d->dw, u, f->call_file);
		fr[i + 1].line = f->call_line;
	}
	return n ? n : row != NULL;
}

int uu_symbols_lines(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		     const struct uu_frame **frames, size_t *nr)
{
	struct uu_frame *fr, *last;
	struct uu_symbol sym;
	struct file *f;
	uint64_t addr;
	uint32_t line;
	size_t n = 0;
	int ret = symbols_get_file(syms, file, &f);

	*frames = NULL;
	*nr = 0;
	if (ret)
		return ret;
	if (!syms->lines)
		syms->lines = malloc(sizeof(struct lines));
	if (!syms->lines)
		return -ENOMEM;
	fr = ((struct lines *)syms->lines)->frames;
	if (symtab_to_addr(&f->tab, offset, &addr))
		return -ENOENT;
	if (!debug_open(syms, f))
		n = read_frames(syms, f->debug, addr, fr);
	if (!n) {
		memset(fr, 0, sizeof(*fr));
		n = 1;
		if (symtab_find_go_line(&f->tab, addr, &fr->file, &line))
			fr->line = line;
	}
	last = &fr[n - 1];
	if (!last->name) {
		ret = uu_symbols_find(syms, file, offset, &sym);
		if (ret && (ret != -ENOENT || (n == 1 && !last->file)))
			return ret;
		last->name = sym.name;
	}
	*frames = fr;
	*nr = n;
	return 0;
}
