// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * check.c - finds rows that the code contradicts
 *
 * Compilers and assembler writers rarely get .eh_frame wrong, and following all code of each file
 * takes several times as long as making its table. So functions of amd64 are checked in two places
 * only, which few wrong rows escape:
 *
 *	- The first instructions, as long as they are pushes and the like. Assembler code without
 *	  any directives has one row, which is wrong after its first push.
 *	- The last instruction. OCaml puts the calls of its garbage collector after the end of the
 *	  function, each with a jump back. .eh_frame gives these calls the CFA - SP of that end. If
 *	  the call belongs to a place within a try, its CFA - SP is larger. .eh_frame says so at the
 *	  target of the jump, and so disagrees with itself.
 *
 * 32-bit files (i386) are smaller and few, and glibc has much more assembler code for i386. There,
 * all functions are followed, as far as their rows count from SP. On i386, functions can pop their
 * arguments. So only a row by SP says where SP is after a call. The loop that takes a large stack
 * page by page has rows by another register, and only the row after it says where SP is.
 *
 * Where .eh_frame and these instructions disagree, this file follows the function from its start,
 * with the SP of the first row. If the last instruction of one function shows such an error, all
 * functions of the file are followed. Rows that contradict the code become holes: which part is
 * wrong is not known. Rows by an SP that has been replaced become holes too, if .eh_frame does not
 * say that. Code that the walk does not reach is compared as well, starting from what its own row
 * says; that comparison counts for less.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define MAX_FIRST	4		/* instructions at the start */
#define MAX_FIRST_BYTES	32
#define MAX_FIRST_ROW	16		/* bytes */
#define MAX_LAST_BYTES	8
#define MAX_FUNCTION	(1u << 20)

struct compared_byte {
	int32_t sp_depth;		/* CFA - SP before the instruction, if known */
	uint8_t len;			/* of the instruction that starts here; 0: not reached */
	bool known;
	bool queued;
	bool lost;			/* reached with an unknown SP */
	bool bad;			/* the row of this instruction says another SP */
};

struct row_check {
	struct rows *r;
	struct rows_fde *fde;
	const struct arch_flow *arch;
	void *decoder;
	uint64_t budget;		/* bytes to follow; more are for input made to be slow */
	uint32_t size, room;		/* of the function, and of the arrays */
	uint8_t *code;
	struct compared_byte *byte;
	uint32_t *todo, nr_todo;
	bool any_bad;
	bool all;			/* compare all functions from here on */
	uint32_t padded;		/* the end of the FDEs so far: note_padding() */
};

static const struct cfi_row *find_row(const struct row_check *c, uint32_t at)
{
	const struct rows_row *row = &c->r->fde_row[c->fde->row];
	uint32_t i;

	bisect(i, c->fde->nr_rows - 1, row[i + 1].start > c->fde->start + at);
	return &c->r->rules[row[i].rules_idx];
}

/* CFA - SP by the row; false if the row counts from another register, or has no caller */
static bool get_sp_depth(const struct row_check *c, const struct cfi_row *s, int32_t *sp)
{
	if (s->cfa.how != CFI_REG || s->cfa.reg != c->r->arch->abi->reg_sp ||
	    s->flags & (CFI_SIGNAL | CFI_MANGLED) || s->ra.how == CFI_UNDEF)
		return false;
	*sp = s->cfa.off;
	return true;
}

/* -------------------------------- following ------------------------------ */

static void set_bad(struct row_check *c, uint32_t at)
{
	uint32_t end = at + (c->byte[at].len ? c->byte[at].len : 1);

	while (at < end && at < c->size)
		c->byte[at++].bad = true;
	c->any_bad = true;
}

/*
 * Returns true if functions may pop their arguments and no row gives SP here: then only later rows
 * can.
 */
static bool lacks_sp(const struct row_check *c, uint32_t at)
{
	int32_t sp;

	return c->arch->callee_pops && !get_sp_depth(c, find_row(c, at), &sp);
}

static bool is_padding_at(const struct row_check *c, uint32_t at)
{
	return c->r->arch->get_padding_length(c->code + at, c->size - at);
}

/* Note that @from leads to @to with @sp. @sure: the start of the function leads to @from. */
static void reach_byte(struct row_check *c, uint32_t from, uint32_t to, int32_t sp, bool sure)
{
	struct compared_byte *b = &c->byte[to];

	if (lacks_sp(c, to))
		return;
	if (!b->queued) {
		b->queued = b->known = true;
		b->sp_depth = sp;
		c->todo[c->nr_todo++] = to;
	} else if (b->known && b->sp_depth != sp) {
		set_bad(c, from);
		if (sure)
			set_bad(c, to);
	}
}

