// SPDX-License-Identifier: GPL-2.0
/*
 * firefox.c - a profile for profiler.firefox.com
 *
 * This file writes the Gecko profile format, docs-developer/gecko-profile-format.md of
 * firefox-devtools/profiler, as Firefox itself writes it and as that site upgrades it from older
 * versions. Each thread has a sample for each event, tables of frames and stacks, and a marker for
 * each wait. Times are milliseconds since the first record. Frames are "FUNCTION (in FILE)".
 *
 * With --lines, firefox_lines.c writes the threads in the processed format, see firefox.h.
 *
 * Threads are written one after the other, so all samples stay in memory, 24 bytes each.
 */
#include <errno.h>
#include <inttypes.h>

#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"
#include "firefox.h"
#include "trace-cmd-ext/stacks/stacks.h"

#define GECKO_VERSION	30

static int add_sample(void *data, const struct model_event *ev)
{
	struct firefox *f = data;
	struct firefox_sample *s = vec_add(&f->samples);

	if (!s)
		return -ENOMEM;
	s->ts = ev->ts;
	s->tid = ev->tid;
	s->kstack = ev->kstack;
	s->ustack = ev->ustack;
	s->type = ev->type;
	return 0;
}

static int add_wait(void *data, const struct wait *w, uint64_t ns)
{
	struct firefox *f = data;
	struct firefox_wait *v = vec_add(&f->waits);

	if (!v)
		return -ENOMEM;
	v->from = w->from;
	v->ns = ns;
	v->state = w->state;
	v->tid = w->tid;
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct firefox_sample *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->tid, y->tid);
	return cmp_int(x->ts, y->ts);
}

static int compare_waits(const void *a, const void *b)
{
	const struct firefox_wait *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->tid, y->tid);
	return cmp_int(x->from, y->from);
}

/* ---- the tables of a thread ---- */

static uint32_t get_frame(struct firefox *f, uint32_t entry)
{
	uint32_t i, *v;
	size_t pos;

	for_each_hidx(&f->frame_idx, hash64(entry), pos, i)
		if (f->frames.v[i] == entry)
			return i;
	v = vec_add_hashed(&f->frames, &f->frame_idx, hash64(entry));
	if (!v)
		return UINT32_MAX;
	*v = entry;
	return f->frames.nr - 1;
}

static uint32_t get_node(struct firefox *f, uint32_t prefix, uint32_t frame)
{
	uint64_t hash = hash64((uint64_t)prefix << 32 | frame);
	struct firefox_node *n;
	uint32_t i;
	size_t pos;

	for_each_hidx(&f->node_idx, hash, pos, i)
		if (f->nodes.v[i].prefix == prefix && f->nodes.v[i].frame == frame)
			return i;
	n = vec_add_hashed(&f->nodes, &f->node_idx, hash);
	if (!n)
		return UINT32_MAX;
	n->prefix = prefix;
	n->frame = frame;
	return f->nodes.nr - 1;
}

static int make_tables(struct firefox *f, const struct firefox_sample *s, size_t nr)
{
	uint32_t n, node, frame, *stack;
	const uint32_t *v;
	size_t i;

	f->nodes.nr = f->frames.nr = f->stacks.nr = 0;
	hidx_clear(&f->node_idx);
	hidx_clear(&f->frame_idx);
	for (i = 0; i < nr; i++) {
		v = export_get_stack(f->e, s[i].kstack, s[i].ustack, &n);
		stack = vec_add(&f->stacks);
		if (!v || !stack)
			return -ENOMEM;
		for (node = UINT32_MAX; n-- > 0; ) {
			frame = get_frame(f, v[n]);
			node = frame == UINT32_MAX ? frame : get_node(f, node, frame);
			if (node == UINT32_MAX)
				return -ENOMEM;
		}
		*stack = node;
	}
	return 0;
}

/* ---- JSON ---- */

