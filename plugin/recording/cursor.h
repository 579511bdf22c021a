/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor.h - read the head and the sections of a trace.dat, part by part */
#ifndef USTACK_CURSOR_H
#define USTACK_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct cursor {
	int fd;
	uint64_t pos, size;		/* nothing is read or skipped after @size */
	bool big_endian;		/* byte order of numbers */
	bool failed;			/* the file was too short: all reads give zeroes */
	bool foreign;			/* set and read by callers only: another kind of file */
};

/* Are there @len more bytes? If not, sets @failed. */
static inline bool cursor_has(struct cursor *c, uint64_t len)
{
	c->failed |= c->pos > c->size || c->size - c->pos < len;
	return !c->failed;
}

static inline void cursor_read(struct cursor *c, void *buf, size_t len)
{
	if (!cursor_has(c, len) || pread(c->fd, buf, len, c->pos) != (ssize_t)len) {
		memset(buf, 0, len);
		c->failed = true;
		return;
	}
	c->pos += len;
}

static inline uint64_t cursor_read_number(struct cursor *c, int size)
{
	uint8_t b[8];
	uint64_t n = 0;
	int i;

	cursor_read(c, b, size);
	for (i = 0; i < size; i++)
		n |= (uint64_t)b[c->big_endian ? size - 1 - i : i] << 8 * i;
	return n;
}

static inline void cursor_skip(struct cursor *c, uint64_t len)
{
	if (cursor_has(c, len))
		c->pos += len;
}

static inline void cursor_skip_string(struct cursor *c)
{
	char byte;

	do
		cursor_read(c, &byte, 1);
	while (byte);
}

/* Skip @nr pieces of text, each with a size of 8 bytes before it. */
static inline void cursor_skip_texts(struct cursor *c, uint64_t nr)
{
	while (nr-- && !c->failed)
		cursor_skip(c, cursor_read_number(c, 8));
}

#endif
