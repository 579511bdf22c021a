// SPDX-License-Identifier: GPL-2.0
/* Turn tracing on and off, and look at the recorded events */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"

#define TRACEFS "/sys/kernel/tracing/"

#define FRAMES_MAX 64

static void write_file(const char *file, const char *value, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), TRACEFS "%s", file);
	fd = open(path, O_WRONLY | flags);
	if (fd < 0)
		err(1, "cannot open %s: is this kernel the patched one", path);
	if (write(fd, value, strlen(value)) < 0)
		err(1, "cannot write '%s' to %s", value, path);
	close(fd);
}

/* Replace the content of the file. For set_event this switches all other events off. */
void trace_set(const char *file, const char *value)
{
	write_file(file, value, O_TRUNC);
}

void trace_add(const char *file, const char *value)
{
	write_file(file, value, O_APPEND);
}

void trace_clear(void)
{
	trace_set("trace", "");
}

void trace_begin(void)
{
	trace_set("tracing_on", "0");
	trace_set("current_tracer", "nop");
	trace_set("set_event", "");
	trace_set("trace_clock", "local");
	trace_set("buffer_size_kb", "16384");
	trace_stack(COST_NONE);
	trace_set("options/stacktrace", "0");
	trace_clear();
	trace_set("tracing_on", "1");
}

void trace_stack(enum cost_stack stack)
{
	trace_set("options/userstacktrace", stack == COST_USERSTACK ? "1" : "0");
	trace_set("options/userstacktrace_deferred", stack >= COST_DEFERRED ? "1" : "0");
	if (stack == COST_TABLES)
		tables_on();
	else
		tables_off();
}

static FILE *trace_text(void)
{
	FILE *f = fopen(TRACEFS "trace", "r");

	if (!f)
		err(1, "cannot read " TRACEFS "trace");
	return f;
}

/* How many of the records have @name in their text. */
unsigned long trace_count(const char *name)
{
	unsigned long count = 0;
	char line[4096];
	FILE *f;

	f = trace_text();
	while (fgets(line, sizeof(line), f)) {
		if (line[0] != '#' && strstr(line, name))
			count++;
	}
	fclose(f);

	return count;
}

/* Frames that most user stacks in the buffer have, whichever event those are in */
unsigned int trace_frames(void)
{
	unsigned int frames = 0, most = 0, stacks[FRAMES_MAX + 1] = {};
	char line[4096];
	FILE *f;

	f = trace_text();
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, " => ", 4)) {
			frames += frames < FRAMES_MAX;
			continue;
		}
		stacks[frames]++;
		frames = 0;
	}
	stacks[frames]++;
	fclose(f);

	for (frames = 1; frames <= FRAMES_MAX; frames++) {
		if (stacks[frames] > stacks[most] || !most)
			most = frames;
	}

	return most;
}