void firefox_put_ms(struct jsonw *j, const char *key, uint64_t ns)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%" PRIu64 ".%06u", ns / 1000000,
		 (unsigned int)(ns % 1000000));
	jsonw_value(j, key, buf);
}

void firefox_put_index(struct jsonw *j, uint32_t index)
{
	if (index == UINT32_MAX)
		jsonw_null(j, NULL);
	else
		jsonw_number(j, NULL, index);
}

void firefox_set_name(struct firefox *f, const struct export_entry *ent)
{
	text_clear(&f->t);
	if (ent->name)
		text_add(&f->t, ent->name);
	else
		text_addf(&f->t, "0x%" PRIx64, ent->frame->file ? ent->frame->offset :
			  ent->frame->addr);
}

const char *firefox_get_file(const struct export_entry *ent)
{
	if (!ent->frame)
		return NULL;
	return ent->frame->kernel ? "kernel" :
	       ent->frame->file ? text_base_name(ent->frame->file->path) : NULL;
}

int firefox_get_category(const struct export_entry *ent)
{
	if (!ent->frame)
		return CATEGORY_NOTE;
	return ent->frame->kernel ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void put_location(struct firefox *f, uint32_t entry)
{
	struct export_entry ent;
	const char *file;

	export_get_entry(f->e, entry, &ent);
	firefox_set_name(f, &ent);
	file = firefox_get_file(&ent);
	if (file) {
		text_add(&f->t, " (in ");
		text_add(&f->t, file);
		text_add(&f->t, ")");
	}
	jsonw_bytes(&f->json, NULL, f->t.v, f->t.nr);
}

/* Start a table whose rows are arrays; @schema has the index of each column. */
static void start_table(struct jsonw *j, const char *name, const char *schema)
{
	jsonw_object(j, name);
	jsonw_value(j, "schema", schema);
	jsonw_array(j, "data");
}

static void end_table(struct jsonw *j)
{
	jsonw_end(j);
	jsonw_end(j);
}

static void put_samples(struct firefox *f, const struct firefox_sample *s, size_t nr)
{
	struct jsonw *j = &f->json;
	size_t i;

	start_table(j, "samples", "{\"stack\":0,\"time\":1,\"eventDelay\":2}");
	for (i = 0; i < nr; i++) {
		jsonw_array(j, NULL);
		firefox_put_index(j, f->stacks.v[i]);
		firefox_put_ms(j, NULL, export_get_time(f->e, s[i].ts));
		jsonw_number(j, NULL, 0);
		jsonw_end(j);
	}
	end_table(j);
}

static void put_tables(struct firefox *f)
{
	struct jsonw *j = &f->json;
	struct export_entry ent;
	size_t i;

	start_table(j, "frameTable", "{\"location\":0,\"relevantForJS\":1,\"innerWindowID\":2,"
		    "\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,"
		    "\"subcategory\":7}");
	for (i = 0; i < f->frames.nr; i++) {
		export_get_entry(f->e, f->frames.v[i], &ent);
		jsonw_array(j, NULL);
		jsonw_number(j, NULL, i);
		jsonw_bool(j, NULL, false);
		jsonw_number(j, NULL, 0);
		jsonw_null(j, NULL);
		jsonw_null(j, NULL);
		jsonw_null(j, NULL);
		jsonw_number(j, NULL, firefox_get_category(&ent));
		jsonw_number(j, NULL, 0);
		jsonw_end(j);
	}
	end_table(j);
	start_table(j, "stackTable", "{\"prefix\":0,\"frame\":1}");
	for (i = 0; i < f->nodes.nr; i++) {
		jsonw_array(j, NULL);
		firefox_put_index(j, f->nodes.v[i].prefix);
		jsonw_number(j, NULL, f->nodes.v[i].frame);
		jsonw_end(j);
	}
	end_table(j);
	jsonw_array(j, "stringTable");
	for (i = 0; i < f->frames.nr; i++)
		put_location(f, f->frames.v[i]);
	/* the last string is the name of the markers */
	jsonw_string(j, NULL, "off-CPU");
	jsonw_end(j);
}

static const char *get_state_name(uint64_t state)
{
	switch (state & 0xff) {
	case 0: return "preempted";
	case 1: return "sleeping";
	case 2: return "uninterruptible";
	case 4: return "stopped";
	case 8: return "traced";
	case 0x40: return "parked";
	case 0x80: return "idle";
	default: return "other";
	}
}

void firefox_put_wait(struct jsonw *j, const struct firefox_wait *w)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "type", "OffCpu");
	jsonw_string(j, "state", get_state_name(w->state));
	jsonw_end(j);
}

