// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow.c - rows for code that .eh_frame does not cover
 *
 * A gap is code between two FDEs that is more than padding. Most files have few and small gaps:
 * code of the start files, and assembler code whose FDE ends early on purpose. (The FDE of glibc's
 * clone3() ends before its system call.) But some files, such as musl, have next to no FDEs.
 *
 * The walk enters a gap at
 *	- the entry of the process, which has no caller;
 *	- the code that the last instruction of an FDE runs into, with the state of its last row;
 *	- functions, see entry.c;
 * and walk.c follows the code from there. All the rest has no rows: data, and code that no known
 * path reaches.
 *
 * Such rows are right for three reasons. The caller of a function has put the return address at SP.
 * Instructions change SP and FP as their description says. Called functions leave both as they
 * were, and the walk checks that where their code is in the file.
 *
 * Compilers give each instruction one place of SP relative to the frame, whatever path leads there.
 * So a path that the walk does not see, as that of an indirect jump, agrees with the paths that it
 * sees. An instruction whose paths disagree gets no row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

/* Go programs have megabytes of code without .eh_frame, and frame pointers. */
#define MAX_GAPS	(4u << 20)
/* Tests that ignore .eh_frame follow whole libraries. */
#define MAX_GAPS_TEST	(16u << 20)
#define MAX_INSN	15

/* ---------------------------------- gaps --------------------------------- */

static int add_gap(struct flow *f, uint32_t start, uint32_t end)
{
	if (vec_grow32(&f->gap, &f->room_gaps, f->nr_gaps, sizeof(*f->gap)))
		return -ENOMEM;
	f->gap[f->nr_gaps++] = (struct flow_gap){ .start = start, .end = end,
						  .first_byte = f->size };
	f->size += end - start;
	return 0;
}

/* The first range in [start, end) that is excluded: stubs, or code that was followed; or NULL */
static const struct image_range *find_excluded_range(const struct rows *r, uint64_t start,
						     uint64_t end)
{
	const struct image *img = r->img;
	const struct image_range *first = NULL;
	unsigned int i;

	if (r->followed.start < end && r->followed.end > start)
		first = &r->followed;
	for (i = 0; i < img->nr_plts; i++) {
		if (img->plt[i].start < end && img->plt[i].end > start &&
		    (!first || img->plt[i].start < first->start))
			first = &img->plt[i];
	}
	return first;
}

/* Split [start, end) at excluded ranges, and add the rest as gaps */
static int add_followable_gaps(struct flow *f, uint64_t start, uint64_t end)
{
	const struct image *img = f->r->img;
	const struct image_range *excluded = NULL;
	uint32_t base;
	int ret = 0;

	while (start < end) {
		excluded = find_excluded_range(f->r, start, end);
		base = start - img->text.start;
		if (!excluded)
			return rows_is_padding(f->r, base, end - img->text.start) ? 0 :
			       add_gap(f, base, end - img->text.start);
		if (excluded->start > start &&
		    !rows_is_padding(f->r, base, excluded->start - img->text.start))
			ret = add_gap(f, base, excluded->start - img->text.start);
		if (ret)
			return ret;
		start = excluded->end;
	}
	return 0;
}

/* Find the gaps in one range of code [@start, @end) between the FDEs from @i on */
static int find_gaps_in(struct flow *f, uint64_t start, uint64_t end, uint32_t *i)
{
	struct rows *r = f->r;
	uint64_t base = r->img->text.start;
	struct rows_fde *fde;
	int ret = 0;

	for (; *i < r->nr_fdes && !ret; ++*i) {
		fde = &r->fde[*i];
		if (base + fde->start >= end)
			break;
		if (base + fde->start > start) {
			if (fde->padding_start != start - base &&
			    rows_is_padding(r, start - base, fde->start))
				fde->padding_start = start - base;
			if (fde->padding_start != start - base)
				ret = add_followable_gaps(f, start, base + fde->start);
		}
		if (base + fde->end > start)
			start = base + fde->end;
	}
	if (start < end && !ret)
		ret = add_followable_gaps(f, start, end);
	return ret;
}

static int find_gaps(struct flow *f)
{
	const struct image *img = f->r->img;
	unsigned int i;
	uint64_t reach = 0;
	uint32_t fde = 0;
	int ret = 0;

	for (i = 0; i < img->nr_code && !ret; i++) {
		/* no linker makes segments that overlap */
		if (img->code[i].start < reach)
			return 0;
		reach = img->code[i].end;
		ret = find_gaps_in(f, img->code[i].start, reach, &fde);
	}
	return ret;
}

