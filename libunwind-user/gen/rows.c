// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_rows - the rows of all FDEs as one ascending list
 *
 * While .eh_frame is read its rows are collected, their states numbered: there are few different
 * ones, so that from here on rows are compared, and encoded, by number. Then
 *
 *	- FDEs are sorted by start; most files have two or three ascending runs of them;
 *	- PLT stubs that no FDE covers are added, and what can be told of other code without one;
 *	- the same FDE twice counts once; where two FDEs overlap and differ, nobody knows which one
 *	  a debugger takes, so all they cover from there on is a hole;
 *	- a gap between two functions that is nothing but padding gets the row that the second one
 *	  starts with, see gen.h. Any other gap is not in the table;
 *	- a hole is what the code contradicts, as far as that is looked at, see check.c;
 *	- so is what returns from signal handlers with rules that do not say so, see sig.c;
 *	- so is what lies behind an instruction that goes to another stack, if no rule says so;
 *	- glibc's function to which coroutines return has no caller, nor has the padding before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/arch/arch.h"
#include "libunwind-user/cfi/impl.h"

/* Functions are aligned to 64 at most, loops and sections to more, which is no loss. */
#define MAX_PADDING	63

#define MAX_FDES	(1u << 28)

static uint32_t hash_state(const struct cfi_state *s)
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

/* The place of a state in the hash table: that of an equal one, or a free one, or any. */
static uint32_t *place_of(const struct gen_rows *r, uint32_t *intern, uint32_t size,
			  const struct cfi_state *state)
{
	uint32_t i = hash_state(state) & (size - 1), n;

	for (n = 0; intern[i] && n < MAX_PROBES; n++) {
		if (!memcmp(&r->state[intern[i]], state, sizeof(*state)))
			break;
		i = (i + 1) & (size - 1);
	}
	return &intern[i];
}

static bool grow_intern(struct gen_rows *r)
{
	uint32_t size = r->intern_size ? r->intern_size * 2 : 128, i;
	uint32_t *new = calloc(size, sizeof(*new));

	if (!new)
		return false;
	for (i = GEN_FIRST; i < r->nr_codes; i++)
		*place_of(r, new, size, &r->state[i]) = i;
	free(r->intern);
	r->intern = new;
	r->intern_size = size;
	return true;
}

/* The number of a state; 0 (which is GEN_NONE, hence no answer) without memory. */
static uint32_t number_of(struct gen_rows *r, const struct cfi_state *state)
{
	uint32_t *place, n, room;

	if (r->nr_codes * 2ULL > r->intern_size && !grow_intern(r))
		return 0;
	place = place_of(r, r->intern, r->intern_size, state);
	if (*place && !memcmp(&r->state[*place], state, sizeof(*state)))
		return *place;
	room = r->room_codes;
	if (!gen_room(&r->code, r->nr_codes, &room, sizeof(*r->code)) ||
	    !gen_room(&r->state, r->nr_codes, &r->room_codes, sizeof(*r->state)))
		return 0;
	n = r->nr_codes++;
	r->state[n] = *state;
	gen_encode(r->arch, state, &r->code[n]);
	*place = n;
	return n;
}

int rows_init(struct gen_rows *r, struct gen_image *img, const struct gen_arch *arch,
	      struct gen_stats *stats)
{
	uint32_t room = 0;

	memset(r, 0, sizeof(*r));
	r->img = img;
	r->arch = arch;
	r->stats = stats;
	if (!gen_room(&r->code, 0, &room, sizeof(*r->code)) ||
	    !gen_room(&r->state, 0, &r->room_codes, sizeof(*r->state)))
		return -ENOMEM;
	memset(r->code, 0, GEN_FIRST * sizeof(*r->code));
	memset(r->state, 0, GEN_FIRST * sizeof(*r->state));
	r->nr_codes = GEN_FIRST;
	return 0;
}

void rows_free(struct gen_rows *r)
{
	free(r->code);
	free(r->state);
	free(r->intern);
	free(r->fde);
	free(r->raw);
	free(r->row);
	free(r->is_start);
}

