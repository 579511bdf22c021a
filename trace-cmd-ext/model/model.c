// SPDX-License-Identifier: GPL-2.0
/* model.c - open a file, scan it once, and answer questions about the file. See model.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/base/base.h"
#include "plugin/recording/recording.h"
#include "impl.h"

#define PROGRESS_EVERY	(1 << 16)

static enum record_kind kind_of(const struct model *m, const struct tep_event *event, int id)
{
	if (id == m->dec.id_kernel_stack)
		return RECORD_KSTACK;
	if (id == m->dec.id_cookie)
		return RECORD_COOKIE;
	if (id == m->dec.id_stack || id == m->dec.id_again)
		return RECORD_STACK;
	if (id == m->dec.id_map)
		return RECORD_MAP;
	if (event && event->system && !strcmp(event->system, "ftrace") && event->name &&
	    !strcmp(event->name, "user_stack"))
		return RECORD_EXTRA;
	return RECORD_EVENT;
}

static uint32_t add_type(struct model *m, int id)
{
	struct tep_event *event = tep_find_event(m->tep, id);
	struct type *t = vec_add(&m->types);

	if (!t)
		return NO_TYPE;
	t->pub.id = id;
	t->pub.event = event;
	t->pub.system = event && event->system ? event->system : "?";
	t->pub.name = event && event->name ? event->name : "?";
	t->kind = kind_of(m, event, id);
	t->wanted = filter_wants_type(m, &t->pub);
	return m->type_of_id[id] = m->types.nr - 1;
}

/* NO_TYPE for a record that is too short for a type, or if there is not enough memory. */
uint32_t model_find_type_of(struct model *m, const struct decode_common *c)
{
	if (!c->has_type || c->type >= NR_TYPES)
		return NO_TYPE;
	return m->type_of_id[c->type] != NO_TYPE ? m->type_of_id[c->type] : add_type(m, c->type);
}

struct model_task *model_get_task(struct model *m, uint32_t tid)
{
	struct model_task *t = vec_find(&m->tasks, &m->task_idx, tid, tid);

	if (t)
		return t;
	t = vec_get(&m->tasks, &m->task_idx, tid, tid);
	if (t)
		t->wanted = filter_wants_task(m, tid, 0);
	return t;
}

/* Get the process of each thread from its stacks. */
static void find_tgids(struct model *m)
{
	struct join_answer ans;
	struct model_task *t;
	uint32_t i;

	m->tgids = true;
	for (i = 0; i < join_get_nr_runs(m->join); i++) {
		join_get_run(m->join, i, &ans, NULL);
		t = ans.state == JOIN_STACK && ans.tgid ? model_get_task(m, ans.tid) : NULL;
		if (t && t->tgid != ans.tgid) {
			t->tgid = ans.tgid;
			t->wanted = filter_wants_task(m, t->tid, t->tgid);
		}
	}
}

/* ---- the scan ---- */

/* The number of consecutive events of one task. */
struct noted {
	uint32_t tid;
	uint64_t events;
};

static void note_task(struct model *m, struct noted *last)
{
	struct model_task *t = last->events ? model_get_task(m, last->tid) : NULL;

	if (t)
		t->events += last->events;
	last->events = 0;
}

static void note_record(struct model *m, const struct tep_record *rec,
			const struct decode_common *c, struct noted *last)
{
	uint32_t type = model_find_type_of(m, c);
	struct model_info *info = &m->info;

	if (type != NO_TYPE) {
		m->types.v[type].pub.records++;
		m->types.v[type].pub.bytes += rec->record_size;
		if (m->types.v[type].kind == RECORD_EVENT && c->has_tid) {
			if (!last->events || c->tid != last->tid) {
				note_task(m, last);
				last->tid = c->tid;
			}
			last->events++;
		}
	}
	if (!info->records || rec->ts < info->first_ts)
		info->first_ts = rec->ts;
	if (rec->ts > info->last_ts)
		info->last_ts = rec->ts;
	info->records++;
}

