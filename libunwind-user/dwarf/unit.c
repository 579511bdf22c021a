// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unit.c - the units of .debug_info, and which of them holds an address
 *
 * Headers (DWARF 5, 7.5.1) and first DIEs are read once. .debug_aranges is not used: clang writes
 * no .debug_aranges, and the section is incomplete elsewhere. A unit whose first DIE has no ranges
 * is read whole to find them.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"

/* One header; *@next: where the following one is. */
static int read_header(const struct dw *dw, struct dw_unit *u, uint64_t *next)
{
	struct byte_cursor c = dw_get_bytes(dw, DW_INFO, u->off, UINT64_MAX);
	const uint8_t *base = dw->sec[DW_INFO].p;
	uint64_t len = bytes_read_uint(&c, 4);
	unsigned int type = DW_UT_compile;

	u->off_size = 4;
	if (len == 0xffffffff) {
		len = bytes_read_uint(&c, 8);
		u->off_size = 8;
	} else if (len >= 0xfffffff0) {
		return -ENOEXEC;
	}
	if (c.bad || len > (uint64_t)(c.end - c.p))
		return -ENOEXEC;
	c.end = c.p + len;
	u->end = *next = c.end - base;
	u->version = bytes_read_uint(&c, 2);
	if (u->version < 2 || u->version > 5) {
		u->error = -EOPNOTSUPP;
		return 0;
	}
	if (u->version == 5) {
		type = bytes_read_uint(&c, 1);
		u->addr_size = bytes_read_uint(&c, 1);
		u->abbrev_off = bytes_read_uint(&c, u->off_size);
		if (type == DW_UT_skeleton || type == DW_UT_split_compile) {
			bytes_read_uint(&c, 8);
			u->split = true;
		}
		u->skip = type == DW_UT_type || type == DW_UT_split_type;
	} else {
		u->abbrev_off = bytes_read_uint(&c, u->off_size);
		u->addr_size = bytes_read_uint(&c, 1);
	}
	if (c.bad || !u->addr_size || u->addr_size > 8)
		u->error = -ENOEXEC;
	else
		u->root = c.p - base;
	return 0;
}

/* The attributes of the first DIE of a unit */
struct root {
	struct dw_value str_offsets, addr, rnglists, stmt, comp_dir;
};

static void store_root_value(struct dw_unit *u, struct root *r, uint16_t name,
			     const struct dw_value *v)
{
	switch (name) {
	case DW_AT_str_offsets_base:	r->str_offsets = *v; break;
	case DW_AT_GNU_addr_base:
	case DW_AT_addr_base:		r->addr = *v; break;
	case DW_AT_GNU_ranges_base:
	case DW_AT_rnglists_base:	r->rnglists = *v; break;
	case DW_AT_stmt_list:		r->stmt = *v; break;
	case DW_AT_comp_dir:		r->comp_dir = *v; break;
	case DW_AT_GNU_dwo_name:
	case DW_AT_dwo_name:		u->split = true; break;
	default:			dw_store_pc(&u->pc, name, v);
	}
}

static void read_root(struct dw *dw, struct dw_unit *u)
{
	struct byte_cursor c = dw_get_bytes(dw, DW_INFO, u->root, u->end);
	struct root r = {};
	const struct dw_abbrev *ab;
	const struct dw_spec *s;
	uint32_t i;

	u->root_read = true;
	u->abbrevs = dw_get_abbrevs(dw, u->abbrev_off, &u->error);
	if (!u->abbrevs)
		return;
	ab = dw_find_abbrev(u->abbrevs, bytes_read_uleb(&c));
	if (!ab || c.bad || !dw_spend(dw, ab->nr + 1)) {
		u->error = -ENOEXEC;
		return;
	}
	u->partial = ab->tag == DW_TAG_partial_unit;
	s = dw_get_specs(u, ab);
	for (i = 0; i < ab->nr; i++) {
		struct dw_value v;

		dw_read_value(dw, u, &c, s[i].form, s[i].constant, &v);
		if (c.bad) {
			u->error = -ENOEXEC;
			return;
		}
		store_root_value(u, &r, s[i].name, &v);
	}
	/* without the attribute: after the header of the only contribution */
	u->str_offsets_base = r.str_offsets.class ? r.str_offsets.u :
			      u->version == 5 ? 2 * u->off_size : 0;
	u->addr_base = r.addr.class ? r.addr.u : u->version == 5 ? u->off_size + 4u : 0;
	u->rnglists_base = r.rnglists.u;
	u->has_lines = r.stmt.class == DW_OFFSET || r.stmt.class == DW_CONSTANT;
	u->stmt_list = r.stmt.u;
	u->comp_dir = dw_get_string(dw, u, &r.comp_dir);
	if (dw_get_address(dw, u, &u->pc.low, &u->low))
		u->low = 0;
	if (u->split)
		dw->split = true;
}

