// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sframe_read.c - search in an SFrame section
 *
 * A lookup checks the header, finds the function (binary search) and reads its rows one by one.
 * sframe_rules.h decodes the row found; sframe_bytes.h reads the bytes. A section can come from
 * anyone, and may change while it is read. So a check of its bytes says nothing about the next read
 * of them: the reader relies only on the few numbers that sframe_open() copied.
 */
#include "sframe_bytes.h"
#include "sframe_rules.h"
#ifdef SFRAME_AMD64
#include "sframe_amd64.h"
#endif
#ifdef SFRAME_ARM64
#include "sframe_arm64.h"
#endif
#ifdef SFRAME_S390X
#include "sframe_s390x.h"
#endif

const struct sframe_arch *sframe_arch(u8 abi)
{
	switch (abi) {
#ifdef SFRAME_AMD64
	case SFRAME_ABI_AMD64:
		return &sframe_arch_amd64;
#endif
#ifdef SFRAME_ARM64
	case SFRAME_ABI_ARM64_LE:
		return &sframe_arch_arm64;
#endif
#ifdef SFRAME_S390X
	case SFRAME_ABI_S390X:
		return &sframe_arch_s390x;
#endif
	default:
		return NULL;
	}
}

/* ------------------------------- header -------------------------------- */

