// SPDX-License-Identifier: GPL-2.0
/* stat.c - trace-ustack stat: the command line, the figures as text and as JSON */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"
#include "trace-cmd-ext/stat/stat.h"

static const char usage[] =
	"usage: trace-ustack stat [OPTION...] [FILE]\n"
	"\n"
	"Count the events of a recording and their user stacks, and the missing and incomplete\n"
	"stacks by reason and by process. Count the frames by file, with the unwind table that\n"
	"each file had. The default for FILE is trace.dat.\n"
	"\n"
	"  --json             print one JSON object\n"
	"  --all              list all processes, files and events, not only the top 20\n"
	"  -h, --help         print this text\n"
	"\n"
	CMD_FILTER_HELP
	"\n"
	"Examples:\n"
	"  trace-ustack stat\n"
	"  trace-ustack stat --process git trace.dat\n"
	"  trace-ustack stat --json | jq .requests.lost\n"
	"  trace-ustack stat --json | jq '.by_file[] | select(.incomplete > 0)'\n";

#define MOST	20

static struct {
	const char *path;
	struct model_opts opts;
	bool json, all;
} o;

static const enum join_state states[] = {
	JOIN_STACK, JOIN_PENDING, JOIN_LOST, JOIN_UNRECORDED, JOIN_UNSURE
};
#define NR_STATES (sizeof(states) / sizeof(*states))

static const struct {
	const char *name, *about;
} marks[STAT_NR_MARKS] = {
	[STAT_TRUNCATED] = { "truncated", "cut by a limit" },
	[STAT_INCOMPLETE] = { "incomplete", "the walk gave up" },
	[STAT_FRAME_POINTER] = { "frame-pointer", "partly by frame pointers, not by tables" },
	[STAT_OUTSIDE] = { "outside", "what came next is no code: a frame pointer led there" },
	[STAT_CUT] = { "cut", "parts were dropped" },
	[STAT_EMPTY] = { "empty", "without any frame" },
}, why[] = {
	[JOIN_NONE] = { "none", "" },
	[JOIN_STACK] = { "joined", "" },
	[JOIN_PENDING] = { "pending", "still in the kernel when recording stopped" },
	[JOIN_LOST] = { "lost", "events were dropped" },
	[JOIN_UNRECORDED] = { "not-recorded", "though nothing was dropped" },
	[JOIN_UNSURE] = { "unsure", "two buffers say different things" },
};

typedef unsigned long long ull;

static uint64_t sum_states(const struct stat_requests *r)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < NR_STATES; i++)
		n += r->states[states[i]];
	return n;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

/* ---- text ---- */

static void put_name(const char *s)
{
	struct text t = {};

	text_name(&t, s, strlen(s));
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

static void text_file(struct model *m, const struct stat_counts *s)
{
	const struct model_info *i = model_info(m);

	put_name(o.path);
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

static void text_requests(struct model *m, const struct stat_counts *s)
{
	uint64_t all = sum_states(&s->r), n;
	size_t i;

	printf("\nrequests   %llu%s\n", (ull)all, s->filtered ? " of the events chosen" : "");
	for (i = 0; i < NR_STATES; i++) {
		n = s->r.states[states[i]];
		if (n || i < 4)
			printf("  %-15s %10llu %6.2f%%%s%s\n", why[states[i]].name, (ull)n,
			       percent(n, all), *why[states[i]].about ? "  " : "",
			       why[states[i]].about);
	}
	for (i = 0; i < STAT_NR_MARKS; i++) {
		n = s->r.marks[i];
		if (n || i <= STAT_FRAME_POINTER)
			printf("    %-13s %10llu %6.2f%%  %s\n", marks[i].name, (ull)n,
			       percent(n, s->r.states[JOIN_STACK]), marks[i].about);
	}
	if (!model_info(m)->joined)
		return;
	if (s->unasked)
		printf("no request %llu of processes with requests: events that do not ask, or "
		       "before and after user space\n", (ull)s->unasked);
	if (s->never_asked)
		printf("no request %llu of others: kernel threads, idle CPUs\n",
		       (ull)s->never_asked);
}

static void text_processes(struct model *m, const struct stat_counts *s)
{
	const struct stat_process *p;
	size_t i;

	printf("\n%10s %10s %8s %8s %8s %8s %8s %8s  %7s process\n", "events", "joined",
	       "pending", "lost", "not rec.", "truncat.", "incompl.", "frame p.", "pid");
	for (i = 0; i < s->processes.nr && (o.all || i < MOST); i++) {
		p = &s->processes.v[i];
		printf("%10llu %10llu %8llu %8llu %8llu %8llu %8llu %8llu  %7d ",
		       (ull)p->events, (ull)p->r.states[JOIN_STACK],
		       (ull)p->r.states[JOIN_PENDING], (ull)p->r.states[JOIN_LOST],
		       (ull)(p->r.states[JOIN_UNRECORDED] + p->r.states[JOIN_UNSURE]),
		       (ull)p->r.marks[STAT_TRUNCATED], (ull)p->r.marks[STAT_INCOMPLETE],
		       (ull)p->r.marks[STAT_FRAME_POINTER], (int)p->pid);
		put_name(stat_process_name(m, p));
		printf("\n");
	}
	if (i < s->processes.nr)
		printf("%10s and %zu more processes; --all shows them\n", "", s->processes.nr - i);
}

static void text_ends(const struct stat_counts *s)
{
	uint64_t all = s->r.marks[STAT_INCOMPLETE];
	int i;

	if (all)
		printf("\nincomplete %llu, by where the walk gave up\n", (ull)all);
	for (i = 0; all && i < END_NR; i++)
		if (s->ends[i])
			printf("  %-15s %10llu %6.2f%%  %s\n  %35s-> %s\n", end_reason_name(i),
			       (ull)s->ends[i], percent(s->ends[i], all), end_reason_about(i), "",
			       end_reason_remedy(i));
}

static const char *file_name(const struct stat_file *f)
{
	if (f->compat)
		return "[vdso] of 32-bit programs";
	return !f->file ? "[no mapping]" : *f->file->path ? f->file->path : "[anonymous]";
}

/* Its table, in 24 characters. */
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
			 percent(f->covered_bytes, f->text_bytes), (ull)f->holes, close);
	else
		snprintf(buf, sizeof(buf), "%snone: %s%s", open, f->cause == TABLES_ERROR ?
			 strerror(f->error) : tables_cause_name(f->cause), close);
	printf("%-24s", buf);
}