int rows_add_fde(struct gen_rows *r, uint64_t start, uint64_t end)
{
	struct gen_fde *fde;

	if (r->nr_fdes == MAX_FDES || !gen_room(&r->fde, r->nr_fdes, &r->room_fdes, sizeof(*fde)))
		return -ENOMEM;
	fde = &r->fde[r->nr_fdes++];
	fde->start = start - r->img->text.start;
	fde->end = end - r->img->text.start;
	fde->padded = fde->start;
	fde->row = r->nr_raw;
	fde->nr_rows = 0;
	r->behind_pushed = r->pushed && fde[-1].end == fde->start;
	r->pushed = false;
	return 0;
}

int rows_put_raw(struct gen_rows *r, struct gen_fde *fde, uint32_t start,
		 const struct cfi_state *state)
{
	uint32_t n = number_of(r, state);

	if (!n || !gen_room(&r->raw, r->nr_raw, &r->room_raw, sizeof(*r->raw)))
		return -ENOMEM;
	r->raw[r->nr_raw].start = start;
	r->raw[r->nr_raw++].state = n;
	fde->nr_rows++;
	return 0;
}

int rows_add_row(struct gen_rows *r, uint64_t start, const struct cfi_state *state)
{
	struct gen_fde *fde = &r->fde[r->nr_fdes - 1];

	return rows_put_raw(r, fde, fde->start + start, state);
}

/* Do tests want this FDE to be overlooked? See GEN_DROP. */
static bool is_dropped(const struct gen_image *img, uint64_t start)
{
	uint64_t v = (start + (img->flags >> 16) + 1) * 0x9e3779b97f4a7c15ULL;

	return ((v ^ v >> 29) * 0xbf58476d1ce4e5b9ULL >> 32) % 100 < (img->flags >> 8 & 0xff);
}

static int on_fde(void *arg, uint64_t start, uint64_t end)
{
	struct gen_rows *r = arg;

	if (is_dropped(r->img, start))
		return CFI_SKIP;
	if (!image_is_code(r->img, start, end)) {
		r->stats->hole[GEN_CAUSE_OUTSIDE].nr++;
		r->stats->hole[GEN_CAUSE_OUTSIDE].bytes += end - start;
		return CFI_SKIP;
	}
	if (!image_in_code(r->img, start, end))
		image_distrust_sections(r->img);
	return rows_add_fde(r, start, end);
}

static bool is_sp(const struct gen_rows *r, const struct cfi_rule *cfa)
{
	return cfa->how == CFI_REG && cfa->reg == r->arch->abi->reg_sp && !cfa->off;
}

static struct cfi_rule above(struct cfi_rule rule, int pushed)
{
	if (rule.how == CFI_AT_CFA || rule.how == CFI_CFA)
		return cfi_rule(rule.how, 0, (int64_t)rule.off - pushed);
	return rule;
}

/* @state as it is if the CFA is as much above the one it speaks of as a PLT has pushed */
static struct cfi_state pushed(const struct gen_rows *r, const struct cfi_state *state)
{
	struct cfi_state to = *state;
	int size = r->arch->plt_pushes;

	if (to.cfa.how == CFI_REG)
		to.cfa = cfi_rule(CFI_REG, to.cfa.reg, (int64_t)to.cfa.off + size);
	else
		to.cfa = cfi_bad(CFI_CAUSE_SP);
	to.fp = above(to.fp, size);
	/* Where they are popped RA is in its register again, as it was */
	to.ra = is_sp(r, &to.cfa) ? (struct cfi_rule){ .how = CFI_SAME } : above(to.ra, size);
	return to;
}

/* Does the FDE that was added last tell by its next row that a PLT has pushed something? */
static bool tells_pushed(const struct gen_rows *r, const struct cfi_state *state)
{
	uint32_t i;

	if (!r->arch->plt_pushes || state->ra.how != CFI_AT_CFA || state->flags ||
	    state->ra.off != r->arch->plt_pushes - 8 || !is_sp(r, &state->cfa))
		return false;
	for (i = r->fde[r->nr_fdes - 1].row; i < r->nr_raw; i++) {
		state = &r->state[r->raw[i].state];
		if (!is_sp(r, &state->cfa) || state->ra.how != CFI_SAME)
			return false;
	}
	return true;
}

