/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sframe_build.h - writes SFrame sections by hand, of any version and byte order
 *
 * The builder checks nothing: most tests want a wrong section.
 *
 *	build_init(&b, SFRAME_VERSION_3, SFRAME_ABI_AMD64);
 *	build_func(&b, 0x1000, 0x40, SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, 0, 0), 0, 0);
 *	build_row(&b, 0, SFRAME_FRE_INFO(1, 1, 0, 0), 8);
 *	build_end(&b);			b.sec, b.size
 */
#ifndef SFRAME_BUILD_H
#define SFRAME_BUILD_H

#include "tests/unit/unit.h"
#include "libunwind-user/sframe/sframe.h"

#define BUILD_BASE	0x40000000ull	/* where the section is deemed to be */
#define BUILD_MAX	(1 << 20)

struct build {
	u8	version, abi, flags, auxhdr_len;
	s8	ra_off;
	bool	big;
	/* an auxiliary header that names this register, and three bytes before each attribute */
	u8	kept_reg, kept_slot;
	u16	kept_rows;
	/* functions: start is an address */
	struct {
		u64 start;
		u32 size, fre_off, nr_fres;
		u8 info, info2, rep_size;
	} funcs[4096];
	u32	nr_funcs, nr_rows;
	u8	*rows;
	u32	rows_len;
	u8	*sec;
	u32	size, fde_off, fre_off;
};

static inline void build_init(struct build *b, u8 version, u8 abi)
{
	memset(b, 0, sizeof(*b));
	b->version = version;
	b->abi = abi;
	b->big = abi == SFRAME_ABI_S390X;
	b->ra_off = abi == SFRAME_ABI_AMD64 ? -8 : 0;
	b->flags = SFRAME_F_SORTED | (version == SFRAME_VERSION_3 ? SFRAME_F_PCREL : 0);
	b->rows = malloc(BUILD_MAX);
}

static inline void build_free(struct build *b)
{
	free(b->rows);
	free(b->sec);
	memset(b, 0, sizeof(*b));
}

static inline void build_put(const struct build *b, u8 *p, u64 v, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++)
		p[b->big ? size - 1 - i : i] = i < 8 ? v >> (8 * i) : 0;
}

static inline void build_rows_put(struct build *b, u64 v, u32 size)
{
	build_put(b, b->rows + b->rows_len, v, size);
	b->rows_len += size;
}

/* Start a function. @start is an address. */
static inline void build_func(struct build *b, u64 start, u32 size, u8 info, u8 info2, u8 rep)
{
	u32 i = b->nr_funcs++;

	b->funcs[i].start = start;
	b->funcs[i].size = size;
	b->funcs[i].info = info;
	b->funcs[i].info2 = info2;
	b->funcs[i].rep_size = rep;
	if (b->kept_reg) {
		build_rows_put(b, b->kept_slot, 1);
		build_rows_put(b, b->kept_rows, 2);
	}
	b->funcs[i].fre_off = b->rows_len;
	if (b->version == SFRAME_VERSION_3) {
		build_rows_put(b, 0, 2);
		build_rows_put(b, info, 1);
		build_rows_put(b, info2, 1);
		build_rows_put(b, rep, 1);
	}
}

/* Add a row to the last function; @info says how many words, and how wide. */
static inline void build_row_words(struct build *b, u32 start, u8 info, const s32 *words)
{
	u32 i = b->nr_funcs - 1, n;

	build_rows_put(b, start, 1 << SFRAME_FDE_FRE_TYPE(b->funcs[i].info));
	build_rows_put(b, info, 1);
	for (n = 0; n < SFRAME_FRE_COUNT(info); n++)
		build_rows_put(b, words[n], 1 << SFRAME_FRE_WORD_SHIFT(info));
	b->funcs[i].nr_fres++;
	b->nr_rows++;
	if (b->version == SFRAME_VERSION_3)
		build_put(b, b->rows + b->funcs[i].fre_off, b->funcs[i].nr_fres, 2);
}

#define build_row(b, start, info, ...) \
	build_row_words(b, start, info, (const s32[16]) { __VA_ARGS__ })

static inline u32 build_fde(const struct build *b, u32 i)
{
	return b->fde_off + i * (b->version == 1 ? SFRAME_V1_FDE_SIZE : b->version == 2 ?
				 SFRAME_V2_FDE_SIZE : SFRAME_V3_FDE_SIZE);
}