static void text_files(const struct stat_counts *s)
{
	bool possible = false, unknown = false;
	size_t i;

	if (!s->files.nr)
		return;
	printf("\n%10s %10s %8s %8s  %-24s file\n", "frames", "stacks", "incompl.", "frame p.",
	       "unwind table");
	for (i = 0; i < s->files.nr && (o.all || i < MOST); i++) {
		const struct stat_file *f = &s->files.v[i];

		printf("%10llu %10llu %8llu %8llu  ", (ull)f->frames, (ull)f->stacks,
		       (ull)f->incomplete, (ull)f->frame_pointer);
		put_table(f);
		printf(" ");
		put_name(file_name(f));
		printf("\n");
		possible |= f->known == STAT_POSSIBLE;
		unknown |= f->known == STAT_UNKNOWN;
	}
	if (i < s->files.nr)
		printf("%10s and %zu more files; --all shows them\n", "", s->files.nr - i);
	if (!possible && !unknown)
		return;
	put_name(o.path);
	printf(".tables %s%s%s\n", !s->saved_error ? "does not know all files" :
	       s->saved_error == -ESTALE ? "is of another recording" :
	       s->saved_error == -ENOENT ? "is not there" : "is damaged",
	       possible ? "; (...): the table that the file here gives" : "",
	       unknown ? "; ?: no such file here" : "");
}

