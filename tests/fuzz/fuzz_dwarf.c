// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_dwarf - hostile debug information
 *
 * Input: a byte of flags (1: big-endian), then the length (u16, little endian) and the bytes of
 * each section in the order of enum dw_section. The .debug_info, .debug_abbrev and .debug_str of
 * dwz' common file follow in the same form. mk_dwarf.py makes inputs from the output of compilers.
 *
 * The fuzzer asks for each unit's functions and lines, each function's name, each row's file, and
 * the functions at many addresses. The reader must answer any input: the innermost function comes
 * first, each function is inlined into an earlier one, and the work stays within the budget.
 * Readers go wrong where a section ends before what refers to it. So each section has a memory
 * block of its own size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/dwarf/dwarf.h"

#define NR_ALT 3

static const struct dw_span exec[] = { { 0x1000, 0x10000 }, { 0x401000, 0x10000 } };

static size_t take(const uint8_t **data, size_t *size, struct dw *dw, int i)
{
	size_t len;

	if (*size < 2)
		return 0;
	len = (*data)[0] | (*data)[1] << 8;
	*data += 2;
	*size -= 2;
	if (len > *size)
		len = *size;
	if (len) {
		dw->owned[i] = malloc(len);
		memcpy(dw->owned[i], *data, len);
		dw->sec[i].p = dw->owned[i];
		dw->sec[i].size = len;
	}
	*data += len;
	*size -= len;
	return len;
}

static size_t seen;

static void look(const char *s)
{
	if (s)
		seen += strlen(s);
}

static void ask(struct dw *dw, struct dw_unit *u, uint64_t addr)
{
	const struct dw_row *r;
	uint32_t f;

	r = dw_read_lines(dw, u) ? NULL : dw_find_row(&u->lines, addr);
	if (r) {
		if (r->addr > addr)
			abort();
		look(dw_get_path(dw, u, r->file));
	}
	f = dw_read_funcs(dw, u) ? COVER_NONE : cover_find(&u->cover, addr);
	if (f == COVER_NONE)
		return;
	if (f >= u->nr_funcs)
		abort();
	while (f != DW_NO_FUNC) {
		look(dw_get_name(dw, u->funcs[f].named));
		look(dw_get_path(dw, u, u->funcs[f].call_file));
		if (u->funcs[f].parent != DW_NO_FUNC && u->funcs[f].parent >= f)
			abort();
		f = u->funcs[f].parent;
	}
}

static void check_cover(const struct cover *c, size_t owners)
{
	size_t i;

	for (i = 0; i < c->nr; i++) {
		if (i && c->v[i].start <= c->v[i - 1].start)
			abort();
		if (c->v[i].owner != COVER_NONE && c->v[i].owner >= owners)
			abort();
	}
	if (c->nr && c->v[c->nr - 1].owner != COVER_NONE)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw *dw = calloc(1, sizeof(*dw)), *alt = calloc(1, sizeof(*alt));
	struct dw_unit *u;
	size_t i, k;

	if (size) {
		dw->big_endian = alt->big_endian = *data & 1;
		data++;
		size--;
	}
	for (i = 0; i < DW_NR_SECTIONS; i++)
		take(&data, &size, dw, i);
	for (i = k = 0; i < NR_ALT; i++)
		k += take(&data, &size, alt, i);
	dw->exec = exec;
	dw->nr_exec = 2;
	dw_set_budgets(dw);
	dw_set_budgets(alt);
	if (k) {
		dw->alt = alt;
		alt = NULL;
	}
	if (!dw_read_units(dw)) {
		check_cover(&dw->cover, dw->nr_units);
		for (i = 0; i < dw->nr_units && i < 64; i++) {
			u = &dw->units[i];
			if (u->skip || u->partial || u->error || !u->root_read)
				continue;
			dw_read_funcs(dw, u);
			dw_read_lines(dw, u);
			check_cover(&u->cover, u->nr_funcs);
			check_cover(&u->lines.cover, u->lines.nr_seqs);
			for (k = 0; k < u->cover.nr && k < 64; k++)
				ask(dw, u, u->cover.v[k].start);
			for (k = 0; k < u->lines.nr_rows && k < 64; k++)
				ask(dw, u, u->lines.rows[k].addr);
		}
		for (k = 0x1000; k < 0x1800; k += 16) {
			u = dw_find_unit_at(dw, k);
			if (u)
				ask(dw, u, k);
		}
	}
	dw_free(dw);
	free(dw);
	free(alt);
	return 0;
}
