// SPDX-License-Identifier: GPL-2.0
/* json.c - prints the counts of stat as one JSON object */
#include <stdio.h>
#include <string.h>

#include "stat.h"

static void put_requests(struct jsonw *j, const struct stat_requests *r)
{
	int i;

	jsonw_object(j, "requests");
	jsonw_number(j, "all", stat_sum_requests(r));
	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++)
		jsonw_number(j, join_words[i].name, r->states[i]);
	jsonw_end(j);
	jsonw_object(j, "stacks");
	for (i = 0; i < STAT_NR_MARKS; i++)
		jsonw_number(j, stat_get_mark_name(i), r->marks[i]);
	jsonw_end(j);
}

static void put_process(struct jsonw *j, struct model *m, const struct stat_process *p)
{
	jsonw_object(j, NULL);
	jsonw_signed(j, "pid", (int)p->pid);
	jsonw_string(j, "comm", stat_get_process_name(m, p));
	jsonw_number(j, "events", p->events);
	put_requests(j, &p->r);
	jsonw_end(j);
}

static void put_file(struct jsonw *j, const struct stat_file *f)
{
	static const char *const known[] = {
		[STAT_UNKNOWN] = "unknown", [STAT_RECORDED] = "recorded",
		[STAT_POSSIBLE] = "possible", [STAT_NO_FILE] = "no-file",
	};

	jsonw_object(j, NULL);
	jsonw_string(j, "file", stat_get_file_name(f));
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
			    tables_get_cause_name(f->cause));
		jsonw_number(j, "text_bytes", f->text_bytes);
		jsonw_number(j, "covered_bytes", f->covered_bytes);
		jsonw_number(j, "holes", f->holes);
	}
	jsonw_end(j);
}

static void put_event(struct jsonw *j, struct model *m, const struct stat_event *e)
{
	const struct model_type *t = model_get_type(m, e->type);

	jsonw_object(j, NULL);
	jsonw_string(j, "system", t->system);
	jsonw_string(j, "event", t->name);
	jsonw_number(j, "events", e->nr);
	jsonw_number(j, "all_records", t->records);
	jsonw_number(j, "all_bytes", t->bytes);
	jsonw_end(j);
}

static void put_head(struct jsonw *j, const struct model_info *info, const struct stat_counts *s)
{
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

void stat_print_json(struct model *m, const struct stat_counts *s, const char *path)
{
	struct jsonw j = { .file = stdout };
	size_t i;

	jsonw_object(&j, NULL);
	jsonw_string(&j, "file", path);
	put_head(&j, model_get_info(m), s);
	put_requests(&j, &s->r);
	jsonw_object(&j, "no_request");
	jsonw_number(&j, "user", s->unasked);
	jsonw_number(&j, "other", s->never_asked);
	jsonw_end(&j);
	jsonw_object(&j, "ends");
	for (i = 0; i < END_NR; i++)
		jsonw_number(&j, end_reason_get_name(i), s->ends[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_process");
	for (i = 0; i < s->processes.nr; i++)
		put_process(&j, m, &s->processes.v[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_file");
	for (i = 0; i < s->files.nr; i++)
		put_file(&j, &s->files.v[i]);
	jsonw_end(&j);
	jsonw_array(&j, "by_event");
	for (i = 0; i < s->by_event.nr; i++)
		put_event(&j, m, &s->by_event.v[i]);
	jsonw_end(&j);
	jsonw_end(&j);
	putchar('\n');
}
