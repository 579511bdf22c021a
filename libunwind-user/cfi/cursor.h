/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor.h - reads the bytes of .eh_frame one after the other */
#ifndef CFI_CURSOR_H
#define CFI_CURSOR_H

#include "cfi.h"

/*
 * Bytes still to be read. A read past the end sets @bad, returns 0 and reads no more, so that it is
 * enough to look at @bad once, after a group of reads.
 */
struct cfi_cursor {
	const uint8_t *p, *end;
	bool big_endian, bad;
};

static inline size_t cfi_bytes_left(const struct cfi_cursor *c)
{
	return c->end - c->p;
}

static inline uint64_t cfi_fail(struct cfi_cursor *c)
{
	c->bad = true;
	c->p = c->end;
	return 0;
}

static inline uint64_t cfi_read_uint(struct cfi_cursor *c, unsigned int size)
{
	uint64_t v = 0;
	unsigned int i;

	if (cfi_bytes_left(c) < size)
		return cfi_fail(c);
	if (c->big_endian) {
		for (i = 0; i < size; i++)
			v = v << 8 | c->p[i];
	} else {
		for (i = size; i--; )
			v = v << 8 | c->p[i];
	}
	c->p += size;
	return v;
}

static inline uint8_t cfi_read_u8(struct cfi_cursor *c)
{
	if (c->p == c->end)
		return cfi_fail(c);
	return *c->p++;
}

uint64_t cfi_read_uleb_slow(struct cfi_cursor *c);
int64_t cfi_read_sleb(struct cfi_cursor *c);

static inline uint64_t cfi_read_uleb(struct cfi_cursor *c)
{
	if (c->p != c->end && *c->p < 0x80)
		return *c->p++;
	return cfi_read_uleb_slow(c);
}

/* Take @size bytes as a cursor of their own. */
struct cfi_cursor cfi_take_bytes(struct cfi_cursor *c, uint64_t size);

/* Read the bytes of a pointer, without adding its base. False if @format is not known. */
bool cfi_read_pointer_bytes(struct cfi_cursor *c, uint8_t format, uint8_t addr_size,
			    uint64_t *value);

/* Read an encoded pc. False if its encoding is unknown, or needs a base that @sec lacks. */
bool cfi_read_pointer(const struct cfi_section *sec, struct cfi_cursor *c, uint8_t enc,
		      uint64_t *value);

#endif