static void put_markers(struct firefox *f, const struct firefox_wait *w, size_t nr)
{
	struct jsonw *j = &f->json;
	size_t i;

	start_table(j, "markers", "{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,"
		    "\"category\":4,\"data\":5}");
	for (i = 0; i < nr; i++) {
		jsonw_array(j, NULL);
		jsonw_number(j, NULL, f->frames.nr);
		firefox_put_ms(j, NULL, export_get_time(f->e, w[i].from));
		firefox_put_ms(j, NULL, export_get_time(f->e, w[i].from + w[i].ns));
		jsonw_number(j, NULL, 1);	/* an interval */
		jsonw_number(j, NULL, CATEGORY_WAIT);
		firefox_put_wait(j, &w[i]);
		jsonw_end(j);
	}
	end_table(j);
}

static void put_thread(struct firefox *f, const struct firefox_thread *t)
{
	uint32_t pid = export_get_pid(f->e, t->tid);
	struct jsonw *j = &f->json;

	jsonw_object(j, NULL);
	jsonw_string(j, "name", model_get_comm(f->e->m, t->tid));
	jsonw_string(j, "processType", "default");
	jsonw_string(j, "processName", model_get_comm(f->e->m, pid));
	jsonw_number(j, "tid", t->tid);
	jsonw_number(j, "pid", pid);
	jsonw_number(j, "registerTime", 0);
	jsonw_null(j, "unregisterTime");
	put_samples(f, t->samples, t->nr);
	put_tables(f);
	put_markers(f, t->waits, t->nr_waits);
	jsonw_end(j);
}

