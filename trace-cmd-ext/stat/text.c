// SPDX-License-Identifier: GPL-2.0
/* text.c - prints the counts of stat as text */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

#define MOST	20		/* lines of a list, without --all */

typedef unsigned long long ull;

static double get_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_name(const char *s)
{
	struct text t = {};

	text_add_escaped(&t, s, strlen(s));
	if (t.v)
		fputs(t.v, stdout);
	free(t.v);
}

static void put_time(uint64_t ts, bool nsec)
{
	if (nsec)
		printf("%llu.%09llu", (ull)(ts / 1000000000), (ull)(ts % 1000000000));
	else
		printf("%llu", (ull)ts);
}

static void print_recording(struct model *m, const struct stat_counts *s, const char *path)
{
	const struct model_info *i = model_get_info(m);

	put_name(path);
	printf(": version %d, %llu bytes, %u CPUs", i->version, (ull)i->bytes, i->cpus);
	if (i->buffers > 1)
		printf(", %u instances", i->buffers - 1);
	if (*i->clock) {
		printf(", clock ");
		put_name(i->clock);
	}
	printf("%s\n", i->damaged ? "; DAMAGED, not read to its end" : "");
	if (i->records) {
		printf("time       ");
		put_time(i->first_ts, i->nsec);
		printf(" to ");
		put_time(i->last_ts, i->nsec);
		printf("\n");
	}
	printf("records    %llu\n", (ull)i->records);
	printf("events     %llu", (ull)s->all_events);
	if (s->all_events)
		printf(", %.1f bytes each with their stacks and mappings",
		       (double)s->bytes / s->all_events);
	printf("\ndropped    %llu%s\n", (ull)i->join.losses, i->join.losses ? " at least" : "");
	if (!i->joined)
		printf("This file has no user_unwind events: it was recorded without "
		       "userstacktrace_deferred.\n");
	else
		printf("stacks     %llu, %llu different, %llu without a request\n",
		       (ull)i->join.stacks, (ull)i->join.distinct, (ull)i->join.unclaimed);
}

static void print_requests(struct model *m, const struct stat_counts *s)
{
	static const char *const marked[STAT_NR_MARKS] = {
		[STAT_TRUNCATED] = "cut by a limit",
		[STAT_INCOMPLETE] = "the walk gave up",
		[STAT_FRAME_POINTER] = "partly by frame pointers, not by tables",
		[STAT_OUTSIDE] = "the next address is not code: a frame pointer led there",
		[STAT_CUT] = "parts were dropped",
		[STAT_EMPTY] = "without any frame",
	};
	uint64_t all = stat_sum_requests(&s->r), n;
	int i;

	printf("\nrequests   %llu%s\n", (ull)all, s->filtered ? " of the events chosen" : "");
	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++) {
		n = s->r.states[i];
		if (n || i < JOIN_UNSURE)
			printf("  %-15s %10llu %6.2f%%%s\n", join_words[i].name, (ull)n,
			       get_percent(n, all), join_words[i].about);
	}
	for (i = 0; i < STAT_NR_MARKS; i++) {
		n = s->r.marks[i];
		if (n || i <= STAT_FRAME_POINTER)
			printf("    %-13s %10llu %6.2f%%  %s\n", stat_get_mark_name(i), (ull)n,
			       get_percent(n, s->r.states[JOIN_STACK]), marked[i]);
	}
	if (!model_get_info(m)->joined)
		return;
	if (s->unasked)
		printf("no request %llu in processes that made other requests: these events "
		       "request no stack, or come before or after user space\n", (ull)s->unasked);
	if (s->never_asked)
		printf("no request %llu in other tasks: kernel threads, idle CPUs\n",
		       (ull)s->never_asked);
}

static void print_processes(struct model *m, const struct stat_counts *s, size_t most)
{
	const struct stat_process *p;
	size_t i;

	printf("\n%10s %10s %8s %8s %8s %8s %8s %8s  %7s process\n", "events", "joined",
	       "pending", "lost", "not rec.", "truncat.", "incompl.", "frame p.", "pid");
	for (i = 0; i < s->processes.nr && i < most; i++) {
		p = &s->processes.v[i];
		printf("%10llu %10llu %8llu %8llu %8llu %8llu %8llu %8llu  %7d ",
		       (ull)p->events, (ull)p->r.states[JOIN_STACK],
		       (ull)p->r.states[JOIN_PENDING], (ull)p->r.states[JOIN_LOST],
		       (ull)(p->r.states[JOIN_UNRECORDED] + p->r.states[JOIN_UNSURE]),
		       (ull)p->r.marks[STAT_TRUNCATED], (ull)p->r.marks[STAT_INCOMPLETE],
		       (ull)p->r.marks[STAT_FRAME_POINTER], (int)p->pid);
		put_name(stat_get_process_name(m, p));
		printf("\n");
	}
	if (i < s->processes.nr)
		printf("%10s and %zu more processes; --all shows them\n", "", s->processes.nr - i);
}

