// SPDX-License-Identifier: GPL-2.0
/*
 * python_names.c - what a Python function is called in the recording, and in which line it is
 *
 * The line table is that of Python 3.11 and later: Objects/locations.md (3.11: locations.md in
 * CPython's tree, later InternalDocs/code_objects.md). Each entry starts with a byte of which the
 * highest bit is set: a code in bits 3 to 6, and the number of instructions minus one below. Other
 * bytes have this bit clear.
 */
#include <errno.h>
#include <string.h>

#include "messages.h"
#include "libunwind-user/base/base.h"

#define UNIT		2		/* bytes of an instruction */

/* Codes of entries. Smaller codes have no change of the line, and one byte more */
#define CODE_ONE_LINE0	10		/* 10 to 12: the line changes by 0 to 2; two bytes more */
#define CODE_NO_COLUMNS	13		/* the change of the line */
#define CODE_LONG	14		/* the change of the line, and three numbers more */
#define CODE_NONE	15		/* no line */

struct table {
	const unsigned char *at, *end;
};

/* Six bits a byte, from the lowest; bit 6 of a byte says that another one follows */
static bool read_number(struct table *t, uint64_t *value)
{
	unsigned int shift;

	*value = 0;
	for (shift = 0; t->at < t->end && shift < 60; shift += 6) {
		*value |= (uint64_t)(*t->at & 63) << shift;
		if (!(*t->at++ & 64))
			return true;
	}
	return false;
}

/* A sign in the lowest bit */
static bool read_signed(struct table *t, int64_t *value)
{
	uint64_t v;

	if (!read_number(t, &v))
		return false;
	*value = v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
	return true;
}

/* The line of the instruction; 0: it has none, or the table is not sound. */
static uint32_t find_line(const unsigned char *table, uint32_t size, uint32_t first, uint32_t instr)
{
	struct table t = { table, table + size };
	uint64_t end = 0, ignored;
	int64_t line = first, delta;
	unsigned int code, i;

	while (t.at < t.end && *t.at & 128) {
		code = *t.at >> 3 & 15;
		end += ((*t.at++ & 7) + 1) * UNIT;
		delta = 0;
		if (code >= CODE_ONE_LINE0 && code < CODE_NO_COLUMNS)
			delta = code - CODE_ONE_LINE0;
		else if ((code == CODE_NO_COLUMNS || code == CODE_LONG) && !read_signed(&t, &delta))
			return 0;
		line += delta;
		if (line < 0 || line > INT32_MAX)
			return 0;
		if (instr < end)
			return code == CODE_NONE ? 0 : line;
		if (code < CODE_NO_COLUMNS)
			t.at += code < CODE_ONE_LINE0 ? 1 : 2;
		for (i = 0; code == CODE_LONG && i < 3; i++)
			if (!read_number(&t, &ignored))
				return 0;
	}
	return 0;
}

static void add_utf8(struct text *t, uint32_t c)
{
	char s[4];

	if (c < 0x80) {
		s[0] = c;
		text_add_bytes(t, s, 1);
	} else if (c < 0x800) {
		s[0] = 0xc0 | c >> 6;
		s[1] = 0x80 | (c & 63);
		text_add_bytes(t, s, 2);
	} else if (c < 0x10000) {
		s[0] = 0xe0 | c >> 12;
		s[1] = 0x80 | (c >> 6 & 63);
		s[2] = 0x80 | (c & 63);
		text_add_bytes(t, s, 3);
	} else {
		s[0] = 0xf0 | (c >> 18 & 7);
		s[1] = 0x80 | (c >> 12 & 63);
		s[2] = 0x80 | (c >> 6 & 63);
		s[3] = 0x80 | (c & 63);
		text_add_bytes(t, s, 4);
	}
}

/* Python writes bytes of a path outside of UTF-8 as U+DC80 to U+DCFF: they are bytes again. */
static void add_text(struct text *t, const unsigned char *s, const struct msg_text *head,
		     uint32_t max)
{
	uint32_t i, size = head->size < max ? head->size : max, c;
	uint16_t half;

	for (i = 0; i + head->kind <= size; i += head->kind) {
		if (head->kind == 1) {
			c = s[i];
		} else if (head->kind == 2) {
			memcpy(&half, s + i, sizeof(half));
			c = half;
		} else {
			memcpy(&c, s + i, sizeof(c));
		}
		if (c >= 0xdc80 && c <= 0xdcff)
			text_add_bytes(t, (const char[]){ c & 0xff }, 1);
		else if (c)
			add_utf8(t, c);
	}
	if (head->size > max)
		text_add(t, "...");
}

uint32_t python_describe(const struct msg_python *m, struct text *path)
{
	const unsigned char *name = (const void *)(m + 1), *file = name + MSG_MAX_NAME;

	add_text(path, name, &m->name, MSG_MAX_NAME);
	text_add(path, " (");
	add_text(path, file, &m->file, MSG_MAX_FILE);
	text_add(path, ")");
	return find_line(file + MSG_MAX_FILE, m->table, m->line, m->instr);
}