/*
 * Where calls leave the return address in a register, code that returns from signal handlers is
 * recognized by its bytes, see rows/sig.c, whether the walk reaches it or not.
 */
static int add_sigreturns(struct flow *f, const struct flow_gap *gap)
{
	uint32_t i = f->r->nr_fdes, pc, byte;
	int ret = f->arch->calls_leave_ra_in_reg ?
		rows_add_sigreturns(f->r, gap->start, gap->end) : 0;

	for (; i < f->r->nr_fdes; i++) {
		f->r->stats->flow_bytes += f->r->fde[i].end - f->r->fde[i].start;
		for (pc = f->r->fde[i].start; f->marks && pc < f->r->fde[i].end; pc++) {
			byte = flow_find_byte(f, pc, NULL);
			if (byte != UINT32_MAX)
				f->marks[byte] |= FLOW_SIG;
		}
	}
	return ret;
}

static int compare_sizes(const void *a, const void *b)
{
	return cmp_int(*(const uint32_t *)a, *(const uint32_t *)b);
}

/*
 * Drop the largest gaps until the rest is small enough to follow: the gaps of start files and
 * assembler then stay.
 */
static int skip_large_gaps(struct flow *f)
{
	uint32_t max = f->r->img->flags & ROWS_DROPS ? MAX_GAPS_TEST : MAX_GAPS;
	struct stats_hole *hole = &f->r->stats->hole[STATS_CAUSE_FLOW];
	uint32_t *size, i, n = 0, nr = 0, total = 0;
	int ret;

	if (f->size <= max)
		return 0;
	size = malloc(f->nr_gaps * sizeof(*size));
	if (!size)
		return -ENOMEM;
	for (i = 0; i < f->nr_gaps; i++)
		size[i] = f->gap[i].end - f->gap[i].start;
	qsort(size, f->nr_gaps, sizeof(*size), compare_sizes);
	while (size[n] <= max - total)
		total += size[n++];
	/* gaps of this size stay or go together */
	max = size[n];
	free(size);
	for (f->size = i = 0; i < f->nr_gaps; i++) {
		n = f->gap[i].end - f->gap[i].start;
		if (n >= max) {
			hole->nr++;
			hole->bytes += n;
			ret = add_sigreturns(f, &f->gap[i]);
			if (ret)
				return ret;
			continue;
		}
		f->gap[nr] = f->gap[i];
		f->gap[nr++].first_byte = f->size;
		f->size += n;
	}
	f->nr_gaps = nr;
	return 0;
}

static int read_code(struct flow *f)
{
	const struct flow_gap *gap;
	int ret;

	for (gap = f->gap; gap < f->gap + f->nr_gaps; gap++) {
		ret = image_read(f->r->img, f->r->img->text.start + gap->start,
				 f->code + gap->first_byte, gap->end - gap->start);
		if (ret == -ENOMEM)
			return ret;
		/* the file is shorter than its headers say: the rest is not code */
		if (ret)
			memset(f->code + gap->first_byte, 0, gap->end - gap->start);
	}
	return 0;
}

/* --------------------------- after an FDE's end -------------------------- */

/*
 * Find the last instruction that an FDE covers, if the first one leads to it and it continues after
 * the end. A call at the end does not continue: it is often last because it never returns.
 */
static bool find_last_fallthrough(struct flow *f, const struct rows_fde *fde, const uint8_t *code,
				  uint32_t *last, struct arch_op *op)
{
	uint32_t size = fde->end - fde->start, todo[64], nr = 0, at, to;
	uint64_t base = f->r->img->text.start + fde->start;
	uint8_t seen[IMAGE_MAX_CODE] = { 0 };

	todo[nr++] = 0;
	while (nr) {
		for (at = todo[--nr]; at < size && !seen[at]; at += op->len) {
			seen[at] = 1;
			f->arch->decode(f->decoder, code + at, size - at, base + at, op);
			to = op->target - base;
			if ((op->next == ARCH_BRANCH || op->next == ARCH_JUMP) &&
			    op->target >= base && to < size && !seen[to]) {
				if (nr == ARRAY_SIZE(todo))
					return false;
				todo[nr++] = to;
			}
			if (op->next == ARCH_BAD)
				return false;
			if (op->next != ARCH_FALLTHROUGH && op->next != ARCH_BRANCH &&
			    op->next != ARCH_CALL_POINTER && op->next != ARCH_CALL &&
			    op->next != ARCH_CALL_UNKNOWN)
				break;
			if (at + op->len == size) {
				*last = fde->start + at;
				return op->next == ARCH_FALLTHROUGH || op->next == ARCH_BRANCH;
			}
		}
	}
	return false;
}