static void print_ends(const struct stat_counts *s)
{
	uint64_t all = s->r.marks[STAT_INCOMPLETE];
	int i;

	if (all)
		printf("\nincomplete %llu, by where the walk gave up\n", (ull)all);
	for (i = 0; all && i < END_NR; i++)
		if (s->ends[i])
			printf("  %-15s %10llu %6.2f%%  %s\n  %35s-> %s\n", end_reason_get_name(i),
			       (ull)s->ends[i], get_percent(s->ends[i], all),
			       end_reason_get_description(i), "", end_reason_get_remedy(i));
}

/* Print how much of the file its table covers, or why it has none, in 24 characters. */
static void put_table(const struct stat_file *f)
{
	const char *open = f->known == STAT_POSSIBLE ? "(" : "", *close = *open ? ")" : "";
	char buf[64];

	if (f->known == STAT_UNKNOWN)
		snprintf(buf, sizeof(buf), "?");
	else if (f->known == STAT_NO_FILE)
		snprintf(buf, sizeof(buf), "none: no file");
	else if (f->cause == TABLES_COVERED)
		snprintf(buf, sizeof(buf), "%s%.2f%%, %llu holes%s", open,
			 get_percent(f->covered_bytes, f->text_bytes), (ull)f->holes, close);
	else
		snprintf(buf, sizeof(buf), "%snone: %s%s", open, f->cause == TABLES_ERROR ?
			 strerror(f->error) : tables_get_cause_name(f->cause), close);
	printf("%-24s", buf);
}

static void print_files(const struct stat_counts *s, const char *path, size_t most)
{
	bool possible = false, unknown = false;
	size_t i;

	if (!s->files.nr)
		return;
	printf("\n%10s %10s %8s %8s  %-24s file\n", "frames", "stacks", "incompl.", "frame p.",
	       "unwind table");
	for (i = 0; i < s->files.nr && i < most; i++) {
		const struct stat_file *f = &s->files.v[i];

		printf("%10llu %10llu %8llu %8llu  ", (ull)f->frames, (ull)f->stacks,
		       (ull)f->incomplete, (ull)f->frame_pointer);
		put_table(f);
		printf(" ");
		put_name(stat_get_file_name(f));
		printf("\n");
		possible |= f->known == STAT_POSSIBLE;
		unknown |= f->known == STAT_UNKNOWN;
	}
	if (i < s->files.nr)
		printf("%10s and %zu more files; --all shows them\n", "", s->files.nr - i);
	if (!possible && !unknown)
		return;
	put_name(path);
	printf(".tables %s%s%s\n", !s->saved_error ? "does not know all files" :
	       s->saved_error == -ESTALE ? "is of another recording" :
	       s->saved_error == -ENOENT ? "is not there" : "is damaged",
	       possible ? "; (...): the table that the file here gives" : "",
	       unknown ? "; ?: no such file here" : "");
}

static void print_event_counts(struct model *m, const struct stat_counts *s, size_t most)
{
	const struct model_type *t;
	size_t i;

	printf("\n%10s %7s  event\n", "events", "bytes");
	for (i = 0; i < s->by_event.nr && i < most; i++) {
		t = model_get_type(m, s->by_event.v[i].type);
		printf("%10llu %7.1f  ", (ull)s->by_event.v[i].nr,
		       t->records ? (double)t->bytes / t->records : 0);
		put_name(t->system);
		printf(":");
		put_name(t->name);
		printf("\n");
	}
	if (i < s->by_event.nr)
		printf("%10s and %zu more events; --all shows them\n", "", s->by_event.nr - i);
}

void stat_print(struct model *m, const struct stat_counts *s, const char *path, bool all)
{
	size_t most = all ? SIZE_MAX : MOST;

	print_recording(m, s, path);
	print_requests(m, s);
	print_ends(s);
	print_processes(m, s, most);
	print_files(s, path, most);
	print_event_counts(m, s, most);
}
