// SPDX-License-Identifier: GPL-2.0
/*
 * export_firefox_lines - a thread of a profile for profiler.firefox.com, with inlined functions
 *
 * The processed profile format, docs-developer/processed-profile-format.md and src/types/profile.ts
 * of firefox-devtools/profiler, at the last version in which each thread has tables of its own
 * (docs-developer/CHANGELOG-formats.md); the site upgrades it. A table is an object of columns.
 *
 * Functions that were inlined are frames with the address and the native symbol of the function
 * that has their code, and an inlineDepth above its 0. Addresses are offsets in the file, of the
 * byte that is looked up; as symbol servers want them relative to the image, there is no breakpadId
 * to ask one with.
 */
#include <errno.h>
#include <inttypes.h>

#include "trace-cmd-ext/tool/tool.h"
#include "firefox.h"
#include "trace-cmd-ext/stacks/stacks.h"

#define COLUMNS	6
#define NONE	INT64_MIN		/* null */

struct row {
	int64_t v[COLUMNS];
};

/* Rows, each once where row() adds them. */
struct table {
	VEC(struct row) rows;
	struct hidx idx;
};

enum { FRAME_ADDRESS, FRAME_DEPTH, FRAME_CATEGORY, FRAME_FUNC, FRAME_SYMBOL, FRAME_LINE };
enum { FUNC_NAME, FUNC_RESOURCE, FUNC_SOURCE };
enum { RESOURCE_NAME, RESOURCE_LIB };
enum { SYMBOL_LIB, SYMBOL_ADDRESS, SYMBOL_NAME };

struct firefox_lines {
	VEC(const struct maps_file *) libs;
	VEC(uint32_t) lib_of;		/* by maps_file.id: number of lib + 1 */
	/* of one thread */
	struct strtab strings;
	struct table frames, funcs, resources, symbols;
	bool failed;
};

struct firefox_lines *firefox_lines_new(void)
{
	return calloc(1, sizeof(struct firefox_lines));
}

static void free_table(struct table *t)
{
	vec_free(&t->rows);
	hidx_free(&t->idx);
}

void firefox_lines_free(struct firefox_lines *l)
{
	if (!l)
		return;
	vec_free(&l->libs);
	vec_free(&l->lib_of);
	strtab_free(&l->strings);
	free_table(&l->frames);
	free_table(&l->funcs);
	free_table(&l->resources);
	free_table(&l->symbols);
	free(l);
}

/* ---- tables ---- */

static void clear(struct table *t)
{
	t->rows.nr = 0;
	hidx_clear(&t->idx);
}

static int64_t row(struct firefox_lines *l, struct table *t, int64_t a, int64_t b, int64_t c)
{
	struct row want = { { a, b, c } }, *r;
	uint64_t hash = hash64(a ^ hash64(b ^ hash64(c)));
	uint32_t i;
	size_t pos;

	for_each_hidx(&t->idx, hash, pos, i)
		if (!memcmp(&t->rows.v[i], &want, sizeof(want)))
			return i;
	r = vec_add(&t->rows);
	if (!r || hidx_add(&t->idx, hash, t->rows.nr - 1)) {
		l->failed = true;
		return 0;
	}
	*r = want;
	return t->rows.nr - 1;
}

static int64_t string(struct firefox_lines *l, const char *s, size_t len)
{
	uint32_t nr = strtab_add(&l->strings, s, len);

	l->failed |= nr == UINT32_MAX;
	return nr;
}

static int64_t lib(struct firefox_lines *l, const struct maps_file *file)
{
	const struct maps_file **v;

	while (l->lib_of.nr <= file->id)
		if (!vec_add(&l->lib_of)) {
			l->failed = true;
			return 0;
		}
	if (!l->lib_of.v[file->id]) {
		v = vec_add(&l->libs);
		if (!v) {
			l->failed = true;
			return 0;
		}
		*v = file;
		l->lib_of.v[file->id] = l->libs.nr;
	}
	return l->lib_of.v[file->id] - 1;
}

/* The function that has the code of a frame, which those that were inlined share. */
static int64_t symbol(struct firefox_lines *l, const struct model_frame *f)
{
	if (!f->file || !f->func || !*f->func)
		return NONE;
	return row(l, &l->symbols, lib(l, f->file), f->offset - f->func_offset,
		   string(l, f->func, strlen(f->func)));
}

