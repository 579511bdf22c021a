// SPDX-License-Identifier: GPL-2.0
/* export_each - the stack of an event, for all formats. See export.h. */
#include <string.h>

#include "export.h"
#include "paths.h"

static bool put(struct export *e, uint32_t entry)
{
	uint32_t *p = vec_add(&e->entries);

	if (p)
		*p = entry;
	return p;
}

/* Notes are string constants: a few, known by their address. */
static bool put_note(struct export *e, const char *text)
{
	const char **n;
	size_t i;

	for (i = 0; i < e->notes.nr; i++)
		if (e->notes.v[i] == text)
			return put(e, EXPORT_NOTE | i);
	n = vec_add(&e->notes);
	if (!n)
		return false;
	*n = text;
	return put(e, EXPORT_NOTE | (e->notes.nr - 1));
}

const uint32_t *export_stack(struct export *e, uint32_t kstack, uint32_t ustack, uint32_t *nr)
{
	struct paths_notes notes = { .nr = 0 };
	const uint32_t *frames;
	const char *why;
	uint32_t n, i;
	bool ok = true;

	e->entries.nr = 0;
	*nr = 0;
	frames = model_kframes(e->m, kstack, &n);
	if (!frames)
		return NULL;
	for (i = 0; i < n && paths_is_tracer(model_frame(e->m, frames[i])); i++)
		;
	for (; i < n && ok; i++)
		ok = put(e, frames[i]);
	if (ustack != MODEL_NONE) {
		frames = model_uframes(e->m, ustack, &n);
		if (!frames)
			return NULL;
		paths_notes(e->m, ustack, &notes);
		if (notes.inner && ok)
			ok = put_note(e, notes.inner);
		for (i = 0; i < n && ok; i++)
			ok = put(e, frames[i]);
		for (i = notes.nr; i-- > 0 && ok; )
			ok = put_note(e, notes.outer[i]);
	} else {
		why = model_info(e->m)->joined ? paths_no_user(e->m, kstack) : NULL;
		if (why && ok)
			ok = put_note(e, why);
	}
	if (!ok || vec_reserve(&e->entries, 1))
		return NULL;
	*nr = e->entries.nr;
	return e->entries.v;
}

void export_entry(struct export *e, uint32_t entry, struct export_entry *ent)
{
	if (entry & EXPORT_NOTE) {
		ent->name = e->notes.v[entry & ~EXPORT_NOTE];
		ent->frame = NULL;
		return;
	}
	ent->frame = model_frame(e->m, entry);
	ent->name = ent->frame->func && *ent->frame->func ? ent->frame->func : NULL;
}

const char *export_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

uint32_t export_pid(struct export *e, uint32_t tid)
{
	uint32_t tgid = model_tgid(e->m, tid);

	return tgid ? tgid : tid;
}

uint64_t export_since(struct export *e, uint64_t ts)
{
	uint64_t first = model_info(e->m)->first_ts;

	return ts > first ? ts - first : 0;
}

struct model *export_again(struct export *e, const struct model_filter *f)
{
	struct model_opts mo = *e->opts;
	char why[512];

	mo.filter = *f;
	return model_open(e->path, &mo, why, sizeof(why));
}
