// SPDX-License-Identifier: GPL-2.0
/*
 * export_firefox - a profile for profiler.firefox.com
 *
 * The Gecko profile format, docs-developer/gecko-profile-format.md of firefox-devtools/profiler, as
 * Firefox itself writes it and as that site upgrades it from older versions: for each thread a
 * sample an event, tables of frames and stacks, and a marker for each wait. Times are milliseconds
 * since the first record. Frames are "FUNCTION (in FILE)".
 *
 * With --lines it is the processed format, see export_firefox.h.
 *
 * Threads come one after the other, so all samples are kept in memory, 24 bytes each.
 */
#include <errno.h>
#include <inttypes.h>

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

static int by_tid(const void *a, const void *b)
{
	const struct firefox_sample *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->ts > y->ts) - (x->ts < y->ts);
}

static int waits_by_tid(const void *a, const void *b)
{
	const struct firefox_wait *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* ---- the tables of a thread ---- */

static uint32_t get_frame(struct firefox *f, uint32_t entry)
{
	uint32_t i, *v;
	size_t pos;

	for_each_hidx(&f->frame_idx, hash64(entry), pos, i)
		if (f->frames.v[i] == entry)
			return i;
	v = vec_add(&f->frames);
	if (!v || hidx_add(&f->frame_idx, hash64(entry), f->frames.nr - 1))
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
	n = vec_add(&f->nodes);
	if (!n || hidx_add(&f->node_idx, hash, f->nodes.nr - 1))
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
		v = export_stack(f->e, s[i].kstack, s[i].ustack, &n);
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

void firefox_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned int)(ns % 1000000));
}

static void put_string(FILE *out, const char *s)
{
	cmd_json_string(out, s, strlen(s));
}

void firefox_name(struct firefox *f, const struct export_entry *ent)
{
	text_clear(&f->t);
	if (ent->name)
		text_add(&f->t, ent->name);
	else
		text_addf(&f->t, "0x%" PRIx64, ent->frame->file ? ent->frame->offset :
			  ent->frame->addr);
}

const char *firefox_file(const struct export_entry *ent)
{
	if (!ent->frame)
		return NULL;
	return ent->frame->kernel ? "kernel" :
	       ent->frame->file ? export_base(ent->frame->file->path) : NULL;
}