static int open_preamble(struct sframe_table *t, const u8 *hdr)
{
	u8 known = SFRAME_F_SORTED | SFRAME_F_PCREL;

	t->swap = 0;
	if (get16(t, hdr + SFRAME_HDR_MAGIC_OFF) != SFRAME_MAGIC) {
		t->swap = 1;
		if (get16(t, hdr + SFRAME_HDR_MAGIC_OFF) != __builtin_bswap16(SFRAME_MAGIC) &&
		    get16(t, hdr + SFRAME_HDR_MAGIC_OFF) != SFRAME_MAGIC)
			return -EINVAL;
#ifndef SFRAME_SWAP
		return -EOPNOTSUPP;
#endif
	}
	t->version = get8(hdr + SFRAME_HDR_VERSION_OFF);
	t->flags = get8(hdr + SFRAME_HDR_FLAGS_OFF);
	switch (t->version) {
#ifdef SFRAME_V1_V2
	case SFRAME_VERSION_1:
		t->fde_size = SFRAME_V1_FDE_SIZE;
		known = SFRAME_F_SORTED | SFRAME_F_FRAME_POINTER;
		break;
	case SFRAME_VERSION_2:
		t->fde_size = SFRAME_V2_FDE_SIZE;
		known |= SFRAME_F_FRAME_POINTER;
		break;
#endif
	case SFRAME_VERSION_3:
		t->fde_size = SFRAME_V3_FDE_SIZE;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (t->flags & ~known || !(t->flags & SFRAME_F_SORTED))
		return -EOPNOTSUPP;
	return 0;
}

/* Set t->kept if the table says where functions keep arch->reg_kept. */
static int open_aux(struct sframe_table *t, u8 len)
{
	u8 buf[SFRAME_AUX_SIZE];
	const u8 *aux;
	int ret;

	t->kept = 0;
	if (!is_v3(t) || len != SFRAME_AUX_SIZE)
		return 0;
	ret = fetch(t, SFRAME_HDR_SIZE, SFRAME_AUX_SIZE, buf, &aux);
	if (ret)
		return ret;
	if (!__builtin_memcmp(aux, SFRAME_AUX_MAGIC, SFRAME_AUX_REG_OFF) && t->arch->reg_kept &&
	    aux[SFRAME_AUX_REG_OFF] == t->arch->reg_kept)
		t->kept = SFRAME_KEPT_SIZE;
	return 0;
}

int sframe_open(struct sframe_table *t)
{
	u64 room, fdes, end;
	u8 buf[SFRAME_HDR_SIZE], aux_len;
	const u8 *hdr;
	int ret;

	if (t->size < SFRAME_HDR_SIZE)
		return -EBADMSG;
	if (t->base + t->size < t->base || t->text_start + t->text_size < t->text_start ||
	    (!t->mem && t->addr + t->size < t->addr))
		return -ERANGE;

	ret = fetch(t, 0, SFRAME_HDR_SIZE, buf, &hdr);
	if (ret)
		return ret;
	ret = open_preamble(t, hdr);
	if (ret)
		return ret;

	/* Other fixed offsets than the architecture's belong to another ABI */
	t->arch = sframe_arch(get8(hdr + SFRAME_HDR_ABI_OFF));
	if (!t->arch || t->arch->big_endian != (SFRAME_NATIVE_BIG ^ t->swap) ||
	    hdr[SFRAME_HDR_FIXED_FP_OFF] ||
	    (s8)hdr[SFRAME_HDR_FIXED_RA_OFF] != t->arch->ra_off)
		return -EOPNOTSUPP;

	/* All of these are below 2^37, so nothing overflows from here on */
	aux_len = get8(hdr + SFRAME_HDR_AUXHDR_LEN_OFF);
	room = SFRAME_HDR_SIZE + (u64)aux_len;
	t->nr_fdes = get32(t, hdr + SFRAME_HDR_NUM_FDES_OFF);
	t->nr_fres = get32(t, hdr + SFRAME_HDR_NUM_FRES_OFF);
	t->fre_len = get32(t, hdr + SFRAME_HDR_FRE_LEN_OFF);
	t->fde_off = room + get32(t, hdr + SFRAME_HDR_FDEOFF_OFF);
	t->fre_off = room + get32(t, hdr + SFRAME_HDR_FREOFF_OFF);
	fdes = t->fde_off + (u64)t->nr_fdes * t->fde_size;
	end = t->fre_off + t->fre_len;
	if (end < fdes)
		end = fdes;
	if (end > t->size)
		return -EBADMSG;
	t->size = end;
	t->index = NULL;
	return open_aux(t, aux_len);
}

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

/* Where part number @part of the index starts; ~0 if that is after the end of the address space */
static u64 part_start(const struct sframe_table *t, u32 part)
{
	u64 start = t->text_start + ((u64)part << t->index_shift);

	return start < t->text_start ? ~0ull : start;
}

/*
 * The last function that starts at @pc or before. If a section says that it is sorted, and is not,
 * the function found may be a wrong one. The caller checks that it holds @pc.
 */
static inline int search(const struct sframe_table *t, u64 pc, u32 *index)
{
	u32 low = 0, n = t->nr_fdes, half, part;
	u64 start;
	int ret;

	if (unlikely(!n))
		return -ESRCH;
	if (t->index) {
		part = (pc - t->text_start) >> t->index_shift;
		low = t->index[part];
		n = t->index[part + 1] - low + 1;
	}
	while (n > 1) {
		half = n / 2;
		ret = read_start(t, low + half, &start);
		if (unlikely(ret))
			return ret;
		if (start <= pc)
			low += half;
		n -= half;
	}
	*index = low;
	return 0;
}

int sframe_index(struct sframe_table *t, u32 *mem, u32 nr)
{
	u32 i, part = 0;
	u64 start;
	int ret;

	t->index = NULL;
	if (nr < 3 || !t->nr_fdes || !t->text_size)
		return 0;
	/* One more number ends the last part. At least two parts keep the shift below 64. */
	t->index_shift = 0;
	while ((t->text_size - 1) >> t->index_shift > nr - 2)
		t->index_shift++;
	t->index_nr = ((t->text_size - 1) >> t->index_shift) + 2;

	/* mem[part]: the last function that starts at the start of the part or before */
	for (i = 0; i < t->nr_fdes; i++) {
		ret = read_start(t, i, &start);
		if (ret)
			return ret;
		while (part < t->index_nr && start > part_start(t, part))
			mem[part++] = i ? i - 1 : 0;
	}
	while (part < t->index_nr)
		mem[part++] = t->nr_fdes - 1;
	t->index = mem;
	return 0;
}

static int check_info(const struct sframe_table *t, const struct sframe_func *f)
{
	/* A bit that no version defines may change the meaning of the others */
	u8 unknown = is_v3(t) ? 0x40 : 0xc0;

	if (f->info & unknown || SFRAME_FDE_FRE_TYPE(f->info) > SFRAME_FRE_TYPE_ADDR4 ||
	    (f->info2 > SFRAME_FDE_TYPE_FLEX && f->info2 != SFRAME_FDE_TYPE_FLEX_ADD))
		return -EBADMSG;
	return 0;
}

#ifdef SFRAME_V1_V2
static int old_func(const struct sframe_table *t, u64 off, struct sframe_func *f, struct window *w)
{
	u8 buf[SFRAME_V2_FDE_SIZE];
	const u8 *p;
	int ret;

	ret = fetch(t, off, t->fde_size, buf, &p);
	if (ret)
		return ret;
	f->start = get_start(t, off, p);
	f->size = get32(t, p + SFRAME_FDE_SIZE_OFF);
	f->fre_off = get32(t, p + SFRAME_FDE_FRE_OFF_OFF);
	f->nr_fres = get32(t, p + SFRAME_FDE_NUM_FRES_OFF);
	f->info = get8(p + SFRAME_FDE_INFO_OFF);
	f->info2 = 0;
	f->rep_size = t->version == SFRAME_VERSION_1 ? 0 : get8(p + SFRAME_FDE_REP_SIZE_OFF);
	f->kept_slot = SFRAME_KEPT_UNKNOWN;
	if (!f->nr_fres)
		return check_info(t, f);
	ret = window_at(t, w, f->fre_off);
	return ret ? ret : check_info(t, f);
}
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
		return old_func(t, off, f, w);
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
	if (unlikely(t->kept)) {
		if (w->len < SFRAME_KEPT_SIZE)
			return -EBADMSG;
		f->kept_slot = get8(w->p + SFRAME_KEPT_SLOT_OFF);
		f->kept_rows = get16(t, w->p + SFRAME_KEPT_ROWS_OFF);
		skip(w, SFRAME_KEPT_SIZE);
	}
	if (unlikely(w->len < SFRAME_V3_ATTR_SIZE))
		return -EBADMSG;
	f->nr_fres = get16(t, w->p + SFRAME_V3_ATTR_NUM_FRES_OFF);
	f->info = get8(w->p + SFRAME_V3_ATTR_INFO_OFF);
	f->info2 = get8(w->p + SFRAME_V3_ATTR_INFO2_OFF);
	f->rep_size = get8(w->p + SFRAME_V3_ATTR_REP_SIZE_OFF);
	skip(w, SFRAME_V3_ATTR_SIZE);
	f->fre_off = w->off;
	return check_info(t, f);
}

