// SPDX-License-Identifier: GPL-2.0
/*
 * Read the text of `trace-cmd report` as a person does: event lines, and under them the frames that
 * the plugin joined. `(PATH+0xOFFSET)` and `0xADDR` are converted back to addresses.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event.h"

static const struct program *programs;
static unsigned int nr_programs;

static struct { char *name; } names[256];

static const char *intern_name(const char *s)
{
	unsigned int i;

	for (i = 0; i < 255 && names[i].name; i++) {
		if (!strcmp(names[i].name, s))
			return names[i].name;
	}
	if (!names[i].name)
		names[i].name = strdup(s);
	return names[i].name;
}

/* "COMM-TID [CPU] [flags] SECONDS.FRACTION: NAME: INFO"; NULL if the line is not of this form */
static char *event_line(char *line, struct event *ev, char *name)
{
	char *p = line, *cpu = NULL, *colon, *dash, *end;
	unsigned long sec, frac;
	int digits;

	while ((p = strchr(p, '['))) {
		if (isdigit(p[1]) && strtol(p + 1, &end, 10) < 4096 && *end == ']') {
			cpu = p;
			break;
		}
		p++;
	}
	if (!cpu || cpu == line)
		return NULL;
	for (dash = cpu; dash > line && *dash != '-'; dash--)
		;
	ev->tid = strtoul(dash + 1, NULL, 10);
	ev->cpu = atoi(cpu + 1);
	p = strchr(cpu, ']') + 1;
	/* Past latency flags, if they are shown */
	while (*p && !(isspace(p[-1]) && isdigit(*p) && strchr(p, '.') &&
		       strspn(p, "0123456789") == (size_t)(strchr(p, '.') - p)))
		p++;
	if (!*p)
		return NULL;
	sec = strtoul(p, &p, 10);
	frac = strtoul(p + 1, &end, 10);
	digits = end - p - 1;
	if (*end != ':')
		return NULL;
	while (digits++ < 9)
		frac *= 10;
	ev->ts = sec * 1000000000ull + frac;
	p = end + 1;
	while (isspace(*p))
		p++;
	colon = strchr(p, ':');
	if (!colon || colon - p > 60)
		return NULL;
	memcpy(name, p, colon - p);
	name[colon - p] = 0;
	return colon + 1;
}

static unsigned int parse_number_after(const char *s, const char *key)
{
	const char *p = strstr(s, key);

	return p ? strtoul(p + strlen(key), NULL, 10) : 0;
}

static void read_info(struct event *ev, const char *name, const char *info)
{
	unsigned long arg[5];

	if (!strcmp(name, "sys_enter")) {
		ev->kind = EV_ENTER;
		if (sscanf(info, " NR %d (%lx, %lx, %lx, %lx, %lx", &ev->nr, &arg[0], &arg[1],
			   &arg[2], &arg[3], &arg[4]) == 6)
			ev->seq = arg[4];
	} else if (!strcmp(name, "sys_exit")) {
		ev->kind = EV_EXIT;
	} else if (!strcmp(name, "sched_process_fork")) {
		ev->kind = EV_FORK;
		ev->other = parse_number_after(info, "child_pid=");
	} else if (!strcmp(name, "sched_process_exec")) {
		ev->kind = EV_EXEC;
		ev->other = parse_number_after(info, "old_pid=");
	} else if (!strcmp(name, "sched_process_exit")) {
		ev->kind = EV_DEAD;
	}
}

/* The address of one joined frame, 0 if the line does not say */
static uint64_t frame_address(const char *text)
{
	const char *open, *plus, *slash;
	unsigned int i;
	uint64_t offset;

	if (!strncmp(text, "0x", 2))
		return strtoull(text, NULL, 16);
	open = strrchr(text, '(');
	plus = strrchr(text, '+');
	if (!open || !plus || plus < open || strncmp(plus, "+0x", 3))
		return 0;
	if (!strncmp(open, "([vdso]+", 8))
		return ADDR_VDSO;
	for (slash = plus; slash > open && *slash != '/'; slash--)
		;
	offset = strtoull(plus + 1, NULL, 16);
	for (i = 0; i < nr_programs; i++) {
		if (strlen(programs[i].base) == (size_t)(plus - slash - 1) &&
		    !strncmp(programs[i].base, slash + 1, plus - slash - 1))
			return program_address(&programs[i], offset);
	}
	return 0;
}