static void add_frame(struct firefox_lines *l, struct firefox *f, uint32_t entry)
{
	struct row *r = vec_add(&l->frames.rows);
	int64_t name, resource = -1;
	struct export_entry ent;
	const char *file;

	if (!r) {
		l->failed = true;
		return;
	}
	export_entry(f->e, entry, &ent);
	if (ent.depth && !ent.name)
		ent.name = "[unknown]";
	firefox_name(f, &ent);
	name = string(l, f->t.v, f->t.nr);
	file = firefox_file(&ent);
	if (file)
		resource = row(l, &l->resources, string(l, file, strlen(file)),
			       ent.frame->file ? lib(l, ent.frame->file) : NONE, 0);
	r->v[FRAME_FUNC] = row(l, &l->funcs, name, resource, ent.source ?
			       string(l, ent.source, strlen(ent.source)) : NONE);
	r->v[FRAME_ADDRESS] = ent.frame && ent.frame->file ? (int64_t)ent.lookup : -1;
	r->v[FRAME_DEPTH] = ent.depth;
	r->v[FRAME_CATEGORY] = firefox_category(&ent);
	r->v[FRAME_SYMBOL] = ent.frame ? symbol(l, ent.frame) : NONE;
	r->v[FRAME_LINE] = ent.line ? ent.line : NONE;
}

/* ---- JSON ---- */

static void column(FILE *out, const char *name, const struct table *t, int at)
{
	size_t i;

	fprintf(out, "\"%s\":[", name);
	for (i = 0; i < t->rows.nr; i++) {
		fputs(i ? "," : "", out);
		if (t->rows.v[i].v[at] == NONE)
			fputs("null", out);
		else
			fprintf(out, "%" PRId64, t->rows.v[i].v[at]);
	}
	fputs("],", out);
}

/* A column with the same in all @nr rows. */
static void same(FILE *out, const char *name, const char *what, size_t nr)
{
	size_t i;

	fprintf(out, "\"%s\":[", name);
	for (i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? "," : "", what);
	fputs("],", out);
}

static void put_samples(struct firefox *f, const struct firefox_thread *t)
{
	FILE *out = f->e->out;
	size_t i;

	fputs("\"samples\":{\"stack\":[", out);
	for (i = 0; i < t->nr; i++) {
		fputs(i ? "," : "", out);
		if (f->stacks.v[i] == UINT32_MAX)
			fputs("null", out);
		else
			fprintf(out, "%u", f->stacks.v[i]);
	}
	fputs("],\"time\":[", out);
	for (i = 0; i < t->nr; i++) {
		fputs(i ? "," : "", out);
		firefox_ms(out, export_since(f->e, t->samples[i].ts));
	}
	fprintf(out, "],\"weight\":null,\"weightType\":\"samples\",\"length\":%zu},", t->nr);
}

static void put_markers(struct firefox *f, const struct firefox_thread *t, int64_t name)
{
	FILE *out = f->e->out;
	char num[24];
	size_t i;

	fputs("\"markers\":{\"startTime\":[", out);
	for (i = 0; i < t->nr_waits; i++) {
		fputs(i ? "," : "", out);
		firefox_ms(out, export_since(f->e, t->waits[i].from));
	}
	fputs("],\"endTime\":[", out);
	for (i = 0; i < t->nr_waits; i++) {
		fputs(i ? "," : "", out);
		firefox_ms(out, export_since(f->e, t->waits[i].from + t->waits[i].ns));
	}
	fputs("],\"data\":[", out);
	for (i = 0; i < t->nr_waits; i++) {
		fputs(i ? "," : "", out);
		firefox_wait_data(out, &t->waits[i]);
	}
	fputs("],", out);
	same(out, "phase", "1", t->nr_waits);	/* an interval */
	snprintf(num, sizeof(num), "%d", CATEGORY_WAIT);
	same(out, "category", num, t->nr_waits);
	snprintf(num, sizeof(num), "%" PRId64, name);
	same(out, "name", num, t->nr_waits);
	fprintf(out, "\"length\":%zu},", t->nr_waits);
}

static void put_stacks(struct firefox *f)
{
	FILE *out = f->e->out;
	size_t i;

	fputs("\"stackTable\":{\"prefix\":[", out);
	for (i = 0; i < f->nodes.nr; i++) {
		fputs(i ? "," : "", out);
		if (f->nodes.v[i].prefix == UINT32_MAX)
			fputs("null", out);
		else
			fprintf(out, "%u", f->nodes.v[i].prefix);
	}
	fputs("],\"frame\":[", out);
	for (i = 0; i < f->nodes.nr; i++)
		fprintf(out, "%s%u", i ? "," : "", f->nodes.v[i].frame);
	fprintf(out, "],\"length\":%zu},", f->nodes.nr);
}

