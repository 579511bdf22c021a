/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bytes.h - put parts of a file together in memory, in a struct text
 *
 * Numbers are in the byte order of the machine.
 */
#ifndef TRACE_USTACK_BYTES_H
#define TRACE_USTACK_BYTES_H

#include <stdint.h>
#include <string.h>

#include "plugin/recording/recording.h"
#include "libunwind-user/base/base.h"

/* The first bytes of the file, with their terminator */
#define DAT_MAGIC	TRACE_DAT_MAGIC "6"

static inline void add2(struct text *b, uint16_t n)
{
	text_add_bytes(b, (const char *)&n, sizeof(n));
}

static inline void add4(struct text *b, uint32_t n)
{
	text_add_bytes(b, (const char *)&n, sizeof(n));
}

static inline void add8(struct text *b, uint64_t n)
{
	text_add_bytes(b, (const char *)&n, sizeof(n));
}

static inline void add_string(struct text *b, const char *s)
{
	text_add_bytes(b, s, strlen(s) + 1);
}

#endif
