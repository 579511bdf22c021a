// SPDX-License-Identifier: GPL-2.0
/*
 * files.c - count the frames of user stacks by their files, and find the tables of these files
 *
 * Addresses are only resolved to files, because symbols take many times longer. A stack that is not
 * whole counts at the file where the fault started. For an incomplete stack this is the file of its
 * last frame, where the walk gave up. For a stack with the frame-pointer flag it is the file of the
 * innermost frame whose file had no table. If no file of the stack is known to lack a table (the
 * table came later, or the list of tables is missing), the stack counts at the file of its last
 * frame.
 *
 * FILE.tables lists the tables of the recording. For a file that it lacks, a table is made from the
 * file on this machine, if it has the build ID of the traced file. A recording with tables would
 * have had this table.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin/join/join.h"
#include "trace-cmd-ext/model/model.h"
#include "stat.h"
#include "libunwind-user/symbols/symbols.h"

static bool is_innermost(const struct model_ustack *u, uint32_t i)
{
	return !i && !(u->flags & STACK_NO_INNER);
}

/*
 * The element that counts a file. Element 0 is for frames without a known mapping, element 1 for
 * the vDSO of 32-bit programs, which has the name of the 64-bit vDSO. The kernel records no build
 * ID of either; the source bpf does.
 * NULL if there is not enough memory.
 */
static struct stat_file *get_file(struct stat_counts *s, const struct model_ustack *u,
				  const struct maps_file *file)
{
	bool compat = u->flags & STACK_COMPAT && file && !strcmp(file->path, "[vdso]");
	uint32_t at = compat ? 1 : file ? file->id + 2 : 0;

	while (s->files.nr <= at)
		if (!vec_add(&s->files))
			return NULL;
	s->files.v[at].file = file;
	s->files.v[at].compat = compat;
	return &s->files.v[at];
}

/* The C frame that runs the Python function at @i, or @i itself */
static uint32_t find_c_frame(struct model *m, uint32_t ustack, uint32_t i)
{
	const struct model_ustack *u = model_get_ustack(m, ustack);
	const struct maps_file *file;
	uint64_t offset;

	for (; i; i--) {
		file = frames_find_file(model_get_parts(m).maps, model_get_answer(m, ustack),
					u->addrs[i], false, &offset);
		if (!file || !file->python)
			break;
	}
	return i;
}

/* The element that counts a frame's file, and the offset in the file. */
static struct stat_file *get_file_of_frame(struct stat_counts *s, struct model *m, uint32_t ustack,
					   uint32_t i, uint64_t *offset)
{
	const struct model_ustack *u = model_get_ustack(m, ustack);

	/* the address after a signal trampoline is exact, but that does not change the file */
	return get_file(s, u,
			frames_find_file(model_get_parts(m).maps, model_get_answer(m, ustack),
					 u->addrs[i], is_innermost(u, i), offset));
}

/* Consecutive frames are mostly in one mapping, so look up its range once. */
static int add_frames(struct stat_counts *s, struct model *m, uint32_t ustack, uint64_t weight)
{
	const struct model_ustack *u = model_get_ustack(m, ustack);
	const struct join_answer *ans = model_get_answer(m, ustack);
	struct maps_place place = {
		.tgid = join_get_pid(u->tgid, u->tid), .cpu = ans->cpu, .ts = ans->ts,
	};
	struct maps *maps = model_get_parts(m).maps;
	uint64_t from = 1, to = 0, offset;
	const struct maps_file *file;
	struct stat_file *f = NULL;
	uint32_t i;

	for (i = 0; i < u->nr; i++) {
		place.addr = u->addrs[i] - !is_innermost(u, i);
		if (!f || place.addr < from || place.addr >= to) {
			file = maps_find_file_range(maps, &place, &offset, &from, &to);
			f = NULL;
			if (file && file->python)
				continue;
			f = get_file(s, u, file);
			if (!f)
				return -ENOMEM;
			if (f->last_stack != ustack + 1)
				f->stacks += weight;
			f->last_stack = ustack + 1;
		}
		f->frames += weight;
	}
	return 0;
}

/* ---- tables ---- */

/* Does the file have the build ID of the traced file? The kernel cuts longer build IDs. */
static bool is_traced(int fd, const struct maps_file *file)
{
	uint8_t id[UU_BUILD_ID_MAX];
	size_t size = symbols_read_build_id(fd, id);

	if (size > sizeof(file->build_id))
		size = sizeof(file->build_id);
	return size && size == file->build_id_size && !memcmp(id, file->build_id, size);
}

int stat_open_traced(const struct maps_file *file, const char *sysroot)
{
	int fd = file->build_id_size ? symbols_open(sysroot, file->path, 0) : -1;

	if (fd < 0 || is_traced(fd, file))
		return fd;
	close(fd);
	return -1;
}

