// SPDX-License-Identifier: GPL-2.0
/*
 * firefox_lines.c - a thread of a profile for profiler.firefox.com, with inlined functions
 *
 * This file writes the processed profile format, docs-developer/processed-profile-format.md and
 * src/types/profile.ts of firefox-devtools/profiler, in the last version in which each thread has
 * tables of its own (docs-developer/CHANGELOG-formats.md). The site upgrades it. A table is an
 * object of columns.
 *
 * An inlined function is a frame with the address and the native symbol of the function that has
 * its code, and with an inlineDepth of 1 or more. Addresses are offsets in the file, of the byte
 * that is looked up. Symbol servers need addresses relative to the image instead, so no breakpadId
 * is written.
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

/* The rows of a table. add_row() adds a row only if there is no equal one. */
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

static void clear_table(struct table *t)
{
	t->rows.nr = 0;
	hidx_clear(&t->idx);
}

static int64_t add_row(struct firefox_lines *l, struct table *t, int64_t a, int64_t b, int64_t c)
{
	struct row want = { { a, b, c } }, *r;
	uint64_t hash = hash64(a ^ hash64(b ^ hash64(c)));
	uint32_t i;
	size_t pos;

	for_each_hidx(&t->idx, hash, pos, i)
		if (!memcmp(&t->rows.v[i], &want, sizeof(want)))
			return i;
	r = vec_add_hashed(&t->rows, &t->idx, hash);
	if (!r) {
		l->failed = true;
		return 0;
	}
	*r = want;
	return t->rows.nr - 1;
}

static int64_t add_string(struct firefox_lines *l, const char *s, size_t len)
{
	uint32_t nr = strtab_add(&l->strings, s, len);

	l->failed |= nr == UINT32_MAX;
	return nr;
}

static int64_t add_lib(struct firefox_lines *l, const struct maps_file *file)
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

/* Add the function that has the code of a frame. Inlined functions share its symbol. */
static int64_t add_symbol(struct firefox_lines *l, const struct model_frame *f)
{
	if (!f->file || !f->func || !*f->func)
		return NONE;
	return add_row(l, &l->symbols, add_lib(l, f->file), f->offset - f->func_offset,
		       add_string(l, f->func, strlen(f->func)));
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
	export_get_entry(f->e, entry, &ent);
	if (ent.depth && !ent.name)
		ent.name = "[unknown]";
	firefox_set_name(f, &ent);
	name = add_string(l, f->t.v, f->t.nr);
	file = firefox_get_file(&ent);
	if (file)
		resource = add_row(l, &l->resources, add_string(l, file, strlen(file)),
				   ent.frame->file ? add_lib(l, ent.frame->file) : NONE, 0);
	r->v[FRAME_FUNC] = add_row(l, &l->funcs, name, resource, ent.source ?
				   add_string(l, ent.source, strlen(ent.source)) : NONE);
	r->v[FRAME_ADDRESS] = ent.frame && ent.frame->file ? (int64_t)ent.lookup : -1;
	r->v[FRAME_DEPTH] = ent.depth;
	r->v[FRAME_CATEGORY] = firefox_get_category(&ent);
	r->v[FRAME_SYMBOL] = ent.frame ? add_symbol(l, ent.frame) : NONE;
	r->v[FRAME_LINE] = ent.line ? ent.line : NONE;
}

/* ---- JSON ---- */

/* Write a column of a table: its name, then a value for each row. */
static void put_column(struct jsonw *j, const char *name, const struct table *t, int at)
{
	size_t i;

	jsonw_array(j, name);
	for (i = 0; i < t->rows.nr; i++) {
		if (t->rows.v[i].v[at] == NONE)
			jsonw_null(j, NULL);
		else
			jsonw_signed(j, NULL, t->rows.v[i].v[at]);
	}
	jsonw_end(j);
}

