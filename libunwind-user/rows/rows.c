// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rows.c - FDEs and their rows, from .eh_frame and from other sources
 *
 * While .eh_frame is read, rows are collected and their rules numbered. Many rows share their
 * rules, so later steps compare and encode rows by number. Then the FDEs are sorted by start (most
 * files have two or three ascending runs of FDEs), and PLT stubs that no FDE covers are added. Rows
 * for other code without .eh_frame come from flow/. gen/list.c makes one list of all rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

#define MAX_FDES	(1u << 28)
/* Functions are aligned to 64 at most; larger padding of loops and sections stays uncovered. */
#define MAX_PADDING	63
#define FUNC_ALIGN	16ull		/* of functions that a linker joins */

static uint32_t hash_rules(const struct cfi_row *s)
{
	uint64_t cfa, ra, fp;

	memcpy(&cfa, &s->cfa, sizeof(cfa));
	memcpy(&ra, &s->ra, sizeof(ra));
	memcpy(&fp, &s->fp, sizeof(fp));
	cfa = (cfa ^ s->flags) * 0x9e3779b97f4a7c15ULL;
	ra = (ra ^ cfa >> 29) * 0xbf58476d1ce4e5b9ULL;
	fp = (fp ^ ra >> 31) * 0x94d049bb133111ebULL;
	return (cfa ^ ra ^ fp) >> 32;
}

/* Whether a rule counts from abi->reg_kept */
static bool counts_from_kept_reg(const struct rows *r, const struct cfi_row *s)
{
	uint8_t reg = r->arch->abi->reg_kept;

	return reg && (s->cfa.reg == reg || s->ra.reg == reg || s->fp.reg == reg);
}

/* Rules that have no number yet get one; returns as rows_intern_rules(). */
static uint32_t add_rules(struct rows *r, const struct cfi_row *rules, uint32_t hash)
{
	uint32_t n = r->nr_rules, room = r->room_rules;

	if (vec_grow32(&r->fre, &room, n, sizeof(*r->fre)) ||
	    vec_grow32(&r->rules, &r->room_rules, n, sizeof(*r->rules)) ||
	    hidx_add_bounded(&r->numbers, hash, n))
		return 0;
	r->nr_rules++;
	r->rules[n] = *rules;
	rows_encode(r->arch, rules, &r->fre[n]);
	r->needs_kept_reg |= counts_from_kept_reg(r, rules);
	return n;
}

uint32_t rows_intern_rules(struct rows *r, const struct cfi_row *rules)
{
	uint32_t hash = hash_rules(rules), n;
	size_t pos;

	for_each_hidx_bounded(&r->numbers, hash, pos, n)
		if (!memcmp(&r->rules[n], rules, sizeof(*rules)))
			return n;
	return add_rules(r, rules, hash);
}

int rows_init(struct rows *r, struct image *img, const struct arch *arch, struct stats *stats)
{
	uint32_t room = 0;

	memset(r, 0, sizeof(*r));
	r->img = img;
	r->arch = arch;
	r->stats = stats;
	if (vec_grow32(&r->fre, &room, 0, sizeof(*r->fre)) ||
	    vec_grow32(&r->rules, &r->room_rules, 0, sizeof(*r->rules)))
		return -ENOMEM;
	memset(r->fre, 0, ROWS_FIRST * sizeof(*r->fre));
	memset(r->rules, 0, ROWS_FIRST * sizeof(*r->rules));
	r->nr_rules = ROWS_FIRST;
	return 0;
}

void rows_free(struct rows *r)
{
	free(r->fre);
	free(r->rules);
	hidx_free(&r->numbers);
	free(r->fde);
	free(r->fde_row);
	free(r->merged);
	free(r->is_start);
}

int rows_add_fde(struct rows *r, uint64_t start, uint64_t end)
{
	struct rows_fde *fde;

	if (r->nr_fdes == MAX_FDES || vec_grow32(&r->fde, &r->room_fdes, r->nr_fdes, sizeof(*fde)))
		return -ENOMEM;
	fde = &r->fde[r->nr_fdes++];
	fde->start = start - r->img->text.start;
	fde->end = end - r->img->text.start;
	fde->padding_start = fde->start;
	fde->row = r->nr_fde_rows;
	fde->nr_rows = 0;
	r->after_pushed = r->pushed && fde[-1].end == fde->start;
	r->pushed = false;
	return 0;
}

