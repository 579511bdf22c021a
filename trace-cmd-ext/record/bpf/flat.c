// SPDX-License-Identifier: GPL-2.0
/*
 * flat.c - from an SFrame section to the rows that BPF programs read
 *
 * The SFrame reader says for an address which row holds there and how far. So a loop asks it again
 * at the end of each row, through all functions. Code in no function is unknown; a place for which
 * the reader has no rule is a hole. The list by address then becomes one by offset in the
 * file, segment by segment.
 *
 * If several functions claim an address, the reader takes the last that starts before it. So here a
 * function ends where the next one starts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flat.h"
#include "libunwind-user/sframe/sframe.h"

/* A block of the index has at least this many rows on average, and is not smaller. */
#define ROWS_PER_BLOCK	4
#define MIN_SHIFT	6
/* A part that needs more rows gets only the first ones */
#define MAX_WORDS	CHUNK_WORDS

/* ---------------------------------- rules -------------------------------- */

_Static_assert((int)BASE_SAME == SFRAME_SAME && (int)BASE_UNDEFINED == SFRAME_UNDEFINED &&
		       (int)BASE_CFA == SFRAME_CFA && (int)BASE_SP == SFRAME_SP &&
		       (int)BASE_FP == SFRAME_FP && (int)BASE_REG == SFRAME_REG &&
		       KEPT_UNKNOWN == SFRAME_KEPT_UNKNOWN && KEPT_IN_REG == SFRAME_KEPT_IN_REG,
	       "rule.h has the values of the SFrame reader");

static struct full_value encode_value(const struct sframe_rule *r)
{
	return (struct full_value) { .off = r->off, .base = r->base, .deref = r->deref,
				     .reg = r->reg, .add = r->add };
}

static int word_of(const struct sframe_arch *arch)
{
	return arch->is_32bit ? 4 : 8;
}

/* Do calls leave RA in a register? Otherwise they push it. */
static bool has_link_reg(const struct sframe_arch *arch)
{
	return !arch->ra_off;
}

static bool is_saved(const struct sframe_rule *r, int word)
{
	return r->base == SFRAME_CFA && r->deref && !(r->off % word);
}

static bool has_plain_cfa(const struct sframe_row *row, int word, int max)
{
	return (row->cfa.base == SFRAME_SP || row->cfa.base == SFRAME_FP) && !row->cfa.deref &&
	       !(row->cfa.off % word) && row->cfa.off / word <= max && row->cfa.off / word >= -max;
}

static bool has_plain_fp(const struct sframe_row *row, int word)
{
	return is_saved(&row->fp, word) && row->fp.off < 0 &&
	       row->fp.off >= -word * RULE_MAX_FP;
}

/* RA is pushed by the call. */
static bool is_plain(const struct sframe_row *row, int word)
{
	return !row->flags && has_plain_cfa(row, word, RULE_MAX_CFA) &&
	       is_saved(&row->ra, word) && row->ra.off == -word &&
	       (row->fp.base == SFRAME_SAME || has_plain_fp(row, word));
}

/*
 * RA and FP are saved together, or neither of them is saved, or on s390x RA alone. Finds where FP
 * is, or would be, in words below the CFA, and the flag of the rule.
 */
static bool find_link(const struct sframe_row *row, int word, bool s390x, uint32_t *fp,
		      uint32_t *flag)
{
	int ra_after_fp = s390x ? RULE_S390X_RA_AFTER_FP : RULE_ARM64_RA_AFTER_FP;
	int off = row->ra.off - ra_after_fp;

	*fp = 0;
	*flag = row->flags & SFRAME_ROW_MANGLED ? RULE_SIGNED_RA : 0;
	if (row->flags & ~SFRAME_ROW_MANGLED || !has_plain_cfa(row, word, RULE_MAX_LINK_CFA))
		return false;
	if (row->ra.base == SFRAME_SAME)
		return row->fp.base == SFRAME_SAME;
	if (!is_saved(&row->ra, word) || off >= 0 || off < -word * RULE_MAX_FP)
		return false;
	*fp = -(off / word);
	if (s390x && row->fp.base == SFRAME_SAME)
		*flag = RULE_RA_ONLY;
	else if (!has_plain_fp(row, word) || row->fp.off != off)
		return false;
	return true;
}

static bool is_saved_at_sp(const struct sframe_rule *r, int off)
{
	return r->base == SFRAME_SP && r->deref && r->off == off && !r->add;
}