/* The bytes that an instruction adds to CFA - SP; false if they are not known */
static bool get_effect(const struct row_check *c, uint32_t at, const struct arch_op *op,
		       int32_t *bytes)
{
	/* words that calls push, too */
	int32_t word = -c->r->arch->abi->ra_off;

	if (c->r->arch->decode_push && c->r->arch->decode_push(c->code + at, c->size - at, bytes))
		return true;
	*bytes = 0;
	switch (op->effect) {
	case ARCH_PUSH: case ARCH_PUSH_FP:
		*bytes = word;
		return true;
	case ARCH_POP: case ARCH_POP_FP:
		*bytes = -word;
		return true;
	case ARCH_ADD_SP:
		return !__builtin_sub_overflow(0, op->n, bytes);
	case ARCH_NONE: case ARCH_FP_IS_SP: case ARCH_FP_IS_FP: case ARCH_LOSE_FP:
		return true;
	default:
		return false;
	}
}

static void reach_next(struct row_check *c, uint32_t at, const struct arch_op *op, bool sure)
{
	uint64_t base = c->r->img->text.start + c->fde->start, to = op->target - base;
	const struct compared_byte *b = &c->byte[at];
	uint32_t next = at + op->len;
	int32_t bytes, sp, there;
	bool call = false;

	if (!get_effect(c, at, op, &bytes)) {
		if (op->next == ARCH_FALLTHROUGH && next < c->size)
			c->byte[next].lost = true;
		return;
	}
	if (__builtin_add_overflow(b->sp_depth, bytes, &sp))
		return;
	switch (op->next) {
	case ARCH_JUMP: case ARCH_BRANCH:
		if (op->target >= base && to < c->size)
			reach_byte(c, at, to, sp, sure);
		if (op->next == ARCH_JUMP)
			return;
		break;
	case ARCH_FALLTHROUGH:
		break;
	case ARCH_CALL: case ARCH_CALL_UNKNOWN: case ARCH_CALL_POINTER:
		call = true;
		break;
	default:
		return;
	}
	if (next >= c->size)
		return;
	/* Padding follows a call that does not return. */
	if (call && c->arch->callee_pops && is_padding_at(c, next))
		return;
	/*
	 * Other code follows a call that does not return, and the nop that C++ has before landing
	 * pads. Where all rows are compared, a row that is wrong before a call is wrong after it.
	 */
	if ((call || !at) && get_sp_depth(c, find_row(c, next), &there) && there != sp && !bytes &&
	    !(c->arch->callee_pops && b->bad && find_row(c, at) == find_row(c, next)))
		return;
	reach_byte(c, at, next, sp, sure);
}

static void follow_code(struct row_check *c, bool sure)
{
	uint64_t base = c->r->img->text.start + c->fde->start;
	struct arch_op op;
	uint32_t at;
	int32_t sp;

	while (c->nr_todo) {
		at = c->todo[--c->nr_todo];
		c->arch->decode(c->decoder, c->code + at, c->size - at, base + at, &op);
		if (op.next == ARCH_BAD || !op.len || op.len > c->size - at)
			continue;
		c->byte[at].len = op.len;
		if (get_sp_depth(c, find_row(c, at), &sp) && sp != c->byte[at].sp_depth)
			set_bad(c, at);
		reach_next(c, at, &op, sure);
	}
}

static bool goes_on(const struct arch_op *op)
{
	return op->next == ARCH_FALLTHROUGH || op->next == ARCH_BRANCH || op->next == ARCH_CALL ||
	       op->next == ARCH_CALL_UNKNOWN || op->next == ARCH_CALL_POINTER;
}

/* Does row @b only say that the instruction before it has pushed @bytes since row @a? */
static bool continues_row(const struct row_check *c, const struct cfi_row *a,
			  const struct cfi_row *b, int32_t bytes)
{
	int32_t from, to;

	return get_sp_depth(c, a, &from) && get_sp_depth(c, b, &to) && (int64_t)from + bytes == to;
}

/*
 * SP was replaced, for example to raise an exception. Rows that count from SP then give the CFA of
 * the old stack. They do so up to the next row of .eh_frame that does not continue the row before
 * it, or up to the end of the code. In a function with one row SP stays lost everywhere.
 */
static void follow_lost(struct row_check *c, uint32_t at)
{
	uint64_t base = c->r->img->text.start + c->fde->start;
	const struct cfi_row *before = find_row(c, at - 1), *row;
	int32_t sp, bytes = 0;
	bool moved = false;
	struct arch_op op;

	for (; at < c->size && !c->byte[at].queued; at += op.len) {
		row = find_row(c, at);
		if (row != before && !(moved && continues_row(c, before, row, bytes)))
			break;
		before = row;
		c->arch->decode(c->decoder, c->code + at, c->size - at, base + at, &op);
		if (op.next == ARCH_BAD || !op.len || op.len > c->size - at)
			break;
		c->byte[at].len = op.len;
		c->byte[at].queued = true;
		if (get_sp_depth(c, row, &sp))
			set_bad(c, at);
		if (c->fde->nr_rows > 1 && !goes_on(&op))
			break;
		moved = get_effect(c, at, &op, &bytes);
	}
}