int firefox_category(const struct export_entry *ent)
{
	if (!ent->frame)
		return CATEGORY_NOTE;
	return ent->frame->kernel ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void put_location(struct firefox *f, uint32_t entry)
{
	struct export_entry ent;
	const char *file;

	export_entry(f->e, entry, &ent);
	firefox_name(f, &ent);
	file = firefox_file(&ent);
	if (file) {
		text_add(&f->t, " (in ");
		text_add(&f->t, file);
		text_add(&f->t, ")");
	}
	cmd_json_string(f->e->out, f->t.v, f->t.nr);
}

static void put_samples(struct firefox *f, const struct firefox_sample *s, size_t nr)
{
	FILE *out = f->e->out;
	size_t i;

	fputs("\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[", out);
	for (i = 0; i < nr; i++) {
		if (f->stacks.v[i] == UINT32_MAX)
			fprintf(out, "%s[null,", i ? "," : "");
		else
			fprintf(out, "%s[%u,", i ? "," : "", f->stacks.v[i]);
		firefox_ms(out, export_since(f->e, s[i].ts));
		fputs(",0]", out);
	}
	fputs("]}", out);
}

static void put_tables(struct firefox *f)
{
	struct export_entry ent;
	FILE *out = f->e->out;
	size_t i;

	fputs(",\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,"
	      "\"innerWindowID\":2,\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,"
	      "\"subcategory\":7},\"data\":[", out);
	for (i = 0; i < f->frames.nr; i++) {
		export_entry(f->e, f->frames.v[i], &ent);
		fprintf(out, "%s[%zu,false,0,null,null,null,%d,0]", i ? "," : "", i,
			firefox_category(&ent));
	}
	fputs("]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[", out);
	for (i = 0; i < f->nodes.nr; i++) {
		if (f->nodes.v[i].prefix == UINT32_MAX)
			fprintf(out, "%s[null,%u]", i ? "," : "", f->nodes.v[i].frame);
		else
			fprintf(out, "%s[%u,%u]", i ? "," : "", f->nodes.v[i].prefix,
				f->nodes.v[i].frame);
	}
	fputs("]},\"stringTable\":[", out);
	for (i = 0; i < f->frames.nr; i++) {
		fputs(i ? "," : "", out);
		put_location(f, f->frames.v[i]);
	}
	/* the last one is the name of the markers */
	fputs(i ? ",\"off-CPU\"]" : "\"off-CPU\"]", out);
}

static const char *state_name(uint64_t state)
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

void firefox_wait_data(FILE *out, const struct firefox_wait *w)
{
	fprintf(out, "{\"type\":\"OffCpu\",\"state\":\"%s\"}", state_name(w->state));
}

static void put_markers(struct firefox *f, const struct firefox_wait *w, size_t nr)
{
	FILE *out = f->e->out;
	size_t i;

	fputs(",\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,"
	      "\"category\":4,\"data\":5},\"data\":[", out);
	for (i = 0; i < nr; i++) {
		fprintf(out, "%s[%zu,", i ? "," : "", f->frames.nr);
		firefox_ms(out, export_since(f->e, w[i].from));
		fputc(',', out);
		firefox_ms(out, export_since(f->e, w[i].from + w[i].ns));
		/* phase 1: an interval */
		fprintf(out, ",1,%d,", CATEGORY_WAIT);
		firefox_wait_data(out, &w[i]);
		fputc(']', out);
	}
	fputs("]}", out);
}

static void put_thread(struct firefox *f, const struct firefox_thread *t)
{
	uint32_t pid = export_pid(f->e, t->tid);
	FILE *out = f->e->out;

	fputs("{\"name\":", out);
	put_string(out, model_comm(f->e->m, t->tid));
	fputs(",\"processType\":\"default\",\"processName\":", out);
	put_string(out, model_comm(f->e->m, pid));
	fprintf(out, ",\"tid\":%u,\"pid\":%u,\"registerTime\":0,\"unregisterTime\":null,", t->tid,
		pid);
	put_samples(f, t->samples, t->nr);
	put_tables(f);
	put_markers(f, t->waits, t->nr_waits);
	fputc('}', out);
}

static void put_head(struct firefox *f, bool lines)
{
	const struct model_info *info = model_info(f->e->m);
	FILE *out = f->e->out;

	fprintf(out, "{\"meta\":{\"version\":%d,\"startTime\":0,\"shutdownTime\":null,"
		"\"interval\":1,\"stackwalk\":1,\"debug\":0,\"gcpoison\":0,\"asyncstack\":0,"
		"\"processType\":0,\"platform\":\"Linux\",\"product\":", GECKO_VERSION);
	put_string(out, export_base(f->e->path));
	fputs(",\"importedFrom\":\"trace-ustack\",", out);
	if (lines)
		fprintf(out, "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,",
			FIREFOX_PROCESSED);
	else
		fputs("\"presymbolicated\":true,", out);
	fprintf(out, "\"logicalCPUs\":%u,\"categories\":["
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Missing\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Waiting\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}],"
		"\"markerSchema\":[{\"name\":\"OffCpu\",\"tooltipLabel\":\"off-CPU\","
		"\"tableLabel\":\"{marker.data.state}\",\"chartLabel\":\"{marker.data.state}\","
		"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		"\"%s\":[{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"}]}],",
		info->cpus, lines ? "fields" : "data");
	fputs(lines ? "\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0}}," :
	      "\"extensions\":{\"schema\":{\"id\":0,\"name\":1,\"baseURL\":2},\"data\":[]}},"
	      "\"libs\":[],\"pages\":[],\"pausedRanges\":[],\"processes\":[],", out);
	fputs("\"threads\":[", out);
}

/* @l: as with --lines, or NULL. */
static int put_threads(struct firefox *f, struct firefox_lines *l)
{
	struct firefox_thread t;
	size_t i = 0, w = 0, end, wend;
	const char *between = "";
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
		fputs(between, f->e->out);
		if (l)
			ret = firefox_lines_thread(l, f, &t);
		else
			put_thread(f, &t);
		if (ret)
			return ret;
		between = ",\n";
		i = end;
		w = wend;
	}
	return 0;
}

/* The waits, with a model of their own: what the filter leaves out ends waits too. */
static int read_waits(struct firefox *f)
{
	struct gather_opts go = { .by = GATHER_OFF_CPU, .filter = &f->e->opts->filter,
				  .file = f->e->path };
	struct model_filter filter;
	struct waits_stats st;
	struct model *m;
	int ret;

	gather_filter(&go, &filter);
	m = export_again(f->e, &filter);
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
	put_head(f, l);
	ret = put_threads(f, l);
	fputc(']', f->e->out);
	if (l)
		firefox_lines_end(l, f->e->out);
	fputs("}\n", f->e->out);
	firefox_lines_free(l);
	return ret;
}

int export_firefox(struct export *e)
{
	struct firefox f = { .e = e };
	int ret = model_each(e->m, MODEL_BY_TIME, add_sample, &f);

	if (!ret)
		ret = read_waits(&f);
	if (!ret) {
		if (f.samples.nr)
			qsort(f.samples.v, f.samples.nr, sizeof(*f.samples.v), by_tid);
		if (f.waits.nr)
			qsort(f.waits.v, f.waits.nr, sizeof(*f.waits.v), waits_by_tid);
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
