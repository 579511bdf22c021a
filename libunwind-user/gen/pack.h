/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack.h - rows as pieces and blocks: pack.c decides them and write.c writes them */
#ifndef GEN_PACK_H
#define GEN_PACK_H

#include "impl.h"

/*
 * Half of a block's rows are read in a lookup: 32 instead of 16 would save 3% of the bytes and cost
 * a third of the time.
 */
#define MAX_FRES	16
/* A row of more bytes is the body of something. */
#define LONG_ROW	6
#define WINDOWS		4
/* The first round looks at shorter blocks, since it is there for the windows only. */
#define FIRST_PIECES	8
/* Pieces are cut here at the latest. */
#define MAX_PIECE	16
/* Most pieces have rows of their own, so this bounds a block for those inputs that have not. */
#define MAX_PIECES	128

/*
 * PIECE_NONE is not written. A hole is a function without rows that is marked as a signal frame: so
 * gas writes what it has no words for, and readers take it for a hole, not for an outermost frame.
 */
enum piece_kind { PIECE_NONE, PIECE_HOLE, PIECE_PLT, PIECE_NORMAL, PIECE_SIGNAL };

struct piece {
	uint32_t row;			/* the first */
	uint8_t kind;			/* enum piece_kind */
	bool flex;			/* all its rows have no default form */
	bool goes_on;			/* the first row is like the one before the piece */
	uint8_t nr_fres;
	uint16_t bytes, flex_bytes;	/* of the FREs without their starts */
	uint8_t first_bytes, first_flex_bytes;	/* of the first: saved where it goes on */
	uint32_t start, last_start;	/* of its first and last FRE */
	uint64_t sum, first;		/* of its FREs, and the first alone, see count_windows() */
	uint32_t run_end;		/* pieces from here to there may be one block */
	uint32_t window[WINDOWS];	/* slot of the window of 1, 2.. pieces that starts here */
};

/* The cheapest way to the start of a piece, and the piece that the last block on it starts with */
struct way {
	uint32_t cost, from;
};

/* Sums over all pieces before one, as if each went on where the last one ends */
struct sums {
	uint32_t nr_fres, bytes, flex_bytes;
	uint32_t last_start;		/* of the last FRE before the piece */
};

/* How often a block occurs */
struct slot {
	uint32_t hash;			/* 0: free */
	uint32_t nr;
};

/* Pieces as one block */
struct block {
	uint32_t nr_fres, bytes;	/* bytes: with all that is in the section but the index */
	unsigned int type;		/* SFRAME_FRE_TYPE_ */
	bool flex;
};

struct packer {
	const struct gen_rows *r;
	struct piece *piece;		/* the last one has no rows */
	uint32_t nr_pieces, room_pieces;
	struct sums *sums;		/* one more than pieces; so are */
	struct way *way;
	struct slot *slot;
	uint32_t slots_size;		/* a power of two */

	uint8_t *index;			/* the section's FDEs */
	uint32_t nr_fdes, room_fdes;
	uint8_t *blocks;
	uint64_t blocks_size;
	size_t blocks_room;
	uint32_t nr_fres;
	uint32_t *known, known_size, nr_known;	/* hash of blocks: offset + 1 */
};

/* The pieces [i, j); @flex: one of them is flexible. */
static inline struct block block_of(const struct packer *p, uint32_t i, uint32_t j, bool flex)
{
	const struct piece *first = &p->piece[i];
	const struct sums *s = &p->sums[i], *t = &p->sums[j];
	uint32_t off = t->last_start - first->start;
	struct block b = { .flex = flex };

	/* no FRE of the block's own: then its first row is the only one */
	if (t->nr_fres == s->nr_fres)
		off = 0;
	b.nr_fres = t->nr_fres - s->nr_fres + first->goes_on;
	b.bytes = flex ? t->flex_bytes - s->flex_bytes : t->bytes - s->bytes;
	if (first->goes_on)
		b.bytes += flex ? first->first_flex_bytes : first->first_bytes;
	b.type = (off > UINT8_MAX) + (off > UINT16_MAX);
	b.bytes += SFRAME_V3_ATTR_SIZE + (b.nr_fres << b.type);
	return b;
}

/* write.c: the blocks that p->way leads along, then the section. */
int pack_write(struct packer *p);
int pack_assemble(struct packer *p, struct gen_table *t);

#endif
