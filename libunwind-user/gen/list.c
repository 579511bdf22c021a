// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * list.c - makes one ascending list of the rows of all sorted FDEs
 *
 * Most rows are taken as they are. This file decides the other cases:
 *
 *	- The same FDE twice counts once. Where two FDEs overlap and differ, it is unknown which FDE
 *	  a debugger takes, so all that they cover from there on is a hole.
 *	- A gap between two functions that is nothing but padding gets the first row of the second
 *	  function, see gen.h. Any other gap is not in the table.
 *	- Rows that the code contradicts, as far as they are checked, become a hole, see check.c.
 *	- Code that returns from signal handlers becomes a hole if its rules do not say so, see
 *	  rows/sig.c.
 *	- The code after an instruction that switches to another stack becomes a hole, if no rule
 *	  describes the switch.
 *	- glibc's function to which coroutines return has no caller, nor has the padding
 *	  before it. Where no FDE has that code, it becomes a hole.
 */
#include <errno.h>
#include <stdlib.h>

#include "impl.h"

#define MAX_STACK_START	48		/* bytes */

/* Undo rows from @start on. */
static void cut_rows(struct rows *r, uint32_t start)
{
	while (r->nr_merged && r->merged[r->nr_merged - 1].start >= start)
		r->nr_merged--;
}

/* Make room for @nr rows at least. Most files need only that much in all. */
static int grow_rows(struct rows *r, uint64_t nr)
{
	uint64_t room = nr > r->room_merged ? nr : 2ull * r->room_merged;
	struct rows_row *row;
	uint8_t *is_start;

	if (room > UINT32_MAX)
		return -ENOMEM;
	row = realloc(r->merged, room * sizeof(*row));
	if (row)
		r->merged = row;
	is_start = realloc(r->is_start, room);
	if (is_start)
		r->is_start = is_start;
	if (!row || !is_start)
		return -ENOMEM;
	r->room_merged = room;
	return 0;
}

static inline int append_row(struct rows *r, uint32_t start, uint32_t rules, bool is_start)
{
	struct rows_row *row = r->merged + r->nr_merged;
	int ret;

	if (r->nr_merged && row[-1].start == start) {
		r->nr_merged--;
		row--;
	}
	if (r->nr_merged && row[-1].rules_idx == rules && (!is_start || rules < ROWS_FIRST))
		return 0;
	if (r->nr_merged == r->room_merged) {
		ret = grow_rows(r, 0);
		if (ret)
			return ret;
		row = r->merged + r->nr_merged;
	}
	*row = (struct rows_row){ .start = start, .rules_idx = rules };
	r->is_start[r->nr_merged++] = is_start;
	return 0;
}

static void count_hole(struct rows *r, unsigned int cause, uint32_t start, uint32_t end)
{
	r->stats->hole[cause].nr++;
	r->stats->hole[cause].bytes += end - start;
}

/* The number of the rules that a row gets: all holes have the same number. */
static uint32_t choose_rules(struct rows *r, const struct rows_fde *fde, uint32_t i)
{
	const struct rows_row *row = &r->fde_row[fde->row + i];
	uint32_t end = i + 1 < fde->nr_rows ? row[1].start : fde->end;
	const struct rows_fre *fre = &r->fre[row->rules_idx];

	if (fre->cause) {
		count_hole(r, fre->cause, row->start, end);
		return ROWS_HOLE;
	}
	/* the rule counts from multiples of 16, PC type MASK from the start of the function */
	if (fre->plt && ((r->img->text.start + row->start) & 15)) {
		count_hole(r, STATS_CAUSE_PLT, row->start, end);
		return ROWS_HOLE;
	}
	return row->rules_idx;
}

/*
 * Returns where a function with one rule replaces the register that the rule counts from. If the
 * CFA is by FP, a change of SP does not matter: the function may repair its SP.
 * @outermost: nothing calls the function. This must be certain, because otherwise the stacks of its
 * callers end here.
 */
static uint32_t find_stack_switch(struct rows *r, const struct rows_fde *fde, bool *outermost)
{
	size_t len = fde->end - fde->start;
	const struct cfi_rule *cfa;
	const uint8_t *code;
	bool by_fp;

	*outermost = false;
	if (!r->arch->find_stack_switch || fde->nr_rows != 1 || len > IMAGE_MAX_CODE)
		return fde->end;
	cfa = &r->rules[r->fde_row[fde->row].rules_idx].cfa;
	by_fp = cfa->reg == r->arch->abi->reg_fp;
	if (cfa->how != CFI_REG || (!by_fp && cfa->reg != r->arch->abi->reg_sp))
		return fde->end;
	code = image_get_code(r->img, r->img->text.start + fde->start, len);
	if (!code)
		return fde->end;
	*outermost = !by_fp && r->arch->starts_stack && r->arch->starts_stack(code, len);
	return fde->start + r->arch->find_stack_switch(code, len, by_fp);
}