static void put_tables(struct firefox_lines *l, FILE *out)
{
	size_t nr = l->frames.rows.nr, len, i;
	const char *s;

	fputs("\"frameTable\":{", out);
	column(out, "address", &l->frames, FRAME_ADDRESS);
	column(out, "inlineDepth", &l->frames, FRAME_DEPTH);
	column(out, "category", &l->frames, FRAME_CATEGORY);
	same(out, "subcategory", "0", nr);
	column(out, "func", &l->frames, FRAME_FUNC);
	column(out, "nativeSymbol", &l->frames, FRAME_SYMBOL);
	same(out, "innerWindowID", "0", nr);
	column(out, "line", &l->frames, FRAME_LINE);
	same(out, "column", "null", nr);
	fprintf(out, "\"length\":%zu},", nr);

	nr = l->funcs.rows.nr;
	fputs("\"funcTable\":{", out);
	column(out, "name", &l->funcs, FUNC_NAME);
	same(out, "isJS", "false", nr);
	same(out, "relevantForJS", "false", nr);
	column(out, "resource", &l->funcs, FUNC_RESOURCE);
	column(out, "fileName", &l->funcs, FUNC_SOURCE);
	/* where a function begins is not known */
	same(out, "lineNumber", "null", nr);
	same(out, "columnNumber", "null", nr);
	fprintf(out, "\"length\":%zu},", nr);

	nr = l->resources.rows.nr;
	fputs("\"resourceTable\":{", out);
	column(out, "name", &l->resources, RESOURCE_NAME);
	column(out, "lib", &l->resources, RESOURCE_LIB);
	same(out, "host", "null", nr);
	same(out, "type", "1", nr);	/* a library */
	fprintf(out, "\"length\":%zu},", nr);

	nr = l->symbols.rows.nr;
	fputs("\"nativeSymbols\":{", out);
	column(out, "libIndex", &l->symbols, SYMBOL_LIB);
	column(out, "address", &l->symbols, SYMBOL_ADDRESS);
	column(out, "name", &l->symbols, SYMBOL_NAME);
	same(out, "functionSize", "null", nr);
	fprintf(out, "\"length\":%zu},", nr);

	fputs("\"stringArray\":[", out);
	for (i = 0; i < l->strings.v.nr; i++) {
		s = strtab_get(&l->strings, i, &len);
		fputs(i ? "," : "", out);
		cmd_json_string(out, s, len);
	}
	fputs("]", out);
}

int firefox_lines_thread(struct firefox_lines *l, struct firefox *f, const struct firefox_thread *t)
{
	const char *comm = model_comm(f->e->m, t->tid);
	uint32_t pid = export_pid(f->e, t->tid);
	FILE *out = f->e->out;
	int64_t off_cpu;
	size_t i;

	strtab_clear(&l->strings);
	clear(&l->frames);
	clear(&l->funcs);
	clear(&l->resources);
	clear(&l->symbols);
	for (i = 0; i < f->frames.nr; i++)
		add_frame(l, f, f->frames.v[i]);
	off_cpu = string(l, "off-CPU", strlen("off-CPU"));
	if (l->failed)
		return -ENOMEM;
	fputs("{\"name\":", out);
	cmd_json_string(out, comm, strlen(comm));
	comm = model_comm(f->e->m, pid);
	fputs(",\"processType\":\"default\",\"processName\":", out);
	cmd_json_string(out, comm, strlen(comm));
	fprintf(out, ",\"tid\":%u,\"pid\":\"%u\",\"isMainThread\":%s,\"processStartupTime\":0,"
		"\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],", t->tid, pid, t->tid == pid ? "true" : "false");
	put_samples(f, t);
	put_markers(f, t, off_cpu);
	put_stacks(f);
	put_tables(l, out);
	fputc('}', out);
	return 0;
}

void firefox_lines_end(struct firefox_lines *l, FILE *out)
{
	const struct maps_file *file;
	const char *base;
	uint32_t k;
	size_t i;

	fputs(",\"libs\":[", out);
	for (i = 0; i < l->libs.nr; i++) {
		file = l->libs.v[i];
		base = export_base(file->path);
		fputs(i ? ",{\"arch\":\"\",\"name\":" : "{\"arch\":\"\",\"name\":", out);
		cmd_json_string(out, base, strlen(base));
		fputs(",\"path\":", out);
		cmd_json_string(out, file->path, strlen(file->path));
		fputs(",\"debugName\":", out);
		cmd_json_string(out, base, strlen(base));
		fputs(",\"debugPath\":", out);
		cmd_json_string(out, file->path, strlen(file->path));
		fputs(",\"breakpadId\":\"\",\"codeId\":", out);
		if (file->build_id_size) {
			fputc('"', out);
			for (k = 0; k < file->build_id_size; k++)
				fprintf(out, "%02x", file->build_id[k]);
			fputs("\"}", out);
		} else {
			fputs("null}", out);
		}
	}
	fputc(']', out);
}