int rows_add_fde_row(struct rows *r, struct rows_fde *fde, uint32_t start,
		     const struct cfi_row *rules)
{
	uint32_t n = rows_intern_rules(r, rules);

	if (!n || vec_grow32(&r->fde_row, &r->room_fde_rows, r->nr_fde_rows, sizeof(*r->fde_row)))
		return -ENOMEM;
	r->fde_row[r->nr_fde_rows].start = start;
	r->fde_row[r->nr_fde_rows++].rules_idx = n;
	fde->nr_rows++;
	return 0;
}

int rows_add_row(struct rows *r, uint64_t start, const struct cfi_row *rules)
{
	struct rows_fde *fde = &r->fde[r->nr_fdes - 1];

	return rows_add_fde_row(r, fde, fde->start + start, rules);
}

/* Does a test want this FDE dropped? See ROWS_DROP. */
static bool is_dropped(const struct image *img, uint64_t start)
{
	uint64_t v = (start + (img->flags >> 16) + 1) * 0x9e3779b97f4a7c15ULL;
	unsigned int percent = img->flags >> 8 & 0xff;

	return percent && ((v ^ v >> 29) * 0xbf58476d1ce4e5b9ULL >> 32) % 100 < percent;
}

static int on_fde(void *arg, uint64_t start, uint64_t end)
{
	struct rows *r = arg;

	if (is_dropped(r->img, start))
		return CFI_SKIP;
	if (!image_is_in_exec_segment(r->img, start, end)) {
		r->stats->hole[STATS_CAUSE_OUTSIDE].nr++;
		r->stats->hole[STATS_CAUSE_OUTSIDE].bytes += end - start;
		return CFI_SKIP;
	}
	if (!image_is_in_code_range(r->img, start, end))
		image_distrust_sections(r->img);
	return rows_add_fde(r, start, end);
}

static bool is_sp(const struct rows *r, const struct cfi_rule *cfa)
{
	return cfa->how == CFI_REG && cfa->reg == r->arch->abi->reg_sp && !cfa->off;
}

static struct cfi_rule raise_rule(struct cfi_rule rule, int pushed)
{
	if (rule.how == CFI_AT_CFA || rule.how == CFI_CFA)
		return cfi_make_rule(rule.how, 0, (int64_t)rule.off - pushed);
	return rule;
}

/* @rules with the CFA higher by the bytes that the PLT has pushed */
static struct cfi_row raise_cfa(const struct rows *r, const struct cfi_row *rules)
{
	struct cfi_row to = *rules;
	int size = r->arch->plt_pushes;

	if (to.cfa.how == CFI_REG)
		to.cfa = cfi_make_rule(CFI_REG, to.cfa.reg, (int64_t)to.cfa.off + size);
	else
		to.cfa = cfi_make_bad_rule(CFI_CAUSE_SP);
	to.fp = raise_rule(to.fp, size);
	/* After the bytes are popped, RA is in its register again */
	to.ra = is_sp(r, &to.cfa) ? (struct cfi_rule){ .how = CFI_SAME } : raise_rule(to.ra, size);
	return to;
}

/* Does the next row of the last FDE show that a PLT has pushed words? */
static bool shows_push(const struct rows *r, const struct cfi_row *rules)
{
	uint32_t i;

	if (!r->arch->plt_pushes || rules->ra.how != CFI_AT_CFA || rules->flags ||
	    rules->ra.off != r->arch->plt_pushes - 8 || !is_sp(r, &rules->cfa))
		return false;
	for (i = r->fde[r->nr_fdes - 1].row; i < r->nr_fde_rows; i++) {
		rules = &r->rules[r->fde_row[i].rules_idx];
		if (!is_sp(r, &rules->cfa) || rules->ra.how != CFI_SAME)
			return false;
	}
	return true;
}

/* Correct the rows of this FDE so far; its later rows follow */
static int set_pushed(struct rows *r)
{
	struct cfi_row rules;
	uint32_t i;

	r->pushed = true;
	for (i = r->fde[r->nr_fdes - 1].row; i < r->nr_fde_rows; i++) {
		rules = raise_cfa(r, &r->rules[r->fde_row[i].rules_idx]);
		r->fde_row[i].rules_idx = rows_intern_rules(r, &rules);
		if (!r->fde_row[i].rules_idx)
			return -ENOMEM;
	}
	return 0;
}

