// SPDX-License-Identifier: GPL-2.0
/* each.c - list the stack of an event as entries, for all formats. See export.h. */
#include <string.h>

#include "export.h"
#include "trace-cmd-ext/stacks/stacks.h"

static bool add_entry(struct export *e, uint32_t entry)
{
	uint32_t *p = vec_add(&e->entries);

	if (p)
		*p = entry;
	return p;
}

/* Notes are string constants. There are few, and equal ones have the same address. */
static bool add_note(struct export *e, const char *text)
{
	const char **n;
	size_t i;

	for (i = 0; i < e->notes.nr; i++)
		if (e->notes.v[i] == text)
			return add_entry(e, EXPORT_NOTE | i);
	n = vec_add(&e->notes);
	if (!n)
		return false;
	*n = text;
	return add_entry(e, EXPORT_NOTE | (e->notes.nr - 1));
}

/* The functions inlined at a frame; NULL if there is not enough memory. */
static const struct export_code *get_code(struct export *e, uint32_t frame)
{
	const struct model_line *v;
	struct export_inlined *in;
	struct export_code *code;
	uint32_t nr, i;

	while (e->code.nr <= frame)
		if (!vec_add(&e->code))
			return NULL;
	code = &e->code.v[frame];
	if (code->known)
		return code;
	code->known = true;
	code->first = e->inlined.nr;
	nr = model_get_lines(e->m, frame, &v);
	for (i = 0; i < nr; i++) {
		if (!v[i].inlined) {
			code->source = v[i].file;
			code->line = v[i].line;
			continue;
		}
		in = vec_add(&e->inlined);
		if (!in)
			return NULL;
		in->name = v[i].func && *v[i].func ? v[i].func : NULL;
		in->source = v[i].file;
		in->line = v[i].line;
		in->frame = frame;
		code->nr++;
	}
	for (i = 0; i < code->nr; i++)
		e->inlined.v[code->first + i].depth = code->nr - i;
	return code;
}

static bool add_user(struct export *e, uint32_t frame)
{
	const struct export_code *code;
	uint32_t i;

	if (e->opts->lines) {
		code = get_code(e, frame);
		if (!code)
			return false;
		for (i = 0; i < code->nr; i++)
			if (!add_entry(e, EXPORT_INLINED | (code->first + i)))
				return false;
	}
	return add_entry(e, frame);
}

const uint32_t *export_get_stack(struct export *e, uint32_t kstack, uint32_t ustack, uint32_t *nr)
{
	struct paths_notes notes = { .nr = 0 };
	const uint32_t *frames;
	const char *why;
	uint32_t n, i;
	bool ok = true;

	e->entries.nr = 0;
	*nr = 0;
	frames = model_get_kframes(e->m, kstack, &n);
	if (!frames)
		return NULL;
	for (i = 0; i < n && paths_is_tracer(model_get_frame(e->m, frames[i])); i++)
		;
	for (; i < n && ok; i++)
		ok = add_entry(e, frames[i]);
	if (ustack != MODEL_NONE) {
		frames = model_get_uframes(e->m, ustack, &n);
		if (!frames)
			return NULL;
		paths_get_notes(e->m, ustack, &notes);
		if (notes.inner && ok)
			ok = add_note(e, notes.inner);
		for (i = 0; i < n && ok; i++)
			ok = add_user(e, frames[i]);
		for (i = notes.nr; i-- > 0 && ok; )
			ok = add_note(e, notes.outer[i]);
	} else {
		why = model_get_info(e->m)->joined ? paths_explain_no_user(e->m, kstack) : NULL;
		if (why && ok)
			ok = add_note(e, why);
	}
	if (!ok || vec_reserve(&e->entries, 1))
		return NULL;
	*nr = e->entries.nr;
	return e->entries.v;
}

void export_get_entry(struct export *e, uint32_t entry, struct export_entry *ent)
{
	const struct export_inlined *in;

	memset(ent, 0, sizeof(*ent));
	if (entry & EXPORT_NOTE) {
		ent->name = e->notes.v[entry & ~EXPORT_NOTE];
		return;
	}
	if (entry & EXPORT_INLINED) {
		in = &e->inlined.v[entry & ~EXPORT_INLINED];
		ent->name = in->name;
		ent->frame = model_get_frame(e->m, in->frame);
		ent->lookup = model_get_lookup_offset(e->m, in->frame);
		ent->source = in->source;
		ent->line = in->line;
		ent->depth = in->depth;
		return;
	}
	ent->frame = model_get_frame(e->m, entry);
	ent->lookup = model_get_lookup_offset(e->m, entry);
	ent->name = ent->frame->func && *ent->frame->func ? ent->frame->func : NULL;
	if (entry < e->code.nr) {
		ent->source = e->code.v[entry].source;
		ent->line = e->code.v[entry].line;
	}
}

void export_free(struct export *e)
{
	vec_free(&e->entries);
	vec_free(&e->notes);
	vec_free(&e->inlined);
	vec_free(&e->code);
}

uint32_t export_get_pid(struct export *e, uint32_t tid)
{
	return join_get_pid(model_get_tgid(e->m, tid), tid);
}

uint64_t export_get_time(struct export *e, uint64_t ts)
{
	uint64_t first = model_get_info(e->m)->first_ts;

	return ts > first ? ts - first : 0;
}

struct model *export_open_again(struct export *e, const struct model_filter *f)
{
	struct model_opts mo = *e->opts;
	char why[512];

	mo.filter = *f;
	return model_open(e->path, &mo, why, sizeof(why));
}
