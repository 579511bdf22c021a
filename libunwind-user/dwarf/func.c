// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * func.c - a unit's functions, and the calls that were inlined into them
 *
 * The reader walks the unit's DIEs once, in the order of the section and without DW_AT_sibling,
 * which may lead anywhere. A DIE with addresses becomes a function, known by the offset of its DIE.
 * The deepest function at an address is the innermost. Names are looked up when they are asked for,
 * through DW_AT_abstract_origin and DW_AT_specification.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf.h"

#define MAX_HOPS	16

struct func_walk {
	struct dw *dw;
	struct dw_unit *u;
	struct dw_ranges ranges;
	size_t room;		/* of u->funcs */
	/* for each open DIE, its function or the function that holds it */
	uint32_t *stack;
	size_t depth, stack_room;
};

static int push_func(struct func_walk *w, uint32_t func)
{
	if (vec_grow(&w->stack, &w->stack_room, w->depth, 1, sizeof(*w->stack)))
		return -ENOMEM;
	w->stack[w->depth++] = func;
	return 0;
}

/*
 * Read a DIE that may be a function, and add it if it has addresses. @in is the function that holds
 * the DIE; a DIE that was added is @in afterwards.
 */
static int add_func(struct func_walk *w, struct byte_cursor *c, const struct dw_abbrev *ab,
		    uint64_t die, uint32_t *in)
{
	const struct dw_spec *s = dw_get_specs(w->u, ab);
	struct dw_unit *u = w->u;
	struct dw_pc pc = {};
	struct dw_func new = { .named = die, .parent = DW_NO_FUNC };
	bool inlined = ab->tag == DW_TAG_inlined_subroutine;
	struct cover_in like = {};
	size_t had = w->ranges.nr;
	uint32_t i;
	int ret;

	for (i = 0; i < ab->nr; i++) {
		struct dw_value v;

		switch (s[i].name) {
		case DW_AT_low_pc: case DW_AT_high_pc: case DW_AT_ranges: case DW_AT_call_file:
		case DW_AT_call_line: case DW_AT_abstract_origin:
			dw_read_value(w->dw, u, c, s[i].form, s[i].constant, &v);
			break;
		default:
			dw_skip_value(w->dw, u, c, s[i].form);
			continue;
		}
		if (s[i].name == DW_AT_call_file && v.class == DW_CONSTANT)
			new.call_file = v.u < UINT32_MAX ? v.u : 0;
		else if (s[i].name == DW_AT_call_line && v.class == DW_CONSTANT)
			new.call_line = v.u < UINT32_MAX ? v.u : 0;
		else if (s[i].name == DW_AT_abstract_origin && inlined)
			new.named = v.class == DW_REF ? v.u : v.class == DW_REF_ALT ?
				    v.u | DW_IN_ALT : die;
		else
			dw_store_pc(&pc, s[i].name, &v);
	}
	if (c->bad)
		return -ENOEXEC;
	if (!pc.ranges.class && !pc.high.class)
		return 0;
	if (inlined) {
		/* inlined into an unknown function: it has no place */
		if (*in == DW_NO_FUNC)
			return 0;
		new.parent = *in;
	}
	if (u->nr_funcs == DW_NO_FUNC - 1)
		return -ENOEXEC;
	/* the deepest function wins, then the first one */
	like.owner = u->nr_funcs;
	like.rank = (uint64_t)w->depth << 32 | (UINT32_MAX - u->nr_funcs);
	ret = dw_add_ranges(w->dw, u, &pc, &w->ranges, &like, &new.low);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	if (w->ranges.nr == had)
		return 0;
	if (vec_grow(&u->funcs, &w->room, u->nr_funcs, 1, sizeof(*u->funcs)))
		return -ENOMEM;
	*in = u->nr_funcs;
	u->funcs[u->nr_funcs++] = new;
	return 0;
}

static int walk_dies(struct func_walk *w)
{
	struct byte_cursor c = dw_get_bytes(w->dw, DW_INFO, w->u->root, w->u->end);
	const uint8_t *base = w->dw->sec[DW_INFO].p;
	int ret;

	while (c.p < c.end) {
		uint64_t die = c.p - base, code = bytes_read_uleb(&c);
		uint32_t in = w->depth ? w->stack[w->depth - 1] : DW_NO_FUNC;
		const struct dw_abbrev *ab;

		if (!dw_spend(w->dw, 1))
			return -ENOEXEC;
		if (!code) {
			/* padding may follow the last one */
			if (w->depth)
				w->depth--;
			continue;
		}
		ab = dw_find_abbrev(w->u->abbrevs, code);
		if (!ab)
			return -ENOEXEC;
		if (ab->varies && !dw_spend(w->dw, ab->nr))
			return -ENOEXEC;
		if (ab->tag == DW_TAG_subprogram || ab->tag == DW_TAG_inlined_subroutine) {
			ret = add_func(w, &c, ab, die, &in);
			if (ret)
				return ret;
		} else {
			dw_skip_die(w->dw, w->u, &c, ab);
			if (c.bad)
				return -ENOEXEC;
		}
		if (ab->children) {
			ret = push_func(w, in);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int dw_read_funcs(struct dw *dw, struct dw_unit *u)
{
	struct func_walk w = { .dw = dw, .u = u };

	if (u->funcs_read || u->error)
		return u->error;
	u->funcs_read = true;
	u->error = walk_dies(&w);
	if (!u->error)
		u->error = cover_make(&u->cover, w.ranges.v, w.ranges.nr);
	free(w.ranges.v);
	free(w.stack);
	if (u->error) {
		free(u->funcs);
		u->funcs = NULL;
		u->nr_funcs = 0;
	}
	return u->error;
}

/* The name in a DIE, and the DIE that says more */
struct func_name {
	const char *linkage, *name;
	struct dw_value origin;
};

static int read_named(struct dw *dw, struct dw_unit *u, uint64_t die, struct func_name *n)
{
	struct byte_cursor c = dw_get_bytes(dw, DW_INFO, die, u->end);
	const struct dw_abbrev *ab;
	const struct dw_spec *s;
	uint32_t i;

	ab = die < u->root ? NULL : dw_find_abbrev(u->abbrevs, bytes_read_uleb(&c));
	if (!ab)
		return -ENOEXEC;
	s = dw_get_specs(u, ab);
	for (i = 0; i < ab->nr; i++) {
		struct dw_value v;

		dw_read_value(dw, u, &c, s[i].form, s[i].constant, &v);
		if (c.bad)
			return -ENOEXEC;
		switch (s[i].name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			n->linkage = dw_get_string(dw, u, &v);
			break;
		case DW_AT_name:
			n->name = dw_get_string(dw, u, &v);
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			n->origin = v;
			break;
		default:
			break;
		}
	}
	return 0;
}

const char *dw_get_name(struct dw *dw, uint64_t die)
{
	const char *name = NULL;
	struct dw_unit *u;
	int hops;

	for (hops = 0; hops < MAX_HOPS; hops++) {
		struct func_name n = {};

		if (die & DW_IN_ALT) {
			dw = dw->alt;
			die &= ~DW_IN_ALT;
		}
		if (!dw || dw_read_units(dw))
			break;
		u = dw_find_unit(dw, die);
		if (!u || read_named(dw, u, die, &n))
			break;
		if (n.linkage)
			return n.linkage;
		if (n.name && !name)
			name = n.name;
		if (n.origin.class == DW_REF_ALT)
			die = n.origin.u | DW_IN_ALT;
		else if (n.origin.class == DW_REF)
			die = n.origin.u;
		else
			break;
	}
	return name;
}