static void put_meta(struct firefox *f, bool lines)
{
	struct jsonw *j = &f->json;

	jsonw_object(j, "meta");
	jsonw_number(j, "version", GECKO_VERSION);
	jsonw_number(j, "startTime", 0);
	jsonw_null(j, "shutdownTime");
	jsonw_number(j, "interval", 1);
	jsonw_number(j, "stackwalk", 1);
	jsonw_number(j, "debug", 0);
	jsonw_number(j, "gcpoison", 0);
	jsonw_number(j, "asyncstack", 0);
	jsonw_number(j, "processType", 0);
	jsonw_string(j, "platform", "Linux");
	jsonw_string(j, "product", text_base_name(f->e->path));
	jsonw_string(j, "importedFrom", "trace-ustack");
	if (lines)
		jsonw_number(j, "preprocessedProfileVersion", FIREFOX_PROCESSED);
	jsonw_bool(j, lines ? "symbolicated" : "presymbolicated", true);
	jsonw_number(j, "logicalCPUs", model_get_info(f->e->m)->cpus);
	jsonw_value(j, "categories",
		   "[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		   "{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		   "{\"name\":\"Missing\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		   "{\"name\":\"Waiting\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}]");
	jsonw_array(j, "markerSchema");
	jsonw_object(j, NULL);
	jsonw_string(j, "name", "OffCpu");
	jsonw_string(j, "tooltipLabel", "off-CPU");
	jsonw_string(j, "tableLabel", "{marker.data.state}");
	jsonw_string(j, "chartLabel", "{marker.data.state}");
	jsonw_value(j, "display", "[\"marker-chart\",\"marker-table\",\"timeline-overview\"]");
	jsonw_value(j, lines ? "fields" : "data",
		   "[{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"}]");
	jsonw_end(j);
	jsonw_end(j);
	jsonw_value(j, "extensions", lines ? "{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0}" :
		   "{\"schema\":{\"id\":0,\"name\":1,\"baseURL\":2},\"data\":[]}");
	jsonw_end(j);
}

static void put_head(struct firefox *f, bool lines)
{
	static const char *const none[] = { "libs", "pages", "pausedRanges", "processes" };
	size_t i;

	put_meta(f, lines);
	for (i = 0; !lines && i < ARRAY_SIZE(none); i++)
		jsonw_value(&f->json, none[i], "[]");
}

/* @l: writes the threads with --lines; otherwise NULL. */
static int put_threads(struct firefox *f, struct firefox_lines *l)
{
	struct firefox_thread t;
	size_t i = 0, w = 0, end, wend;
	int ret;

	while (i < f->samples.nr) {
		t.tid = f->samples.v[i].tid;
		for (end = i; end < f->samples.nr && f->samples.v[end].tid == t.tid; end++)
			;
		while (w < f->waits.nr && f->waits.v[w].tid < t.tid)
			w++;
		for (wend = w; wend < f->waits.nr && f->waits.v[wend].tid == t.tid; wend++)
			;
		t.samples = f->samples.v + i;
		t.nr = end - i;
		t.waits = f->waits.v + w;
		t.nr_waits = wend - w;
		ret = make_tables(f, t.samples, t.nr);
		if (ret)
			return ret;
		if (l)
			ret = firefox_lines_put_thread(l, f, &t);
		else
			put_thread(f, &t);
		if (ret)
			return ret;
		i = end;
		w = wend;
	}
	return 0;
}

/* Read the waits with a second model, because events that the filter leaves out end waits too. */
static int read_waits(struct firefox *f)
{
	struct gather_opts go = { .by = GATHER_OFF_CPU, .filter = &f->e->opts->filter,
				  .file = f->e->path };
	struct model_filter filter;
	struct waits_stats st;
	struct model *m;
	int ret;

	gather_make_filter(&go, &filter);
	m = export_open_again(f->e, &filter);
	if (!m)
		return -EIO;
	ret = gather_waits(m, &go, add_wait, f, &st);
	model_close(m);
	return ret == -ENODATA ? 0 : ret;
}

static int put_profile(struct firefox *f)
{
	struct firefox_lines *l = NULL;
	int ret;

	if (f->e->opts->lines) {
		l = firefox_lines_new();
		if (!l)
			return -ENOMEM;
	}
	jsonw_object(&f->json, NULL);
	put_head(f, l);
	jsonw_array(&f->json, "threads");
	ret = put_threads(f, l);
	jsonw_end(&f->json);
	if (l)
		firefox_lines_put_libs(l, &f->json);
	jsonw_end(&f->json);
	fputc('\n', f->e->out);
	firefox_lines_free(l);
	return ret;
}

int export_firefox(struct export *e)
{
	struct firefox f = { .e = e, .json = { .file = e->out } };
	int ret = model_for_each(e->m, MODEL_BY_TIME, add_sample, &f);

	if (!ret)
		ret = read_waits(&f);
	if (!ret) {
		if (f.samples.nr)
			qsort(f.samples.v, f.samples.nr, sizeof(*f.samples.v), compare_samples);
		if (f.waits.nr)
			qsort(f.waits.v, f.waits.nr, sizeof(*f.waits.v), compare_waits);
		ret = put_profile(&f);
	}
	vec_free(&f.samples);
	vec_free(&f.waits);
	vec_free(&f.nodes);
	hidx_free(&f.node_idx);
	vec_free(&f.frames);
	hidx_free(&f.frame_idx);
	vec_free(&f.stacks);
	vec_free(&f.t);
	return ret;
}
