// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * write.c - writes the bytes of a section
 *
 * Each block is written after the blocks of the section. If the section already has an equal
 * block, the next block overwrites the new one. The index has the starts of functions as offsets
 * from the start of the code. They become final when the size of everything, and so the place of
 * each entry, is known.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"

static void write_number(uint8_t *to, uint64_t v, unsigned int size, bool big_endian)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		to[big_endian ? size - 1 - i : i] = v >> 8 * i;
}

static bool is_same_block(const struct packer *p, uint64_t off, const uint8_t *block, size_t len)
{
	return off + len <= p->blocks_size && !memcmp(p->blocks + off, block, len);
}

/* Add the @len bytes after the blocks as a new block, or find an equal block. Sets *@off. */
static int intern_block(struct packer *p, size_t len, uint32_t nr_fres, uint32_t *off)
{
	const uint8_t *block = p->blocks + p->blocks_size;
	uint32_t hash = hash_bytes(block, len, 0);
	size_t pos;

	for_each_hidx_bounded(&p->known, hash, pos, *off)
		if (is_same_block(p, *off, block, len))
			return 0;
	if (p->blocks_size + len >= UINT32_MAX)
		return -EFBIG;
	*off = p->blocks_size;
	if (hidx_add_bounded(&p->known, hash, *off))
		return -ENOMEM;
	p->blocks_size += len;
	p->nr_fres += nr_fres;
	return 0;
}

static int reserve_block(struct packer *p, size_t len)
{
	return vec_grow(&p->blocks, &p->blocks_room, p->blocks_size, len, 1);
}

/* Write the bytes before an attribute. @rows: a bit for each row that has saved the register */
static uint8_t *write_kept(const struct packer *p, uint8_t *to, uint8_t slot, uint32_t rows)
{
	if (p->attr_off) {
		to[SFRAME_KEPT_SLOT_OFF] = slot;
		write_number(to + SFRAME_KEPT_ROWS_OFF, rows, 2, p->r->arch->abi->big_endian);
	}
	return to + p->attr_off;
}

static uint8_t *write_attr(const struct packer *p, uint8_t *to, uint32_t nr_fres, uint8_t info,
			   uint8_t type, uint8_t rep_size)
{
	write_number(to + SFRAME_V3_ATTR_NUM_FRES_OFF, nr_fres, 2, p->r->arch->abi->big_endian);
	to[SFRAME_V3_ATTR_INFO_OFF] = info;
	to[SFRAME_V3_ATTR_INFO2_OFF] = type;
	to[SFRAME_V3_ATTR_REP_SIZE_OFF] = rep_size;
	return to + SFRAME_V3_ATTR_SIZE;
}

static uint8_t *write_fre(uint8_t *to, uint32_t start, unsigned int start_size, bool big_endian,
			  const uint8_t *bytes, uint8_t len)
{
	write_number(to, start, start_size, big_endian);
	memcpy(to + start_size, bytes, len);
	return to + start_size + len;
}

/* Write the pieces [piece, next) as one function. */
static int write_normal_block(struct packer *p, uint32_t piece, uint32_t next, uint32_t *off)
{
	uint32_t row = p->piece[piece].row, end = p->piece[next].row, i;
	bool signal = p->piece[piece].kind == PIECE_SIGNAL;
	const struct rows *r = p->r;
	bool big_endian = r->arch->abi->big_endian, flex = false;
	uint32_t nr = 0, saved = 0;
	const struct rows_fre *fre;
	uint8_t *to, slot = 0, type;
	struct block b;

	for (i = piece; i < next; i++)
		flex |= p->piece[i].flex;
	b = make_block(p, piece, next, flex);
	if (reserve_block(p, b.bytes))
		return -ENOMEM;
	type = b.flex ? SFRAME_FDE_TYPE_FLEX : SFRAME_FDE_TYPE_DEFAULT;
	for (i = row; i < end; i++) {
		if (r->fre[r->merged[i].rules_idx].adds)
			type = SFRAME_FDE_TYPE_FLEX_ADD;
	}
	to = write_attr(p, p->blocks + p->blocks_size + p->attr_off, b.nr_fres,
			SFRAME_FDE_INFO(b.type, false, signal), type, 0);
	for (i = row; i < end; i++) {
		if (i > row && r->merged[i].rules_idx == r->merged[i - 1].rules_idx)
			continue;
		fre = &r->fre[r->merged[i].rules_idx];
		if (fre->kept > SFRAME_KEPT_IN_REG)
			saved |= 1u << nr;
		if (slot < fre->kept)
			slot = fre->kept;
		nr++;
		to = write_fre(to, r->merged[i].start - r->merged[row].start, 1 << b.type,
			       big_endian, b.flex ? fre->flex : fre->bytes,
			       b.flex ? fre->flex_len : fre->len);
	}
	write_kept(p, p->blocks + p->blocks_size, slot, saved);
	return intern_block(p, to - (p->blocks + p->blocks_size), b.nr_fres, off);
}

static int write_plt_block(struct packer *p, uint32_t row, uint32_t *off)
{
	const struct rows_fre *fre = &p->r->fre[p->r->merged[row].rules_idx];
	bool big_endian = p->r->arch->abi->big_endian;
	uint8_t *to;

	if (reserve_block(p, 64))
		return -ENOMEM;
	to = write_kept(p, p->blocks + p->blocks_size, fre->kept, UINT16_MAX);
	to = write_attr(p, to, 2,
			SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, true, false),
			SFRAME_FDE_TYPE_DEFAULT, 16);
	to = write_fre(to, 0, 1, big_endian, fre->bytes, fre->len);
	to = write_fre(to, fre->limit, 1, big_endian, fre->flex, fre->flex_len);
	return intern_block(p, to - (p->blocks + p->blocks_size), 2, off);
}

