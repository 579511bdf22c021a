// SPDX-License-Identifier: GPL-2.0
/*
 * pprof.c - write a profile for pprof and for the stores that accept its format
 *
 * The file is a perftools.profiles.Profile, as proto/profile.proto of github.com/google/pprof
 * defines it, compressed by gzip. Each sample has two values: the number of events, and the
 * nanoseconds that the task was off the CPU. Its labels are thread, tid, pid and event. The address
 * of a user frame is its offset in its file, so that profiles of several machines add up; kernel
 * addresses stay as they are.
 */
#include <errno.h>
#include <zlib.h>

#include "export.h"
#include "trace-cmd-ext/stacks/stacks.h"
#include "proto.h"

/* fields of Profile, and of the messages in it */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
       PROFILE_FUNCTION, PROFILE_STRING_TABLE, PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS,
       PROFILE_COMMENT = 13, PROFILE_DEFAULT_SAMPLE_TYPE };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILENAME,
       MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILENAMES, MAPPING_HAS_LINE_NUMBERS,
       MAPPING_HAS_INLINE_FRAMES };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };

struct func {
	uint32_t name, source;		/* strings */
};

/* The key of a location. Locations of two models of the same file have equal keys. */
struct pprof_location {
	uint32_t name;			/* string */
	uint32_t mapping;		/* ID, or 0 */
	uint64_t address;
	uint64_t id;
};

struct pprof_mapping {
	uint32_t file, build_id;	/* strings */
	uint64_t limit;
	bool lines;			/* a location in it has a line number */
};

/* The values of a task with these stacks: its events, or the time that it was off the CPU */
struct sum {
	uint32_t tid, kstack, ustack;
	uint64_t nr, ns;
};

struct pprof {
	struct export *e;
	struct text body, msg, sub;	/* the profile; a message; a message in that message */
	struct strtab strings;
	VEC(struct pprof_location) locations;
	struct hidx location_idx;
	VEC(struct pprof_mapping) mappings;
	VEC(struct func) functions;	/* by id - 1 */
	struct hidx function_idx;
	VEC(uint64_t) ids;
	VEC(struct sum) sums;
	struct hidx sum_idx;
	bool failed;
};

/* String 0 is "" (the format asks for that). */
static uint32_t intern_string(struct pprof *p, const char *s)
{
	uint32_t n = strtab_add(&p->strings, s, strlen(s));

	p->failed |= n == UINT32_MAX;
	return n == UINT32_MAX ? 0 : n;
}