/* Write a column with the same value in all @nr rows. */
static void put_constant_column(struct jsonw *j, const char *name, const char *what, size_t nr)
{
	jsonw_array(j, name);
	while (nr--)
		jsonw_value(j, NULL, what);
	jsonw_end(j);
}

static void end_table(struct jsonw *j, size_t nr)
{
	jsonw_number(j, "length", nr);
	jsonw_end(j);
}

static void put_samples(struct firefox *f, const struct firefox_thread *t)
{
	struct jsonw *j = &f->json;
	size_t i;

	jsonw_object(j, "samples");
	jsonw_array(j, "stack");
	for (i = 0; i < t->nr; i++)
		firefox_put_index(j, f->stacks.v[i]);
	jsonw_end(j);
	jsonw_array(j, "time");
	for (i = 0; i < t->nr; i++)
		firefox_put_ms(j, NULL, export_get_time(f->e, t->samples[i].ts));
	jsonw_end(j);
	jsonw_null(j, "weight");
	jsonw_string(j, "weightType", "samples");
	end_table(j, t->nr);
}

static void put_markers(struct firefox *f, const struct firefox_thread *t, int64_t name)
{
	struct jsonw *j = &f->json;
	char num[24];
	size_t i;

	jsonw_object(j, "markers");
	jsonw_array(j, "startTime");
	for (i = 0; i < t->nr_waits; i++)
		firefox_put_ms(j, NULL, export_get_time(f->e, t->waits[i].from));
	jsonw_end(j);
	jsonw_array(j, "endTime");
	for (i = 0; i < t->nr_waits; i++)
		firefox_put_ms(j, NULL, export_get_time(f->e, t->waits[i].from + t->waits[i].ns));
	jsonw_end(j);
	jsonw_array(j, "data");
	for (i = 0; i < t->nr_waits; i++)
		firefox_put_wait(j, &t->waits[i]);
	jsonw_end(j);
	put_constant_column(j, "phase", "1", t->nr_waits);	/* an interval */
	snprintf(num, sizeof(num), "%d", CATEGORY_WAIT);
	put_constant_column(j, "category", num, t->nr_waits);
	snprintf(num, sizeof(num), "%" PRId64, name);
	put_constant_column(j, "name", num, t->nr_waits);
	end_table(j, t->nr_waits);
}

static void put_stacks(struct firefox *f)
{
	struct jsonw *j = &f->json;
	size_t i;

	jsonw_object(j, "stackTable");
	jsonw_array(j, "prefix");
	for (i = 0; i < f->nodes.nr; i++)
		firefox_put_index(j, f->nodes.v[i].prefix);
	jsonw_end(j);
	jsonw_array(j, "frame");
	for (i = 0; i < f->nodes.nr; i++)
		jsonw_number(j, NULL, f->nodes.v[i].frame);
	jsonw_end(j);
	end_table(j, f->nodes.nr);
}

