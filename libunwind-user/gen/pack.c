// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pack.c - cuts a list of rows into functions so that the section is small
 *
 * An SFrame function is only a range of pcs with some rows: an index entry of 16 bytes that points
 * to a block. A block is 5 bytes, then the rows; their starts count from the start of the
 * function. An SFrame function need not be a function of the program, and equal blocks are stored
 * once. That leaves freedom:
 *
 *	- Neighbours in one block save index entries, and the last row of a function (CFA = rsp + 8
 *	  at its ret) serves the next function too.
 *	- A function is cut into its prologue with its body, and its epilogue. Hundreds of other
 *	  functions have the same pieces, byte for byte, since no row holds its own length.
 *	- At most MAX_FRES rows per block bound a lookup, and offsets of one byte do for short
 *	  blocks.
 *
 * So the packer works in three steps. It cuts the list wherever a piece may start (the start of a
 * function, the row after a long row). It counts how often each window of up to WINDOWS pieces
 * occurs. Then it finds the cheapest sequence of blocks by dynamic programming, where a block that
 * occurs n times costs 1/n of its bytes. The counted n is too high where other blocks were taken
 * instead. So a second round uses the blocks that the first round took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"

/* -------------------------------- pieces --------------------------------- */

static enum piece_kind get_kind(const struct rows *r, uint32_t row)
{
	const struct rows_fre *fre = &r->fre[r->merged[row].rules_idx];

	if (r->merged[row].rules_idx == ROWS_NONE)
		return PIECE_NONE;
	if (r->merged[row].rules_idx == ROWS_HOLE)
		return PIECE_HOLE;
	if (fre->plt)
		return PIECE_PLT;
	return fre->signal ? PIECE_SIGNAL : PIECE_NORMAL;
}

static int add_piece(struct packer *p, uint32_t row, enum piece_kind kind)
{
	if (vec_grow32(&p->piece, &p->room_pieces, p->nr_pieces, sizeof(*p->piece)))
		return -ENOMEM;
	p->piece[p->nr_pieces++] = (struct piece){ .row = row, .kind = kind };
	return 0;
}

/*
 * A block has one place where its rows save abi->reg_kept. Rows that still have the value in the
 * register fit any place. Can rows of @kept be in a block with rows of @slot? Then @slot is set to
 * the place of both.
 */
static bool join_kept_places(uint8_t *slot, uint8_t kept)
{
	if ((*slot == SFRAME_KEPT_UNKNOWN) != (kept == SFRAME_KEPT_UNKNOWN))
		return false;
	if (*slot > SFRAME_KEPT_IN_REG && kept > SFRAME_KEPT_IN_REG)
		return *slot == kept;
	if (*slot < kept)
		*slot = kept;
	return true;
}

/*
 * An FRE as a number, for sums that differ between blocks: sum = sum * BASE + number. The starts in
 * them are subtracted later, when their base is known.
 */
#define BASE	0xbf58476d1ce4e5b9ULL

static uint64_t number_fre(const struct rows_row *row)
{
	return (row->rules_idx + 1) * 0x9e3779b97f4a7c15ULL + row->start;
}

/* Add row @i to the last piece. A piece has few rows, so its sums fit their types. */
static void add_row_to_piece(struct packer *p, uint32_t i)
{
	struct piece *piece = &p->piece[p->nr_pieces - 1];
	const struct rows_row *row = &p->r->merged[i];
	const struct rows_fre *fre = &p->r->fre[row->rules_idx];
	bool like_last = i && row->rules_idx == row[-1].rules_idx;

	if (i == piece->row) {
		piece->start = row->start;
		piece->goes_on = like_last;
		piece->first_bytes = fre->len;
		piece->first_flex_bytes = fre->flex_len;
		piece->first = number_fre(row);
	} else if (like_last) {
		return;
	}
	piece->last_start = row->start;
	piece->nr_fres++;
	piece->bytes += fre->len;
	piece->flex_bytes += fre->flex_len;
	piece->flex = fre->flex_only;
	piece->sum = piece->sum * BASE + number_fre(row);
}

static int find_pieces(struct packer *p)
{
	const struct rows *r = p->r;
	const struct rows_row *row = r->merged;
	enum piece_kind kind, last = PIECE_PLT;
	uint32_t i, start = 0;
	bool flex, last_flex = false;
	uint8_t kept;
	int ret = 0;

	for (i = 0; i + 1 < r->nr_merged && !ret; i++, row++) {
		kind = get_kind(r, i);
		flex = r->fre[row->rules_idx].flex_only;
		kept = r->fre[row->rules_idx].kept;
		if (kind != last || kind == PIECE_PLT || r->is_start[i] || flex != last_flex ||
		    row->start - row[-1].start > LONG_ROW || i - start >= MAX_PIECE ||
		    !join_kept_places(&p->piece[p->nr_pieces - 1].kept, kept)) {
			ret = add_piece(p, i, kind);
			if (ret)
				return ret;
			p->piece[p->nr_pieces - 1].kept = kept;
			start = i;
		}
		add_row_to_piece(p, i);
		last = kind;
		last_flex = flex;
	}
	ret = add_piece(p, i, PIECE_NONE);
	p->nr_pieces--;
	return ret;
}