/* From now on, and in the rows of the FDE up to here */
static int set_pushed(struct gen_rows *r)
{
	struct cfi_state state;
	uint32_t i;

	r->pushed = true;
	for (i = r->fde[r->nr_fdes - 1].row; i < r->nr_raw; i++) {
		state = pushed(r, &r->state[r->raw[i].state]);
		r->raw[i].state = number_of(r, &state);
		if (!r->raw[i].state)
			return -ENOMEM;
	}
	return 0;
}

static int on_row(void *arg, uint64_t start, const struct cfi_state *state)
{
	struct gen_rows *r = arg;
	struct cfi_state to;
	int ret;

	if (!r->pushed && tells_pushed(r, state)) {
		ret = set_pushed(r);
		if (ret)
			return ret;
	}
	if (r->pushed)
		to = pushed(r, state);
	else
		to = *state;
	/* What follows is for profiling: as much too low, and nothing in it tells */
	if (r->behind_pushed)
		to = (struct cfi_state){ .cfa = cfi_bad(CFI_CAUSE_SP) };
	r->stats->nr_rows++;
	return rows_add_row(r, start - r->img->text.start - r->fde[r->nr_fdes - 1].start, &to);
}

const struct cfi_ops rows_cfi_ops = { .fde = on_fde, .row = on_row };

/* Stable, so that of equal starts the first in .eh_frame stays the first. */
static int sort_fdes(struct gen_rows *r)
{
	struct gen_fde *from = r->fde, *to;
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
		struct gen_fde *t;

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

/* PLT stubs in what the sorted FDEs leave free of [start, end). */
static int add_stubs(struct gen_rows *r, uint64_t start, uint64_t end, uint32_t nr_fdes)
{
	uint64_t base = r->img->text.start;
	uint32_t low = 0, high = nr_fdes, mid;
	int ret = 0;

	/* the first FDE that begins after start; the one before it may reach in */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (base + r->fde[mid].start > start)
			high = mid;
		else
			low = mid + 1;
	}
	if (low && base + r->fde[low - 1].end > start)
		start = base + r->fde[low - 1].end;
	while (start < end && !ret) {
		uint64_t stop = low < nr_fdes ? base + r->fde[low].start : end;

		if (stop > end)
			stop = end;
		if (start < stop)
			ret = r->arch->plt(r, start, stop);
		if (low == nr_fdes)
			break;
		if (base + r->fde[low].end > start)
			start = base + r->fde[low].end;
		low++;
	}
	return ret;
}

static int add_plts(struct gen_rows *r)
{
	uint32_t nr_fdes = r->nr_fdes, i;
	const struct gen_range *plt;
	int ret;

	if (!r->arch->plt)
		return 0;
	for (i = 0; i < r->img->nr_plts; i++) {
		plt = &r->img->plt[i];
		if (!image_is_code(r->img, plt->start, plt->end))
			continue;
		ret = add_stubs(r, plt->start, plt->end, nr_fdes);
		if (ret)
			return ret;
	}
	for (i = nr_fdes; i < r->nr_fdes; i++)
		r->stats->plt_bytes += r->fde[i].end - r->fde[i].start;
	return nr_fdes == r->nr_fdes ? 0 : sort_fdes(r);
}

const struct cfi_state *rows_at(const struct gen_rows *r, uint64_t pc)
{
	uint32_t low = 0, high = r->nr_sorted, mid;
	const struct gen_fde *fde;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->fde[mid].start > pc)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low)
		return NULL;
	fde = &r->fde[low - 1];
	if (pc >= fde->end || !fde->nr_rows)
		return NULL;
	for (low = 0, high = fde->nr_rows; high - low > 1; ) {
		mid = low + (high - low) / 2;
		if (r->raw[fde->row + mid].start > pc)
			high = mid;
		else
			low = mid;
	}
	return &r->state[r->raw[fde->row + low].state];
}

