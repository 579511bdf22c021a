// SPDX-License-Identifier: LGPL-2.1-or-later
/* sframe_list.c - lists all functions of a section, and indexes them for many lookups */
#include "sframe_func.h"
#include "sframe_list.h"

int sframe_get_nr_rows(const struct sframe_table *t, u32 *nr)
{
	u8 buf[sizeof(*nr)];
	const u8 *p;
	int ret;

	ret = fetch(t, SFRAME_HDR_NUM_FRES_OFF, sizeof(buf), buf, &p);
	if (!ret)
		*nr = get32(t, p);
	return ret;
}

int sframe_get_func(const struct sframe_table *t, u32 index, struct sframe_func *func)
{
	struct window w;

	if (index >= t->nr_fdes)
		return -ENOENT;
	return read_func(t, index, NULL, func, &w);
}

int sframe_find_row(const struct sframe_table *t, const struct sframe_func *func, u64 pc,
		    struct sframe_row *row)
{
	struct window w = { .len = 0 };
	int ret;

	if (pc - func->start >= func->size)
		return -ESRCH;
	if (func->nr_fres) {
		ret = window_at(t, &w, func->fre_off);
		if (ret)
			return ret;
	}
	return find_row(t, func, pc, row, &w);
}

/* Where part number @part starts; ~0 if that is after the end of the address space */
static u64 get_part_start(const struct sframe_table *t, u32 shift, u32 part)
{
	u64 start = t->text_start + ((u64)part << shift);

	return start < t->text_start ? ~0ull : start;
}

int sframe_make_index(const struct sframe_table *t, struct sframe_index *index, u32 *mem, u32 nr)
{
	u32 i, part = 0, nr_parts, shift = 0;
	u64 start;
	int ret;

	*index = (struct sframe_index) { .parts = NULL };
	if (nr < 3 || !t->nr_fdes || !t->text_size)
		return 0;
	/* One more number ends the last part. At least two parts keep the shift below 64. */
	while ((t->text_size - 1) >> shift > nr - 2)
		shift++;
	nr_parts = ((t->text_size - 1) >> shift) + 2;

	/* mem[part]: the last function that starts at the start of the part or before */
	for (i = 0; i < t->nr_fdes; i++) {
		ret = read_start(t, i, &start);
		if (ret)
			return ret;
		while (part < nr_parts && start > get_part_start(t, shift, part))
			mem[part++] = i ? i - 1 : 0;
	}
	while (part < nr_parts)
		mem[part++] = t->nr_fdes - 1;
	*index = (struct sframe_index) { .parts = mem, .shift = shift };
	return 0;
}

int sframe_find_indexed(const struct sframe_table *t, const struct sframe_index *index, u64 pc,
			struct sframe_row *row)
{
	u32 low, found, part;
	int ret;

	if (!index->parts)
		return sframe_find(t, pc, row);
	if (unlikely(pc - t->text_start >= t->text_size))
		return -ESRCH;
	part = (pc - t->text_start) >> index->shift;
	low = index->parts[part];
	ret = search_funcs(t, pc, low, index->parts[part + 1] - low + 1, &found);
	if (unlikely(ret))
		return ret;
	return find_row_in_func(t, found, pc, row);
}
