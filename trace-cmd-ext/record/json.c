// SPDX-License-Identifier: GPL-2.0
/*
 * json.c - the summary of a recording for programs: one line, with the names of trace-ustack stat
 */
#include <errno.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/base/base.h"
#include "stats.h"
#include "trace-cmd-ext/model/model.h"
#include "trace-cmd-ext/record/bpf/bpf.h"
#include "libunwind-user/tables/tables.h"

static const char *const request_names[] = {
	[REQUEST_BY_OPTION] = "option", [REQUEST_BY_TRIGGER] = "trigger",
	[REQUEST_BY_FRAME_POINTERS] = "frame-pointers",
	[REQUEST_NONE] = "none", [REQUEST_BY_BPF] = "bpf",
};

static void put_requests(struct jsonw *j, const struct rec_stats *s)
{
	uint64_t all = 0;
	int i;

	if (!s->joined) {
		jsonw_null(j, "requests");
		jsonw_null(j, "different_stacks");
		return;
	}
	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++)
		all += s->join.requests[i];
	jsonw_object(j, "requests");
	jsonw_number(j, "all", all);
	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++)
		jsonw_number(j, join_words[i].name, s->join.requests[i]);
	jsonw_end(j);
	jsonw_number(j, "different_stacks", s->join.distinct);
}

static void put_tables(struct jsonw *j, const struct rec *r)
{
	struct tables_summary sum;

	if (!rec_tables_get_summary(r, &sum)) {
		jsonw_null(j, "tables");
		return;
	}
	jsonw_object(j, "tables");
	jsonw_number(j, "files", sum.files[TABLES_COVERED]);
	jsonw_number(j, "bytes", sum.table_bytes);
	jsonw_number(j, "text_bytes", sum.text_bytes);
	jsonw_number(j, "covered_bytes", sum.covered_bytes);
	jsonw_number(j, "files_without", sum.uncovered);
	jsonw_number(j, "processes_unreadable", sum.unreadable);
	jsonw_end(j);
}

static void put_waited(struct jsonw *j, const struct gate_shared *counts)
{
	if (!counts) {
		jsonw_null(j, "waited");
		return;
	}
	jsonw_object(j, "waited");
	jsonw_number(j, "programs", counts->programs);
	jsonw_number(j, "longest_ms", counts->longest / 1000000);
	jsonw_number(j, "released_early", counts->released_early);
	jsonw_end(j);
}

static void put_bpf(struct jsonw *j, const struct rec *r)
{
	static const char *const reasons[MSG_NR_REASONS] = {
		[MSG_OK] = "complete",
		[MSG_NOT_READABLE] = "not_readable",
		[MSG_NO_MAPPING] = "no_mapping",
		[MSG_NO_TABLE] = "no_table",
		[MSG_HOLE] = "hole",
		[MSG_BUSY] = "busy",
		[MSG_NO_ROOM] = "no_room",
		[MSG_NO_REGISTERS] = "no_registers",
		[MSG_TOO_DEEP] = "too_deep",
		[MSG_OTHER_ABI] = "other_abi",
	};
	const struct bpfsrc_stats *bpf;
	const struct insert_stats *s = rec_bpf_get_stats(r, &bpf);
	int i;

	if (!s) {
		jsonw_null(j, "bpf");
		return;
	}
	jsonw_object(j, "bpf");
	jsonw_number(j, "events", s->events);
	jsonw_number(j, "other_tasks", s->other);
	jsonw_number(j, "no_message", s->no_message);
	for (i = 0; i < MSG_NR_REASONS; i++)
		jsonw_number(j, reasons[i], s->reason[i]);
	jsonw_number(j, "messages", s->messages);
	jsonw_number(j, "messages_lost", bpf->lost);
	jsonw_number(j, "gaps", s->gaps);
	jsonw_number(j, "runs_skipped", bpf->skipped);
	jsonw_number(j, "ends_skipped", bpf->ends_skipped);
	jsonw_number(j, "functions_skipped", bpf->functions_skipped);
	jsonw_number(j, "repeated", bpf->repeated);
	jsonw_number(j, "tables", bpf->tables);
	jsonw_number(j, "table_bytes", bpf->table_bytes);
	jsonw_number(j, "pythons_refused", bpf->pythons_refused);
	jsonw_end(j);
}

static void put_summary(FILE *f, const struct rec *r, const struct rec_stats *s)
{
	struct jsonw j = { .file = f };

	jsonw_object(&j, NULL);
	jsonw_string(&j, "file", r->opts.out);
	jsonw_string(&j, "clock", r->opts.clock);
	jsonw_number(&j, "cpus", r->nr_cpus);
	jsonw_number(&j, "buffer_kb", r->buffer_kb);
	jsonw_string(&j, "source",
		     r->request_by == REQUEST_NONE ? NULL : source_get_name(r->source));
	jsonw_string(&j, "stacks_by", request_names[r->request_by]);
	jsonw_real(&j, "seconds", r->seconds, 6);
	if (r->opts.cmd)
		jsonw_signed(&j, "exit_code", command_get_exit_code(r));
	else
		jsonw_null(&j, "exit_code");
	jsonw_number(&j, "events", s->events);
	jsonw_number(&j, "own_events", s->own);
	jsonw_number(&j, "bytes", s->bytes);
	jsonw_number(&j, "lost_records", s->lost);
	jsonw_number(&j, "kernel_stacks", s->kernel_stacks);
	jsonw_number(&j, "user_stacks",
		     r->request_by == REQUEST_BY_FRAME_POINTERS ? s->user_stacks :
								       s->join.stacks);
	put_requests(&j, s);
	jsonw_object(&j, "stacks");
	jsonw_number(&j, "truncated", s->join.truncated);
	jsonw_number(&j, "incomplete", s->join.incomplete);
	jsonw_number(&j, "frame-pointer", s->join.frame_pointer);
	jsonw_end(&j);
	put_tables(&j, r);
	put_bpf(&j, r);
	put_waited(&j, rec_gate_get_shared(r));
	jsonw_number(&j, "jit_processes", s->jit);
	jsonw_end(&j);
	fputc('\n', f);
}

int rec_write_json(const struct rec *r, const struct rec_stats *s)
{
	const char *path = r->opts.json;
	FILE *f = *path ? fopen(path, "we") : stdout;

	if (!f) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_OUTPUT;
	}
	put_summary(f, r, s);
	if (f == stdout)
		return tool_finish(TOOL_OK);
	if (fflush(f) | ferror(f) | fclose(f)) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_OUTPUT;
	}
	return TOOL_OK;
}