/*
 * Code after the end of an FDE is never sure: it has to be proved. A compiler ends a function
 * anywhere if it finds that the rest is unreachable. A virtual function of C++ may consist of
 * endbr64 alone, and the next function follows. After a call that does not return, there can be
 * code that no path reaches. On s390x, the targets of exrl follow the last call of a function,
 * usually __stack_chk_fail(), and then comes the next function.
 */
static void enter_after(struct flow *f, const struct rows_fde *fde)
{
	const struct rows *r = f->r;
	const struct rows_row *row;
	struct arch_state s;
	struct arch_op op;
	const uint8_t *code;
	uint32_t last;

	if (!fde->nr_rows || fde->end - fde->start > IMAGE_MAX_CODE)
		return;
	row = &r->fde_row[fde->row + fde->nr_rows - 1];
	if (!flow_make_state(r->arch, &r->rules[row->rules_idx], &s))
		return;
	code = image_get_code(r->img, r->img->text.start + fde->start, fde->end - fde->start);
	if (!code)
		return;
	if (!find_last_fallthrough(f, fde, code, &last, &op) || last < row->start)
		return;
	flow_step(f->arch, &s, &op);
	flow_enter(f, fde->end, &s, false);
}

static void enter_after_fdes(struct flow *f)
{
	const struct rows *r = f->r;
	uint32_t i, gap = 0, reach = 0;

	for (i = 0; i < r->nr_fdes && gap < f->nr_gaps; i++) {
		bool alone = r->fde[i].start >= reach;

		if (r->fde[i].end > reach)
			reach = r->fde[i].end;
		while (gap < f->nr_gaps && f->gap[gap].start < r->fde[i].end)
			gap++;
		if (alone && gap < f->nr_gaps && f->gap[gap].start == r->fde[i].end)
			enter_after(f, &r->fde[i]);
	}
}

/*
 * e_entry of a shared library means nothing, but that of the dynamic loader does, and static PIEs
 * look like shared libraries. Old linkers take the start of .text if there is no _start.
 */
static void enter_process(struct flow *f)
{
	const struct image *img = f->r->img;
	uint64_t pc = img->entry - img->text.start;

	if (!img->fixed && !img->has_interp &&
	    (!img->text_section || img->entry == img->text_section))
		return;
	if (f->r->img->entry < f->r->img->text.start || flow_find_byte(f, pc, NULL) == UINT32_MAX)
		return;
	flow_enter(f, pc, &flow_outermost, true);
}

/* ---------------------------------- rows --------------------------------- */

/* Is the byte at @pc inside a known instruction? */
static bool is_inside_insn(const struct flow *f, uint32_t pc)
{
	const struct flow_gap *gap;
	uint32_t byte = flow_find_byte(f, pc, &gap), n, node;

	for (n = 0; n <= MAX_INSN && n <= pc - gap->start; n++) {
		node = f->node_of[byte - n];
		if (node && f->node[node - 1].op.len > n)
			return true;
	}
	return false;
}

/* Enter and walk code whose address is taken, also at addresses that are found on the way. */
static int walk_taken(struct flow *f)
{
	uint32_t i, func;
	int ret = 0;

	for (i = 0; i < f->nr_taken && !ret; i++) {
		if (is_inside_insn(f, f->taken[i]))
			continue;
		func = flow_enter(f, f->taken[i], &f->arch->entered, false);
		if (func != FLOW_NO_FUNC) {
			f->func[func].taken = true;
			f->func[func].named = f->marks[flow_find_byte(f, f->taken[i], NULL)] &
					      FLOW_NAMED;
		}
		ret = flow_walk(f);
	}
	return ret;
}

/*
 * The pc of a task in the kernel is after its system call. If that system call never returns, the
 * code after it can belong to another function and have another state. So it is a hole.
 */
static bool is_after_system_call(struct flow *f, const struct flow_gap *gap,
				 const struct flow_node *node)
{
	uint32_t byte = gap->first_byte + (node->pc - gap->start), n;
	unsigned int len = f->arch->syscall_len;
	struct arch_state s;

	if (node->pc - gap->start < len || !f->r->arch->ends_system_call(f->code + byte - 2))
		return false;
	n = f->node_of[byte - len];
	if (!n || flow_is_sigreturn(f, &f->node[n - 1]))
		return true;
	s = f->node[n - 1].state;
	flow_step(f->arch, &s, &f->node[n - 1].op);
	return !flow_is_same_state(&s, &node->state);
}