static int on_row(void *arg, uint64_t start, const struct cfi_row *rules)
{
	struct rows *r = arg;
	struct cfi_row to;
	int ret;

	if (!r->pushed && shows_push(r, rules)) {
		ret = set_pushed(r);
		if (ret)
			return ret;
	}
	if (r->pushed) {
		to = raise_cfa(r, rules);
		rules = &to;
	}
	/*
	 * _dl_runtime_profile() follows. Its CFA is too low for the same reason, but its rows do
	 * not show the push. So all of it is a hole.
	 */
	if (r->after_pushed) {
		to = (struct cfi_row){ .cfa = cfi_make_bad_rule(CFI_CAUSE_SP) };
		rules = &to;
	}
	r->stats->nr_rows++;
	return rows_add_fde_row(r, &r->fde[r->nr_fdes - 1], start - r->img->text.start, rules);
}

const struct cfi_ops rows_cfi_ops = { .fde = on_fde, .row = on_row };

int rows_sort(struct rows *r)
{
	struct rows_fde *from = r->fde, *to;
	uint32_t count[2048], i, sum, shift, n;

	for (i = 1; i < r->nr_fdes && r->fde[i - 1].start <= r->fde[i].start; i++)
		;
	if (i >= r->nr_fdes)
		return 0;
	to = malloc(r->nr_fdes * sizeof(*to));
	if (!to)
		return -ENOMEM;
	r->room_fdes = r->nr_fdes;
	for (shift = 0; shift < 33; shift += 11) {
		struct rows_fde *t;

		memset(count, 0, sizeof(count));
		for (i = 0; i < r->nr_fdes; i++)
			count[from[i].start >> shift & 2047]++;
		for (i = 0, sum = 0; i < 2048; i++) {
			n = count[i];
			count[i] = sum;
			sum += n;
		}
		for (i = 0; i < r->nr_fdes; i++)
			to[count[from[i].start >> shift & 2047]++] = from[i];
		t = from;
		from = to;
		to = t;
	}
	free(to);
	r->fde = from;
	return 0;
}

/* Callbacks of arch.add_plt_rows() */

static const uint8_t *get_stub_code(void *ctx, uint64_t addr, size_t len)
{
	struct rows *r = ctx;

	return image_get_code(r->img, addr, len);
}

static int add_stub_fde(void *ctx, uint64_t start, uint64_t end)
{
	return rows_add_fde(ctx, start, end);
}

static int add_stub_row(void *ctx, uint64_t start, const struct cfi_row *rules)
{
	return rows_add_row(ctx, start, rules);
}

static void extend_stub(void *ctx, uint64_t end)
{
	struct rows *r = ctx;

	r->fde[r->nr_fdes - 1].end = end - r->img->text.start;
}

/* Add the PLT stubs in those parts of [start, end) that the sorted FDEs do not cover. */
static int add_stubs(struct rows *r, uint64_t start, uint64_t end, uint32_t nr_fdes)
{
	const struct arch_plt plt = {
		.ctx = r, .code = get_stub_code, .fde = add_stub_fde, .row = add_stub_row,
		.extend = extend_stub,
	};
	uint64_t base = r->img->text.start;
	uint32_t i;
	int ret = 0;

	/* the first FDE that starts after start; the FDE before it may reach in */
	bisect(i, nr_fdes, base + r->fde[i].start > start);
	if (i && base + r->fde[i - 1].end > start)
		start = base + r->fde[i - 1].end;
	while (start < end && !ret) {
		uint64_t stop = i < nr_fdes ? base + r->fde[i].start : end;

		if (stop > end)
			stop = end;
		if (start < stop)
			ret = r->arch->add_plt_rows(&plt, start, stop);
		if (i == nr_fdes)
			break;
		if (base + r->fde[i].end > start)
			start = base + r->fde[i].end;
		i++;
	}
	return ret;
}

