/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_func.h - the functions of an SFrame section, and their rows; for files that read sections
 */
#ifndef SFRAME_FUNC_H
#define SFRAME_FUNC_H

#include "sframe_bytes.h"
#include "sframe_rules.h"

/* ------------------------------- functions ----------------------------- */

/* The address that the start of a function is relative to; @off: of its FDE, in the section */
static inline u64 start_base(const struct sframe_table *t, u64 off)
{
	return t->base + (t->flags & SFRAME_F_PCREL ? off : 0);
}

static inline u64 get_start(const struct sframe_table *t, u64 off, const u8 *p)
{
	if (is_v3(t))
		return start_base(t, off) + get64(t, p + SFRAME_V3_FDE_START_OFF);
	return start_base(t, off) + (u64)(s64)(s32)get32(t, p + SFRAME_FDE_START_OFF);
}

static inline int read_start(const struct sframe_table *t, u32 i, u64 *start)
{
	u64 off = t->fde_off + (u64)i * t->fde_size;
	const u8 *p;
	u8 buf[8];
	int ret;

	ret = fetch(t, off, is_v3(t) ? 8 : 4, buf, &p);
	if (likely(!ret))
		*start = get_start(t, off, p);
	return ret;
}

/*
 * Set @index to the last of the @nr functions from @low on that starts at @pc or before, or to
 * @low. In a section that is not sorted as it claims, this may be the wrong function: the caller
 * checks that it holds @pc.
 */
static inline int search_funcs(const struct sframe_table *t, u64 pc, u32 low, u32 nr, u32 *index)
{
	u32 half;
	u64 start;
	int ret;

	while (nr > 1) {
		half = nr / 2;
		ret = read_start(t, low + half, &start);
		if (unlikely(ret))
			return ret;
		if (start <= pc)
			low += half;
		nr -= half;
	}
	*index = low;
	return 0;
}

static inline int check_info(const struct sframe_table *t, const struct sframe_func *f)
{
	/* A bit that no version defines may change the meaning of the others */
	u8 unknown = is_v3(t) ? 0x40 : 0xc0;

	if (f->info & unknown || SFRAME_FDE_FRE_TYPE(f->info) > SFRAME_FRE_TYPE_ADDR4 ||
	    (f->info2 > SFRAME_FDE_TYPE_FLEX && f->info2 != SFRAME_FDE_TYPE_FLEX_ADD))
		return -EBADMSG;
	return 0;
}

#ifdef SFRAME_V1_V2
#include "sframe_v1_v2.h"
#endif

/*
 * Read function @index and move the window to its first row. With @pc (may be NULL): if @pc is not
 * in the function, return -ESRCH before anything more is read.
 */
static inline int read_func(const struct sframe_table *t, u32 index, const u64 *pc,
			    struct sframe_func *f, struct window *w)
{
	u64 off = t->fde_off + (u64)index * t->fde_size;
	u32 fre_off;
	u8 buf[SFRAME_V3_FDE_SIZE];
	const u8 *p;
	int ret;

#ifdef SFRAME_V1_V2
	if (!is_v3(t))
		return read_func_v1_v2(t, off, f, w);
#endif
	ret = fetch(t, off, SFRAME_V3_FDE_SIZE, buf, &p);
	if (unlikely(ret))
		return ret;
	f->start = get_start(t, off, p);
	f->size = get32(t, p + SFRAME_V3_FDE_SIZE_OFF);
	if (pc && unlikely(*pc - f->start >= f->size))
		return -ESRCH;