static bool make_row(struct flow *f, const struct flow_node *node, struct cfi_row *row)
{
	const struct arch_state *s = &node->state;

	if (!flow_is_usable(f, node))
		return false;
	if (flow_ends_frames(s, &node->op))
		s = &flow_outermost;
	return flow_make_row(f->r->arch, s, f->r->img->flags & ROWS_BY_FP, row);
}

/* Add an FDE for each run of instructions that have rows. */
static int add_rows(struct flow *f, const struct flow_gap *gap)
{
	uint64_t base = f->r->img->text.start;
	uint32_t pc, start = 0, reach = 0, n, byte;
	struct rows_fde *fde = NULL;
	struct cfi_row row;
	int ret;

	for (pc = gap->start; pc < gap->end; pc++) {
		byte = gap->first_byte + (pc - gap->start);
		n = f->node_of[byte];
		if (!n)
			continue;
		if (f->marks[byte] & FLOW_SIG || !make_row(f, &f->node[n - 1], &row) ||
		    is_after_system_call(f, gap, &f->node[n - 1])) {
			/* an FDE may start within an instruction that has a row */
			if (fde && pc < reach)
				fde->end = reach = pc;
			continue;
		}
		if (!fde || pc > reach) {
			ret = rows_add_fde(f->r, base + pc, base + pc);
			if (ret)
				return ret;
			fde = &f->r->fde[f->r->nr_fdes - 1];
			start = pc;
		}
		ret = rows_add_row(f->r, pc - start, &row);
		if (ret)
			return ret;
		if (pc + f->node[n - 1].op.len > reach)
			reach = pc + f->node[n - 1].op.len;
		fde->end = reach;
	}
	return 0;
}

static int follow_code(struct flow *f)
{
	struct stats *stats = f->r->stats;
	uint32_t first, i;
	int ret;

	f->code = malloc(f->size);
	f->marks = calloc(f->size, sizeof(*f->marks));
	f->node_of = calloc(f->size, sizeof(*f->node_of));
	f->decoder = f->arch->open ? f->arch->open() : NULL;
	if (!f->code || !f->marks || !f->node_of || (f->arch->open && !f->decoder))
		return -ENOMEM;
	ret = read_code(f);
	for (i = 0; i < f->nr_gaps && !ret; i++)
		ret = add_sigreturns(f, &f->gap[i]);
	if (ret)
		return ret;
	first = f->r->nr_fdes;
	flow_find_jumps(f);
	enter_process(f);
	enter_after_fdes(f);
	flow_enter_called(f);
	ret = flow_find_entries(f);
	if (!ret)
		ret = flow_walk(f);
	if (!ret)
		ret = walk_taken(f);
	if (!ret)
		ret = flow_prove(f);
	if (ret == -E2BIG) {
		stats->hole[STATS_CAUSE_FLOW].nr++;
		stats->hole[STATS_CAUSE_FLOW].bytes += f->size;
		return 0;
	}
	for (i = 0; i < f->nr_gaps && !ret; i++)
		ret = add_rows(f, &f->gap[i]);
	for (i = first; i < f->r->nr_fdes; i++)
		stats->flow_bytes += f->r->fde[i].end - f->r->fde[i].start;
	return ret;
}

int flow_add(struct rows *r)
{
	struct flow f = { .r = r, .arch = r->arch->flow };
	int ret;

	if (r->img->flags & ROWS_NO_FLOW)
		return 0;
	if (!f.arch)
		return 0;
	r->nr_sorted = r->nr_fdes;
	ret = find_gaps(&f);
	r->stats->gap_bytes += f.size;
	if (!ret)
		ret = skip_large_gaps(&f);
	/* not with gaps that were dropped: the jumps from there are unknown */
	f.mostly_gaps = !r->img->has_pads &&
			f.size >= (r->stats->text_bytes - r->stats->plt_bytes) / 8 * 7;
	if (!ret && f.size)
		ret = follow_code(&f);
	if (f.decoder)
		f.arch->close(f.decoder);
	free(f.gap);
	free(f.code);
	free(f.marks);
	free(f.node_of);
	free(f.node);
	free(f.func);
	free(f.call);
	free(f.queue.node);
	free(f.late.node);
	free(f.taken);
	free(f.target);
	free(f.jump);
	return ret;
}