/* Is it the row of a signal frame? sig_kind() of step.c asks the same. */
static bool is_signal(const struct sframe_row *row, const struct sframe_arch *arch)
{
	const struct sframe_sig *sig = arch->sigs, *end = sig + arch->nr_sigs;

	if (arch->sp_off && !(row->flags & SFRAME_ROW_SP))
		return false;
	for (; sig < end; sig++) {
		if (is_saved_at_sp(&row->cfa, sig->sp) && is_saved_at_sp(&row->ra, sig->ip) &&
		    is_saved_at_sp(&row->fp, sig->fp))
			return true;
	}
	return false;
}

static uint32_t encode_full(struct full_rules *full, const struct sframe_arch *arch,
			    const struct sframe_row *row)
{
	struct full_rule r = {
		.cfa = encode_value(&row->cfa),
		.ra = encode_value(&row->ra),
		.fp = encode_value(&row->fp),
		.kept = SFRAME_ROW_KEPT(row->flags),
	};
	uint32_t i;

	if (row->flags & ~(SFRAME_ROW_SIGNAL | SFRAME_ROW_MANGLED | SFRAME_ROW_SP |
			   SFRAME_ROW_FLAGS_KEPT(0xff)))
		return rule_make_special(RULE_HOLE);
	if (row->flags & SFRAME_ROW_SIGNAL)
		r.flags |= FULL_SIGNAL;
	if (row->flags & SFRAME_ROW_MANGLED)
		r.flags |= FULL_SIGNED_RA;
	if (row->flags & SFRAME_ROW_SP)
		r.flags |= FULL_SP;
	if (row->ra.base == SFRAME_SAME ||
	    (row->flags & SFRAME_ROW_SIGNAL && !row->cfa.add && !is_signal(row, arch)))
		r.flags |= FULL_DOUBTFUL;
	for (i = 0; i < full->nr; i++) {
		if (!memcmp(&full->rule[i], &r, sizeof(r)))
			return rule_make_full(i);
	}
	if (full->nr == MAX_FULL)
		return rule_make_special(RULE_HOLE);
	full->rule[full->nr] = r;
	return rule_make_full(full->nr++);
}

static uint32_t encode_row(struct full_rules *full, const struct sframe_arch *arch,
			   const struct sframe_row *row)
{
	uint32_t kind = row->cfa.base == SFRAME_SP ? RULE_SP : RULE_FP;
	int word = word_of(arch), cfa = row->cfa.off / word;
	bool s390x = arch->abi == SFRAME_ABI_S390X;
	uint32_t fp, flag;

	if (row->ra.base == SFRAME_UNDEFINED)
		return rule_make_special(RULE_OUTERMOST);
	if (!has_link_reg(arch) && is_plain(row, word))
		return rule_make_plain(kind, cfa, -(row->fp.off / word));
	if ((s390x || arch->abi == SFRAME_ABI_ARM64_LE) && find_link(row, word, s390x, &fp, &flag))
		return rule_make_link(kind, cfa, fp, flag);
	return encode_full(full, arch, row);
}

/* ------------------------------- by address ------------------------------ */

struct row_start {
	uint64_t addr;
	uint32_t rule;
};

struct row_starts {
	VEC(struct row_start) list;
};

static int add_row_start(struct row_starts *p, uint64_t addr, uint32_t rule)
{
	struct row_start *last = p->list.nr ? &p->list.v[p->list.nr - 1] : NULL;

	if (last && last->addr == addr) {
		last->rule = rule;
		return 0;
	}
	if (last && last->rule == rule)
		return 0;
	last = vec_add(&p->list);
	if (!last)
		return -ENOMEM;
	last->addr = addr;
	last->rule = rule;
	return 0;
}

static int add_function(struct row_starts *p, struct full_rules *full, const struct sframe_table *t,
			const struct sframe_func *f, uint64_t end)
{
	struct sframe_row row;
	uint64_t pc = f->start;
	uint32_t rule;
	int ret;

	while (pc < end) {
		ret = sframe_find_row(t, f, pc, &row);
		if (ret) {
			rule = rule_make_special(ret == -ENOENT ? RULE_HOLE : RULE_UNKNOWN);
			/* without rows, or broken: no row comes later either */
			row.start = pc;
			row.size = f->nr_fres && ret == -ENOENT ? 1 : end - pc;
		} else {
			rule = encode_row(full, t->arch, &row);
		}
		if (add_row_start(p, pc, rule))
			return -ENOMEM;
		pc = row.start + row.size;
	}
	return add_row_start(p, end, rule_make_special(RULE_UNKNOWN));
}

