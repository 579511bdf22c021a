// SPDX-License-Identifier: GPL-2.0
/*
 * export_firefox - a profile for profiler.firefox.com
 *
 * The Gecko profile format, docs-developer/gecko-profile-format.md of firefox-devtools/profiler, as
 * Firefox itself writes it and as that site upgrades it from older versions: for each thread a
 * sample an event, tables of frames and stacks, and a marker for each wait. Times are milliseconds
 * since the first record. Frames are "FUNCTION (in FILE)".
 *
 * Threads come one after the other, so all samples are kept in memory, 24 bytes each.
 */
#include <errno.h>
#include <inttypes.h>

#include "cmd.h"
#include "export.h"
#include "gather.h"
#include "text.h"

#define GECKO_VERSION	30
/* meta.categories */
enum { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_NOTE, CATEGORY_WAIT };

struct sample {
	uint64_t ts;
	uint32_t tid, kstack, ustack, type;
};

struct waited {
	uint64_t from, ns, state;
	uint32_t tid;
};

/* A node of the stack table of the thread that is written. */
struct node {
	uint32_t prefix, frame;		/* prefix UINT32_MAX: none */
};

struct firefox {
	struct export *e;
	VEC(struct sample) samples;
	VEC(struct waited) waits;
	/* of one thread */
	VEC(struct node) nodes;
	struct hidx node_idx;
	VEC(uint32_t) frames;		/* entries */
	struct hidx frame_idx;
	VEC(uint32_t) stacks;		/* by sample of the thread: node, UINT32_MAX none */
	struct text t;
};

static int add_sample(void *data, const struct model_event *ev)
{
	struct firefox *f = data;
	struct sample *s = vec_add(&f->samples);

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
	struct waited *v = vec_add(&f->waits);

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
	const struct sample *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->ts > y->ts) - (x->ts < y->ts);
}

static int waits_by_tid(const void *a, const void *b)
{
	const struct waited *x = a, *y = b;

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
	struct node *n;
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

static int make_tables(struct firefox *f, const struct sample *s, size_t nr)
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

/* Milliseconds, exact to the nanosecond. */
static void put_ms(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned int)(ns % 1000000));
}

static void put_string(FILE *out, const char *s)
{
	cmd_json_string(out, s, strlen(s));
}

static void put_frame_name(struct firefox *f, uint32_t entry)
{
	struct export_entry ent;
	const char *file = NULL;

	export_entry(f->e, entry, &ent);
	text_clear(&f->t);
	if (ent.name)
		text_add(&f->t, ent.name);
	else
		text_addf(&f->t, "0x%" PRIx64, ent.frame->file ? ent.frame->offset :
			  ent.frame->addr);
	if (ent.frame)
		file = ent.frame->kernel ? "kernel" :
		       ent.frame->file ? export_base(ent.frame->file->path) : NULL;
	if (file) {
		text_add(&f->t, " (in ");
		text_add(&f->t, file);
		text_add(&f->t, ")");
	}
	cmd_json_string(f->e->out, f->t.v, f->t.nr);
}

