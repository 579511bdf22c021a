/* SPDX-License-Identifier: GPL-2.0 */
/* cfi_build.h - writes .eh_frame sections byte by byte, for unit tests */
#ifndef CFI_BUILD_H
#define CFI_BUILD_H

#include <dwarf.h>

#include "tests/unit/unit.h"
#include "libunwind-user/cfi/cfi.h"

struct eh {
	uint8_t b[65536];
	size_t n;
	uint64_t vaddr;
	bool big_endian, is_64;
	unsigned int id_size;		/* 4, or 8 with is_64 */
	unsigned int code_align, ra;	/* of the next CIE */
	int data_align;
	size_t cie, start, length_at;	/* of the entry being written, and the last CIE */
};

static inline void eh_init(struct eh *e)
{
	memset(e, 0, sizeof(*e));
	e->vaddr = 0x10000;
	e->id_size = 4;
	e->code_align = 1;
	e->data_align = -8;
	e->ra = 16;
}

static inline void eh_set(struct eh *e, size_t at, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		e->b[at + (e->big_endian ? size - 1 - i : i)] = v >> 8 * i;
}

static inline void eh_uint(struct eh *e, uint64_t v, unsigned int size)
{
	eh_set(e, e->n, v, size);
	e->n += size;
}

static inline void eh_bytes(struct eh *e, const void *p, size_t len)
{
	memcpy(e->b + e->n, p, len);
	e->n += len;
}

static inline void eh_uleb(struct eh *e, uint64_t v)
{
	do {
		e->b[e->n++] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		v >>= 7;
	} while (v);
}

static inline void eh_length(struct eh *e)
{
	e->start = e->n;
	if (e->is_64)
		eh_uint(e, 0xffffffff, 4);
	e->length_at = e->n;
	eh_uint(e, 0, e->is_64 ? 8 : 4);
}

/* Close an entry. */
static inline void eh_end(struct eh *e)
{
	unsigned int size = e->is_64 ? 8 : 4;

	eh_set(e, e->length_at, e->n - e->length_at - size, size);
}

/* A CIE up to its instructions; @data is the augmentation data */
static inline void eh_cie_raw(struct eh *e, uint8_t version, const char *augmentation,
			      const void *data, size_t len)
{
	eh_length(e);
	e->cie = e->start;
	eh_uint(e, 0, e->id_size);
	eh_uint(e, version, 1);
	eh_bytes(e, augmentation, strlen(augmentation) + 1);
	if (!strcmp(augmentation, "eh"))
		eh_uint(e, 0x1122334455667788, 8);
	if (version == 4)
		eh_uint(e, 0x0008, 2);
	eh_uleb(e, e->code_align);
	eh_uint(e, e->data_align & 0x7f, 1);
	eh_uleb(e, e->ra);
	if (*augmentation == 'z') {
		eh_uleb(e, len);
		eh_bytes(e, data, len);
	}
}

/* The one that compilers write: CFA = rsp + 8, RA at CFA - 8 */
static const uint8_t usual[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };

static inline void eh_cie(struct eh *e, uint8_t enc)
{
	eh_cie_raw(e, 1, "zR", &enc, 1);
	eh_bytes(e, usual, sizeof(usual));
	eh_end(e);
}

/* An FDE up to its pcs */
static inline void eh_fde_raw(struct eh *e)
{
	eh_length(e);
	eh_uint(e, e->n - e->cie, e->id_size);
}

/* An FDE of the usual CIE, sdata4 | pcrel, up to its instructions */
static inline void eh_fde(struct eh *e, uint64_t start, uint32_t size)
{
	eh_fde_raw(e);
	eh_uint(e, start - (e->vaddr + e->n), 4);
	eh_uint(e, size, 4);
	eh_uleb(e, 0);
}

#define eh_ops(e, ...) do {						\
	const uint8_t ops_[] = { __VA_ARGS__ };				\
									\
	eh_bytes(e, ops_, sizeof(ops_));				\
} while (0)

/* The FDE of a function with these operations */
static inline void eh_func(struct eh *e, uint64_t start, uint32_t size, const void *ops,
			   size_t len)
{
	eh_fde(e, start, size);
	eh_bytes(e, ops, len);
	eh_end(e);
}

#define EH_FUNC(e, start, size, ...) do {				\
	const uint8_t o_[] = { __VA_ARGS__ };				\
									\
	eh_func(e, start, size, o_, sizeof(o_));			\
} while (0)

#endif