/* Mapping ids start at 1; 0 stands for no mapping. */
static uint64_t intern_mapping(struct pprof *p, const struct model_frame *f)
{
	uint32_t file, build_id = 0, i;
	char hex[41] = "";
	struct pprof_mapping *m;

	if (!f->kernel && !f->file)
		return 0;
	file = intern_string(p, f->kernel ? "[kernel.kallsyms]" : f->file->path);
	for (i = 0; f->file && i < f->file->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", f->file->build_id[i]);
	build_id = intern_string(p, hex);
	for (i = 0; i < p->mappings.nr; i++)
		if (p->mappings.v[i].file == file && p->mappings.v[i].build_id == build_id)
			break;
	m = i < p->mappings.nr ? &p->mappings.v[i] : vec_add(&p->mappings);
	if (!m) {
		p->failed = true;
		return 0;
	}
	m->file = file;
	m->build_id = build_id;
	if (!f->kernel && f->offset >= m->limit)
		m->limit = f->offset + 1;
	return i + 1;
}

/* Function ids start at 1; 0 stands for no function. A name in two files is two functions. */
static uint64_t intern_function(struct pprof *p, const char *name, const char *source)
{
	struct func want = { intern_string(p, name), source ? intern_string(p, source) : 0 }, *f;
	uint64_t hash = hash64((uint64_t)want.name << 32 | want.source);
	uint32_t i;
	size_t pos;

	for_each_hidx(&p->function_idx, hash, pos, i) {
		f = &p->functions.v[i];
		if (f->name == want.name && f->source == want.source)
			return i + 1;
	}
	f = vec_add_hashed(&p->functions, &p->function_idx, hash);
	if (!f) {
		p->failed = true;
		return 0;
	}
	*f = want;
	proto_number(&p->msg, FUNCTION_ID, p->functions.nr);
	proto_number(&p->msg, FUNCTION_NAME, want.name);
	proto_number(&p->msg, FUNCTION_SYSTEM_NAME, want.name);
	if (want.source)
		proto_number(&p->msg, FUNCTION_FILENAME, want.source);
	proto_message(&p->body, PROFILE_FUNCTION, &p->msg);
	return p->functions.nr;
}

/*
 * Write the functions at a place to @msg: the inlined ones, whose entries are right before @at,
 * innermost first, and then the function of the place. Messages of new functions go to p->body.
 */
static void put_lines(struct pprof *p, struct export *e, const uint32_t *at, uint32_t before,
		      uint64_t map, struct text *msg)
{
	struct export_entry ent;
	const uint32_t *v = at;
	const char *name;
	uint64_t func;

	while (before-- > 0 && v[-1] & EXPORT_INLINED)
		v--;
	for (; v <= at; v++) {
		export_get_entry(e, *v, &ent);
		name = ent.name || !ent.depth ? ent.name : "[unknown]";
		func = name ? intern_function(p, name, ent.source) : 0;
		if (func)
			proto_number(&p->sub, LINE_FUNCTION_ID, func);
		if (ent.line)
			proto_number(&p->sub, LINE_LINE, ent.line);
		if (func || ent.line)
			proto_message(msg, LOCATION_LINE, &p->sub);
		if (ent.line && map)
			p->mappings.v[map - 1].lines = true;
	}
}

/* The id of the place of the entry @at. @before entries for inlined functions are before it. */
static uint64_t intern_location(struct pprof *p, struct export *e, const uint32_t *at,
				uint32_t before)
{
	struct pprof_location want = { 0 }, *have;
	const struct model_frame *f;
	struct text lines = { 0 };
	struct export_entry ent;
	uint64_t hash, map;
	uint32_t i;
	size_t pos;

	export_get_entry(e, *at, &ent);
	f = ent.frame;
	want.name = intern_string(p, ent.name ? ent.name : "");
	map = f ? intern_mapping(p, f) : 0;
	if (f) {
		want.mapping = map;
		want.address = f->file ? f->offset : f->addr;
	}
	hash = hash64(want.address ^ hash64((uint64_t)want.name << 32 | want.mapping));
	for_each_hidx(&p->location_idx, hash, pos, i) {
		have = &p->locations.v[i];
		if (have->name == want.name && have->mapping == want.mapping &&
		    have->address == want.address)
			return have->id;
	}
	have = vec_add_hashed(&p->locations, &p->location_idx, hash);
	if (!have) {
		p->failed = true;
		return 0;
	}
	*have = want;
	have->id = p->locations.nr;
	put_lines(p, e, at, before, map, &lines);
	proto_number(&p->msg, LOCATION_ID, p->locations.nr);
	if (map)
		proto_number(&p->msg, LOCATION_MAPPING_ID, map);
	proto_number(&p->msg, LOCATION_ADDRESS, want.address);
	text_add_bytes(&p->msg, lines.v, lines.nr);
	p->failed |= lines.failed;
	vec_free(&lines);
	proto_message(&p->body, PROFILE_LOCATION, &p->msg);
	return p->locations.nr;
}

static void add_label(struct pprof *p, struct text *msg, const char *key, const char *str,
		      uint64_t num)
{
	struct text l = { 0 };

	proto_number(&l, LABEL_KEY, intern_string(p, key));
	if (str)
		proto_number(&l, LABEL_STR, intern_string(p, str));
	else
		proto_number(&l, LABEL_NUM, num);
	proto_message(msg, SAMPLE_LABEL, &l);
	vec_free(&l);
}

static int put_sample(struct pprof *p, struct export *e, const char *event, const struct sum *s)
{
	uint64_t values[2] = { s->nr, s->ns }, *id;
	struct text msg = { 0 };
	const uint32_t *v;
	uint32_t n, i;

	v = export_get_stack(e, s->kstack, s->ustack, &n);
	if (!v)
		return -ENOMEM;
	p->ids.nr = 0;
	for (i = 0; i < n; i++) {
		/* an inlined function is a line of the next frame */
		if (v[i] & EXPORT_INLINED)
			continue;
		id = vec_add(&p->ids);
		if (!id)
			return -ENOMEM;
		*id = intern_location(p, e, v + i, i);
	}
	proto_packed(&msg, SAMPLE_LOCATION_ID, p->ids.v, p->ids.nr);
	proto_packed(&msg, SAMPLE_VALUE, values, 2);
	add_label(p, &msg, "thread", model_get_comm(e->m, s->tid), 0);
	add_label(p, &msg, "tid", NULL, s->tid);
	add_label(p, &msg, "pid", NULL, export_get_pid(e, s->tid));
	add_label(p, &msg, "event", event, 0);
	proto_message(&p->body, PROFILE_SAMPLE, &msg);
	vec_free(&msg);
	return p->failed || p->body.failed ? -ENOMEM : 0;
}

static int count_events(struct pprof *p)
{
	const struct model_count *v;
	const struct model_type *t;
	struct sum sum;
	char event[300];
	size_t nr, i;
	int ret = model_get_counts(p->e->m, &v, &nr);

	for (i = 0; i < nr && !ret; i++) {
		t = model_get_type(p->e->m, v[i].type);
		snprintf(event, sizeof(event), "%s:%s", t->system, t->name);
		sum = (struct sum){ v[i].tid, v[i].kstack, v[i].ustack, v[i].nr, 0 };
		ret = put_sample(p, p->e, event, &sum);
	}
	return ret;
}

/* ---- off-CPU ---- */

static int add_wait(void *data, const struct wait *w, uint64_t ns)
{
	struct pprof *p = data;
	uint64_t hash = hash64((uint64_t)w->kstack << 32 | w->ustack) ^ hash64(w->tid);
	struct sum *s;
	uint32_t i;
	size_t pos;

	for_each_hidx(&p->sum_idx, hash, pos, i) {
		s = &p->sums.v[i];
		if (s->tid == w->tid && s->kstack == w->kstack && s->ustack == w->ustack) {
			s->ns += ns;
			return 0;
		}
	}
	s = vec_add_hashed(&p->sums, &p->sum_idx, hash);
	if (!s)
		return -ENOMEM;
	s->tid = w->tid;
	s->kstack = w->kstack;
	s->ustack = w->ustack;
	s->ns = ns;
	return 0;
}

/* Add the waits from a second model, because events that the filter leaves out end waits too. */
static int add_off_cpu(struct pprof *p)
{
	struct gather_opts go = { .by = GATHER_OFF_CPU, .filter = &p->e->opts->filter,
				  .file = p->e->path };
	struct export e = { .out = p->e->out, .path = p->e->path, .opts = p->e->opts };
	struct model_filter filter;
	struct waits_stats st;
	size_t i;
	int ret;

	gather_make_filter(&go, &filter);
	e.m = export_open_again(p->e, &filter);
	if (!e.m)
		return -EIO;
	ret = gather_waits(e.m, &go, add_wait, p, &st);
	if (ret == -ENODATA)		/* a recording without sched_switch has none */
		ret = 0;
	for (i = 0; i < p->sums.nr && !ret; i++)
		ret = put_sample(p, &e, "sched:sched_switch", &p->sums.v[i]);
	export_free(&e);
	model_close(e.m);
	return ret;
}

/* ---- the profile ---- */

static void put_sample_type(struct pprof *p, const char *type, const char *unit)
{
	proto_number(&p->msg, 1, intern_string(p, type));
	proto_number(&p->msg, 2, intern_string(p, unit));
	proto_message(&p->body, PROFILE_SAMPLE_TYPE, &p->msg);
}

static void put_tables(struct pprof *p)
{
	const struct model_info *info = model_get_info(p->e->m);
	const struct pprof_mapping *m;
	size_t i, len;

	for (i = 0; i < p->mappings.nr; i++) {
		m = &p->mappings.v[i];
		proto_number(&p->msg, MAPPING_ID, i + 1);
		/* addresses are offsets in a file, or of the kernel: all are in this range */
		proto_number(&p->msg, MAPPING_START, 0);
		proto_number(&p->msg, MAPPING_LIMIT, m->limit ? m->limit : UINT64_MAX);
		proto_number(&p->msg, MAPPING_FILENAME, m->file);
		if (m->build_id)
			proto_number(&p->msg, MAPPING_BUILD_ID, m->build_id);
		proto_number(&p->msg, MAPPING_HAS_FUNCTIONS, 1);
		if (m->lines) {
			proto_number(&p->msg, MAPPING_HAS_FILENAMES, 1);
			proto_number(&p->msg, MAPPING_HAS_LINE_NUMBERS, 1);
			proto_number(&p->msg, MAPPING_HAS_INLINE_FRAMES, 1);
		}
		proto_message(&p->body, PROFILE_MAPPING, &p->msg);
	}
	if (info->nsec)
		proto_number(&p->body, PROFILE_DURATION_NANOS, info->last_ts - info->first_ts);
	proto_number(&p->body, PROFILE_DEFAULT_SAMPLE_TYPE, intern_string(p, "events"));
	for (i = 0; i < p->strings.v.nr; i++)
		proto_string(&p->body, PROFILE_STRING_TABLE, strtab_get(&p->strings, i, &len));
}

static int write_gzip(struct pprof *p)
{
	z_stream z = { 0 };
	char buf[1 << 16];
	int ret;

	/* 16 more than the window's bits: gzip, RFC 1952 */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	z.next_in = (unsigned char *)p->body.v;
	z.avail_in = p->body.nr;
	do {
		z.next_out = (unsigned char *)buf;
		z.avail_out = sizeof(buf);
		ret = deflate(&z, Z_FINISH);
		fwrite(buf, 1, sizeof(buf) - z.avail_out, p->e->out);
	} while (ret == Z_OK);
	deflateEnd(&z);
	return ret == Z_STREAM_END ? 0 : -ENOMEM;
}

int export_pprof(struct export *e)
{
	struct pprof p = { .e = e };
	int ret;

	intern_string(&p, "");
	put_sample_type(&p, "events", "count");
	put_sample_type(&p, "offcpu", "nanoseconds");
	ret = count_events(&p);
	if (!ret)
		ret = add_off_cpu(&p);
	if (!ret) {
		put_tables(&p);
		ret = p.failed || p.body.failed || p.body.nr > UINT32_MAX ? -ENOMEM :
		      write_gzip(&p);
	}
	vec_free(&p.body);
	vec_free(&p.msg);
	vec_free(&p.sub);
	strtab_free(&p.strings);
	vec_free(&p.locations);
	hidx_free(&p.location_idx);
	vec_free(&p.mappings);
	vec_free(&p.functions);
	hidx_free(&p.function_idx);
	vec_free(&p.ids);
	vec_free(&p.sums);
	hidx_free(&p.sum_idx);
	return ret;
}
