/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack.h - rows as pieces and blocks: pack.c decides them and write.c writes them */
#ifndef GEN_PACK_H
#define GEN_PACK_H

#include "impl.h"

/*
 * A lookup reads half of a block's rows: 32 instead of 16 would save 3% of the bytes and cost a
 * third of the time.
 */
#define MAX_FRES	16
/* A row of more bytes is taken for the body of a function. */
#define LONG_ROW	6
#define WINDOWS		4
/* The first round tries shorter blocks only, since only its windows are used. */
#define FIRST_PIECES	8
/* Pieces are cut here at the latest. */
#define MAX_PIECE	16
/* Most pieces have rows of their own. This bounds a block of pieces that have no rows. */
#define MAX_PIECES	128

/*
 * PIECE_NONE is not written. A hole is a function without rows that is marked as a signal frame.
 * gas marks code that SFrame cannot express in the same way. Readers take such a function for a
 * hole, not for an outermost frame.
 */
enum piece_kind { PIECE_NONE, PIECE_HOLE, PIECE_PLT, PIECE_NORMAL, PIECE_SIGNAL };

struct piece {
	uint32_t row;			/* its first row */
	uint8_t kind;			/* enum piece_kind */
	bool flex;			/* its rows have no default form */
	bool goes_on;			/* the first row equals the row before the piece */
	uint8_t nr_fres;
	uint16_t bytes, flex_bytes;	/* size of the FREs without their starts */
	uint8_t first_bytes, first_flex_bytes;	/* of the first FRE: saved if goes_on */
	uint32_t start, last_start;	/* of its first and last FRE */
	uint64_t sum, first;		/* sum of all FREs, of the first FRE: count_windows() */
	uint32_t run_end;		/* pieces from here to there may be one block */
	uint8_t kept;			/* where its rows keep the register: SFRAME_KEPT_ */
	uint32_t window[WINDOWS];	/* slot of the window of 1, 2.. pieces that starts here */
};

/* The cheapest way to the start of a piece */
struct cut {
	uint32_t cost;
	/* the first piece of the last block on the way; later the piece after the next block */
	uint32_t link;
};

/* Sums over all pieces before a piece, as if each piece went on where the piece before it ends */
struct piece_sums {
	uint32_t nr_fres, bytes, flex_bytes;
	uint32_t last_start;		/* of the last FRE before the piece */
};

/* How often a block occurs */
struct window_count {
	uint32_t hash;			/* 0: free */
	uint32_t nr;
};

/* The size of some pieces as one block */
struct block {
	uint32_t nr_fres;
	uint32_t bytes;			/* in the section, without the index */
	unsigned int type;		/* SFRAME_FRE_TYPE_ */
	bool flex;
};

struct packer {
	const struct rows *r;
	uint32_t attr_off;		/* of the attribute in a block: SFRAME_KEPT_SIZE or 0 */
	struct piece *piece;		/* the last one has no rows */
	uint32_t nr_pieces, room_pieces;
	struct piece_sums *sums;	/* nr_pieces + 1, as cut */
	struct cut *cut;
	struct window_count *window_count;
	uint32_t window_counts_size;	/* a power of two */

	uint8_t *index;			/* the section's FDEs */
	uint32_t nr_fdes, room_fdes;
	uint8_t *blocks;
	uint64_t blocks_size;
	size_t blocks_room;
	uint32_t nr_fres;
	struct hidx known;		/* offsets of blocks */
};

/* Compute the block of the pieces [i, j); @flex: one of them is flexible. */
static inline struct block make_block(const struct packer *p, uint32_t i, uint32_t j, bool flex)
{
	const struct piece *first = &p->piece[i];
	const struct piece_sums *s = &p->sums[i], *t = &p->sums[j];
	uint32_t off = t->last_start - first->start;
	struct block b = { .flex = flex };

	/* all FREs go on from before: the first row is then the only one */
	if (t->nr_fres == s->nr_fres)
		off = 0;
	b.nr_fres = t->nr_fres - s->nr_fres + first->goes_on;
	b.bytes = flex ? t->flex_bytes - s->flex_bytes : t->bytes - s->bytes;
	if (first->goes_on)
		b.bytes += flex ? first->first_flex_bytes : first->first_bytes;
	b.type = (off > UINT8_MAX) + (off > UINT16_MAX);
	b.bytes += p->attr_off + SFRAME_V3_ATTR_SIZE + (b.nr_fres << b.type);
	return b;
}

/* write.c: write the blocks that p->cut chose; put them together as the section. */
int pack_write_blocks(struct packer *p);
int pack_write_section(struct packer *p, struct gen_table *t);

#endif