static int scan_stream(struct model *m, struct feed *feed, uint32_t stream, uint64_t *done)
{
	const struct reader_stream *s = reader_get_stream(m->reader, stream);
	struct decode_common c;
	struct noted noted = {};
	struct tep_record *rec;
	uint64_t last = 0;
	int ret;

	ret = feed_start_stream(feed, s->buffer, s->cpu);
	if (m->early_counts)
		early_start_stream(m, stream);
	while (!ret && (rec = reader_next(m->reader, stream))) {
		decode_read_common(&m->dec, rec, &c);
		note_record(m, rec, &c, &noted);
		ret = feed_decoded_record(feed, rec, &c);
		if (m->early_counts)
			early_add_record(m, rec, &c);
		*done += last && rec->offset > last ? rec->offset - last : 0;
		last = rec->offset;
		if (m->opts.progress && !(m->info.records % PROGRESS_EVERY))
			m->opts.progress("reading", *done, m->info.bytes);
	}
	note_task(m, &noted);
	if (m->early_counts)
		early_end_stream(m);
	return ret;
}

static int note_dropped(void *data, const char *buffer)
{
	struct model *m = data;
	uint32_t i;
	int ret = 0;

	maps_set_incomplete(m->maps);
	for (i = 0; i < reader_get_nr_buffers(m->reader) && !ret; i++)
		if (!strcmp(buffer, reader_get_buffer_name(m->reader, i)))
			ret = join_set_dropped(m->join, i);
	return ret;
}