static void add_frame(struct event *ev, const char *text)
{
	if (!strncmp(text, "<still in the kernel at the end", 31)) {
		ev->status = JOIN_PENDING;
	} else if (!strncmp(text, "<lost", 5)) {
		ev->status = JOIN_LOST;
	} else if (!strncmp(text, "<not recorded", 13)) {
		ev->status = JOIN_NOT_RECORDED;
	} else if (*text == '<') {
		/* A remark on the stack: truncated, incomplete, no frames */
		if (ev->status == JOIN_NO_COOKIE)
			ev->status = JOIN_STACK;
	} else {
		ev->status = JOIN_STACK;
		ev->addr = realloc(ev->addr, (ev->nr_addr + 1) * sizeof(*ev->addr));
		if (!ev->addr)
			exit(2);
		ev->addr[ev->nr_addr++] = frame_address(text);
	}
}

/*
 * The last events of each CPU. The lines of an event's kernel stack and cookie follow it, but an
 * interrupt can have events of its own in between. A line belongs to the newest event of its task
 * that lacks a line of this kind.
 */
#define MAX_CPUS	64
#define OPEN		8

static struct open {
	int	event;		/* index, -1: no event */
	int	kernel;		/* has a kernel stack */
	int	cookie;		/* has a cookie */
} open_events[MAX_CPUS][OPEN];

static void open_event(int cpu, int event)
{
	struct open *o = open_events[cpu];

	memmove(o + 1, o, (OPEN - 1) * sizeof(*o));
	*o = (struct open){ .event = event };
}

static int owner_of(const struct trace *trace, int cpu, unsigned int tid, int kernel)
{
	struct open *o = open_events[cpu];
	unsigned int i;

	for (i = 0; i < OPEN && o[i].event >= 0; i++) {
		if (trace->event[o[i].event].tid != tid || o[i].cookie || (kernel && o[i].kernel))
			continue;
		o[i].kernel |= kernel;
		o[i].cookie |= !kernel;
		return o[i].event;
	}
	return -1;
}

/* "CPU:N [EVENTS DROPPED]": later lines of that CPU do not belong to events before it. */
static void close_events(const char *line)
{
	int cpu;

	if (sscanf(line, " CPU:%d", &cpu) == 1 && cpu >= 0 && cpu < MAX_CPUS)
		memset(open_events[cpu], -1, sizeof(open_events[cpu]));
	else
		memset(open_events, -1, sizeof(open_events));
}

int read_report(struct trace *trace, const char *path, const struct program *progs,
		unsigned int nr_progs)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *line = NULL, name[64], *info, *text;
	size_t room = 0;
	struct event ev;
	int target = -1;

	if (!f) {
		fprintf(stderr, "%s: cannot read the report: %s\n", path, strerror(errno));
		return -errno;
	}
	programs = progs;
	nr_programs = nr_progs;
	memset(open_events, -1, sizeof(open_events));
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		text = strstr(line, "=> [user] ");
		if (text) {
			if (target >= 0)
				add_frame(&trace->event[target], text + 10);
			continue;
		}
		if (strstr(line, "EVENTS DROPPED")) {
			trace->dropped = 1;
			target = -1;
			close_events(line);
			continue;
		}
		memset(&ev, 0, sizeof(ev));
		info = event_line(line, &ev, name);
		if (!info || ev.cpu < 0 || ev.cpu >= MAX_CPUS)
			continue;
		target = -1;
		if (!strcmp(name, "kernel_stack")) {
			target = owner_of(trace, ev.cpu, ev.tid, 1);
		} else if (!strcmp(name, "user_unwind_cookie")) {
			text = strstr(info, "cookie=");
			target = owner_of(trace, ev.cpu, ev.tid, 0);
			if (text && target >= 0)
				trace->event[target].cookie = strtoull(text + 7, NULL, 16);
		} else if (strcmp(name, "user_unwind_stack") && strcmp(name, "user_unwind_map") &&
			   strcmp(name, "user_unwind_again")) {
			ev.name = intern_name(name);
			ev.flags = FLAGS_UNKNOWN;
			ev.stack_cpu = -1;
			read_info(&ev, name, info);
			*trace_add(trace) = ev;
			open_event(ev.cpu, trace->nr - 1);
		}
	}
	free(line);
	if (f != stdin)
		fclose(f);
	return 0;
}
