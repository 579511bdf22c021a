// SPDX-License-Identifier: LGPL-2.1-or-later
/* form.c - abbreviations and attribute values; DWARF 5, 7.5 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"

#define MAX_STRING	65536

struct byte_cursor dw_get_bytes(const struct dw *dw, enum dw_section sec, uint64_t off,
				uint64_t end)
{
	const struct dw_data *d = &dw->sec[sec];
	struct byte_cursor c = { .big_endian = dw->big_endian };

	if (end > d->size)
		end = d->size;
	if (!d->p || off > end) {
		c.bad = true;
		return c;
	}
	c.p = d->p + off;
	c.end = d->p + end;
	return c;
}

/* The string at @off of a section, or NULL. */
static const char *get_str(const struct dw *dw, enum dw_section sec, uint64_t off)
{
	/* a longer name is hostile: each reference to it would cost its length again */
	struct byte_cursor c = dw_get_bytes(dw, sec, off,
					    off + MAX_STRING > off ? off + MAX_STRING : off);

	return bytes_read_string(&c);
}

/* ---------------------------- abbreviations ----------------------------- */

/* Add a form's size to the abbreviation's; false if it is not known in advance. */
static bool add_size(struct dw_abbrev *ab, uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return true;
	case DW_FORM_data1: case DW_FORM_ref1: case DW_FORM_flag: case DW_FORM_strx1:
	case DW_FORM_addrx1:
		ab->fixed += 1;
		return true;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2: case DW_FORM_addrx2:
		ab->fixed += 2;
		return true;
	case DW_FORM_strx3: case DW_FORM_addrx3:
		ab->fixed += 3;
		return true;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_strx4: case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		ab->fixed += 4;
		return true;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8: case DW_FORM_ref_sup8:
		ab->fixed += 8;
		return true;
	case DW_FORM_data16:
		ab->fixed += 16;
		return true;
	case DW_FORM_addr:
		ab->nr_addr++;
		return true;
	case DW_FORM_strp: case DW_FORM_line_strp: case DW_FORM_sec_offset: case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt: case DW_FORM_GNU_strp_alt:
		ab->nr_off++;
		return true;
	default:
		return false;
	}
}

static int compare_abbrevs(const void *a, const void *b)
{
	const struct dw_abbrev *x = a, *y = b;

	return cmp_int(x->code, y->code);
}

static int read_specs(struct dw *dw, struct dw_abbrevs *t, size_t *room, struct byte_cursor *c,
		      struct dw_abbrev *ab)
{
	struct dw_spec *s;

	ab->first = t->nr_specs;
	for (;;) {
		uint64_t name = bytes_read_uleb(c), form = bytes_read_uleb(c);
		int64_t constant = form == DW_FORM_implicit_const ? bytes_read_sleb(c) : 0;

		if (c->bad || name > UINT16_MAX || form > UINT16_MAX || --dw->abbrev_budget < 0 ||
		    ab->nr == UINT16_MAX)
			return -ENOEXEC;
		if (!name && !form)
			return 0;
		if (vec_grow(&t->specs, room, t->nr_specs, 1, sizeof(*s)))
			return -ENOMEM;
		s = &t->specs[t->nr_specs++];
		s->name = name;
		s->form = form;
		s->constant = constant;
		ab->nr++;
		if (!add_size(ab, form))
			ab->varies = true;
	}
}

static int read_abbrevs(struct dw *dw, struct dw_abbrevs *t)
{
	struct byte_cursor c = dw_get_bytes(dw, DW_ABBREV, t->off, UINT64_MAX);
	size_t room = 0, spec_room = 0, i;
	bool sorted = true;
	int ret;

	for (;;) {
		uint64_t code = bytes_read_uleb(&c);
		struct dw_abbrev *ab;

		if (c.bad)
			return -ENOEXEC;
		if (!code)
			break;
		if (vec_grow(&t->v, &room, t->nr, 1, sizeof(*ab)))
			return -ENOMEM;
		ab = &t->v[t->nr];
		memset(ab, 0, sizeof(*ab));
		ab->code = code;
		ab->tag = bytes_read_uleb(&c);
		ab->children = bytes_read_uint(&c, 1);
		ret = read_specs(dw, t, &spec_room, &c, ab);
		if (ret)
			return ret;
		if (t->nr && ab[-1].code >= code)
			sorted = false;
		t->nr++;
	}
	if (!sorted)
		qsort(t->v, t->nr, sizeof(*t->v), compare_abbrevs);
	for (i = 1; i < t->nr; i++)
		if (t->v[i - 1].code == t->v[i].code)
			return -ENOEXEC;
	return 0;
}