static int add_flow(struct gen_rows *r)
{
	uint32_t nr_fdes = r->nr_fdes;
	int ret = flow_add(r);

	return ret || nr_fdes == r->nr_fdes ? ret : sort_fdes(r);
}

/* ------------------------------- the list -------------------------------- */

/* Undo rows from @start on. */
static void cut(struct gen_rows *r, uint32_t start)
{
	while (r->nr_rows && r->row[r->nr_rows - 1].start >= start)
		r->nr_rows--;
}

static int put(struct gen_rows *r, uint32_t start, uint32_t state, bool is_start)
{
	uint32_t room = r->room_rows;

	if (r->nr_rows && r->row[r->nr_rows - 1].start == start)
		r->nr_rows--;
	if (r->nr_rows && r->row[r->nr_rows - 1].state == state && (!is_start || state < GEN_FIRST))
		return 0;
	if (!gen_room(&r->row, r->nr_rows, &room, sizeof(*r->row)) ||
	    !gen_room(&r->is_start, r->nr_rows, &r->room_rows, 1))
		return -ENOMEM;
	r->row[r->nr_rows].start = start;
	r->row[r->nr_rows].state = state;
	r->is_start[r->nr_rows++] = is_start;
	return 0;
}

bool rows_same_fde(const struct gen_rows *r, const struct gen_fde *a, const struct gen_fde *b)
{
	return a->start == b->start && a->end == b->end && a->nr_rows == b->nr_rows &&
	       !memcmp(&r->raw[a->row], &r->raw[b->row], a->nr_rows * sizeof(*r->raw));
}

static void count_hole(struct gen_rows *r, unsigned int cause, uint32_t start, uint32_t end)
{
	r->stats->hole[cause].nr++;
	r->stats->hole[cause].bytes += end - start;
}

bool rows_is_padding(struct gen_rows *r, uint32_t start, uint32_t end)
{
	const uint8_t *code;
	size_t n, len = end - start;

	if (len > MAX_PADDING || !image_in_code(r->img, r->img->text.start + start,
						r->img->text.start + end))
		return false;
	/* Behind the system call of a signal trampoline it is still its frame */
	if (start >= 2) {
		code = image_code(r->img, r->img->text.start + start - 2, 2);
		if (!code || r->arch->enters_kernel(code))
			return false;
	}
	code = image_code(r->img, r->img->text.start + start, len);
	for (; code && len; code += n, len -= n) {
		n = r->arch->padding(code, len);
		if (!n)
			return false;
	}
	return code;
}

/* The number of the state as rows have it: holes are all alike. */
static uint32_t state_in_row(struct gen_rows *r, const struct gen_fde *fde, uint32_t i)
{
	const struct gen_row *raw = &r->raw[fde->row + i];
	uint32_t end = i + 1 < fde->nr_rows ? raw[1].start : fde->end;
	const struct gen_code *code = &r->code[raw->state];

	if (code->cause) {
		count_hole(r, code->cause, raw->start, end);
		return GEN_HOLE;
	}
	/* the rule counts from multiples of 16, PC type MASK from the start of the function */
	if (code->plt && ((r->img->text.start + raw->start) & 15)) {
		count_hole(r, GEN_CAUSE_PLT, raw->start, end);
		return GEN_HOLE;
	}
	return raw->state;
}

/*
 * From where on the rules of a function that has just one count from a register that is gone. SP is
 * not what counts where the CFA is by FP: in the part of a function that repairs its SP, say.
 * @outermost: nothing calls it, which must be known: to say so of what has callers ends their
 * stacks there.
 */
static uint32_t end_of_stack(struct gen_rows *r, const struct gen_fde *fde, bool *outermost)
{
	size_t len = fde->end - fde->start;
	const struct cfi_rule *cfa;
	const uint8_t *code;
	bool by_fp;

	*outermost = false;
	if (!r->arch->leaves_stack || fde->nr_rows != 1 || len > IMAGE_MAX_CODE)
		return fde->end;
	cfa = &r->state[r->raw[fde->row].state].cfa;
	by_fp = cfa->reg == r->arch->abi->reg_fp;
	if (cfa->how != CFI_REG || (!by_fp && cfa->reg != r->arch->abi->reg_sp))
		return fde->end;
	code = image_code(r->img, r->img->text.start + fde->start, len);
	if (!code)
		return fde->end;
	*outermost = !by_fp && r->arch->starts_stack && r->arch->starts_stack(code, len);
	return fde->start + r->arch->leaves_stack(code, len, by_fp);
}

