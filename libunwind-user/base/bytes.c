// SPDX-License-Identifier: LGPL-2.1-or-later
/* bytes.c - numbers and strings of a byte sequence */
#include <string.h>

#include "bytes.h"

uint64_t bytes_read_long_uleb(struct byte_cursor *b)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		if (b->p == b->end)
			return bytes_fail(b);
		byte = *b->p++;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if ((shift == 63 && (byte & 0x7e)) || (shift > 63 && (byte & 0x7f)))
			return bytes_fail(b);
		shift += 7;
	} while (byte & 0x80);
	return v;
}

int64_t bytes_read_sleb(struct byte_cursor *b)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		if (b->p == b->end)
			return bytes_fail(b);
		byte = *b->p++;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (shift > 70)
			return bytes_fail(b);
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~0ULL << shift;
	return v;
}

const char *bytes_read_string(struct byte_cursor *b)
{
	const char *s = (const char *)b->p;
	const uint8_t *end = b->p == b->end ? NULL : memchr(b->p, 0, bytes_count_left(b));

	if (!end) {
		bytes_fail(b);
		return NULL;
	}
	b->p = end + 1;
	return s;
}

void bytes_skip(struct byte_cursor *b, uint64_t size)
{
	if (size > bytes_count_left(b))
		bytes_fail(b);
	else
		b->p += size;
}

struct byte_cursor bytes_take(struct byte_cursor *b, uint64_t size)
{
	struct byte_cursor part = *b;

	bytes_skip(b, size);
	if (b->bad)
		part = *b;
	else
		part.end = b->p;
	return part;
}