/* --------------------------------- rows -------------------------------- */

/* A function without rows: its frame is an outermost one, or it is a hole */
static int no_rows(const struct sframe_table *t, const struct sframe_func *f,
		   struct sframe_row *row)
{
	/*
	 * If gas cannot express the rules of a signal frame, it writes a function without rows that
	 * is marked as a signal frame. This project's generator writes every hole like this.
	 */
	if (t->version != SFRAME_VERSION_3 || SFRAME_FDE_IS_SIGNAL(f->info))
		return -ENOENT;
	*row = (struct sframe_row) {
		.start = f->start, .size = f->size, .ra = { .base = SFRAME_UNDEFINED },
	};
	return 0;
}

static inline u32 get_addr(const struct sframe_table *t, const u8 *p, u32 size)
{
	return size == 1 ? *p : size == 2 ? get16(t, p) : get32(t, p);
}

/* The longest valid row; NEXT_MAX: with the start and the info of the next one */
#define ROW_MAX		(4 + 1 + 4 * SFRAME_FRE_MAX_WORDS)
#define NEXT_MAX	(ROW_MAX + 4 + 1)

/* The window ends soon after @p. If more rows follow, start the window at @p. */
static int move_window(const struct sframe_table *t, struct window *w, const u8 **p, u32 *room)
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

static inline bool row_len(u8 info, u32 size, u32 *len)
{
	*len = size + 1 + (SFRAME_FRE_COUNT(info) << SFRAME_FRE_WORD_SHIFT(info));
	return SFRAME_FRE_WORD_SHIFT(info) != 3 && SFRAME_FRE_COUNT(info) <= SFRAME_FRE_MAX_WORDS;
}

/*
 * Find the last row that starts at @off or before; the window is at the function's first row.
 * Fills in the row's @start, @number (from 0 on) and @info, and in @next the start of the next row,
 * at most @limit. Leaves @w at the row's words.
 * A lookup spends most of its time in this loop. So @size is a constant in each copy of the loop,
 * which checks that the window holds the whole row only near the end of the window.
 */
static __always_inline int
scan_rows(const struct sframe_table *t, u32 nr, u32 off, u32 limit, const u32 size,
	  struct window *w, u32 *start, u32 *next, u32 *number, u8 *info)
{
	u32 len = size + 1, room = w->len, at = 0, after, i, last;
	const u8 *p = w->p;
	u8 what = 0, read;
	int ret;

