// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sections.c - walk the sections of a trace.dat. See sections.h; trace-cmd.dat.v6(5) and .v7(5)
 * describe the layout.
 *
 * The walk follows the sizes in the file, and keeps only one statistics text at a time. A wrong
 * size shows when the walk reads what should follow it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "sections.h"
#include "libunwind-user/base/base.h"

#define SECTION_COMPRESSED	1
#define MAX_SECTIONS	256	/* of options, so that a circular chain ends */
#define MAX_TEXT	4096

/* Does a line of @text start with @line, and go on with a number that is not 0? */
static bool is_nonzero(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p && strtoull(p + strlen(line), NULL, 10);
}

#define MAX_NAME	256

/* A buffer of a version 6 file, which has its own place for the data. */
struct buffer {
	uint64_t offset;
	char name[MAX_NAME];
};

struct walk {
	const struct sections_sink *sink;
	char buffer[MAX_NAME];	/* the name of the buffer of the statistics that follow */
	uint32_t cpus;
	bool clock;		/* version 6: the clock's name may follow the data */
	bool tsc;		/* time stamps are converted to nanoseconds */
	struct buffer *buffers;
	size_t nr_buffers;
};

static int read_statistics(struct walk *s, char *text)
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
	if (is_nonzero(text, "\noverrun: ") || is_nonzero(text, "\ndropped events: "))
		return s->sink->dropped ? s->sink->dropped(s->sink->data, s->buffer) : 0;
	return 0;
}

static void read_string(struct cursor *c, char *buf, size_t room)
{
	size_t n = 0;
	char byte;

	do {
		cursor_read(c, &byte, 1);
		if (n < room)
			buf[n++] = byte;
	} while (byte && !c->failed);
	buf[n < room ? n : room - 1] = '\0';
}

/* @text lists all clocks, with the chosen one in brackets: "[local] global counter". */
static int read_clock(struct walk *s, const char *buffer, char *text)
{
	char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;

	if (!s->sink->clock || !to)
		return 0;
	*to = '\0';
	return s->sink->clock(s->sink->data, buffer, from + 1);
}

static int add_buffer(struct walk *s, uint64_t offset, const char *name)
{
	struct buffer *new = array_add(s->buffers, s->nr_buffers);

	if (!new)
		return -ENOMEM;
	new->offset = offset;
	snprintf(new->name, MAX_NAME, "%s", name);
	return 0;
}

/* Read OPTION_BUFFER: in version 7 all about the buffer, in version 6 where its data is. */
static int read_buffer(struct cursor *c, struct walk *s, bool version_7)
{
	const struct sections_sink *sink = s->sink;
	char name[MAX_NAME], clock[MAX_NAME];
	uint64_t at = cursor_read_number(c, 8), offset, size;
	struct cursor section = *c;
	uint32_t nr, cpu, page_size;
	bool compressed;
	int ret = 0;

	read_string(c, name, sizeof(name));
	if (!version_7)
		return c->failed || s->nr_buffers >= MAX_SECTIONS ? 0 : add_buffer(s, at, name);
	read_string(c, clock, sizeof(clock));
	page_size = cursor_read_number(c, 4);
	section.pos = at;
	cursor_skip(&section, 2);
	compressed = cursor_read_number(&section, 2) & SECTION_COMPRESSED;
	if (!c->failed && sink->clock)
		ret = strchr(clock, '[') ? read_clock(s, name, clock) :
					   sink->clock(sink->data, name, clock);
	for (nr = cursor_read_number(c, 4); nr && !c->failed && !ret; nr--) {
		cpu = cursor_read_number(c, 4);
		offset = cursor_read_number(c, 8);
		size = cursor_read_number(c, 8);
		if (!c->failed && !section.failed && sink->pages)
			ret = sink->pages(sink->data, name, cpu, offset, size, page_size,
					  compressed);
	}
	return ret;
}

/* Read all options. Returns the place of the next options, or 0; only version 7 has one. */
static uint64_t read_options(struct cursor *c, struct walk *s, bool version_7, int *ret)
{
	char text[MAX_TEXT + 1];
	uint64_t id, len, next;

	while (!c->failed && !*ret) {
		id = cursor_read_number(c, 2);
		if (id == OPTION_DONE)
			break;
		len = cursor_read_number(c, 4);
		next = c->pos + len;
		if (id == OPTION_CPUSTAT && !c->failed) {
			if (len > MAX_TEXT)
				len = MAX_TEXT;
			cursor_read(c, text, len);
			text[len] = '\0';
			*ret = read_statistics(s, text);
		} else if (id == OPTION_BUFFER && !c->failed) {
			*ret = read_buffer(c, s, version_7);
		} else if (id == OPTION_TRACECLOCK && !c->failed) {
			/* version 6: trace-cmd writes it after the data, trace-ustack here */
			s->clock = true;
			if (len > MAX_TEXT)
				len = 0;
			cursor_read(c, text, len);
			text[len] = '\0';
			*ret = read_clock(s, "", text);
		} else if (id == OPTION_TSC2NSEC) {
			s->tsc = true;
		} else if (id == OPTION_CPUCOUNT && len == 4) {
			s->cpus = cursor_read_number(c, 4);
		}
		c->pos = next;
	}
	if (!version_7 || c->failed || *ret || cursor_read_number(c, 4) != 8)
		return 0;
	return cursor_read_number(c, 8);
}