/* As a return address it is looked up at the byte before it, where .eh_frame has nothing. */
static int put_outermost(struct gen_rows *r, const struct gen_fde *fde, uint32_t gap_start)
{
	static const struct cfi_state outermost = { .ra = { .how = CFI_UNDEF } };
	uint32_t n = number_of(r, &outermost), start = fde->start;
	int ret;

	if (!n)
		return -ENOMEM;
	if (gap_start < start && rows_is_padding(r, gap_start, start)) {
		r->stats->padding_bytes += start - gap_start;
		start = gap_start;
	}
	ret = put(r, start, n, true);
	return ret ? ret : put(r, fde->end, GEN_NONE, false);
}

/* [start, end), after which nothing is known */
static int put_hole(struct gen_rows *r, uint32_t start, uint32_t end)
{
	int ret = put(r, start, GEN_HOLE, false);

	return ret ? ret : put(r, end, GEN_NONE, false);
}

static int put_fde(struct gen_rows *r, const struct gen_fde *fde, uint32_t gap_start)
{
	uint32_t i, state, start, end;
	bool outermost;
	int ret;

	end = end_of_stack(r, fde, &outermost);
	if (outermost)
		return put_outermost(r, fde, gap_start);
	if (sig_is_unknown(r, fde)) {
		count_hole(r, GEN_CAUSE_SIGNAL, fde->start, fde->end);
		return put_hole(r, fde->start, fde->end);
	}
	if (end < fde->end)
		count_hole(r, CFI_CAUSE_SP, end, fde->end);
	if (end == fde->start)
		return put_hole(r, end, fde->end);
	for (i = 0; i < fde->nr_rows; i++) {
		start = r->raw[fde->row + i].start;
		state = state_in_row(r, fde, i);
		if (!i && state != GEN_HOLE && gap_start < start && !r->code[state].plt &&
		    !r->code[state].signal &&
		    (fde->padded == gap_start || rows_is_padding(r, gap_start, start))) {
			r->stats->padding_bytes += start - gap_start;
			ret = put(r, gap_start, state, false);
			if (ret)
				return ret;
		}
		ret = put(r, start, state, !i);
		if (ret)
			return ret;
	}
	return put_hole(r, end, fde->end);
}

int rows_finish(struct gen_rows *r)
{
	const struct gen_fde *fde, *last = NULL;
	uint32_t i, next, reach = 0;
	int ret;

	ret = sort_fdes(r);
	if (!ret)
		ret = add_plts(r);
	if (!ret)
		ret = rows_check(r);
	if (!ret)
		ret = add_flow(r);
	if (!ret)
		ret = put(r, 0, GEN_NONE, false);
	for (i = 0; i < r->nr_fdes && !ret; i++) {
		fde = &r->fde[i];
		r->stats->fde_bytes += fde->end - fde->start;
		if (last && rows_same_fde(r, last, fde))
			continue;
		if (fde->start < reach) {
			if (fde->end > reach)
				reach = fde->end;
			count_hole(r, GEN_CAUSE_OVERLAP, fde->start, reach);
			cut(r, fde->start);
			ret = put_hole(r, fde->start, reach);
			/* nothing more can equal what is no longer in the list */
			last = NULL;
			continue;
		}
		for (next = i + 1; next < r->nr_fdes && rows_same_fde(r, fde, &r->fde[next]); )
			next++;
		/* padding in front of what is disputed is, too */
		if (!last || (next < r->nr_fdes && r->fde[next].start == fde->start))
			reach = fde->start;
		ret = put_fde(r, fde, reach);
		reach = fde->end;
		last = fde;
	}
	return ret;
}