int rows_add_plts(struct rows *r)
{
	uint32_t nr_fdes = r->nr_fdes, i;
	const struct image_range *plt;
	int ret;

	if (!r->arch->add_plt_rows)
		return 0;
	for (i = 0; i < r->img->nr_plts; i++) {
		plt = &r->img->plt[i];
		if (!image_is_in_exec_segment(r->img, plt->start, plt->end))
			continue;
		ret = add_stubs(r, plt->start, plt->end, nr_fdes);
		if (ret)
			return ret;
	}
	for (i = nr_fdes; i < r->nr_fdes; i++)
		r->stats->plt_bytes += r->fde[i].end - r->fde[i].start;
	return nr_fdes == r->nr_fdes ? 0 : rows_sort(r);
}

/* Add the row of a thunk, which changes nothing but a register. */
static int add_pc_thunk(struct rows *r, uint64_t start)
{
	uint8_t word = r->img->addr_size;
	const struct cfi_row row = {
		.cfa = cfi_make_rule(CFI_REG, r->arch->abi->reg_sp, word),
		.ra = cfi_make_rule(CFI_AT_CFA, 0, -word),
	};
	int ret = rows_add_fde(r, start, start + ARCH_PC_THUNK);

	return ret ? ret : rows_add_row(r, 0, &row);
}

/* Add the thunks at the start of [start, end), one after the other. */
static int add_pc_thunks_in(struct rows *r, uint64_t start, uint64_t end)
{
	uint64_t base = r->img->text.start, at;
	const uint8_t *code;
	int ret = 0;

	while (!ret) {
		at = (start + FUNC_ALIGN - 1) & -FUNC_ALIGN;
		if (at + ARCH_PC_THUNK > end ||
		    !image_is_in_code_range(r->img, at, at + ARCH_PC_THUNK) ||
		    (at > start && !rows_is_padding(r, start - base, at - base)))
			return 0;
		code = image_get_code(r->img, at, ARCH_PC_THUNK);
		if (!code || !r->arch->is_pc_thunk(code))
			return 0;
		ret = add_pc_thunk(r, at);
		start = at + ARCH_PC_THUNK;
	}
	return ret;
}

int rows_add_pc_thunks(struct rows *r)
{
	uint32_t nr_fdes = r->nr_fdes, i;
	uint64_t base = r->img->text.start, end;
	int ret = 0;

	if (!r->arch->is_pc_thunk)
		return 0;
	for (i = 0; i < nr_fdes && !ret; i++) {
		end = i + 1 < nr_fdes ? base + r->fde[i + 1].start : r->img->text.end;
		if (base + r->fde[i].end < end)
			ret = add_pc_thunks_in(r, base + r->fde[i].end, end);
	}
	if (ret)
		return ret;
	return nr_fdes == r->nr_fdes ? 0 : rows_sort(r);
}

const struct cfi_row *rows_find_rules(const struct rows *r, uint64_t pc)
{
	const struct rows_fde *fde;
	uint32_t i;

	bisect(i, r->nr_sorted, r->fde[i].start > pc);
	if (!i)
		return NULL;
	fde = &r->fde[i - 1];
	if (pc >= fde->end || !fde->nr_rows)
		return NULL;
	bisect(i, fde->nr_rows - 1, r->fde_row[fde->row + i + 1].start > pc);
	return &r->rules[r->fde_row[fde->row + i].rules_idx];
}

bool rows_is_same_fde(const struct rows *r, const struct rows_fde *a, const struct rows_fde *b)
{
	return a->start == b->start && a->end == b->end && a->nr_rows == b->nr_rows &&
	       !memcmp(&r->fde_row[a->row], &r->fde_row[b->row], a->nr_rows * sizeof(*r->fde_row));
}

bool rows_is_padding(struct rows *r, uint32_t start, uint32_t end)
{
	const uint8_t *code;
	size_t n, len = end - start;

	if (len > MAX_PADDING || !image_is_in_code_range(r->img, r->img->text.start + start,
							 r->img->text.start + end))
		return false;
	/* After the system call, the frame of a signal trampoline is still there */
	if (start >= 2) {
		code = image_get_code(r->img, r->img->text.start + start - 2, 2);
		if (!code || r->arch->ends_system_call(code))
			return false;
	}
	code = image_get_code(r->img, r->img->text.start + start, len);
	for (; code && len; code += n, len -= n) {
		n = r->arch->get_padding_length(code, len);
		if (!n)
			return false;
	}
	return code;
}