/* Read the options and the table of each CPU's pages. */
static int read_data_6(struct cursor *c, struct walk *s, const char *buffer)
{
	const struct sections_sink *sink = s->sink;
	uint64_t offset, size;
	char tag[10], text[MAX_TEXT + 1];
	uint32_t cpu;
	int ret = 0;

	cursor_read(c, tag, sizeof(tag));
	if (!c->failed && !memcmp(tag, "options  ", sizeof(tag))) {
		read_options(c, s, false, &ret);
		cursor_read(c, tag, sizeof(tag));
	}
	if (ret || c->failed || memcmp(tag, "flyrecord", sizeof(tag)) ||
	    (!sink->pages && !sink->clock))
		return ret;
	for (cpu = 0; cpu < s->cpus && !c->failed && !ret; cpu++) {
		offset = cursor_read_number(c, 8);
		size = cursor_read_number(c, 8);
		if (!c->failed && sink->pages)
			ret = sink->pages(sink->data, buffer, cpu, offset, size, 0, false);
	}
	if (s->clock && !ret && !c->failed) {
		size = cursor_read_number(c, 8);
		if (size > MAX_TEXT)
			return 0;
		cursor_read(c, text, size);
		text[size] = '\0';
		if (!c->failed)
			ret = read_clock(s, buffer, text);
	}
	return ret;
}

static int walk_version_6(struct cursor *c, struct walk *s)
{
	struct cursor part;
	uint64_t nr;
	size_t i;
	int ret;

	cursor_skip_string(c);				/* header_page */
	cursor_skip_texts(c, 1);
	cursor_skip_string(c);				/* header_event */
	cursor_skip_texts(c, 1);
	cursor_skip_texts(c, cursor_read_number(c, 4));	/* formats of ftrace */
	for (nr = cursor_read_number(c, 4); nr && !c->failed; nr--) {
		cursor_skip_string(c);			/* a system and its formats */
		cursor_skip_texts(c, cursor_read_number(c, 4));
	}
	cursor_skip(c, cursor_read_number(c, 4));	/* kernel symbols */
	cursor_skip(c, cursor_read_number(c, 4));	/* strings of trace_printk() */
	cursor_skip_texts(c, 1);			/* names of tasks */
	s->cpus = cursor_read_number(c, 4);
	if (c->failed)
		return 0;
	ret = read_data_6(c, s, "");
	for (i = 0; i < s->nr_buffers && !ret && (s->sink->pages || s->sink->clock); i++) {
		part = *c;
		part.failed = false;
		part.pos = s->buffers[i].offset;
		ret = read_data_6(&part, s, s->buffers[i].name);
	}
	return ret;
}

static int walk_version_7(struct cursor *c, struct walk *s)
{
	int ret = 0, nr;

	cursor_skip_string(c);				/* compression, its version */
	cursor_skip_string(c);
	c->pos = cursor_read_number(c, 8);
	for (nr = 0; nr < MAX_SECTIONS && c->pos && !c->failed && !ret; nr++) {
		if (cursor_read_number(c, 2) != OPTION_DONE ||
		    cursor_read_number(c, 2) & SECTION_COMPRESSED)
			break;
		cursor_skip(c, 4 + 8);
		c->pos = read_options(c, s, true, &ret);
	}
	return ret;
}

bool sections_is_slow_clock(const char *clock)
{
	/* counter counts events, uptime counts jiffies */
	return !strcmp(clock, "counter") || !strcmp(clock, "uptime");
}

int sections_walk(int fd, const struct sections_sink *sink)
{
	struct walk s = { .sink = sink };
	struct cursor c = { .fd = fd, .pos = TRACE_DAT_MAGIC_LEN, .size = INT64_MAX };
	char version[2];
	int ret;

	cursor_read(&c, version, sizeof(version));
	c.big_endian = cursor_read_number(&c, 1) == 1;
	cursor_skip(&c, 1 + 4);		/* size of a long, of a page */
	if (version[1])
		return -EINVAL;
	if (version[0] == '6')
		ret = walk_version_6(&c, &s);
	else if (version[0] == '7')
		ret = walk_version_7(&c, &s);
	else
		ret = -EINVAL;
	free(s.buffers);
	if (!ret && s.tsc && sink->clock)
		ret = sink->clock(sink->data, "", "tsc2nsec");
	return ret ? ret : c.failed ? -EINVAL : 0;
}

int sections_read_drops(int fd, int (*found)(void *data, const char *buffer), void *data)
{
	struct sections_sink sink = { .dropped = found, .data = data };

	return sections_walk(fd, &sink);
}