/* If this machine has the traced file, make its table, for any architecture. */
static void make_table(struct stat_file *f, const char *sysroot)
{
	int fd = stat_open_traced(f->file, sysroot), ret;
	struct gen_table table = {};

	if (fd < 0)
		return;
	ret = gen_from_fd(fd, &table);
	if (!ret && !table.stats.table_fdes)
		ret = -ENODATA;
	f->known = STAT_POSSIBLE;
	f->cause = tables_get_cause(ret);
	f->error = f->cause == TABLES_ERROR ? -ret : 0;
	f->text_bytes = table.stats.text_bytes;
	f->covered_bytes = table.stats.covered_bytes;
	f->holes = stats_get_nr_holes(&table.stats);
	gen_free(&table);
	close(fd);
}

static void find_table(struct stat_counts *s, struct stat_file *f, const char *sysroot)
{
	const struct saved_table *t;
	struct maps_file file;

	if (jit_may_hold(f->file)) {
		f->known = STAT_NO_FILE;
		return;
	}
	file = *f->file;
	if (f->compat && !file.build_id_size)
		file.path = TABLES_VDSO32;
	t = saved_tables_find(&s->saved, &file);
	if (!t && f->compat && !file.build_id_size) {
		f->known = STAT_RECORDED;
		f->cause = TABLES_OTHER_ARCH;
		return;
	}
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

/* ---- where stacks are incomplete or marked ---- */

static int add_end(struct stat_counts *s, struct model *m, uint32_t ustack, uint64_t weight,
		   const char *sysroot)
{
	const struct model_ustack *u = model_get_ustack(m, ustack);
	uint32_t i, last = u->nr ? find_c_frame(m, ustack, u->nr - 1) : 0;
	struct stat_file *f = NULL;
	enum end_reason end;
	uint64_t offset;

	if (u->flags & STACK_INCOMPLETE) {
		f = u->nr ? get_file_of_frame(s, m, ustack, last, &offset) : NULL;
		if (u->nr && !f)
			return -ENOMEM;
		if (u->flags & STACK_OUTSIDE)
			end = END_OUTSIDE;
		else if (f)
			end = stat_find_end_reason(f, offset, is_innermost(u, last), sysroot);
		else
			end = END_NO_FRAME;
		s->ends[end] += weight;
		if (f)
			f->incomplete += weight;
	}
	if (!u->nr || !(u->flags & STACK_FRAME_POINTER))
		return 0;
	for (i = 0; i < u->nr; i++) {
		f = get_file_of_frame(s, m, ustack, find_c_frame(m, ustack, i), &offset);
		if (!f)
			return -ENOMEM;
		if (had_no_table(f))
			break;
	}
	f->frame_pointer += weight;
	return 0;
}

/* Sort by the number of stacks that ended in the file, then by the number of frames. */
static int compare_files(const void *a, const void *b)
{
	const struct stat_file *x = a, *y = b;
	int c;

	RETURN_IF_DIFFERENT(y->incomplete + y->frame_pointer, x->incomplete + x->frame_pointer);
	RETURN_IF_DIFFERENT(y->frames, x->frames);
	c = strcmp(x->file ? x->file->path : "", y->file ? y->file->path : "");
	if (c || !x->file || !y->file)
		return c;
	return cmp_int(x->file->id, y->file->id);
}

int stat_count_files(struct stat_counts *s, struct model *m, const char *path)
{
	struct model_parts parts = model_get_parts(m);
	uint32_t i, to = 0;
	int ret = 0;

	s->saved_error = saved_tables_read(&s->saved, path, reader_get_trace_id(parts.reader));
	if (s->saved_error == -ENOMEM)
		return -ENOMEM;
	for (i = 0; i < s->weights.nr && !ret; i++)
		if (s->weights.v[i] && model_get_ustack(m, i)->state == JOIN_STACK)
			ret = add_frames(s, m, i, s->weights.v[i]);
	for (i = 0; i < s->files.nr && !ret; i++)
		if (s->files.v[i].frames)
			find_table(s, &s->files.v[i], parts.sysroot);
	for (i = 0; i < s->weights.nr && !ret; i++)
		if (s->weights.v[i] && model_get_ustack(m, i)->state == JOIN_STACK)
			ret = add_end(s, m, i, s->weights.v[i], parts.sysroot);
	if (ret)
		return ret;
	for (i = 0; i < s->files.nr; i++)
		if (s->files.v[i].frames)
			s->files.v[to++] = s->files.v[i];
	s->files.nr = to;
	if (to)
		qsort(s->files.v, to, sizeof(*s->files.v), compare_files);
	return 0;
}

const char *stat_get_file_name(const struct stat_file *f)
{
	if (f->compat)
		return "[vdso] of 32-bit programs";
	return !f->file ? "[no mapping]" : *f->file->path ? f->file->path : "[anonymous]";
}