static int find_units(struct dw *dw)
{
	size_t room = 0;
	uint64_t off = 0;

	while (off < dw->sec[DW_INFO].size) {
		struct dw_unit *u;

		if (vec_grow(&dw->units, &room, dw->nr_units, 1, sizeof(*u)))
			return -ENOMEM;
		u = &dw->units[dw->nr_units];
		memset(u, 0, sizeof(*u));
		u->off = off;
		/* the units before it are good */
		if (read_header(dw, u, &off) || !dw_spend(dw, 1))
			break;
		dw->nr_units++;
	}
	return dw->nr_units || !dw->sec[DW_INFO].size ? 0 : -ENOEXEC;
}

/* The ranges of the functions, for a unit without ranges */
static int add_ranges_of_funcs(struct dw *dw, struct dw_unit *u, struct dw_ranges *ranges,
			       const struct cover_in *like)
{
	size_t i;

	if (dw_read_funcs(dw, u))
		return 0;
	for (i = 0; i < u->cover.nr; i++) {
		const struct cover_piece *p = &u->cover.v[i];
		struct dw_pc pc = {
			.low = { .class = DW_ADDRESS, .u = p->start },
			.high = { .class = DW_ADDRESS },
		};
		uint64_t low;
		int ret;

		if (p->owner == COVER_NONE || i + 1 == u->cover.nr)
			continue;
		pc.high.u = p[1].start;
		ret = dw_add_ranges(dw, u, &pc, ranges, like, &low);
		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

int dw_read_units(struct dw *dw)
{
	struct dw_ranges ranges = {};
	int ret = 0;
	size_t i;

	if (dw->units_read)
		return 0;
	dw->units_read = true;
	ret = find_units(dw);
	for (i = 0; i < dw->nr_units && !ret; i++) {
		/* if two units claim an address, the first one gets it */
		struct cover_in like = { .owner = i, .rank = UINT32_MAX - i };
		struct dw_unit *u = &dw->units[i];
		uint64_t low;

		if (u->skip || u->error)
			continue;
		read_root(dw, u);
		if (u->error || u->partial)
			continue;
		if (!u->pc.ranges.class && !u->pc.high.class)
			ret = add_ranges_of_funcs(dw, u, &ranges, &like);
		else
			ret = dw_add_ranges(dw, u, &u->pc, &ranges, &like, &low);
		if (ret != -ENOMEM)
			ret = 0;
	}
	if (!ret)
		ret = cover_make(&dw->cover, ranges.v, ranges.nr);
	free(ranges.v);
	return ret;
}

struct dw_unit *dw_find_unit(struct dw *dw, uint64_t off)
{
	struct dw_unit *u;
	size_t i;

	bisect(i, dw->nr_units, dw->units[i].off > off);
	u = i ? &dw->units[i - 1] : NULL;
	return u && off < u->end && !u->error && u->root_read ? u : NULL;
}

struct dw_unit *dw_find_unit_at(struct dw *dw, uint64_t addr)
{
	uint32_t i = cover_find(&dw->cover, addr);

	return i == COVER_NONE ? NULL : &dw->units[i];
}