static void put_tables(struct firefox_lines *l, struct jsonw *j)
{
	size_t nr = l->frames.rows.nr, len, i;
	const char *s;

	jsonw_object(j, "frameTable");
	put_column(j, "address", &l->frames, FRAME_ADDRESS);
	put_column(j, "inlineDepth", &l->frames, FRAME_DEPTH);
	put_column(j, "category", &l->frames, FRAME_CATEGORY);
	put_constant_column(j, "subcategory", "0", nr);
	put_column(j, "func", &l->frames, FRAME_FUNC);
	put_column(j, "nativeSymbol", &l->frames, FRAME_SYMBOL);
	put_constant_column(j, "innerWindowID", "0", nr);
	put_column(j, "line", &l->frames, FRAME_LINE);
	put_constant_column(j, "column", "null", nr);
	end_table(j, nr);

	nr = l->funcs.rows.nr;
	jsonw_object(j, "funcTable");
	put_column(j, "name", &l->funcs, FUNC_NAME);
	put_constant_column(j, "isJS", "false", nr);
	put_constant_column(j, "relevantForJS", "false", nr);
	put_column(j, "resource", &l->funcs, FUNC_RESOURCE);
	put_column(j, "fileName", &l->funcs, FUNC_SOURCE);
	/* the line at which a function starts is not known */
	put_constant_column(j, "lineNumber", "null", nr);
	put_constant_column(j, "columnNumber", "null", nr);
	end_table(j, nr);

	nr = l->resources.rows.nr;
	jsonw_object(j, "resourceTable");
	put_column(j, "name", &l->resources, RESOURCE_NAME);
	put_column(j, "lib", &l->resources, RESOURCE_LIB);
	put_constant_column(j, "host", "null", nr);
	put_constant_column(j, "type", "1", nr);	/* a library */
	end_table(j, nr);

	nr = l->symbols.rows.nr;
	jsonw_object(j, "nativeSymbols");
	put_column(j, "libIndex", &l->symbols, SYMBOL_LIB);
	put_column(j, "address", &l->symbols, SYMBOL_ADDRESS);
	put_column(j, "name", &l->symbols, SYMBOL_NAME);
	put_constant_column(j, "functionSize", "null", nr);
	end_table(j, nr);

	jsonw_array(j, "stringArray");
	for (i = 0; i < l->strings.v.nr; i++) {
		s = strtab_get(&l->strings, i, &len);
		jsonw_bytes(j, NULL, s, len);
	}
	jsonw_end(j);
}

int firefox_lines_put_thread(struct firefox_lines *l, struct firefox *f,
			     const struct firefox_thread *t)
{
	uint32_t pid = export_get_pid(f->e, t->tid);
	struct jsonw *j = &f->json;
	int64_t off_cpu;
	char buf[16];
	size_t i;

	strtab_clear(&l->strings);
	clear_table(&l->frames);
	clear_table(&l->funcs);
	clear_table(&l->resources);
	clear_table(&l->symbols);
	for (i = 0; i < f->frames.nr; i++)
		add_frame(l, f, f->frames.v[i]);
	off_cpu = add_string(l, "off-CPU", strlen("off-CPU"));
	if (l->failed)
		return -ENOMEM;
	jsonw_object(j, NULL);
	jsonw_string(j, "name", model_get_comm(f->e->m, t->tid));
	jsonw_string(j, "processType", "default");
	jsonw_string(j, "processName", model_get_comm(f->e->m, pid));
	jsonw_number(j, "tid", t->tid);
	snprintf(buf, sizeof(buf), "%u", pid);
	jsonw_string(j, "pid", buf);
	jsonw_bool(j, "isMainThread", t->tid == pid);
	jsonw_number(j, "processStartupTime", 0);
	jsonw_null(j, "processShutdownTime");
	jsonw_number(j, "registerTime", 0);
	jsonw_null(j, "unregisterTime");
	jsonw_value(j, "pausedRanges", "[]");
	put_samples(f, t);
	put_markers(f, t, off_cpu);
	put_stacks(f);
	put_tables(l, j);
	jsonw_end(j);
	return 0;
}

void firefox_lines_put_libs(struct firefox_lines *l, struct jsonw *j)
{
	const struct maps_file *file;
	const char *base;
	size_t i;

	jsonw_array(j, "libs");
	for (i = 0; i < l->libs.nr; i++) {
		file = l->libs.v[i];
		base = text_base_name(file->path);
		jsonw_object(j, NULL);
		jsonw_string(j, "arch", "");
		jsonw_string(j, "name", base);
		jsonw_string(j, "path", file->path);
		jsonw_string(j, "debugName", base);
		jsonw_string(j, "debugPath", file->path);
		jsonw_string(j, "breakpadId", "");
		if (file->build_id_size)
			jsonw_hex(j, "codeId", file->build_id, file->build_id_size);
		else
			jsonw_null(j, "codeId");
		jsonw_end(j);
	}
	jsonw_end(j);
}
