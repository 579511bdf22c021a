/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rec_bytes - parts of a file, put together in memory
 *
 * Numbers are in the byte order of the machine. Without memory what is added is left out, and
 * @failed says so at the end.
 */
#ifndef TRACE_USTACK_REC_BYTES_H
#define TRACE_USTACK_REC_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Options of a trace.dat, as the format numbers them */
enum {
	OPTION_DONE, OPTION_DATE, OPTION_CPUSTAT, OPTION_BUFFER, OPTION_TRACECLOCK, OPTION_UNAME,
	OPTION_HOOK, OPTION_OFFSET, OPTION_CPUCOUNT, OPTION_VERSION, OPTION_PROCMAPS,
	OPTION_TRACEID,
};

struct bytes {
	char *s;			/* free() it */
	size_t len, room;
	bool failed;			/* no memory */
};

static inline void add(struct bytes *b, const void *data, size_t len)
{
	size_t room = b->room ? b->room : 4096;
	char *bigger;

	while (room - b->len < len)
		room *= 2;
	if (room != b->room) {
		bigger = realloc(b->s, room);
		if (!bigger) {
			b->failed = true;
			return;
		}
		b->s = bigger;
		b->room = room;
	}
	memcpy(b->s + b->len, data, len);
	b->len += len;
}

static inline void add2(struct bytes *b, uint16_t n)
{
	add(b, &n, sizeof(n));
}

static inline void add4(struct bytes *b, uint32_t n)
{
	add(b, &n, sizeof(n));
}

static inline void add8(struct bytes *b, uint64_t n)
{
	add(b, &n, sizeof(n));
}

static inline void add_string(struct bytes *b, const char *s)
{
	add(b, s, strlen(s) + 1);
}

#endif