static int add_functions(struct row_starts *p, struct full_rules *full,
			 const struct sframe_table *t)
{
	uint64_t start = t->text_start, limit = t->text_start + t->text_size, end;
	struct sframe_func f, next;
	uint32_t i;
	int ret;

	if (add_row_start(p, 0, rule_make_special(RULE_UNKNOWN)))
		return -ENOMEM;
	if (!t->nr_fdes)
		return 0;
	ret = sframe_get_func(t, 0, &next);
	for (i = 0; i < t->nr_fdes && !ret; i++) {
		f = next;
		end = f.start + f.size;
		if (i + 1 < t->nr_fdes) {
			ret = sframe_get_func(t, i + 1, &next);
			if (ret)
				break;
			if (next.start < f.start)
				return -EBADMSG;
			if (end > next.start)
				end = next.start;
		}
		if (end > limit)
			end = limit;
		if (f.start < start || f.start >= end)
			continue;
		ret = add_function(p, full, t, &f, end);
	}
	return ret;
}

/* -------------------------------- by offset ------------------------------ */

/* The last start at @addr or before; there is one at 0 */
static size_t find_row_start(const struct row_starts *p, uint64_t addr)
{
	size_t i;

	bisect(i, p->list.nr - 1, p->list.v[i + 1].addr > addr);
	return i;
}

static int add_row(struct flat *rows, uint64_t off, uint32_t rule)
{
	struct flat_part *part = rows->part.nr ? &rows->part.v[rows->part.nr - 1] : NULL;
	struct row *row;

	if (!part || part->nr != off >> PART_SHIFT) {
		part = vec_add(&rows->part);
		if (!part)
			return -ENOMEM;
		*part = (struct flat_part) { .nr = off >> PART_SHIFT, .first = rows->row.nr };
		/* before the first segment of code */
		if (off % PART_SIZE && add_row(rows, off - off % PART_SIZE,
					       rule_make_special(RULE_UNKNOWN)))
			return -ENOMEM;
	}
	row = part->nr_rows ? &rows->row.v[rows->row.nr - 1] : NULL;
	if (row && row->rule == rule)
		return 0;
	if (row && row->off == off % PART_SIZE) {
		row->rule = rule;
		return 0;
	}
	row = vec_add(&rows->row);
	if (!row)
		return -ENOMEM;
	row->off = off % PART_SIZE;
	row->rule = rule;
	part->nr_rows++;
	return 0;
}

static int add_segment(struct flat *rows, const struct row_starts *p, const struct tables_seg *seg)
{
	uint64_t off = seg->offset, end = seg->offset + seg->size, next;
	size_t i = find_row_start(p, seg->vaddr);

	while (off < end) {
		if (add_row(rows, off, p->list.v[i].rule))
			return -ENOMEM;
		next = end;
		if (i + 1 < p->list.nr && p->list.v[i + 1].addr - seg->vaddr < end - seg->offset)
			next = p->list.v[i + 1].addr - seg->vaddr + seg->offset;
		/* each part starts with a row of its own */
		if (next >> PART_SHIFT != off >> PART_SHIFT &&
		    next > ((off >> PART_SHIFT) + 1) << PART_SHIFT) {
			off = ((off >> PART_SHIFT) + 1) << PART_SHIFT;
			continue;
		}
		off = next;
		i++;
	}
	return end % PART_SIZE ? add_row(rows, end, rule_make_special(RULE_UNKNOWN)) : 0;
}

static int compare_segs(const void *a, const void *b)
{
	const struct tables_seg *x = a, *y = b;

	return cmp_int(x->offset, y->offset);
}

static int add_segments(struct flat *rows, const struct row_starts *p, const struct tables_id *id)
{
	struct tables_seg seg[TABLES_MAX_SEGS];
	uint64_t after = 0;
	uint32_t i;
	int ret = 0;

	memcpy(seg, id->seg, sizeof(seg));
	qsort(seg, id->nr_segs, sizeof(*seg), compare_segs);
	for (i = 0; i < id->nr_segs && !ret; i++) {
		/* if two segments map an offset, it would have two rules */
		if (seg[i].offset < after)
			return -EBADMSG;
		after = seg[i].offset + seg[i].size;
		if (after >> PART_SHIFT > UINT32_MAX)
			return -EBADMSG;
		ret = add_segment(rows, p, &seg[i]);
	}
	return ret;
}

