// SPDX-License-Identifier: LGPL-2.1-or-later
/* range.c - the addresses of a DIE: DWARF 5, 2.17, .debug_ranges (version 4) and 7.25 */
#include <dwarf.h>
#include <errno.h>

#include "dwarf.h"

bool dw_store_pc(struct dw_pc *pc, uint16_t name, const struct dw_value *val)
{
	switch (name) {
	case DW_AT_low_pc:	pc->low = *val; return true;
	case DW_AT_high_pc:	pc->high = *val; return true;
	case DW_AT_ranges:	pc->ranges = *val; return true;
	default:		return false;
	}
}

bool dw_is_code(const struct dw *dw, uint64_t addr)
{
	size_t i;

	for (i = 0; i < dw->nr_exec; i++)
		if (addr - dw->exec[i].start < dw->exec[i].size)
			return true;
	return !dw->nr_exec;
}

struct range_list {
	struct dw *dw;
	struct dw_ranges *out;
	struct cover_in like;		/* its owner and rank are those of all ranges */
	uint64_t *low;			/* of the first range */
	bool has_first;
};

static int add_range(struct range_list *list, uint64_t lo, uint64_t hi)
{
	struct cover_in *in;

	if (!dw_spend(list->dw, 1))
		return -ENOEXEC;
	if (lo >= hi || !dw_is_code(list->dw, lo))
		return 0;
	if (vec_reserve(list->out, 1))
		return -ENOMEM;
	in = &list->out->v[list->out->nr++];
	*in = list->like;
	in->lo = lo;
	in->hi = hi;
	if (!list->has_first)
		*list->low = lo;
	list->has_first = true;
	return 0;
}

static int add_ranges_v4(struct range_list *list, const struct dw_unit *u, uint64_t off)
{
	struct byte_cursor c = dw_get_bytes(list->dw, DW_RANGES, off, UINT64_MAX);
	uint64_t base = u->low, max = u->addr_size == 8 ? UINT64_MAX :
				      (1ull << 8 * u->addr_size) - 1;
	int ret;

	for (;;) {
		uint64_t lo = bytes_read_uint(&c, u->addr_size);
		uint64_t hi = bytes_read_uint(&c, u->addr_size);

		if (c.bad)
			return -ENOEXEC;
		if (!lo && !hi)
			return 0;
		if (lo == max) {
			base = hi;
			continue;
		}
		ret = add_range(list, base + lo, base + hi);
		if (ret)
			return ret;
	}
}

static int add_ranges_v5(struct range_list *list, const struct dw_unit *u, uint64_t off)
{
	struct byte_cursor c = dw_get_bytes(list->dw, DW_RNGLISTS, off, UINT64_MAX);
	uint64_t base = u->low, lo, hi;
	int ret;

	for (;;) {
		switch (c.bad ? UINT32_MAX : bytes_read_uint(&c, 1)) {
		case DW_RLE_end_of_list:
			return c.bad ? -ENOEXEC : 0;
		case DW_RLE_base_addressx:
			ret = dw_read_indexed_address(list->dw, u, bytes_read_uleb(&c),
						      &base);
			if (ret)
				return ret;
			continue;
		case DW_RLE_base_address:
			base = bytes_read_uint(&c, u->addr_size);
			continue;
		case DW_RLE_startx_endx:
			lo = bytes_read_uleb(&c);
			hi = bytes_read_uleb(&c);
			ret = dw_read_indexed_address(list->dw, u, lo, &lo);
			if (!ret)
				ret = dw_read_indexed_address(list->dw, u, hi, &hi);
			if (ret)
				return ret;
			break;
		case DW_RLE_startx_length:
			ret = dw_read_indexed_address(list->dw, u, bytes_read_uleb(&c), &lo);
			if (ret)
				return ret;
			hi = lo + bytes_read_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			lo = base + bytes_read_uleb(&c);
			hi = base + bytes_read_uleb(&c);
			break;
		case DW_RLE_start_end:
			lo = bytes_read_uint(&c, u->addr_size);
			hi = bytes_read_uint(&c, u->addr_size);
			break;
		case DW_RLE_start_length:
			lo = bytes_read_uint(&c, u->addr_size);
			hi = lo + bytes_read_uleb(&c);
			break;
		default:
			return -ENOEXEC;
		}
		if (c.bad)
			return -ENOEXEC;
		ret = add_range(list, lo, hi);
		if (ret)
			return ret;
	}
}

int dw_add_ranges(struct dw *dw, const struct dw_unit *u, const struct dw_pc *pc,
		  struct dw_ranges *out, const struct cover_in *like, uint64_t *low)
{
	struct range_list list = { .dw = dw, .out = out, .like = *like, .low = low };
	uint64_t off = pc->ranges.u, lo, hi;
	struct byte_cursor c;

	*low = 0;
	switch (pc->ranges.class) {
	case DW_RANGE_INDEX:
		if (off > UINT32_MAX)
			return -ENOEXEC;
		c = dw_get_bytes(dw, DW_RNGLISTS, u->rnglists_base + off * u->off_size,
				 UINT64_MAX);
		off = u->rnglists_base + bytes_read_uint(&c, u->off_size);
		return c.bad ? -ENOEXEC : add_ranges_v5(&list, u, off);
	case DW_OFFSET:
	case DW_CONSTANT:
		return u->version >= 5 ? add_ranges_v5(&list, u, off) :
					 add_ranges_v4(&list, u, off);
	default:
		break;
	}
	if (!pc->low.class || !pc->high.class)
		return -ENOENT;
	if (dw_get_address(dw, u, &pc->low, &lo))
		return -ENOEXEC;
	if (pc->high.class == DW_CONSTANT)
		hi = lo + pc->high.u;
	else if (dw_get_address(dw, u, &pc->high, &hi))
		return -ENOEXEC;
	return add_range(&list, lo, hi);
}