/*
 * Returns where a block that starts at @i must end, at most @end: where rows save abi->reg_kept in
 * another place.
 */
static uint32_t find_end_of_kept_place(const struct packer *p, uint32_t i, uint32_t end)
{
	uint8_t slot = p->piece[i].kept;
	uint32_t j = i + 1;

	while (j < end && j - i < MAX_PIECES && join_kept_places(&slot, p->piece[j].kept))
		j++;
	return j;
}

static int sum_pieces(struct packer *p)
{
	const struct piece *piece;
	struct piece_sums *s;
	uint32_t i;

	p->sums = calloc(p->nr_pieces + 1, sizeof(*p->sums));
	p->cut = calloc(p->nr_pieces + 1, sizeof(*p->cut));
	if (!p->sums || !p->cut)
		return -ENOMEM;
	for (i = 0; i < p->nr_pieces; i++) {
		piece = &p->piece[i];
		s = &p->sums[i];
		s[1] = s[0];
		s[1].nr_fres += piece->nr_fres;
		s[1].bytes += piece->bytes;
		s[1].flex_bytes += piece->flex_bytes;
		if (piece->goes_on) {
			s[1].nr_fres--;
			s[1].bytes -= piece->first_bytes;
			s[1].flex_bytes -= piece->first_flex_bytes;
		}
		if (piece->nr_fres > piece->goes_on)
			s[1].last_start = piece->last_start;
	}
	for (i = p->nr_pieces; i--; ) {
		bool joins = i + 1 < p->nr_pieces && p->piece[i].kind == p->piece[i + 1].kind;

		p->piece[i].run_end = joins ? p->piece[i + 1].run_end : i + 1;
	}
	for (i = 0; i < p->nr_pieces && p->attr_off; i++)
		p->piece[i].run_end = find_end_of_kept_place(p, i, p->piece[i].run_end);
	return 0;
}

/* ------------------------------- counting -------------------------------- */

static uint32_t find_window_count(struct packer *p, uint64_t hash64)
{
	uint32_t hash = hash64 >> 32 ? hash64 >> 32 : 1, i, n;

	i = hash64 & (p->window_counts_size - 1);
	for (n = 0; p->window_count[i].hash && p->window_count[i].hash != hash &&
	     n < HIDX_PROBES; n++)
		i = (i + 1) & (p->window_counts_size - 1);
	/* at the limit, two hashes share a count, which can cost bytes */
	p->window_count[i].hash = hash;
	return i;
}

/* BASE to the power of the FREs of a piece, and the sum of its powers below that */
struct powers {
	uint64_t power, sum;
};

/*
 * Two windows are equal if their FREs are. The sum over the FREs of the pieces [i, j] contains
 * starts that count from the start of the code, each multiplied by a power of BASE. Subtracting the
 * start of the window times the sum of these powers turns the starts into offsets. If different
 * windows have equal sums, the section can be larger, but not wrong.
 */
static int count_windows(struct packer *p)
{
	struct powers powers[MAX_PIECE + 1] = { { .power = 1 } };
	uint64_t sum, ones, hash;
	uint32_t i, w, n;

	for (i = 1; i <= MAX_PIECE; i++) {
		powers[i].power = powers[i - 1].power * BASE;
		powers[i].sum = powers[i - 1].sum * BASE + 1;
	}
	while (p->window_counts_size < p->nr_pieces * (uint64_t)(WINDOWS + 1)) {
		if (p->window_counts_size > UINT32_MAX / 4)
			return -EFBIG;
		p->window_counts_size = p->window_counts_size ? p->window_counts_size * 2 : 64;
	}
	p->window_count = calloc(p->window_counts_size + 1, sizeof(*p->window_count));
	if (!p->window_count)
		return -ENOMEM;
	for (i = 0; i < p->nr_pieces; i++) {
		if (p->piece[i].kind < PIECE_NORMAL)
			continue;
		sum = p->piece[i].sum;
		ones = powers[p->piece[i].nr_fres].sum;
		for (w = 0; ; ) {
			hash = (sum - ones * p->piece[i].start + p->piece[i].kind) *
				0x94d049bb133111ebULL;
			p->piece[i].window[w] = find_window_count(p, hash ^ hash >> 29);
			p->window_count[p->piece[i].window[w]].nr++;
			if (++w == WINDOWS || i + w == p->piece[i].run_end)
				break;
			n = p->piece[i + w].nr_fres - p->piece[i + w].goes_on;
			sum = sum * powers[n].power + p->piece[i + w].sum;
			if (p->piece[i + w].goes_on)
				sum -= p->piece[i + w].first * powers[n].power;
			ones = ones * powers[n].power + powers[n].sum;
		}
	}
	return 0;
}

