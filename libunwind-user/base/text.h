/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * text.h - a string that grows
 *
 * When memory runs out, the text that does not fit is left out, @failed is set, and all later text
 * is left out too. The caller checks @failed before it prints the text.
 */
#ifndef UU_TEXT_H
#define UU_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "vec.h"

struct text {
	char *v;		/* terminated once anything was added */
	size_t nr, room;
	bool failed;
};

static inline void text_add_bytes(struct text *t, const char *s, size_t len)
{
	if (t->failed || vec_reserve(t, len + 1)) {
		t->failed = true;
		return;
	}
	if (len)		/* memcpy() must not get NULL, even for 0 bytes */
		memcpy(t->v + t->nr, s, len);
	t->nr += len;
	t->v[t->nr] = '\0';
}

static inline void text_add(struct text *t, const char *s)
{
	text_add_bytes(t, s, strlen(s));
}

static inline void __attribute__((format(printf, 2, 3)))
text_addf(struct text *t, const char *fmt, ...)
{
	char buf[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n < 0) {
		t->failed = true;
	} else if ((size_t)n < sizeof(buf)) {
		text_add_bytes(t, buf, n);
	} else if (t->failed || vec_reserve(t, (size_t)n + 1)) {
		t->failed = true;
	} else {
		va_start(ap, fmt);
		t->nr += vsnprintf(t->v + t->nr, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
}

/* Append a name out of a file, with control characters as \ooo: a terminal would obey them. */
static inline void text_add_escaped(struct text *t, const char *s, size_t len)
{
	size_t i, from = 0;

	for (i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (c >= ' ' && c != 0x7f)
			continue;
		text_add_bytes(t, s + from, i - from);
		text_addf(t, "\\%03o", c);
		from = i + 1;
	}
	if (from < len)
		text_add_bytes(t, s + from, len - from);
}

/* The last part of a path */
static inline const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static inline void text_clear(struct text *t)
{
	t->nr = 0;
	t->failed = false;
	text_add_bytes(t, "", 0);
}

#endif