/*
 * Cover the padding before the function, too: a return address at its first byte is looked up one
 * byte earlier.
 */
static int append_outermost(struct rows *r, const struct rows_fde *fde, uint32_t gap_start)
{
	static const struct cfi_row outermost = { .ra = { .how = CFI_UNDEF } };
	uint32_t n = rows_intern_rules(r, &outermost), start = fde->start;
	int ret;

	if (!n)
		return -ENOMEM;
	if (gap_start < start && rows_is_padding(r, gap_start, start)) {
		r->stats->padding_bytes += start - gap_start;
		start = gap_start;
	}
	ret = append_row(r, start, n, true);
	return ret ? ret : append_row(r, fde->end, ROWS_NONE, false);
}

/* Add [start, end), after which nothing is known. */
static int append_hole(struct rows *r, uint32_t start, uint32_t end)
{
	int ret = start < end ? append_row(r, start, ROWS_HOLE, false) : 0;

	return ret ? ret : append_row(r, end, ROWS_NONE, false);
}

static int append_fde(struct rows *r, const struct rows_fde *fde, uint32_t gap_start)
{
	uint32_t i, rules, start, end;
	bool outermost;
	int ret;

	end = find_stack_switch(r, fde, &outermost);
	if (outermost)
		return append_outermost(r, fde, gap_start);
	if (rows_is_unknown_sigreturn(r, fde)) {
		count_hole(r, STATS_CAUSE_SIGNAL, fde->start, fde->end);
		return append_hole(r, fde->start, fde->end);
	}
	if (end < fde->end)
		count_hole(r, CFI_CAUSE_SP, end, fde->end);
	if (end == fde->start)
		return append_hole(r, end, fde->end);
	for (i = 0; i < fde->nr_rows; i++) {
		start = r->fde_row[fde->row + i].start;
		rules = choose_rules(r, fde, i);
		if (!i && rules != ROWS_HOLE && gap_start < start && !r->fre[rules].plt &&
		    !r->fre[rules].signal &&
		    (fde->padding_start == gap_start || rows_is_padding(r, gap_start, start))) {
			r->stats->padding_bytes += start - gap_start;
			ret = append_row(r, gap_start, rules, false);
			if (ret)
				return ret;
		}
		ret = append_row(r, start, rules, !i);
		if (ret)
			return ret;
	}
	return append_hole(r, end, fde->end);
}

/* Add a hole for what coroutines return to, if it is between this FDE and the code at @next. */
static int append_stack_start(struct rows *r, const struct rows_fde *fde, uint32_t next)
{
	uint32_t len = next > fde->end ? next - fde->end : 0;
	const uint8_t *code;

	if (!r->arch->has_stack_start || !len)
		return 0;
	if (len > MAX_STACK_START)
		len = MAX_STACK_START;
	code = image_get_code(r->img, r->img->text.start + fde->end, len);
	if (!code || !r->arch->has_stack_start(code, len))
		return 0;
	count_hole(r, CFI_CAUSE_SP, fde->end, fde->end + len);
	return append_hole(r, fde->end, fde->end + len);
}

int gen_merge_rows(struct rows *r)
{
	const struct rows_fde *fde, *last = NULL;
	uint32_t i, next, reach = 0;
	int ret;

	/* an FDE also has padding before it, and a row after it */
	ret = grow_rows(r, r->nr_fde_rows + 3ull * r->nr_fdes + 1);
	if (!ret)
		ret = append_row(r, 0, ROWS_NONE, false);
	for (i = 0; i < r->nr_fdes && !ret; i++) {
		fde = &r->fde[i];
		r->stats->fde_bytes += fde->end - fde->start;
		if (last && rows_is_same_fde(r, last, fde))
			continue;
		if (fde->start < reach) {
			if (fde->end > reach)
				reach = fde->end;
			count_hole(r, STATS_CAUSE_OVERLAP, fde->start, reach);
			cut_rows(r, fde->start);
			ret = append_hole(r, fde->start, reach);
			/* the last FDE is no longer in the list, so no FDE can equal it */
			last = NULL;
			continue;
		}
		for (next = i + 1; next < r->nr_fdes && rows_is_same_fde(r, fde, &r->fde[next]); )
			next++;
		/* padding before disputed code is disputed, too */
		if (!last || (next < r->nr_fdes && r->fde[next].start == fde->start))
			reach = fde->start;
		ret = append_fde(r, fde, reach);
		if (!ret)
			ret = append_stack_start(r, fde, next < r->nr_fdes ? r->fde[next].start :
					      r->img->text.end - r->img->text.start);
		reach = fde->end;
		last = fde;
	}
	return ret;
}