static int write_hole_block(struct packer *p, uint32_t *off)
{
	uint32_t len = p->attr_off + SFRAME_V3_ATTR_SIZE;
	uint8_t *to;

	if (reserve_block(p, len))
		return -ENOMEM;
	to = write_kept(p, p->blocks + p->blocks_size, SFRAME_KEPT_UNKNOWN, 0);
	write_attr(p, to, 0, SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, false, true),
		   SFRAME_FDE_TYPE_DEFAULT, 0);
	return intern_block(p, len, 0, off);
}

/* Write an index entry; its start still counts from the start of the code. */
static int write_index_entry(struct packer *p, uint32_t start, uint32_t size, uint32_t off)
{
	bool big_endian = p->r->arch->abi->big_endian;
	uint8_t *to;

	if (vec_grow32(&p->index, &p->room_fdes, p->nr_fdes, SFRAME_V3_FDE_SIZE))
		return -ENOMEM;
	to = p->index + (size_t)p->nr_fdes++ * SFRAME_V3_FDE_SIZE;
	write_number(to + SFRAME_V3_FDE_START_OFF, start, 8, false);
	write_number(to + SFRAME_V3_FDE_SIZE_OFF, size, 4, big_endian);
	write_number(to + SFRAME_V3_FDE_FRE_OFF_OFF, off, 4, big_endian);
	return 0;
}

int pack_write_blocks(struct packer *p)
{
	const struct rows *r = p->r;
	uint64_t *covered = &r->stats->covered_bytes, *holes = &r->stats->hole_bytes;
	uint32_t i, next, row, end, off;
	int ret = 0;

	for (i = 0; i < p->nr_pieces && !ret; i = next) {
		next = p->cut[i].link;
		row = p->piece[i].row;
		end = p->piece[next].row;
		if (p->piece[i].kind == PIECE_NONE)
			continue;
		if (p->piece[i].kind == PIECE_HOLE)
			ret = write_hole_block(p, &off);
		else if (p->piece[i].kind == PIECE_PLT)
			ret = write_plt_block(p, row, &off);
		else
			ret = write_normal_block(p, i, next, &off);
		if (!ret)
			ret = write_index_entry(p, r->merged[row].start,
						r->merged[end].start - r->merged[row].start,
						off + p->attr_off);
		*(p->piece[i].kind == PIECE_HOLE ? holes : covered) +=
			r->merged[end].start - r->merged[row].start;
	}
	return ret;
}

int pack_write_section(struct packer *p, struct gen_table *t)
{
	const struct arch *arch = p->r->arch;
	uint64_t index_size = (uint64_t)p->nr_fdes * SFRAME_V3_FDE_SIZE, start, at;
	uint32_t fde_off = SFRAME_HDR_SIZE + (p->attr_off ? SFRAME_AUX_SIZE : 0), i;
	bool big_endian = arch->abi->big_endian;
	uint8_t *h, *fde;

	t->size = fde_off + index_size + p->blocks_size;
	if (t->size >= UINT32_MAX)
		return -EFBIG;
	h = t->data = calloc(1, t->size);
	if (!h)
		return -ENOMEM;
	write_number(h + SFRAME_HDR_MAGIC_OFF, SFRAME_MAGIC, 2, big_endian);
	h[SFRAME_HDR_VERSION_OFF] = SFRAME_VERSION_3;
	h[SFRAME_HDR_FLAGS_OFF] = SFRAME_F_SORTED | SFRAME_F_PCREL;
	h[SFRAME_HDR_ABI_OFF] = arch->abi->abi;
	h[SFRAME_HDR_FIXED_RA_OFF] = arch->abi->ra_off;
	write_number(h + SFRAME_HDR_NUM_FDES_OFF, p->nr_fdes, 4, big_endian);
	write_number(h + SFRAME_HDR_NUM_FRES_OFF, p->nr_fres, 4, big_endian);
	write_number(h + SFRAME_HDR_FRE_LEN_OFF, p->blocks_size, 4, big_endian);
	write_number(h + SFRAME_HDR_FREOFF_OFF, index_size, 4, big_endian);
	if (p->attr_off) {
		h[SFRAME_HDR_AUXHDR_LEN_OFF] = SFRAME_AUX_SIZE;
		memcpy(h + SFRAME_HDR_SIZE, SFRAME_AUX_MAGIC, SFRAME_AUX_REG_OFF);
		h[SFRAME_HDR_SIZE + SFRAME_AUX_REG_OFF] = arch->abi->reg_kept;
	}
	if (!p->nr_fdes)
		return 0;
	memcpy(h + fde_off, p->index, index_size);
	memcpy(h + fde_off + index_size, p->blocks, p->blocks_size);
	for (i = 0; i < p->nr_fdes; i++) {
		fde = h + fde_off + (size_t)i * SFRAME_V3_FDE_SIZE;
		memcpy(&start, fde + SFRAME_V3_FDE_START_OFF, sizeof(start));
		at = t->base + (fde - h);
		write_number(fde + SFRAME_V3_FDE_START_OFF, t->text_start + le64toh(start) - at, 8,
			     big_endian);
	}
	return 0;
}