static void text_events(struct model *m, const struct stat_counts *s)
{
	const struct model_type *t;
	size_t i;

	printf("\n%10s %7s  event\n", "events", "bytes");
	for (i = 0; i < s->by_event.nr && (o.all || i < MOST); i++) {
		t = model_type(m, s->by_event.v[i].type);
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

/* ---- JSON ---- */

static void json_requests(struct jsonw *j, const struct stat_requests *r)
{
	size_t i;

	jsonw_object(j, "requests");
	jsonw_number(j, "all", sum_states(r));
	for (i = 0; i < NR_STATES; i++)
		jsonw_number(j, why[states[i]].name, r->states[states[i]]);
	jsonw_end(j);
	jsonw_object(j, "stacks");
	for (i = 0; i < STAT_NR_MARKS; i++)
		jsonw_number(j, marks[i].name, r->marks[i]);
	jsonw_end(j);
}

static void json_process(struct jsonw *j, struct model *m, const struct stat_process *p)
{
	jsonw_object(j, NULL);
	jsonw_signed(j, "pid", (int)p->pid);
	jsonw_string(j, "comm", stat_process_name(m, p));
	jsonw_number(j, "events", p->events);
	json_requests(j, &p->r);
	jsonw_end(j);
}

static void json_file(struct jsonw *j, const struct stat_file *f)
{
	static const char *const known[] = {
		[STAT_UNKNOWN] = "unknown", [STAT_RECORDED] = "recorded",
		[STAT_POSSIBLE] = "possible", [STAT_NO_FILE] = "no-file",
	};

	jsonw_object(j, NULL);
	jsonw_string(j, "file", file_name(f));
	if (f->file && f->file->build_id_size)
		jsonw_hex(j, "build_id", f->file->build_id, f->file->build_id_size);
	jsonw_number(j, "frames", f->frames);
	jsonw_number(j, "stacks", f->stacks);
	jsonw_number(j, "incomplete", f->incomplete);
	jsonw_number(j, "frame-pointer", f->frame_pointer);
	jsonw_string(j, "known", known[f->known]);
	if (f->known == STAT_RECORDED || f->known == STAT_POSSIBLE) {
		jsonw_bool(j, "covered", f->cause == TABLES_COVERED);
		jsonw_string(j, "cause", f->cause == TABLES_ERROR ? strerror(f->error) :
			    tables_cause_name(f->cause));
		jsonw_number(j, "text_bytes", f->text_bytes);
		jsonw_number(j, "covered_bytes", f->covered_bytes);
		jsonw_number(j, "holes", f->holes);
	}
	jsonw_end(j);
}

static void json_event(struct jsonw *j, struct model *m, const struct stat_event *e)
{
	const struct model_type *t = model_type(m, e->type);

	jsonw_object(j, NULL);
	jsonw_string(j, "system", t->system);
	jsonw_string(j, "event", t->name);
	jsonw_number(j, "events", e->nr);
	jsonw_number(j, "all_records", t->records);
	jsonw_number(j, "all_bytes", t->bytes);
	jsonw_end(j);
}

static void json_head(struct jsonw *j, const struct model_info *info, const struct stat_counts *s)
{
	jsonw_string(j, "file", o.path);
	jsonw_number(j, "version", info->version);
	jsonw_number(j, "bytes", info->bytes);
	jsonw_number(j, "cpus", info->cpus);
	jsonw_number(j, "instances", info->buffers - 1);
	jsonw_string(j, "clock", info->clock);
	jsonw_bool(j, "damaged", info->damaged);
	jsonw_bool(j, "deferred", info->joined);
	jsonw_number(j, "first_ts", info->first_ts);
	jsonw_number(j, "last_ts", info->last_ts);
	jsonw_number(j, "records", info->records);
	jsonw_number(j, "dropped", info->join.losses);
	jsonw_number(j, "all_events", s->all_events);
	jsonw_number(j, "all_bytes", s->bytes);
	jsonw_number(j, "recorded_stacks", info->join.stacks);
	jsonw_number(j, "different_stacks", info->join.distinct);
	jsonw_number(j, "unclaimed_stacks", info->join.unclaimed);
	jsonw_number(j, "events", s->events);
}

static void print_json(struct model *m, const struct stat_counts *s)
{
	struct jsonw j = { .file = stdout };
	size_t i;

	jsonw_object(&j, NULL);
	json_head(&j, model_info(m), s);
	json_requests(&j, &s->r);
	jsonw_object(&j, "no_request");
	jsonw_number(&j, "user", s->unasked);
	jsonw_number(&j, "other", s->never_asked);
	jsonw_end(&j);
	jsonw_object(&j, "ends");
	for (i = 0; i < END_NR; i++)
		jsonw_number(&j, end_reason_name(i), s->ends[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_process");
	for (i = 0; i < s->processes.nr; i++)
		json_process(&j, m, &s->processes.v[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_file");
	for (i = 0; i < s->files.nr; i++)
		json_file(&j, &s->files.v[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_event");
	for (i = 0; i < s->by_event.nr; i++)
		json_event(&j, m, &s->by_event.v[i]);
	jsonw_end(&j);
	jsonw_end(&j);
	putchar('\n');
}

static int run_stat(void *arg)
{
	struct stat_counts s = {};
	struct model *m;
	int ret;

	(void)arg;
	o.opts.counts = cmd_filter_any(&o.opts.filter);
	m = cmd_open(o.path, &o.opts);
	if (!m)
		return CMD_INPUT;
	ret = model_check_names(m, &o.opts.filter);
	if (ret)
		goto out;
	ret = stat_count(&s, m, cmd_filter_any(&o.opts.filter));
	if (!ret)
		ret = stat_files(&s, m, o.path);
	cmd_progress_end();
	if (ret) {
		cmd_error("%s: %s", o.path, strerror(-ret));
		ret = ret == -EIO ? CMD_INPUT : CMD_FAIL;
		goto out;
	}
	if (s.filtered && !s.events)
		cmd_filter_nothing(o.path);
	if (o.json) {
		print_json(m, &s);
		goto out;
	}
	text_file(m, &s);
	text_requests(m, &s);
	text_ends(&s);
	text_processes(m, &s);
	text_files(&s);
	text_events(m, &s);
out:
	stat_free(&s);
	model_close(m);
	return ret;
}

int cmd_stat(int argc, char **argv)
{
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "json", no_argument, NULL, 'J' },
		{ "all", no_argument, NULL, 'A' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 'h':
			return cmd_help(usage);
		case 'J':
			o.json = true;
			break;
		case 'A':
			o.all = true;
			break;
		default:
			ret = cmd_filter_option("stat", opt, optarg, &o.opts);
			if (ret)
				return ret;
		}
	}
	ret = cmd_filter_file("stat", argc, argv, &o.path);
	if (ret)
		return ret;
	cmd_pager();
	return cmd_guard(o.path, run_stat, NULL);
}