/* -------------------------- the cheapest blocks -------------------------- */

static inline void offer_cut(struct cut *cut, uint32_t piece, uint32_t cost)
{
	if (cost < cut->cost) {
		cut->cost = cost;
		cut->link = piece;
	}
}

/*
 * Offer the blocks of more than WINDOWS pieces from @i on, as make_block() computes them. The
 * packer spends most of its time here. @j: the first piece that is not in the block yet.
 */
static void offer_long_blocks(struct packer *p, uint32_t i, uint32_t j, uint32_t max_pieces,
			      bool flex)
{
	const struct piece *piece = &p->piece[i];
	const struct piece_sums *s = &p->sums[i], *t;
	uint32_t nr0 = s->nr_fres - piece->goes_on, nr, off, cost;
	uint32_t end = piece->run_end - i < max_pieces ? piece->run_end : i + max_pieces;
	uint32_t start = piece->start;
	uint32_t base = p->cut[i].cost + SFRAME_V3_FDE_SIZE + SFRAME_V3_ATTR_SIZE - s->bytes;
	struct cut *cut = p->cut;

	base += p->attr_off;
	if (piece->goes_on)
		base += piece->first_bytes;
	for (; j < end && !flex && !p->piece[j].flex; j++) {
		t = &p->sums[j + 1];
		nr = t->nr_fres - nr0;
		if (nr > MAX_FRES)
			return;
		off = t->last_start > start ? t->last_start - start : 0;
		cost = base + t->bytes + (nr << ((off > UINT8_MAX) + (off > UINT16_MAX)));
		offer_cut(&cut[j + 1], i, cost);
	}
	for (; j < end; j++) {
		struct block b = make_block(p, i, j + 1, true);

		if (b.nr_fres > MAX_FRES)
			return;
		offer_cut(&cut[j + 1], i, cut[i].cost + SFRAME_V3_FDE_SIZE + b.bytes);
	}
}

static void find_cheapest_blocks(struct packer *p, uint32_t max_pieces)
{
	const struct piece *piece = p->piece;
	struct cut *cut = p->cut;
	uint32_t i, j, nr, here;
	struct block b;
	bool flex;

	for (i = 1; i <= p->nr_pieces; i++)
		cut[i].cost = UINT32_MAX;
	for (i = 0; i < p->nr_pieces; i++) {
		if (piece[i].kind < PIECE_NORMAL) {
			/* nothing to choose */
			cut[i + 1].cost = cut[i].cost;
			cut[i + 1].link = i;
			continue;
		}
		here = cut[i].cost + SFRAME_V3_FDE_SIZE;
		flex = false;
		for (j = i; j < piece[i].run_end && j - i < WINDOWS; j++) {
			flex |= piece[j].flex;
			b = make_block(p, i, j + 1, flex);
			if (j > i && b.nr_fres > MAX_FRES)
				break;
			nr = p->window_count[piece[i].window[j - i]].nr;
			offer_cut(&cut[j + 1], i, here + (nr > 1 ? b.bytes / nr : b.bytes));
		}
		if (j - i == WINDOWS)
			offer_long_blocks(p, i, j, max_pieces, flex);
	}
}

/* Reverse the chain: cut.link of a piece is then the piece after its block. */
static void reverse_chain(struct packer *p)
{
	uint32_t i = p->nr_pieces, next = i, link;

	while (i) {
		link = p->cut[i].link;
		p->cut[i].link = next;
		next = i;
		i = link;
	}
	p->cut[0].link = next;
}

static void count_taken_windows(struct packer *p)
{
	uint32_t i, next;

	for (i = 0; i < p->window_counts_size; i++)
		p->window_count[i].nr = 0;
	for (i = 0; i < p->nr_pieces; i = next) {
		next = p->cut[i].link;
		if (p->piece[i].kind >= PIECE_NORMAL && next - i <= WINDOWS)
			p->window_count[p->piece[i].window[next - i - 1]].nr++;
	}
}

int gen_pack_rows(struct rows *r, struct gen_table *table)
{
	struct packer p = { .r = r, .attr_off = r->writes_kept_reg ? SFRAME_KEPT_SIZE : 0 };
	int ret;

	ret = find_pieces(&p);
	if (!ret)
		ret = sum_pieces(&p);
	if (!ret)
		ret = count_windows(&p);
	if (!ret) {
		find_cheapest_blocks(&p, FIRST_PIECES);
		reverse_chain(&p);
		count_taken_windows(&p);
		find_cheapest_blocks(&p, MAX_PIECES);
		reverse_chain(&p);
		ret = pack_write_blocks(&p);
	}
	if (!ret)
		ret = pack_write_section(&p, table);
	r->stats->table_fdes = p.nr_fdes;
	r->stats->table_fres = p.nr_fres;
	free(p.piece);
	free(p.sums);
	free(p.cut);
	free(p.window_count);
	free(p.index);
	free(p.blocks);
	hidx_free(&p.known);
	return ret;
}