const struct dw_abbrevs *dw_get_abbrevs(struct dw *dw, uint64_t off, int *error)
{
	struct dw_abbrevs **b = &dw->abbrevs[off * 0x9e3779b97f4a7c15ull >> 52], *t;

	for (t = *b; t; t = t->next)
		if (t->off == off)
			return t;
	t = calloc(1, sizeof(*t));
	if (!t) {
		*error = -ENOMEM;
		return NULL;
	}
	t->off = off;
	*error = read_abbrevs(dw, t);
	if (*error) {
		free(t->v);
		free(t->specs);
		free(t);
		return NULL;
	}
	t->next = *b;
	*b = t;
	return t;
}

const struct dw_abbrev *dw_find_abbrev(const struct dw_abbrevs *tab, uint64_t code)
{
	size_t i;

	/* compilers count from 1 */
	if (code - 1 < tab->nr && tab->v[code - 1].code == code)
		return &tab->v[code - 1];
	bisect(i, tab->nr, tab->v[i].code >= code);
	return i < tab->nr && tab->v[i].code == code ? &tab->v[i] : NULL;
}

/* ------------------------------- values --------------------------------- */

static void set_val(struct dw_value *val, enum dw_class class, uint64_t u)
{
	val->class = class;
	val->u = u;
}

static void set_str(struct dw_value *val, const char *str)
{
	val->class = str ? DW_STRING : DW_OTHER;
	val->str = str;
}

/* Skip a value that nothing here uses. False if its size is not known. */
static bool skip_other_value(struct byte_cursor *c, uint16_t form)
{
	switch (form) {
	case DW_FORM_block:
	case DW_FORM_exprloc:		bytes_skip(c, bytes_read_uleb(c)); return true;
	case DW_FORM_block1:		bytes_skip(c, bytes_read_uint(c, 1)); return true;
	case DW_FORM_block2:		bytes_skip(c, bytes_read_uint(c, 2)); return true;
	case DW_FORM_block4:		bytes_skip(c, bytes_read_uint(c, 4)); return true;
	case DW_FORM_data16:		bytes_skip(c, 16); return true;
	case DW_FORM_ref_sig8:		bytes_skip(c, 8); return true;
	case DW_FORM_loclistx:		bytes_read_uleb(c); return true;
	default:			return false;
	}
}

void dw_read_value(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		   uint16_t form, int64_t constant, struct dw_value *val)
{
	unsigned int off = u->off_size;

	/* this ends, because each turn reads a byte */
	while (form == DW_FORM_indirect && !c->bad)
		form = bytes_read_uleb(c);
	val->str = NULL;
	switch (form) {
	case DW_FORM_addr:
		set_val(val, DW_ADDRESS, bytes_read_uint(c, u->addr_size));
		break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:	set_val(val, DW_ADDRESS_INDEX, bytes_read_uleb(c)); break;
	case DW_FORM_addrx1: case DW_FORM_addrx2: case DW_FORM_addrx3: case DW_FORM_addrx4:
		set_val(val, DW_ADDRESS_INDEX, bytes_read_uint(c, form - DW_FORM_addrx1 + 1));
		break;
	case DW_FORM_flag:
	case DW_FORM_data1:		set_val(val, DW_CONSTANT, bytes_read_uint(c, 1)); break;
	case DW_FORM_data2:		set_val(val, DW_CONSTANT, bytes_read_uint(c, 2)); break;
	case DW_FORM_data4:		set_val(val, DW_CONSTANT, bytes_read_uint(c, 4)); break;
	case DW_FORM_data8:		set_val(val, DW_CONSTANT, bytes_read_uint(c, 8)); break;
	case DW_FORM_udata:		set_val(val, DW_CONSTANT, bytes_read_uleb(c)); break;
	case DW_FORM_sdata:		set_val(val, DW_CONSTANT, bytes_read_sleb(c)); break;
	case DW_FORM_implicit_const:	set_val(val, DW_CONSTANT, constant); break;
	case DW_FORM_flag_present:	set_val(val, DW_CONSTANT, 1); break;
	case DW_FORM_sec_offset:	set_val(val, DW_OFFSET, bytes_read_uint(c, off)); break;
	case DW_FORM_rnglistx:		set_val(val, DW_RANGE_INDEX, bytes_read_uleb(c)); break;
	case DW_FORM_ref1:		set_val(val, DW_REF, u->off + bytes_read_uint(c, 1)); break;
	case DW_FORM_ref2:		set_val(val, DW_REF, u->off + bytes_read_uint(c, 2)); break;
	case DW_FORM_ref4:		set_val(val, DW_REF, u->off + bytes_read_uint(c, 4)); break;
	case DW_FORM_ref8:		set_val(val, DW_REF, u->off + bytes_read_uint(c, 8)); break;
	case DW_FORM_ref_udata:		set_val(val, DW_REF, u->off + bytes_read_uleb(c)); break;
	case DW_FORM_ref_addr:
		set_val(val, DW_REF, bytes_read_uint(c, u->version == 2 ? u->addr_size : off));
		break;
	case DW_FORM_GNU_ref_alt:	set_val(val, DW_REF_ALT, bytes_read_uint(c, off)); break;
	case DW_FORM_ref_sup4:		set_val(val, DW_REF_ALT, bytes_read_uint(c, 4)); break;
	case DW_FORM_ref_sup8:		set_val(val, DW_REF_ALT, bytes_read_uint(c, 8)); break;
	case DW_FORM_string:		set_str(val, bytes_read_string(c)); break;
	case DW_FORM_strp:
		set_str(val, get_str(dw, DW_STR, bytes_read_uint(c, off)));
		break;
	case DW_FORM_line_strp:
		set_str(val, get_str(dw, DW_LINE_STR, bytes_read_uint(c, off)));
		break;
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:		set_val(val, DW_STRING_ALT, bytes_read_uint(c, off)); break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:	set_val(val, DW_STRING_INDEX, bytes_read_uleb(c)); break;
	case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
		set_val(val, DW_STRING_INDEX, bytes_read_uint(c, form - DW_FORM_strx1 + 1));
		break;
	default:
		set_val(val, DW_OTHER, 0);
		/* after a value of unknown size, nothing can be read */
		if (!skip_other_value(c, form))
			bytes_fail(c);
	}
	if (c->bad)
		set_val(val, DW_NONE, 0);
}