static int category(struct firefox *f, uint32_t entry)
{
	struct export_entry ent;

	export_entry(f->e, entry, &ent);
	if (!ent.frame)
		return CATEGORY_NOTE;
	return ent.frame->kernel ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void put_samples(struct firefox *f, const struct sample *s, size_t nr)
{
	FILE *out = f->e->out;
	size_t i;

	fputs("\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[", out);
	for (i = 0; i < nr; i++) {
		if (f->stacks.v[i] == UINT32_MAX)
			fprintf(out, "%s[null,", i ? "," : "");
		else
			fprintf(out, "%s[%u,", i ? "," : "", f->stacks.v[i]);
		put_ms(out, export_since(f->e, s[i].ts));
		fputs(",0]", out);
	}
	fputs("]}", out);
}

static void put_tables(struct firefox *f)
{
	FILE *out = f->e->out;
	size_t i;

	fputs(",\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,"
	      "\"innerWindowID\":2,\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,"
	      "\"subcategory\":7},\"data\":[", out);
	for (i = 0; i < f->frames.nr; i++)
		fprintf(out, "%s[%zu,false,0,null,null,null,%d,0]", i ? "," : "", i,
			category(f, f->frames.v[i]));
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
		put_frame_name(f, f->frames.v[i]);
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

static void put_markers(struct firefox *f, const struct waited *w, size_t nr)
{
	FILE *out = f->e->out;
	size_t i;

	fputs(",\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,"
	      "\"category\":4,\"data\":5},\"data\":[", out);
	for (i = 0; i < nr; i++) {
		fprintf(out, "%s[%zu,", i ? "," : "", f->frames.nr);
		put_ms(out, export_since(f->e, w[i].from));
		fputc(',', out);
		put_ms(out, export_since(f->e, w[i].from + w[i].ns));
		/* phase 1: an interval */
		fprintf(out, ",1,%d,{\"type\":\"OffCpu\",\"state\":\"%s\"}]", CATEGORY_WAIT,
			state_name(w[i].state));
	}
	fputs("]}", out);
}

static void put_thread(struct firefox *f, uint32_t tid, const struct sample *s, size_t nr,
		       const struct waited *w, size_t nr_waits)
{
	const char *comm = model_comm(f->e->m, tid);
	uint32_t pid = export_pid(f->e, tid);
	FILE *out = f->e->out;

	fputs("{\"name\":", out);
	put_string(out, comm);
	fputs(",\"processType\":\"default\",\"processName\":", out);
	put_string(out, model_comm(f->e->m, pid));
	fprintf(out, ",\"tid\":%u,\"pid\":%u,\"registerTime\":0,\"unregisterTime\":null,", tid,
		pid);
	put_samples(f, s, nr);
	put_tables(f);
	put_markers(f, w, nr_waits);
	fputc('}', out);
}

static void put_head(struct firefox *f)
{
	const struct model_info *info = model_info(f->e->m);
	FILE *out = f->e->out;

	fprintf(out, "{\"meta\":{\"version\":%d,\"startTime\":0,\"shutdownTime\":null,"
		"\"interval\":1,\"stackwalk\":1,\"debug\":0,\"gcpoison\":0,\"asyncstack\":0,"
		"\"processType\":0,\"platform\":\"Linux\",\"product\":", GECKO_VERSION);
	put_string(out, export_base(f->e->path));
	fprintf(out, ",\"importedFrom\":\"trace-ustack\",\"presymbolicated\":true,"
		"\"logicalCPUs\":%u,\"categories\":["
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Missing\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Waiting\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}],"
		"\"markerSchema\":[{\"name\":\"OffCpu\",\"tooltipLabel\":\"off-CPU\","
		"\"tableLabel\":\"{marker.data.state}\",\"chartLabel\":\"{marker.data.state}\","
		"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		"\"data\":[{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"}]}],",
		info->cpus);
	fputs("\"extensions\":{\"schema\":{\"id\":0,\"name\":1,\"baseURL\":2},\"data\":[]}},"
	      "\"libs\":[],\"pages\":[],\"pausedRanges\":[],\"processes\":[],\"threads\":[", out);
}

static int put_threads(struct firefox *f)
{
	size_t i = 0, w = 0, end, wend;
	const char *between = "";
	uint32_t tid;
	int ret;

	while (i < f->samples.nr) {
		tid = f->samples.v[i].tid;
		for (end = i; end < f->samples.nr && f->samples.v[end].tid == tid; end++)
			;
		while (w < f->waits.nr && f->waits.v[w].tid < tid)
			w++;
		for (wend = w; wend < f->waits.nr && f->waits.v[wend].tid == tid; wend++)
			;
		ret = make_tables(f, f->samples.v + i, end - i);
		if (ret)
			return ret;
		fputs(between, f->e->out);
		put_thread(f, tid, f->samples.v + i, end - i, f->waits.v + w, wend - w);
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
		put_head(&f);
		ret = put_threads(&f);
		fputs("]}\n", e->out);
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