/* Follow, in ascending order, code that no known jump leads to: a jump table may lead there. */
static void follow_rest(struct row_check *c)
{
	uint64_t base = c->r->img->text.start + c->fde->start;
	struct arch_op op;
	uint32_t at;
	int32_t sp;

	for (at = 0; at < c->size; at += c->byte[at].len ? c->byte[at].len : 1) {
		if (!c->byte[at].queued && c->byte[at].lost)
			follow_lost(c, at);
		if (c->byte[at].queued)
			continue;
		c->byte[at].len = c->r->arch->get_padding_length(c->code + at, c->size - at);
		if (c->byte[at].len)
			continue;
		if (get_sp_depth(c, find_row(c, at), &sp)) {
			reach_byte(c, at, at, sp, false);
			follow_code(c, false);
			continue;
		}
		c->arch->decode(c->decoder, c->code + at, c->size - at, base + at, &op);
		c->byte[at].len = op.next == ARCH_BAD ? 0 : op.len;
	}
}

/* --------------------------------- rows ---------------------------------- */

/* Write the rows of the function again, with holes, after the rows of all other functions. */
static int replace_with_holes(struct row_check *c)
{
	static const struct cfi_row hole = {
		.cfa = { .how = CFI_BAD, .off = STATS_CAUSE_CODE },
	};
	struct rows_fde fde = *c->fde;
	struct cfi_row rules;
	uint32_t i, at, end;
	bool bad;
	int ret;

	fde.row = c->r->nr_fde_rows;
	fde.nr_rows = 0;
	for (i = 0; i < c->fde->nr_rows; i++) {
		struct rows_row row = c->r->fde_row[c->fde->row + i];

		end = i + 1 < c->fde->nr_rows ? c->r->fde_row[c->fde->row + i + 1].start : fde.end;
		rules = c->r->rules[row.rules_idx];
		for (at = row.start; at < end; ) {
			bad = c->byte[at - fde.start].bad;
			ret = rows_add_fde_row(c->r, &fde, at, bad ? &hole : &rules);
			if (ret)
				return ret;
			while (at < end && c->byte[at - fde.start].bad == bad)
				at++;
		}
	}
	*c->fde = fde;
	return 0;
}

static bool make_room(struct row_check *c)
{
	if (c->room < c->size) {
		free(c->code);
		free(c->byte);
		free(c->todo);
		c->room = c->size;
		c->code = malloc(c->room);
		c->byte = malloc(c->room * sizeof(*c->byte));
		c->todo = malloc(c->room * sizeof(*c->todo));
	}
	if (!c->decoder && c->arch->open)
		c->decoder = c->arch->open();
	return c->code && c->byte && c->todo && (c->decoder || !c->arch->open);
}

/* Returns whether the code contradicts a row, or a negative errno. */
static int compare_function(struct row_check *c, struct rows_fde *fde)
{
	uint32_t at;
	int32_t sp;
	int ret;

	c->fde = fde;
	c->size = fde->end - fde->start;
	if (c->size > MAX_FUNCTION || c->size > c->budget || !get_sp_depth(c, find_row(c, 0), &sp))
		return 0;
	c->budget -= c->size;
	if (!make_room(c)) {
		c->room = 0;
		return -ENOMEM;
	}
	ret = image_read(c->r->img, c->r->img->text.start + fde->start, c->code, c->size);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	memset(c->byte, 0, c->size * sizeof(*c->byte));
	c->any_bad = false;
	/* assembler code can have the padding before it in its FDE */
	for (at = 0; c->arch->callee_pops && at < c->size && is_padding_at(c, at); )
		at += c->r->arch->get_padding_length(c->code + at, c->size - at);
	if (at < c->size && get_sp_depth(c, find_row(c, at), &sp))
		reach_byte(c, at, at, sp, true);
	follow_code(c, true);
	for (at = 1; at < c->size; at++) {
		if (c->byte[at].lost)
			follow_lost(c, at);
	}
	follow_rest(c);
	if (!c->any_bad)
		return 0;
	ret = replace_with_holes(c);
	return ret ? ret : 1;
}

/* ------------------------- which FDEs are compared ----------------------- */

/* The FDEs that were compared; they come in ascending order */
struct progress {
	const struct rows_fde *last;	/* the last of these, unless other FDEs overlap it */
	struct rows_fde before;		/* @last, as it was before the comparison */
	uint32_t reach;			/* largest end of the FDEs so far, an offset in the code */
};