	fre_off = get32(t, p + SFRAME_V3_FDE_FRE_OFF_OFF);
	if (unlikely(fre_off < t->kept))
		return -EBADMSG;
	ret = window_at(t, w, fre_off - t->kept);
	if (unlikely(ret))
		return ret;
	f->kept_slot = SFRAME_KEPT_UNKNOWN;
	f->kept_rows = 0;
	if (unlikely(t->kept)) {
		if (w->len < SFRAME_KEPT_SIZE)
			return -EBADMSG;
		f->kept_slot = get8(w->p + SFRAME_KEPT_SLOT_OFF);
		f->kept_rows = get16(t, w->p + SFRAME_KEPT_ROWS_OFF);
		skip_window(w, SFRAME_KEPT_SIZE);
	}
	if (unlikely(w->len < SFRAME_V3_ATTR_SIZE))
		return -EBADMSG;
	f->nr_fres = get16(t, w->p + SFRAME_V3_ATTR_NUM_FRES_OFF);
	f->info = get8(w->p + SFRAME_V3_ATTR_INFO_OFF);
	f->info2 = get8(w->p + SFRAME_V3_ATTR_INFO2_OFF);
	f->rep_size = get8(w->p + SFRAME_V3_ATTR_REP_SIZE_OFF);
	skip_window(w, SFRAME_V3_ATTR_SIZE);
	f->fre_off = w->off;
	return check_info(t, f);
}

/* --------------------------------- rows -------------------------------- */

/* A function without rows: its frame is an outermost one, or it is a hole */
static inline int row_of_empty_func(const struct sframe_table *t, const struct sframe_func *f,
				    struct sframe_row *row)
{
	/*
	 * If gas cannot express the rules of a signal frame, it writes a function without rows that
	 * is marked as a signal frame. The generator of trace-ustack writes every hole like this.
	 */
	if (t->version != SFRAME_VERSION_3 || SFRAME_FDE_IS_SIGNAL(f->info))
		return -ENOENT;
	*row = (struct sframe_row) {
		.start = f->start, .size = f->size, .ra = { .base = SFRAME_UNDEFINED },
	};
	return 0;
}

/* The start of the row at @p, from the start of its function; @start_size: bytes of it */
static inline u32 get_row_start(const struct sframe_table *t, const u8 *p, u32 start_size)
{
	return start_size == 1 ? *p : start_size == 2 ? get16(t, p) : get32(t, p);
}

/* Bytes of the longest valid row, and of that row with the start and the info of the next one */
#define ROW_MAX			(4 + 1 + 4 * SFRAME_FRE_MAX_WORDS)
#define ROW_AND_NEXT_MAX	(ROW_MAX + 4 + 1)

/*
 * The window ends @room bytes after @p. If more bytes follow in the section, start the window at
 * @p, and set @p and @room again.
 */
static inline int move_window(const struct sframe_table *t, struct window *w, const u8 **p,
			      u32 *room)
{
	int ret;

	w->off += w->len - *room;
	w->len = *room;
	w->p = *p;
	if (*room == t->fre_len - w->off)
		return 0;
	ret = window_at(t, w, w->off);
	*p = w->p;
	*room = w->len;
	return ret;
}

/* Set @len to the bytes of a row with @info. Returns false if @info is not valid. */
static inline bool get_row_len(u8 info, u32 start_size, u32 *len)
{
	*len = start_size + 1 + (SFRAME_FRE_COUNT(info) << SFRAME_FRE_WORD_SHIFT(info));
	return SFRAME_FRE_WORD_SHIFT(info) != 3 && SFRAME_FRE_COUNT(info) <= SFRAME_FRE_MAX_WORDS;
}

/* A search for a row of a function. All offsets are from the start of the function or block. */
struct row_search {
	u32	nr_rows;	/* of the function */
	u32	off;		/* of the address to find */
	u32	limit;		/* end of the function or block */
	/* scan_rows() sets these. */
	u32	start;		/* of the row found */
	u32	end;		/* of the row found: the start of the next one, at most limit */
	u32	number;		/* of the row found, from 0 on */
	u8	info;		/* of the row found */
};

/*
 * Find the last row that starts at @s->off or before. The window is at the function's first row,
 * and is left at the words of the row found.
 * A lookup spends most of its time in this loop. So @start_size, the bytes of a row's start, is a
 * constant in each copy of the loop, which checks that the window holds the whole row only near the
 * end of the window.
 */
static __always_inline int scan_rows(const struct sframe_table *t, struct window *w,
				     struct row_search *s, const u32 start_size)
{
	u32 max_rows = s->nr_rows < SFRAME_MAX_FRES ? s->nr_rows : SFRAME_MAX_FRES;
	u32 len = start_size + 1, room = w->len, start, next, nr;
	const u8 *p = w->p;
	u8 info = 0, read;
	int ret;