/* Which tasks of this machine can be walked by tables of an architecture */
static enum part_abi find_abi(const struct sframe_arch *arch)
{
#if defined(__x86_64__)
	return arch->abi == SFRAME_ABI_AMD64 ? ABI_64 :
	       arch->abi == SFRAME_ABI_I386 ? ABI_32 : ABI_OTHER;
#elif defined(__aarch64__)
	return arch->abi == SFRAME_ABI_ARM64_LE ? ABI_64 : ABI_OTHER;
#elif defined(__s390x__)
	return arch->abi == SFRAME_ABI_S390X ? ABI_64 : ABI_OTHER;
#else
	(void)arch;
	return ABI_OTHER;
#endif
}

int flat_make_any(struct flat *rows, struct full_rules *full, const struct gen_table *table,
		  const struct tables_id *id)
{
	struct row_starts p = {};
	struct sframe_table t;
	int ret;

	memset(rows, 0, sizeof(*rows));
	ret = gen_open(table, &t);
	if (ret)
		return ret;
	rows->abi = find_abi(t.arch);
	ret = add_functions(&p, full, &t);
	if (!ret)
		ret = add_segments(rows, &p, id);
	vec_free(&p.list);
	if (ret)
		flat_free(rows);
	return ret;
}

int flat_make(struct flat *rows, struct full_rules *full, const struct gen_table *table,
	      const struct tables_id *id)
{
	struct sframe_table t;
	int ret = gen_open(table, &t);

	memset(rows, 0, sizeof(*rows));
	if (!ret && find_abi(t.arch) == ABI_OTHER)
		ret = -EOPNOTSUPP;
	return ret ? ret : flat_make_any(rows, full, table, id);
}

void flat_free(struct flat *rows)
{
	vec_free(&rows->row);
	vec_free(&rows->part);
}

/* ------------------------------- in a chunk ------------------------------ */

static uint32_t index_shift(uint32_t nr_rows)
{
	uint32_t shift = PART_SHIFT;

	while (shift > MIN_SHIFT && PART_SIZE >> shift < nr_rows / ROWS_PER_BLOCK)
		shift--;
	return shift;
}

static uint32_t index_words(uint32_t shift)
{
	/* even, as rows follow */
	return ((PART_SIZE >> shift) + 2) & ~1u;
}

static uint32_t max_rows(void)
{
	return (MAX_WORDS - index_words(MIN_SHIFT)) / 2;
}

uint32_t flat_words(const struct flat_part *p)
{
	uint32_t nr = p->nr_rows < max_rows() ? p->nr_rows : max_rows();

	return index_words(index_shift(nr)) + 2 * nr;
}

void flat_write(const struct flat *rows, const struct flat_part *p, uint32_t *chunk, uint32_t at,
		struct part *part)
{
	uint32_t nr = p->nr_rows < max_rows() ? p->nr_rows : max_rows(), i, block;
	const struct row *row = &rows->row.v[p->first];
	uint32_t *to;

	part->index = at;
	part->shift = index_shift(nr);
	part->rows = at + index_words(part->shift);
	part->nr_rows = nr;
	part->abi = rows->abi;
	to = chunk + part->rows;
	for (i = 0; i < nr; i++) {
		to[2 * i] = row[i].off;
		to[2 * i + 1] = row[i].rule;
	}
	if (nr < p->nr_rows)
		to[2 * nr - 1] = rule_make_special(RULE_HOLE);
	for (block = 0, i = 0; block <= PART_SIZE >> part->shift; block++) {
		while (i + 1 < nr && row[i + 1].off <= (uint64_t)block << part->shift)
			i++;
		chunk[at + block] = i;
	}
}

uint32_t flat_find(const uint32_t *chunk, const struct part *part, uint32_t off)
{
	const uint32_t *index = chunk + part->index + (off >> part->shift);
	uint32_t low = index[0], n = index[1] - low + 1, half;

	while (n > 1) {
		half = n / 2;
		if (chunk[part->rows + 2 * (low + half)] <= off)
			low += half;
		n -= half;
	}
	return chunk[part->rows + 2 * low + 1];
}