/* Does libtracecmd take this clock for one that counts nanoseconds? */
static bool in_nanoseconds(const char *clock)
{
	static const char *const clocks[] = {
		"local", "global", "uptime", "perf", "tsc2nsec", "tai"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(clock, clocks[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

/* The clock of the top buffer counts for the whole file. */
static int note_clock(void *data, const char *buffer, const char *clock)
{
	struct model *m = data;

	if (*buffer)
		return 0;
	snprintf(m->clock, sizeof(m->clock), "%s", clock);
	m->info.nsec = !*clock || in_nanoseconds(clock);
	if (sections_is_slow_clock(clock))
		join_set_slow_clock(m->join);
	return 0;
}

static int scan_records(struct model *m)
{
	struct sink_target target = { .join = m->join, .maps = m->maps };
	struct sections_sink drops = { .dropped = note_dropped, .data = m };
	uint32_t i, nr = reader_get_nr_streams(m->reader);
	uint64_t done = 0;
	struct feed *feed;
	struct sink sink;
	int ret = 0;

	sink_set_to_join(&sink, &target);
	feed = feed_new(m->tep, &sink);
	if (!feed)
		return -ENOMEM;
	m->info.joined = feed_has_events(feed);
	for (i = 0; i < nr && !ret; i++) {
		ret = scan_stream(m, feed, i, &done);
		/* the pages of this CPU are broken, those of the others may be good */
		if (ret == -EILSEQ) {
			m->info.damaged = true;
			ret = 0;
			early_give_up(m);
		}
	}
	if (!ret)
		ret = feed_end_stream(feed);
	feed_free(feed);
	/* a file without readable statistics is read all the same */
	if (!ret && sections_walk(reader_get_fd(m->reader), &drops) == -ENOMEM)
		ret = -ENOMEM;
	m->info.damaged |= reader_is_damaged(m->reader);
	if (m->info.damaged) {
		join_set_damaged(m->join);
		maps_set_incomplete(m->maps);
	}
	if (!ret)
		ret = join_finish(m->join);
	if (!ret)
		ret = maps_finish(m->maps);
	/* make all answers now: a forked process that made some would copy the join */
	if (!ret)
		join_get_stats(m->join, &m->info.join);
	m->read = true;
	return ret;
}

/* ---- opening ---- */

/* If the file lacks user_unwind_* events, any event shows the common fields. */
static void find_commons(struct model *m)
{
	struct tep_event *event = NULL;
	int i;

	if (m->dec.common_type.present && m->dec.common_pid.present)
		return;
	for (i = 0; i < NR_TYPES && !event; i++)
		event = tep_find_event(m->tep, i);
	if (!event)
		return;
	decode_set_field(&m->dec.common_type, tep_find_common_field(event, "common_type"));
	decode_set_field(&m->dec.common_pid, tep_find_common_field(event, "common_pid"));
	decode_set_field(&m->dec.common_flags, tep_find_common_field(event, "common_flags"));
	decode_set_field(&m->dec.common_preempt,
			 tep_find_common_field(event, "common_preempt_count"));
	decode_set_plain(&m->dec);
}

/* Find the clock. If it does not count nanoseconds, convert the filter's times to its units. */
static int find_clock(struct model *m)
{
	struct sections_sink clock = { .clock = note_clock, .data = m };

	m->info.clock = m->clock;
	m->info.nsec = true;
	if (sections_walk(reader_get_fd(m->reader), &clock) == -ENOMEM)
		return -ENOMEM;
	if (m->info.nsec)
		return 0;
	m->opts.filter.from /= 1000000000;
	/* 0 would mean no end */
	if (m->opts.filter.to && !(m->opts.filter.to /= 1000000000))
		m->opts.filter.to = 1;
	return 0;
}

struct model *model_open(const char *path, const struct model_opts *opts, char *why, size_t size)
{
	struct uu_symbols_opts so = { .size = sizeof(so) };
	struct reader_opts ro = {};
	struct model *m = calloc(1, sizeof(*m));
	int ret;

	if (!m) {
		snprintf(why, size, "cannot be read: not enough memory");
		return NULL;
	}
	if (opts)
		m->opts = *opts;
	ro.plugins = m->opts.plugins;
	memset(m->type_of_id, 0xff, sizeof(m->type_of_id));
	m->path = path;
	m->reader = reader_open(path, &ro, why, size);
	if (!m->reader)
		goto fail;
	m->tep = reader_get_tep(m->reader);
	decode_init(&m->dec, m->tep);
	find_commons(m);
	so.sysroot = m->opts.sysroot;
	so.no_demangle = m->opts.no_demangle;
	m->syms = m->opts.lines ? uu_symbols_new_debug(&so) : uu_symbols_new(&so);
	m->jit = jit_open(path, reader_get_trace_id(m->reader));
	m->join = join_new();
	m->maps = maps_new();
	m->info.version = reader_get_version(m->reader);
	m->info.bytes = reader_get_bytes(m->reader);
	m->info.cpus = reader_get_nr_cpus(m->reader);
	m->info.buffers = reader_get_nr_buffers(m->reader);
	ret = m->syms && m->join && m->maps ? find_clock(m) : -ENOMEM;
	if (!ret && m->opts.counts)
		ret = early_start(m);
	if (!ret)
		ret = scan_records(m);
	if (!ret) {
		m->run_ustack = calloc(join_get_nr_runs(m->join) + 1, sizeof(*m->run_ustack));
		if (!m->run_ustack)
			ret = -ENOMEM;
		else if (m->opts.filter.nr_pids)
			find_tgids(m);
	}
	if (ret) {
		snprintf(why, size, ret == -ENOMEM ?
			 "needs more memory for its stacks than there is" :
			 "cannot be read: %s", strerror(-ret));
		goto fail;
	}
	return m;
fail:
	model_close(m);
	return NULL;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	reader_close(m->reader);
	join_free(m->join);
	maps_free(m->maps);
	uu_symbols_free(m->syms);
	jit_free(m->jit);
	vec_free(&m->types);
	vec_free(&m->tasks);
	hidx_free(&m->task_idx);
	vec_free(&m->kstacks);
	vec_free(&m->kaddrs);
	hidx_free(&m->kstack_idx);
	vec_free(&m->ustacks);
	hidx_free(&m->ustack_idx);
	vec_free(&m->list_ustack);
	free(m->run_ustack);
	vec_free(&m->frames);
	hidx_free(&m->frame_idx);
	vec_free(&m->index);
	vec_free(&m->lines);
	early_give_up(m);
	vec_free(&m->counts);
	hidx_free(&m->count_idx);
	free(m);
}

bool model_has_passed_events(struct model *m)
{
	return m->chosen;
}

/* ---- questions about the file ---- */

const struct model_info *model_get_info(struct model *m)
{
	return &m->info;
}

uint32_t model_get_nr_types(struct model *m)
{
	return m->types.nr;
}

const struct model_type *model_get_type(struct model *m, uint32_t type)
{
	return &m->types.v[type].pub;
}

/* The type needs a format in the file, but no record. */
uint32_t model_find_type(struct model *m, const char *system, const char *name)
{
	struct tep_event *event = tep_find_event_by_name(m->tep, system, name);
	uint32_t type;

	if (!event || event->id < 0 || event->id >= NR_TYPES)
		return MODEL_NONE;
	type = m->type_of_id[event->id];
	return type != NO_TYPE ? type : add_type(m, event->id);
}

const char *model_get_comm(struct model *m, uint32_t tid)
{
	const char *comm = tep_data_comm_from_pid(m->tep, tid);

	return comm ? comm : "<...>";
}

uint32_t model_get_tgid(struct model *m, uint32_t tid)
{
	struct model_task *t;

	if (!m->tgids)
		find_tgids(m);
	t = model_get_task(m, tid);
	return t ? t->tgid : 0;
}

const char *model_get_buffer_name(struct model *m, uint32_t buffer)
{
	return reader_get_buffer_name(m->reader, buffer);
}

struct tep_handle *model_get_tep(struct model *m)
{
	return m->tep;
}

bool model_find_field(struct model *m, uint32_t type, const char *name, struct decode_field *f)
{
	struct tep_event *event = type < m->types.nr ? m->types.v[type].pub.event : NULL;

	memset(f, 0, sizeof(*f));
	decode_set_field(f, event ? tep_find_any_field(event, name) : NULL);
	return f->present;
}

bool model_read_number(struct model *m, const struct model_event *ev, const struct decode_field *f,
		       uint64_t *val)
{
	if (!decode_read_number(&m->dec, ev->rec, f, val))
		return false;
	if (f->is_signed && f->size < 8 && *val >> (8 * f->size - 1) & 1)
		*val |= ~0ull << 8 * f->size;
	return true;
}

bool model_read_string(struct model *m, const struct model_event *ev, const struct decode_field *f,
		       const char **s, uint32_t *len)
{
	const void *p;

	if (!decode_find_bytes(&m->dec, ev->rec, f, &p, len))
		return false;
	*s = p;
	*len = strnlen(p, *len);
	return true;
}

struct model_parts model_get_parts(struct model *m)
{
	return (struct model_parts){
		.path = m->path,
		.sysroot = m->opts.sysroot ? m->opts.sysroot : "",
		.no_demangle = m->opts.no_demangle,
		.reader = m->reader,
		.join = m->join,
		.maps = m->maps,
		.decode = &m->dec,
	};
}

bool model_is_event(struct model *m, uint32_t type)
{
	return m->types.v[type].kind == RECORD_EVENT;
}

uint32_t model_get_nr_tasks(struct model *m)
{
	return m->tasks.nr;
}

uint64_t model_get_task_events(struct model *m, uint32_t task, uint32_t *tid)
{
	*tid = m->tasks.v[task].tid;
	return m->tasks.v[task].events;
}

const struct join_answer *model_get_answer(struct model *m, uint32_t ustack)
{
	return &m->ustacks.v[ustack].ans;
}
