// SPDX-License-Identifier: GPL-2.0
/* rec_json - the summary of a recording for programs: one line, named as trace-ustack stat does */
#include <errno.h>
#include <string.h>

#include "impl.h"
#include "sums.h"
#include "libunwind-user/tables/tables.h"

typedef unsigned long long ull;

static const char *const hows[] = {
	[REC_OPTION] = "option", [REC_TRIGGER] = "trigger", [REC_FALLBACK] = "fallback",
	[REC_NONE] = "none",
};

static const struct {
	enum join_state state;
	const char *name;
} states[] = {
	{ JOIN_STACK, "joined" }, { JOIN_PENDING, "pending" }, { JOIN_LOST, "lost" },
	{ JOIN_UNRECORDED, "not-recorded" }, { JOIN_UNSURE, "unsure" },
};

static void put_requests(FILE *f, const struct rec_sums *s)
{
	uint64_t all = 0;
	size_t i;

	if (!s->joined) {
		fputs(",\"requests\":null,\"different_stacks\":null", f);
		return;
	}
	for (i = 0; i < sizeof(states) / sizeof(*states); i++)
		all += s->join.requests[states[i].state];
	fprintf(f, ",\"requests\":{\"all\":%llu", (ull)all);
	for (i = 0; i < sizeof(states) / sizeof(*states); i++)
		fprintf(f, ",\"%s\":%llu", states[i].name,
			(ull)s->join.requests[states[i].state]);
	fprintf(f, "},\"different_stacks\":%llu", (ull)s->join.distinct);
}

static void put_tables(FILE *f, const struct rec *r)
{
	struct tables_summary sum;
	uint64_t without = 0;
	unsigned int c;

	if (!rec_tables_get(r, &sum)) {
		fputs(",\"tables\":null", f);
		return;
	}
	for (c = TABLES_COVERED + 1; c < TABLES_NR_CAUSES; c++)
		without += c == TABLES_VANISHED ? 0 : sum.files[c];
	fprintf(f, ",\"tables\":{\"files\":%llu,\"bytes\":%llu,\"text_bytes\":%llu,"
		"\"covered_bytes\":%llu,\"files_without\":%llu,\"processes_unreadable\":%llu}",
		(ull)sum.files[TABLES_COVERED], (ull)sum.table_bytes, (ull)sum.text_bytes,
		(ull)sum.covered_bytes, (ull)without, (ull)sum.unreadable);
}

static void put(FILE *f, const struct rec *r, const struct rec_sums *s)
{
	fputs("{\"file\":", f);
	cmd_json_string(f, r->opts.out, strlen(r->opts.out));
	fputs(",\"clock\":", f);
	cmd_json_string(f, r->opts.clock, strlen(r->opts.clock));
	fprintf(f, ",\"cpus\":%d,\"buffer_kb\":%lu,\"stacks_by\":\"%s\",\"seconds\":%.6f,"
		"\"exit_code\":", r->nr_cpus, r->kb, hows[r->how], r->seconds);
	if (r->opts.cmd)
		fprintf(f, "%d", command_exit_code(r));
	else
		fputs("null", f);
	fprintf(f, ",\"events\":%llu,\"own_events\":%llu,\"bytes\":%llu,\"lost_records\":%llu,"
		"\"kernel_stacks\":%llu,\"user_stacks\":%llu", (ull)s->events, (ull)s->own,
		(ull)s->bytes, (ull)s->lost, (ull)s->kernel_stacks,
		(ull)(r->how == REC_FALLBACK ? s->user_stacks : s->stacks));
	put_requests(f, s);
	fprintf(f, ",\"stacks\":{\"truncated\":%llu,\"incomplete\":%llu,\"frame-pointer\":%llu}",
		(ull)s->truncated, (ull)s->incomplete, (ull)s->frame_pointer);
	put_tables(f, r);
	fprintf(f, ",\"jit_processes\":%d}\n", s->jit);
}

int rec_json(const struct rec *r, const struct rec_sums *s)
{
	const char *path = r->opts.json;
	FILE *f = *path ? fopen(path, "we") : stdout;

	if (!f) {
		cmd_error("%s: %s", path, strerror(errno));
		return CMD_OUTPUT;
	}
	put(f, r, s);
	if (f == stdout)
		return cmd_finish(CMD_OK);
	if (fflush(f) | ferror(f) | fclose(f)) {
		cmd_error("%s: %s", path, strerror(errno));
		return CMD_OUTPUT;
	}
	return CMD_OK;
}