static bool start_contradicts_rows(struct row_check *c)
{
	const struct rows_row *row = &c->r->fde_row[c->fde->row], *last = row + c->fde->nr_rows - 1;
	uint32_t size = c->fde->end - c->fde->start, at = 0, n, i;
	int32_t sp, bytes, there;
	const uint8_t *code;

	/* an author who described the first instruction also described the others */
	if (row < last && row[1].start - row->start <= MAX_FIRST_ROW)
		return false;
	if (!get_sp_depth(c, &c->r->rules[row->rules_idx], &sp))
		return false;
	if (size > MAX_FIRST_BYTES)
		size = MAX_FIRST_BYTES;
	code = image_get_code(c->r->img, c->r->img->text.start + c->fde->start, size);
	for (i = 0; code && i < MAX_FIRST; i++) {
		n = c->r->arch->decode_push(code + at, size - at, &bytes);
		at += n;
		if (!n || at >= size)
			break;
		if (__builtin_add_overflow(sp, bytes, &sp))
			break;
		while (row < last && row[1].start <= c->fde->start + at)
			row++;
		if (!get_sp_depth(c, &c->r->rules[row->rules_idx], &there))
			break;
		if (there != sp)
			return true;
	}
	return false;
}

static bool end_contradicts_rows(struct row_check *c)
{
	uint32_t size = c->fde->end - c->fde->start, last, len;
	int32_t off, sp, there;
	const uint8_t *code;

	if (c->fde->nr_rows < 2)
		return false;
	last = size < MAX_LAST_BYTES ? size : MAX_LAST_BYTES;
	code = image_get_code(c->r->img, c->r->img->text.start + c->fde->end - last, last);
	len = code ? c->r->arch->find_last_jump(code, last, &off) : 0;
	if (!len || off >= 0 || (uint32_t)-off > size)
		return false;
	return get_sp_depth(c, find_row(c, size - len), &sp) &&
	       get_sp_depth(c, find_row(c, size + off), &there) && sp != there;
}

/*
 * Returns true if FDE number @i is not to be compared: it has no rows, or it overlaps the FDEs
 * before it, which have the rows of the overlap. An FDE that equals the last one gets its result.
 * This saves reads, because each comparison can read code from another place.
 */
static bool skip_fde(struct row_check *c, uint32_t i, struct progress *p)
{
	struct rows_fde *fde = &c->r->fde[i];

	if (fde->start >= p->reach) {
		p->last = fde;
		p->before = *fde;
		p->reach = fde->end;
		return !fde->nr_rows || fde->start >= fde->end;
	}
	if (p->last && rows_is_same_fde(c->r, &p->before, fde)) {
		fde->row = p->last->row;
		fde->nr_rows = p->last->nr_rows;
		return true;
	}
	if (p->reach < fde->end)
		p->reach = fde->end;
	p->last = NULL;
	return true;
}

/* Note the padding before @fde, here because compare_function() reads the same window of code. */
static void note_padding(struct rows *r, struct rows_fde *fde, uint32_t *reach)
{
	if (fde->start > *reach && rows_is_padding(r, *reach, fde->start))
		fde->padding_start = *reach;
	if (fde->end > *reach)
		*reach = fde->end;
}

/*
 * Compare the first @nr FDEs. Returns 0, or a negative errno. @nr gets how many FDEs are to be
 * compared again, now that one of them contradicts its code: those before it.
 */
static int compare_fdes(struct row_check *c, uint32_t *nr)
{
	struct progress p = { .last = NULL };
	uint32_t i, nr_before = 0;
	bool start_is_wrong, end_is_wrong;
	int ret;

	for (i = 0; i < *nr; i++) {
		c->fde = &c->r->fde[i];
		note_padding(c->r, c->fde, &c->padded);
		if (skip_fde(c, i, &p))
			continue;
		/* in this order, as the window on the code moves forward */
		start_is_wrong = c->all || start_contradicts_rows(c);
		end_is_wrong = !c->all && end_contradicts_rows(c);
		if (!start_is_wrong && !end_is_wrong)
			continue;
		ret = compare_function(c, c->fde);
		if (ret < 0)
			return ret;
		if (end_is_wrong && ret > 0) {
			c->all = true;
			nr_before = i;
		}
	}
	*nr = nr_before;
	return 0;
}

int gen_make_wrong_rows_holes(struct rows *r)
{
	struct row_check c = { .r = r, .arch = r->arch->compare, .all = !r->arch->decode_push };
	uint32_t nr = r->nr_fdes;
	int ret = 0;

	if (!c.arch)
		return 0;
	c.budget = 2 * (r->img->text.end - r->img->text.start);
	while (nr && !ret)
		ret = compare_fdes(&c, &nr);
	if (c.decoder)
		c.arch->close(c.decoder);
	free(c.code);
	free(c.byte);
	free(c.todo);
	return ret;
}
