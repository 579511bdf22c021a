// SPDX-License-Identifier: GPL-2.0
/*
 * stat_files - the frames of user stacks by the file they lie in, and what tables that file has
 *
 * Addresses are only given their files: symbols take many times longer. A stack that is not whole
 * is counted at the file where that began. For an incomplete one that is the file of its last
 * frame, as the walk gave up there. A frame pointer was followed in the innermost frame whose file
 * had no table; where none of its files is known to be without one (its table came later, or what
 * tables there were is not known), it is the last frame's, too.
 *
 * What tables there were is in FILE.tables. Where that says nothing, a table is made of the file
 * here, if it has the build-id of the one traced; it is what a recording with tables would have.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "frames.h"
#include "model_int.h"
#include "stat.h"
#include "symbols.h"

static const struct maps_file *file_of(struct model *m, const struct user_stack *u, uint32_t i)
{
	uint64_t offset;

	/* not exact where a signal trampoline stands before it: that is of one file with it */
	return frames_file(m->maps, &u->ans, u->pub.addrs[i],
			   !i && !(u->pub.flags & STACK_NO_START), &offset);
}

/* Slot 0 is of what no mapping is known of. NULL without memory. */
static struct stat_file *slot_of(struct stat_counts *s, const struct maps_file *file)
{
	uint32_t at = file ? file->id + 1 : 0;

	while (s->files.nr <= at)
		if (!vec_add(&s->files))
			return NULL;
	s->files.v[at].file = file;
	return &s->files.v[at];
}

static int add_frames(struct stat_counts *s, struct model *m, uint32_t ustack, uint64_t weight)
{
	const struct user_stack *u = &m->ustacks.v[ustack];
	struct stat_file *f;
	uint32_t i;

	for (i = 0; i < u->pub.nr; i++) {
		f = slot_of(s, file_of(m, u, i));
		if (!f)
			return -ENOMEM;
		f->frames += weight;
		if (f->last_stack != ustack + 1)
			f->stacks += weight;
		f->last_stack = ustack + 1;
	}
	return 0;
}

/* ---- tables ---- */

/* Of a file here that is the one traced. */
static void make_table(struct stat_file *f, const char *sysroot)
{
	struct gen_table table = {};
	struct tables_id id;
	int fd, ret, i;

	if (!f->file->build_id_size)
		return;
	fd = symbols_open(sysroot, f->file->path, 0);
	if (fd < 0)
		return;
	ret = tables_identify(fd, &id);
	if (!ret && id.build_id_size == f->file->build_id_size &&
	    !memcmp(id.build_id, f->file->build_id, id.build_id_size)) {
		ret = gen_from_fd(fd, &table);
		if (!ret && !table.stats.table_fdes)
			ret = -ENODATA;
		f->known = STAT_POSSIBLE;
		f->cause = tables_cause_of(ret);
		f->error = f->cause == TABLES_ERROR ? -ret : 0;
		f->text_bytes = table.stats.text_bytes;
		f->covered_bytes = table.stats.covered_bytes;
		for (i = 0; i < GEN_NR_CAUSES; i++)
			f->holes += table.stats.hole[i].nr;
		gen_free(&table);
	}
	close(fd);
}

static void find_table(struct stat_counts *s, struct stat_file *f, const char *sysroot)
{
	const struct saved_table *t;

	if (jit_may(f->file)) {
		f->known = STAT_NO_FILE;
		return;
	}
	t = saved_tables_find(&s->saved, f->file);
	if (!t) {
		make_table(f, sysroot);
		return;
	}
	f->known = STAT_RECORDED;
	f->cause = t->cause;
	f->error = t->error;
	f->text_bytes = t->text_bytes;
	f->covered_bytes = t->covered_bytes;
	f->holes = t->holes;
}

static bool had_no_table(const struct stat_file *f)
{
	return f->known == STAT_NO_FILE || (f->known == STAT_RECORDED &&
					    f->cause != TABLES_COVERED);
}

/* ---- where stacks are not whole ---- */

static void add_end(struct stat_counts *s, struct model *m, uint32_t ustack, uint64_t weight)
{
	const struct user_stack *u = &m->ustacks.v[ustack];
	struct stat_file *f = NULL;
	uint32_t i;

	if (!u->pub.nr)
		return;
	if (u->pub.flags & STACK_INCOMPLETE)
		slot_of(s, file_of(m, u, u->pub.nr - 1))->incomplete += weight;
	if (!(u->pub.flags & STACK_FRAME_POINTER))
		return;
	for (i = 0; i < u->pub.nr; i++) {
		f = slot_of(s, file_of(m, u, i));
		if (had_no_table(f))
			break;
	}
	f->frame_pointer += weight;
}

#define CMP(a, b) do { if ((a) != (b)) return (a) > (b) ? -1 : 1; } while (0)

/* Those that stacks ended in, then those with most frames. */
static int cmp_file(const void *a, const void *b)
{
	const struct stat_file *x = a, *y = b;
	int c;

	CMP(x->incomplete + x->frame_pointer, y->incomplete + y->frame_pointer);
	CMP(x->frames, y->frames);
	c = strcmp(x->file ? x->file->path : "", y->file ? y->file->path : "");
	if (c || !x->file || !y->file)
		return c;
	return x->file->id < y->file->id ? -1 : x->file->id > y->file->id;
}

int stat_files(struct stat_counts *s, struct model *m, const char *path)
{
	const char *sysroot = m->opts.sysroot ? m->opts.sysroot : "";
	uint32_t i, to = 0;
	int ret = 0;

	s->saved_error = saved_tables_read(&s->saved, path, reader_trace_id(m->reader));
	if (s->saved_error == -ENOMEM)
		return -ENOMEM;
	for (i = 0; i < s->weights.nr && !ret; i++)
		if (s->weights.v[i] && m->ustacks.v[i].pub.state == JOIN_STACK)
			ret = add_frames(s, m, i, s->weights.v[i]);
	for (i = 0; i < s->files.nr && !ret; i++)
		if (s->files.v[i].frames)
			find_table(s, &s->files.v[i], sysroot);
	for (i = 0; i < s->weights.nr && !ret; i++)
		if (s->weights.v[i] && m->ustacks.v[i].pub.state == JOIN_STACK)
			add_end(s, m, i, s->weights.v[i]);
	if (ret)
		return ret;
	for (i = 0; i < s->files.nr; i++)
		if (s->files.v[i].frames)
			s->files.v[to++] = s->files.v[i];
	s->files.nr = to;
	if (to)
		qsort(s->files.v, to, sizeof(*s->files.v), cmp_file);
	return 0;
}