	last = nr < SFRAME_MAX_FRES ? nr : SFRAME_MAX_FRES;
	if (unlikely(room < size + 1))
		return -EBADMSG;
	at = get_addr(t, p, size);
	if (unlikely(at > off))
		return -ENOENT;
	for (i = 1; ; i++) {
		if (unlikely(room < NEXT_MAX)) {
			ret = move_window(t, w, &p, &room);
			if (unlikely(ret))
				return ret;
			if (unlikely(room < size + 1))
				return -EBADMSG;
		}
		/*
		 * The info of a row decides where the row ends, and so where the next info is. Most
		 * rows of a function have the same info. The branch lets the processor predict it.
		 */
		read = get8(p + size);
		if (read != what) {
			what = read;
			if (unlikely(!row_len(what, size, &len)))
				return -EBADMSG;
		}
		if (unlikely(room < NEXT_MAX) && room < len + (i == nr ? 0 : size + 1))
			return -EBADMSG;
		if (i == last) {
			if (unlikely(last != nr))
				return -EBADMSG;
			after = limit;
			break;
		}
		after = get_addr(t, p + len, size);
		if (after > off)
			break;
		if (unlikely(after < at))
			return -EBADMSG;
		at = after;
		p += len;
		room -= len;
	}
	w->p = p + size + 1;
	*start = at;
	*next = after < limit ? after : limit;
	*number = i - 1;
	*info = what;
	return 0;
}

/* Where the caller's value of arch->reg_kept is in row @number: a slot */
static inline u32 kept_slot(const struct sframe_func *f, u32 number)
{
	if (number >= SFRAME_KEPT_MAX_ROWS)
		return SFRAME_KEPT_UNKNOWN;
	return f->kept_rows >> number & 1 ? f->kept_slot : SFRAME_KEPT_IN_REG;
}

static inline int scan(const struct sframe_table *t, const struct sframe_func *f, u64 pc,
		       struct sframe_row *row, struct window *w)
{
	u32 off = pc - f->start, limit = f->size, block = 0, start, next, number;
	u8 info;
	int ret;

	if (unlikely(!f->nr_fres))
		return no_rows(t, f, row);
	if (unlikely(SFRAME_FDE_IS_MASK(f->info))) {
		/* Version 1 has no rep_size, so the offset in the block is not known */
		if (t->version == SFRAME_VERSION_1)
			return -ENOENT;
		if (!f->rep_size)
			return -EBADMSG;
		block = off / f->rep_size * f->rep_size;
		off -= block;
		limit -= block;
		if (limit > f->rep_size)
			limit = f->rep_size;
	}

	switch (SFRAME_FDE_FRE_TYPE(f->info)) {
	case SFRAME_FRE_TYPE_ADDR1:
		ret = scan_rows(t, f->nr_fres, off, limit, 1, w, &start, &next, &number,
				&info);
		break;
	case SFRAME_FRE_TYPE_ADDR2:
		ret = scan_rows(t, f->nr_fres, off, limit, 2, w, &start, &next, &number,
				&info);
		break;
	default:
		ret = scan_rows(t, f->nr_fres, off, limit, 4, w, &start, &next, &number,
				&info);
		break;
	}
	if (unlikely(ret))
		return ret;
	row->start = f->start + block + start;
	row->size = next - start;
	ret = rules(t, f, info, w->p, row);
	if (unlikely(f->kept_slot))
		row->flags |= SFRAME_ROW_FLAGS_KEPT(kept_slot(f, number));
	return ret;
}

/* ------------------------------- interface ----------------------------- */

int sframe_find(const struct sframe_table *t, u64 pc, struct sframe_row *row)
{
	struct sframe_func f;
	struct window w;
	u32 index;
	int ret;

	if (unlikely(pc - t->text_start >= t->text_size))
		return -ESRCH;
	ret = search(t, pc, &index);
	if (unlikely(ret))
		return ret;
	ret = read_func(t, index, &pc, &f, &w);
	if (unlikely(ret))
		return ret;
	if (unlikely(pc - f.start >= f.size))
		return -ESRCH;
	return scan(t, &f, pc, row, &w);
}

int sframe_func(const struct sframe_table *t, u32 index, struct sframe_func *func)
{
	struct window w;

	if (index >= t->nr_fdes)
		return -ENOENT;
	return read_func(t, index, NULL, func, &w);
}

int sframe_func_row(const struct sframe_table *t, const struct sframe_func *func, u64 pc,
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
	return scan(t, func, pc, row, &w);
}
