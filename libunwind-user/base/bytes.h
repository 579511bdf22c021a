/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bytes.h - reads the numbers and strings of a byte sequence one after the other */
#ifndef UU_BYTES_H
#define UU_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes still to be read. A read past the end sets @bad, returns 0 and reads no more, so that it is
 * enough to look at @bad once, after a group of reads.
 */
struct byte_cursor {
	const uint8_t *p, *end;
	bool big_endian, bad;
};

static inline size_t bytes_count_left(const struct byte_cursor *b)
{
	return b->end - b->p;
}

static inline uint64_t bytes_fail(struct byte_cursor *b)
{
	b->bad = true;
	b->p = b->end;
	return 0;
}

/* @size: 0 to 8 */
static inline uint64_t bytes_read_uint(struct byte_cursor *b, unsigned int size)
{
	uint64_t v = 0;
	unsigned int i;

	if (bytes_count_left(b) < size)
		return bytes_fail(b);
	if (b->big_endian) {
		for (i = 0; i < size; i++)
			v = v << 8 | b->p[i];
	} else {
		for (i = size; i--; )
			v = v << 8 | b->p[i];
	}
	b->p += size;
	return v;
}

static inline uint8_t bytes_read_u8(struct byte_cursor *b)
{
	if (b->p == b->end)
		return bytes_fail(b);
	return *b->p++;
}

uint64_t bytes_read_long_uleb(struct byte_cursor *b);

/* LEB128: DWARF 5, 7.6. Most numbers are one byte. A number of more than 64 bits is bad. */
static inline uint64_t bytes_read_uleb(struct byte_cursor *b)
{
	if (b->p != b->end && *b->p < 0x80)
		return *b->p++;
	return bytes_read_long_uleb(b);
}

int64_t bytes_read_sleb(struct byte_cursor *b);

/* Returns NULL if no 0 ends the string. It is valid as long as the bytes are. */
const char *bytes_read_string(struct byte_cursor *b);

void bytes_skip(struct byte_cursor *b, uint64_t size);

/* Take @size bytes as a sequence of their own. */
struct byte_cursor bytes_take(struct byte_cursor *b, uint64_t size);

#endif