	if (unlikely(room < start_size + 1))
		return -EBADMSG;
	start = get_row_start(t, p, start_size);
	if (unlikely(start > s->off))
		return -ENOENT;
	/* @p is at row number @nr - 1 */
	for (nr = 1; ; nr++) {
		if (unlikely(room < ROW_AND_NEXT_MAX)) {
			ret = move_window(t, w, &p, &room);
			if (unlikely(ret))
				return ret;
			if (unlikely(room < start_size + 1))
				return -EBADMSG;
		}
		/*
		 * The info of a row decides where the row ends, and so where the next info is. Most
		 * rows of a function have the same info. The branch lets the processor predict it.
		 */
		read = get8(p + start_size);
		if (read != info) {
			info = read;
			if (unlikely(!get_row_len(info, start_size, &len)))
				return -EBADMSG;
		}
		if (unlikely(room < ROW_AND_NEXT_MAX) &&
		    room < len + (nr == s->nr_rows ? 0 : start_size + 1))
			return -EBADMSG;
		if (nr == max_rows) {
			if (unlikely(max_rows != s->nr_rows))
				return -EBADMSG;
			next = s->limit;
			break;
		}
		next = get_row_start(t, p + len, start_size);
		if (next > s->off)
			break;
		if (unlikely(next < start))
			return -EBADMSG;
		start = next;
		p += len;
		room -= len;
	}
	w->p = p + start_size + 1;
	s->start = start;
	s->end = next < s->limit ? next : s->limit;
	s->number = nr - 1;
	s->info = info;
	return 0;
}

/* Where the caller's value of arch->reg_kept is in row @number: a slot */
static inline u32 kept_slot(const struct sframe_func *f, u32 number)
{
	if (number >= SFRAME_KEPT_MAX_ROWS)
		return SFRAME_KEPT_UNKNOWN;
	return f->kept_rows >> number & 1 ? f->kept_slot : SFRAME_KEPT_IN_REG;
}

static inline int find_row(const struct sframe_table *t, const struct sframe_func *f, u64 pc,
			   struct sframe_row *row, struct window *w)
{
	struct row_search s = { .nr_rows = f->nr_fres, .off = pc - f->start, .limit = f->size };
	u32 block = 0;
	int ret;

	if (unlikely(!f->nr_fres))
		return row_of_empty_func(t, f, row);
	if (unlikely(SFRAME_FDE_IS_MASK(f->info))) {
		/* Version 1 has no rep_size, so the offset in the block is not known */
		if (t->version == SFRAME_VERSION_1)
			return -ENOENT;
		if (!f->rep_size)
			return -EBADMSG;
		block = s.off / f->rep_size * f->rep_size;
		s.off -= block;
		s.limit -= block;
		if (s.limit > f->rep_size)
			s.limit = f->rep_size;
	}

	switch (SFRAME_FDE_FRE_TYPE(f->info)) {
	case SFRAME_FRE_TYPE_ADDR1:
		ret = scan_rows(t, w, &s, 1);
		break;
	case SFRAME_FRE_TYPE_ADDR2:
		ret = scan_rows(t, w, &s, 2);
		break;
	default:
		ret = scan_rows(t, w, &s, 4);
		break;
	}
	if (unlikely(ret))
		return ret;
	row->start = f->start + block + s.start;
	row->size = s.end - s.start;
	ret = decode_row(t, f, s.info, w->p, row);
	if (unlikely(f->kept_slot))
		row->flags |= SFRAME_ROW_FLAGS_KEPT(kept_slot(f, s.number));
	return ret;
}

/* The row for @pc, if function @index holds it */
static inline int find_row_in_func(const struct sframe_table *t, u32 index, u64 pc,
				   struct sframe_row *row)
{
	struct sframe_func f;
	struct window w;
	int ret;

	ret = read_func(t, index, &pc, &f, &w);
	if (unlikely(ret))
		return ret;
	if (unlikely(pc - f.start >= f.size))
		return -ESRCH;
	return find_row(t, &f, pc, row, &w);
}

#endif