/* Strings are not looked up. */
void dw_skip_value(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		   uint16_t form)
{
	struct dw_value val;

	switch (form) {
	case DW_FORM_implicit_const: case DW_FORM_flag_present:
		break;
	case DW_FORM_data1: case DW_FORM_ref1:
		bytes_skip(c, 1);
		break;
	case DW_FORM_ref4: case DW_FORM_data4:
		bytes_skip(c, 4);
		break;
	case DW_FORM_strp: case DW_FORM_line_strp:
		bytes_skip(c, u->off_size);
		break;
	default:
		dw_read_value(dw, u, c, form, 0, &val);
	}
}

void dw_skip_die(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		 const struct dw_abbrev *ab)
{
	const struct dw_spec *s = dw_get_specs(u, ab);
	uint32_t i;

	if (!ab->varies) {
		bytes_skip(c, (uint64_t)ab->fixed + ab->nr_addr * u->addr_size +
				      ab->nr_off * u->off_size);
		return;
	}
	for (i = 0; i < ab->nr && !c->bad; i++)
		dw_skip_value(dw, u, c, s[i].form);
}

const char *dw_get_string(const struct dw *dw, const struct dw_unit *u, const struct dw_value *val)
{
	struct byte_cursor c;
	uint64_t off;

	switch (val->class) {
	case DW_STRING:
		return val->str;
	case DW_STRING_ALT:
		return dw->alt ? get_str(dw->alt, DW_STR, val->u) : NULL;
	case DW_STRING_INDEX:
		if (val->u > UINT32_MAX)
			return NULL;
		c = dw_get_bytes(dw, DW_STR_OFFSETS, u->str_offsets_base + val->u * u->off_size,
				 UINT64_MAX);
		off = bytes_read_uint(&c, u->off_size);
		return c.bad ? NULL : get_str(dw, DW_STR, off);
	default:
		return NULL;
	}
}

int dw_read_indexed_address(const struct dw *dw, const struct dw_unit *u, uint64_t index,
			    uint64_t *addr)
{
	struct byte_cursor c;

	if (index > UINT32_MAX)
		return -ENOEXEC;
	c = dw_get_bytes(dw, DW_ADDR, u->addr_base + index * u->addr_size, UINT64_MAX);
	*addr = bytes_read_uint(&c, u->addr_size);
	return c.bad ? -ENOEXEC : 0;
}

int dw_get_address(const struct dw *dw, const struct dw_unit *u, const struct dw_value *val,
		   uint64_t *addr)
{
	switch (val->class) {
	case DW_ADDRESS:
		*addr = val->u;
		return 0;
	case DW_ADDRESS_INDEX:
		return dw_read_indexed_address(dw, u, val->u, addr);
	default:
		return -ENOEXEC;
	}
}
