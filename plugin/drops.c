// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * drops - see drops.h. The layout is that of trace-cmd.dat.v6(5) and .v7(5).
 *
 * A file is walked by its sizes; nothing of it is kept but one statistics text
 * at a time. Every size is checked by reading what should follow it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drops.h"

#define OPTION_DONE	0
#define OPTION_CPUSTAT	2
#define SECTION_COMPRESSED	1
#define MAX_SECTIONS	256	/* of options; a chain that goes in circles ends */
#define MAX_TEXT	4096

struct file {
	int fd;
	uint64_t pos;
	bool big_endian;
	bool failed;
};

static void get(struct file *f, void *buf, size_t len)
{
	if (f->failed || f->pos > INT64_MAX - len ||
	    pread(f->fd, buf, len, f->pos) != (ssize_t)len) {
		memset(buf, 0, len);
		f->failed = true;
		return;
	}
	f->pos += len;
}

static uint64_t number(struct file *f, int size)
{
	uint8_t b[8];
	uint64_t n = 0;
	int i;

	get(f, b, size);
	for (i = 0; i < size; i++)
		n |= (uint64_t)b[f->big_endian ? size - 1 - i : i] << 8 * i;
	return n;
}

static void skip(struct file *f, uint64_t len)
{
	if (len > INT64_MAX - f->pos)
		f->failed = true;
	else
		f->pos += len;
}

static void skip_string(struct file *f)
{
	char c;

	do
		get(f, &c, 1);
	while (c && !f->failed);
}

/* @nr pieces of text, each with a size of 8 bytes before it */
static void skip_texts(struct file *f, uint64_t nr)
{
	while (nr-- && !f->failed)
		skip(f, number(f, 8));
}

static bool nonzero(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p && strtoull(p + strlen(line), NULL, 10);
}

struct state {
	int (*found)(void *data, const char *buffer);
	void *data;
	char buffer[256];	/* the statistics that follow are of this one */
};

static int statistics(struct state *s, char *text)
{
	static const char head[] = "\nBuffer: ";
	char *end;

	if (!strncmp(text, head, strlen(head))) {
		end = strchr(text + strlen(head), '\n');
		if (end)
			*end = '\0';
		snprintf(s->buffer, sizeof(s->buffer), "%.255s", text + strlen(head));
		return 0;
	}
	if (nonzero(text, "\noverrun: ") || nonzero(text, "\ndropped events: "))
		return s->found(s->data, s->buffer);
	return 0;
}

/* Options up to the last; @size is how wide that one's data is. Its data, or 0. */
static uint64_t options(struct file *f, struct state *s, bool sections, int *ret)
{
	char text[MAX_TEXT + 1];
	uint64_t id, len, next;

	while (!f->failed && !*ret) {
		id = number(f, 2);
		if (id == OPTION_DONE)
			break;
		len = number(f, 4);
		next = f->pos + len;
		if (id == OPTION_CPUSTAT && !f->failed) {
			if (len > MAX_TEXT)
				len = MAX_TEXT;
			get(f, text, len);
			text[len] = '\0';
			*ret = statistics(s, text);
		}
		f->pos = next;
	}
	if (!sections || f->failed || *ret || number(f, 4) != 8)
		return 0;
	return number(f, 8);
}

static int version_6(struct file *f, struct state *s)
{
	uint64_t nr;
	char tag[10];
	int ret = 0;

	skip_string(f);				/* header_page */
	skip_texts(f, 1);
	skip_string(f);				/* header_event */
	skip_texts(f, 1);
	skip_texts(f, number(f, 4));		/* formats of ftrace */
	for (nr = number(f, 4); nr && !f->failed; nr--) {
		skip_string(f);			/* a system and its formats */
		skip_texts(f, number(f, 4));
	}
	skip(f, number(f, 4));			/* kernel symbols */
	skip(f, number(f, 4));			/* strings of trace_printk() */
	skip_texts(f, 1);			/* names of tasks */
	skip(f, 4);				/* CPUs */
	get(f, tag, sizeof(tag));
	if (!f->failed && !memcmp(tag, "options  ", sizeof(tag)))
		options(f, s, false, &ret);
	return ret;
}

static int version_7(struct file *f, struct state *s)
{
	int ret = 0, nr;

	skip_string(f);				/* compression, its version */
	skip_string(f);
	f->pos = number(f, 8);
	for (nr = 0; nr < MAX_SECTIONS && f->pos && !f->failed && !ret; nr++) {
		if (number(f, 2) != OPTION_DONE || number(f, 2) & SECTION_COMPRESSED)
			break;
		skip(f, 4 + 8);
		f->pos = options(f, s, true, &ret);
	}
	return ret;
}

int drops_read(int fd, int (*found)(void *data, const char *buffer), void *data)
{
	struct state s = { .found = found, .data = data };
	struct file f = { .fd = fd, .pos = 10 };
	char version[2];
	int ret;

	get(&f, version, sizeof(version));
	f.big_endian = number(&f, 1) == 1;
	skip(&f, 1 + 4);			/* size of a long, of a page */
	if (version[1])
		return -EINVAL;
	if (version[0] == '6')
		ret = version_6(&f, &s);
	else if (version[0] == '7')
		ret = version_7(&f, &s);
	else
		return -EINVAL;
	return ret ? ret : f.failed ? -EINVAL : 0;
}