/* Write the section into memory of exactly its size, so that the sanitizer sees a read past it. */
static inline void build_end(struct build *b)
{
	u32 hdr = SFRAME_HDR_SIZE + b->auxhdr_len, fde_size, i;
	u64 start;
	u8 *p;

	b->fde_off = hdr;
	fde_size = build_fde(b, 1) - hdr;
	b->fre_off = hdr + b->nr_funcs * fde_size;
	b->size = b->fre_off + b->rows_len;
	free(b->sec);
	b->sec = calloc(1, b->size);
	p = b->sec;
	build_put(b, p + SFRAME_HDR_MAGIC_OFF, SFRAME_MAGIC, 2);
	p[SFRAME_HDR_VERSION_OFF] = b->version;
	p[SFRAME_HDR_FLAGS_OFF] = b->flags;
	p[SFRAME_HDR_ABI_OFF] = b->abi;
	p[SFRAME_HDR_FIXED_RA_OFF] = b->ra_off;
	p[SFRAME_HDR_AUXHDR_LEN_OFF] = b->auxhdr_len;
	if (b->auxhdr_len >= SFRAME_AUX_SIZE && b->kept_reg) {
		memcpy(p + SFRAME_HDR_SIZE, SFRAME_AUX_MAGIC, SFRAME_AUX_REG_OFF);
		p[SFRAME_HDR_SIZE + SFRAME_AUX_REG_OFF] = b->kept_reg;
	}
	build_put(b, p + SFRAME_HDR_NUM_FDES_OFF, b->nr_funcs, 4);
	build_put(b, p + SFRAME_HDR_NUM_FRES_OFF, b->nr_rows, 4);
	build_put(b, p + SFRAME_HDR_FRE_LEN_OFF, b->rows_len, 4);
	build_put(b, p + SFRAME_HDR_FREOFF_OFF, b->fre_off - hdr, 4);
	for (i = 0; i < b->nr_funcs; i++) {
		p = b->sec + build_fde(b, i);
		start = b->funcs[i].start - BUILD_BASE;
		if (b->flags & SFRAME_F_PCREL)
			start -= build_fde(b, i);
		if (b->version == SFRAME_VERSION_3) {
			build_put(b, p + SFRAME_V3_FDE_START_OFF, start, 8);
			build_put(b, p + SFRAME_V3_FDE_SIZE_OFF, b->funcs[i].size, 4);
			build_put(b, p + SFRAME_V3_FDE_FRE_OFF_OFF, b->funcs[i].fre_off, 4);
			continue;
		}
		build_put(b, p + SFRAME_FDE_START_OFF, start, 4);
		build_put(b, p + SFRAME_FDE_SIZE_OFF, b->funcs[i].size, 4);
		build_put(b, p + SFRAME_FDE_FRE_OFF_OFF, b->funcs[i].fre_off, 4);
		build_put(b, p + SFRAME_FDE_NUM_FRES_OFF, b->funcs[i].nr_fres, 4);
		p[SFRAME_FDE_INFO_OFF] = b->funcs[i].info;
		if (b->version == SFRAME_VERSION_2)
			p[SFRAME_FDE_REP_SIZE_OFF] = b->funcs[i].rep_size;
	}
	if (b->rows_len)
		memcpy(b->sec + b->fre_off, b->rows, b->rows_len);
}

/* The table as a caller describes it: everything below the section is text. */
static inline struct sframe_table build_table(const struct build *b)
{
	return (struct sframe_table) {
		.mem = b->sec, .size = b->size, .base = BUILD_BASE,
		.text_start = 0, .text_size = BUILD_BASE,
	};
}

/* A source that is called. It lies at an odd address, and a counter says when it fails. */
#define BUILD_READ_ADDR	0x7770000003ull

struct build_reader {
	const struct build *b;
	u32 calls, bytes;
	u32 fail_at;		/* this call fails, 0 for none */
};

static inline int build_read(void *ctx, u64 addr, void *to, u32 size)
{
	struct build_reader *r = ctx;

	r->calls++;
	r->bytes += size;
	if (r->calls == r->fail_at)
		return -EFAULT;
	assert_in_range(size, 1, SFRAME_READ_MAX);
	assert_true(addr >= BUILD_READ_ADDR && addr + size <= BUILD_READ_ADDR + r->b->size);
	memcpy(to, r->b->sec + (addr - BUILD_READ_ADDR), size);
	return 0;
}

static inline struct sframe_table build_read_table(struct build_reader *r)
{
	struct sframe_table t = build_table(r->b);

	t.mem = NULL;
	t.read = build_read;
	t.ctx = r;
	t.addr = BUILD_READ_ADDR;
	return t;
}

#endif
