// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_pack - a list of rows, cut into functions so that the section is small
 *
 * An SFrame function is no more than a range of pcs with some rows: an index entry of 16 bytes that
 * points to a block (5 bytes, then the rows, their starts counted from the function's). It need not
 * be a function of the program, and equal blocks are stored once. That leaves freedom:
 *
 *	- neighbours in one block save index entries, and the row that a function ends with (CFA = rsp
 *	  + 8 at its ret) serves the next one too;
 *	- a function cut into prologue with body, and epilogue, gives pieces that hundreds of
 *	  others have byte for byte, since the long row that ends a piece has no length in it;
 *	- at most MAX_FRES rows a block bound a lookup, and offsets of one byte do for short ones.
 *
 * So: cut the list wherever a piece may begin (a function's start, the row after a long one), count
 * how often each window of up to WINDOWS pieces occurs, and find the cheapest sequence of blocks
 * by dynamic programming, a block that occurs n times counted with 1/n of its bytes. That guess of
 * n is too high where other blocks were taken instead, hence a second round with the blocks
 * that the first one took.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen_impl.h"

#define MAX_FRES	32
/* A row of more bytes is the body of something. */
#define LONG_ROW	6
#define WINDOWS		4
/* Pieces are cut here at the latest. */
#define MAX_PIECE	16

enum piece_kind { PIECE_HOLE, PIECE_PLT, PIECE_NORMAL, PIECE_SIGNAL };

struct piece {
	uint32_t row;			/* the first */
	uint8_t kind;			/* enum piece_kind */
	bool flex;			/* some row has no default form */
	bool goes_on;			/* the first row is like the one before the piece */
	uint8_t first_bytes, first_flex_bytes;	/* of the FRE that is saved then */
	uint16_t nr_fres;
	uint16_t bytes, flex_bytes;	/* of the FREs without their starts */
	uint32_t start, last_start;	/* of its first and last FRE */
	uint32_t cost;			/* cheapest way to get here */
	uint32_t from;			/* the piece that the last block on it starts with */
	uint32_t window[WINDOWS];	/* slot of the window of 1, 2.. pieces that starts here */
};

/* How often a block occurs */
struct slot {
	uint32_t hash;			/* 0: free */
	uint32_t nr;
};

/* Pieces as one block */
struct block {
	uint32_t start, last_start;
	uint32_t nr_fres, bytes, flex_bytes;
	bool flex;
};

struct packer {
	const struct gen_rows *r;
	struct piece *piece;		/* the last one has no rows */
	uint32_t nr_pieces, room_pieces;
	struct slot *slot;
	uint32_t slots_size;		/* a power of two */

	uint8_t *index;			/* the section's FDEs */
	uint32_t nr_fdes, room_fdes;
	uint8_t *blocks;
	uint64_t blocks_size, blocks_room;
	uint32_t nr_fres;
	uint32_t *known, known_size, nr_known;	/* hash of blocks: offset + 1 */
};

/* -------------------------------- pieces --------------------------------- */

static enum piece_kind kind_of(const struct gen_rows *r, uint32_t row)
{
	const struct gen_code *code = &r->code[r->row[row].state];

	if (r->row[row].state == GEN_HOLE)
		return PIECE_HOLE;
	if (code->plt)
		return PIECE_PLT;
	return code->signal ? PIECE_SIGNAL : PIECE_NORMAL;
}

static int add_piece(struct packer *p, uint32_t row, enum piece_kind kind)
{
	struct piece *piece;

	if (!gen_room(&p->piece, p->nr_pieces, &p->room_pieces, sizeof(*p->piece)))
		return -ENOMEM;
	piece = &p->piece[p->nr_pieces++];
	memset(piece, 0, sizeof(*piece));
	piece->row = row;
	piece->kind = kind;
	return 0;
}

/* One more row for the last piece. A piece is short, and so are its sums. */
static void add_row(struct packer *p, uint32_t i)
{
	struct piece *piece = &p->piece[p->nr_pieces - 1];
	const struct gen_row *row = &p->r->row[i];
	const struct gen_code *code = &p->r->code[row->state];
	bool like_last = i && row->state == row[-1].state;

	if (i == piece->row) {
		piece->start = row->start;
		piece->goes_on = like_last;
		piece->first_bytes = code->len;
		piece->first_flex_bytes = code->flex_len;
	} else if (like_last) {
		return;
	}
	piece->last_start = row->start;
	piece->nr_fres++;
	piece->bytes += code->len;
	piece->flex_bytes += code->flex_len;
	piece->flex |= code->flex_only;
}

static int find_pieces(struct packer *p)
{
	const struct gen_rows *r = p->r;
	enum piece_kind kind, last = PIECE_PLT;
	uint32_t i, start = 0;
	bool flex, last_flex = false;
	int ret = 0;

	for (i = 0; i + 1 < r->nr_rows && !ret; i++) {
		kind = kind_of(r, i);
		flex = r->code[r->row[i].state].flex_only;
		if (kind != last || kind == PIECE_PLT || r->is_start[i] || flex != last_flex ||
		    r->row[i].start - r->row[i - 1].start > LONG_ROW || i - start >= MAX_PIECE) {
			ret = add_piece(p, i, kind);
			if (ret)
				return ret;
			start = i;
		}
		add_row(p, i);
		last = kind;
		last_flex = flex;
	}
	ret = add_piece(p, i, PIECE_HOLE);
	p->nr_pieces--;
	return ret;
}

/* -------------------------------- blocks --------------------------------- */

static inline void block_start(struct block *b, const struct piece *piece)
{
	b->start = piece->start;
	b->last_start = piece->last_start;
	b->nr_fres = piece->nr_fres;
	b->bytes = piece->bytes;
	b->flex_bytes = piece->flex_bytes;
	b->flex = piece->flex;
}

static inline void block_extend(struct block *b, const struct piece *piece)
{
	b->nr_fres += piece->nr_fres - piece->goes_on;
	b->bytes += piece->bytes;
	b->flex_bytes += piece->flex_bytes;
	if (piece->goes_on) {
		b->bytes -= piece->first_bytes;
		b->flex_bytes -= piece->first_flex_bytes;
	}
	b->flex |= piece->flex;
	if (piece->nr_fres > piece->goes_on)
		b->last_start = piece->last_start;
}

static inline unsigned int fre_type(const struct block *b)
{
	uint32_t off = b->last_start - b->start;

	return off <= UINT8_MAX ? SFRAME_FRE_TYPE_ADDR1 :
		off <= UINT16_MAX ? SFRAME_FRE_TYPE_ADDR2 : SFRAME_FRE_TYPE_ADDR4;
}

static inline uint32_t block_bytes(const struct block *b)
{
	return SFRAME_V3_ATTR_SIZE + (b->flex ? b->flex_bytes : b->bytes) +
	       (b->nr_fres << fre_type(b));
}

/* ------------------------------- counting -------------------------------- */

static uint32_t slot_of(struct packer *p, uint64_t hash64)
{
	uint32_t hash = hash64 >> 32 ? hash64 >> 32 : 1, i;

	i = hash64 & (p->slots_size - 1);
	while (p->slot[i].hash && p->slot[i].hash != hash)
		i = (i + 1) & (p->slots_size - 1);
	p->slot[i].hash = hash;
	return i;
}

static inline bool joins(const struct packer *p, uint32_t piece)
{
	return p->piece[piece].kind == p->piece[piece + 1].kind;
}

/* Go on with @hash over the rows up to @end of a block that starts at @first. */
static uint64_t hash_rows(const struct gen_rows *r, uint64_t hash, uint32_t first, uint32_t row,
			  uint32_t end)
{
	for (; row < end; row++) {
		const struct gen_row *fre = &r->row[row];

		if (row > first && fre->state == fre[-1].state)
			continue;
		hash ^= (uint64_t)(fre->start - r->row[first].start) << 32 | fre->state;
		hash *= 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Equal hashes are taken for equal blocks: that can cost bytes, and nothing else. */
static int count_windows(struct packer *p)
{
	uint32_t i, w, row, end;
	uint64_t hash;

	while (p->slots_size < p->nr_pieces * (uint64_t)(WINDOWS + 1)) {
		if (p->slots_size > UINT32_MAX / 4)
			return -EFBIG;
		p->slots_size = p->slots_size ? p->slots_size * 2 : 64;
	}
	p->slot = calloc(p->slots_size + 1, sizeof(*p->slot));
	if (!p->slot)
		return -ENOMEM;
	for (i = 0; i < p->nr_pieces; i++) {
		if (p->piece[i].kind < PIECE_NORMAL)
			continue;
		row = p->piece[i].row;
		hash = p->piece[i].kind;
		for (w = 0; w < WINDOWS; w++) {
			if (w && !joins(p, i + w - 1))
				break;
			end = p->piece[i + w + 1].row;
			hash = hash_rows(p->r, hash, p->piece[i].row, row, end);
			row = end;
			p->piece[i].window[w] = slot_of(p, hash);
			p->slot[p->piece[i].window[w]].nr++;
		}
	}
	return 0;
}

/* ------------------------------ the cheapest ----------------------------- */

static void find_cheapest(struct packer *p)
{
	struct piece *piece = p->piece;
	uint32_t i, j, cost, nr;
	struct block b;

	for (i = 1; i <= p->nr_pieces; i++)
		piece[i].cost = UINT32_MAX;
	for (i = 0; i < p->nr_pieces; i++) {
		if (piece[i].kind < PIECE_NORMAL) {
			/* nothing to choose */
			piece[i + 1].cost = piece[i].cost;
			piece[i + 1].from = i;
			continue;
		}
		block_start(&b, &piece[i]);
		for (j = i; ; block_extend(&b, &piece[++j])) {
			if (j > i && b.nr_fres > MAX_FRES)
				break;
			cost = block_bytes(&b);
			if (j - i < WINDOWS) {
				nr = p->slot[piece[i].window[j - i]].nr;
				if (nr > 1)
					cost = cost / nr;
			}
			cost += SFRAME_V3_FDE_SIZE + piece[i].cost;
			if (cost < piece[j + 1].cost) {
				piece[j + 1].cost = cost;
				piece[j + 1].from = i;
			}
			if (!joins(p, j) || j + 1 == p->nr_pieces)
				break;
		}
	}
}

/* Turn the chain round: from[] of a piece is then the piece after its block. */
static void reverse(struct packer *p)
{
	uint32_t i = p->nr_pieces, next = i, from;

	while (i) {
		from = p->piece[i].from;
		p->piece[i].from = next;
		next = i;
		i = from;
	}
	p->piece[0].from = next;
}

static void count_taken(struct packer *p)
{
	uint32_t i, next;

	for (i = 0; i < p->slots_size; i++)
		p->slot[i].nr = 0;
	for (i = 0; i < p->nr_pieces; i = next) {
		next = p->piece[i].from;
		if (p->piece[i].kind >= PIECE_NORMAL && next - i <= WINDOWS)
			p->slot[p->piece[i].window[next - i - 1]].nr++;
	}
}

/* -------------------------------- writing -------------------------------- */

static void put(uint8_t *to, uint64_t v, unsigned int size, bool big_endian)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		to[big_endian ? size - 1 - i : i] = v >> 8 * i;
}

static uint64_t hash_bytes(const uint8_t *p, size_t len)
{
	uint64_t h = len, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	for (v = 0; len; len--)
		v = v << 8 | *p++;
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static bool same_block(const struct packer *p, uint32_t off, const uint8_t *block, size_t len)
{
	return off + len <= p->blocks_size && !memcmp(p->blocks + off, block, len);
}

static int grow_known(struct packer *p)
{
	uint32_t size = p->known_size ? p->known_size * 2 : 64, i, j;
	uint32_t *new = calloc(2 * (size_t)size, sizeof(*new));

	if (!new)
		return -ENOMEM;
	for (i = 0; i < p->known_size; i++) {
		if (!p->known[2 * i])
			continue;
		j = p->known[2 * i + 1] & (size - 1);
		while (new[2 * j])
			j = (j + 1) & (size - 1);
		new[2 * j] = p->known[2 * i];
		new[2 * j + 1] = p->known[2 * i + 1];
	}
	free(p->known);
	p->known = new;
	p->known_size = size;
	return 0;
}

/* The @len bytes written behind the blocks are one more: keep them, or use those of an equal one. */
static int keep_block(struct packer *p, size_t len, uint32_t nr_fres, uint32_t *off)
{
	const uint8_t *block = p->blocks + p->blocks_size;
	uint32_t hash = hash_bytes(block, len), i;

	if (p->nr_known * 2 >= p->known_size && grow_known(p))
		return -ENOMEM;
	i = hash & (p->known_size - 1);
	for (; p->known[2 * i]; i = (i + 1) & (p->known_size - 1)) {
		*off = p->known[2 * i] - 1;
		if (p->known[2 * i + 1] == hash && same_block(p, *off, block, len))
			return 0;
	}
	if (p->blocks_size + len >= UINT32_MAX)
		return -EFBIG;
	*off = p->blocks_size;
	p->known[2 * i] = *off + 1;
	p->known[2 * i + 1] = hash;
	p->nr_known++;
	p->blocks_size += len;
	p->nr_fres += nr_fres;
	return 0;
}

static int block_room(struct packer *p, size_t len)
{
	uint64_t room = p->blocks_room ? p->blocks_room : 4096;
	uint8_t *new;

	while (room < p->blocks_size + len)
		room *= 2;
	if (room == p->blocks_room)
		return 0;
	new = realloc(p->blocks, room);
	if (!new)
		return -ENOMEM;
	p->blocks = new;
	p->blocks_room = room;
	return 0;
}

static uint8_t *put_attr(const struct packer *p, uint8_t *to, uint32_t nr_fres, uint8_t info,
			 bool flex, uint8_t rep_size)
{
	put(to + SFRAME_V3_ATTR_NUM_FRES_OFF, nr_fres, 2, p->r->arch->big_endian);
	to[SFRAME_V3_ATTR_INFO_OFF] = info;
	to[SFRAME_V3_ATTR_INFO2_OFF] = flex ? SFRAME_FDE_TYPE_FLEX : SFRAME_FDE_TYPE_DEFAULT;
	to[SFRAME_V3_ATTR_REP_SIZE_OFF] = rep_size;
	return to + SFRAME_V3_ATTR_SIZE;
}

static uint8_t *put_fre(uint8_t *to, uint32_t start, unsigned int start_size, bool big_endian,
			const uint8_t *bytes, uint8_t len)
{
	put(to, start, start_size, big_endian);
	memcpy(to + start_size, bytes, len);
	return to + start_size + len;
}

/* The pieces [piece, next) as one function */
static int write_normal(struct packer *p, uint32_t piece, uint32_t next, uint32_t *off)
{
	uint32_t row = p->piece[piece].row, end = p->piece[next].row, i;
	bool signal = p->piece[piece].kind == PIECE_SIGNAL;
	const struct gen_rows *r = p->r;
	bool big_endian = r->arch->big_endian;
	const struct gen_code *code;
	unsigned int type;
	struct block b;
	uint8_t *to;

	block_start(&b, &p->piece[piece]);
	for (i = piece + 1; i < next; i++)
		block_extend(&b, &p->piece[i]);
	if (block_room(p, block_bytes(&b)))
		return -ENOMEM;
	type = fre_type(&b);
	to = put_attr(p, p->blocks + p->blocks_size, b.nr_fres,
		      SFRAME_FDE_INFO(type, false, signal), b.flex, 0);
	for (i = row; i < end; i++) {
		if (i > row && r->row[i].state == r->row[i - 1].state)
			continue;
		code = &r->code[r->row[i].state];
		to = put_fre(to, r->row[i].start - r->row[row].start, 1 << type, big_endian,
			     b.flex ? code->flex : code->bytes, b.flex ? code->flex_len : code->len);
	}
	return keep_block(p, to - (p->blocks + p->blocks_size), b.nr_fres, off);
}

static int write_plt(struct packer *p, uint32_t row, uint32_t *off)
{
	const struct gen_code *code = &p->r->code[p->r->row[row].state];
	bool big_endian = p->r->arch->big_endian;
	uint8_t *to;

	if (block_room(p, 64))
		return -ENOMEM;
	to = put_attr(p, p->blocks + p->blocks_size, 2,
		      SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, true, false), false, 16);
	to = put_fre(to, 0, 1, big_endian, code->bytes, code->len);
	to = put_fre(to, code->limit, 1, big_endian, code->flex, code->flex_len);
	return keep_block(p, to - (p->blocks + p->blocks_size), 2, off);
}

/* An index entry; its start is still counted from that of the code. */
static int write_fde(struct packer *p, uint32_t start, uint32_t size, uint32_t off)
{
	bool big_endian = p->r->arch->big_endian;
	uint8_t *to;

	if (!gen_room(&p->index, p->nr_fdes, &p->room_fdes, SFRAME_V3_FDE_SIZE))
		return -ENOMEM;
	to = p->index + (size_t)p->nr_fdes++ * SFRAME_V3_FDE_SIZE;
	put(to + SFRAME_V3_FDE_START_OFF, start, 8, false);
	put(to + SFRAME_V3_FDE_SIZE_OFF, size, 4, big_endian);
	put(to + SFRAME_V3_FDE_FRE_OFF_OFF, off, 4, big_endian);
	return 0;
}

static int write_all(struct packer *p)
{
	const struct gen_rows *r = p->r;
	uint32_t i, next, row, end, off;
	int ret = 0;

	for (i = 0; i < p->nr_pieces && !ret; i = next) {
		next = p->piece[i].from;
		row = p->piece[i].row;
		end = p->piece[next].row;
		if (p->piece[i].kind == PIECE_HOLE)
			continue;
		if (p->piece[i].kind == PIECE_PLT)
			ret = write_plt(p, row, &off);
		else
			ret = write_normal(p, i, next, &off);
		if (!ret)
			ret = write_fde(p, r->row[row].start, r->row[end].start - r->row[row].start,
					off);
		r->stats->covered_bytes += r->row[end].start - r->row[row].start;
	}
	return ret;
}

static int assemble(struct packer *p, struct gen_table *t)
{
	const struct gen_arch *arch = p->r->arch;
	uint64_t index_size = (uint64_t)p->nr_fdes * SFRAME_V3_FDE_SIZE, start, at;
	bool big_endian = arch->big_endian;
	uint8_t *h, *fde;
	uint32_t i;

	t->size = SFRAME_HDR_SIZE + index_size + p->blocks_size;
	if (t->size >= UINT32_MAX)
		return -EFBIG;
	h = t->data = calloc(1, t->size);
	if (!h)
		return -ENOMEM;
	put(h + SFRAME_HDR_MAGIC_OFF, SFRAME_MAGIC, 2, big_endian);
	h[SFRAME_HDR_VERSION_OFF] = SFRAME_VERSION_3;
	h[SFRAME_HDR_FLAGS_OFF] = SFRAME_F_SORTED | SFRAME_F_PCREL;
	h[SFRAME_HDR_ABI_OFF] = arch->abi;
	h[SFRAME_HDR_FIXED_RA_OFF] = arch->ra_off;
	put(h + SFRAME_HDR_NUM_FDES_OFF, p->nr_fdes, 4, big_endian);
	put(h + SFRAME_HDR_NUM_FRES_OFF, p->nr_fres, 4, big_endian);
	put(h + SFRAME_HDR_FRE_LEN_OFF, p->blocks_size, 4, big_endian);
	put(h + SFRAME_HDR_FREOFF_OFF, index_size, 4, big_endian);
	if (!p->nr_fdes)
		return 0;
	memcpy(h + SFRAME_HDR_SIZE, p->index, index_size);
	memcpy(h + SFRAME_HDR_SIZE + index_size, p->blocks, p->blocks_size);
	for (i = 0; i < p->nr_fdes; i++) {
		fde = h + SFRAME_HDR_SIZE + (size_t)i * SFRAME_V3_FDE_SIZE;
		memcpy(&start, fde + SFRAME_V3_FDE_START_OFF, sizeof(start));
		at = t->base + (fde - h);
		put(fde + SFRAME_V3_FDE_START_OFF, t->text_start + le64toh(start) - at, 8,
		    big_endian);
	}
	return 0;
}

int pack(struct gen_rows *r, struct gen_table *table)
{
	struct packer p = { .r = r };
	int ret;

	ret = find_pieces(&p);
	if (!ret)
		ret = count_windows(&p);
	if (!ret) {
		p.piece[0].cost = 0;
		find_cheapest(&p);
		reverse(&p);
		count_taken(&p);
		find_cheapest(&p);
		reverse(&p);
		ret = write_all(&p);
	}
	if (!ret)
		ret = assemble(&p, table);
	r->stats->table_fdes = p.nr_fdes;
	r->stats->table_fres = p.nr_fres;
	free(p.piece);
	free(p.slot);
	free(p.index);
	free(p.blocks);
	free(p.known);
	return ret;
}
