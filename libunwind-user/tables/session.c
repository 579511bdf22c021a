// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * session.c - the session: files that are registered with the kernel, or why they are not
 *
 * The kernel takes a table for the file that a descriptor names, and for the present contents of
 * this file. So a mistake here registers a table too many, or too few, but never a table for the
 * wrong file.
 *
 * A file is known by device and inode. A file whose size or time of modification differs from when
 * it was registered counts as another file, and is registered again. The kernel no longer uses the
 * old table.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "impl.h"

#define TRACEFS		"/sys/kernel/tracing"

const char *tables_get_cause_name(enum tables_cause cause)
{
	static const char *const name[TABLES_NR_CAUSES] = {
		[TABLES_COVERED] = "covered",
		[TABLES_NO_SOURCE] = "no unwind data",
		[TABLES_NO_ELF] = "not an ELF file",
		[TABLES_OTHER_ARCH] = "another architecture",
		[TABLES_NO_PERMISSION] = "no permission",
		[TABLES_VANISHED] = "vanished",
		[TABLES_NO_ROOM] = "no room",
		[TABLES_CHANGING] = "being written to",
		[TABLES_ERROR] = "error",
	};

	return cause < TABLES_NR_CAUSES ? name[cause] : "?";
}

enum tables_cause tables_get_cause(int error)
{
	switch (-error) {
	case 0:
		return TABLES_COVERED;
	case ENODATA:
		return TABLES_NO_SOURCE;
	case ENOEXEC:
		return TABLES_NO_ELF;
	case EOPNOTSUPP:
		return TABLES_OTHER_ARCH;
	case EACCES:
	case EPERM:
		return TABLES_NO_PERMISSION;
	case ENOENT:
	case ESRCH:
	case ENOTDIR:
		return TABLES_VANISHED;
	case ENOMEM:
	case ENOSPC:
	case EFBIG:
		return TABLES_NO_ROOM;
	case ESTALE:
		return TABLES_CHANGING;
	default:
		return TABLES_ERROR;
	}
}

/* ------------------------------- the index ------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	const struct tables_entry *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->dev, y->dev);
	return cmp_int(x->ino, y->ino);
}

/*
 * Find the entry of a file, or add it if @path is not NULL. The caller holds the lock. Returns NULL
 * if there is no entry, or not enough memory.
 */
static struct tables_entry *get_entry(struct tables_session *t, dev_t dev, ino_t ino,
				      const char *path)
{
	struct tables_entry key = { .dev = dev, .ino = ino }, *e;
	void *node = tfind(&key, &t->index, compare_entries);

	if (node)
		return *(struct tables_entry **)node;
	if (!path)
		return NULL;
	if (vec_reserve(&t->entries, 1))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->dev = dev;
	e->ino = ino;
	e->file.path = strdup(path);
	if (!e->file.path || !tsearch(e, &t->index, compare_entries)) {
		free((char *)e->file.path);
		free(e);
		return NULL;
	}
	t->entries.v[t->entries.nr++] = e;
	return e;
}

static bool is_unchanged(const struct tables_entry *e, const struct stat *st)
{
	return e->opened && is_same_stamp(e->stamp, get_stamp(st));
}

/* The result for a file */
struct file_result {
	const char *path;
	const struct gen_table *table;	/* valid if error is 0 */
	bool cached;			/* the table was in the cache */
	bool used;			/* a running program has the file mapped */
	int error;
};

static void note_file(struct tables_session *t, const struct tables_id *id,
		      struct file_result result)
{
	const struct stat *st = &id->st;
	struct tables_entry *e;
	struct tables_file *f;

	pthread_mutex_lock(&t->lock);
	e = get_entry(t, st->st_dev, st->st_ino, result.path);
	if (e) {
		f = &e->file;
		if (strcmp(f->path, result.path)) {
			char *new = strdup(result.path);

			if (new) {
				free((char *)f->path);
				f->path = new;
			}
		}
		e->opened = true;
		e->used |= result.used;
		e->stamp = get_stamp(st);
		f->cause = tables_get_cause(result.error);
		f->error = result.error;
		f->cached = result.cached;
		memcpy(f->build_id, id->build_id, sizeof(f->build_id));
		f->build_id_size = id->build_id_size;
		f->table_size = result.error ? 0 : result.table->size;
		memset(&f->stats, 0, sizeof(f->stats));
		if (!result.error)
			f->stats = result.table->stats;
	}
	pthread_mutex_unlock(&t->lock);
}

void tables_note_failure(struct tables_session *t, dev_t dev, ino_t ino, const char *path,
			 int error)
{
	struct tables_entry *e;

	pthread_mutex_lock(&t->lock);
	e = get_entry(t, dev, ino, path);
	if (e && !e->opened) {
		e->file.cause = tables_get_cause(error);
		e->file.error = error;
	}
	pthread_mutex_unlock(&t->lock);
}

static int add_by_ioctl(struct tables_session *t, const struct unwind_table_file *arg)
{
	return ioctl(t->fd, UNWIND_TABLE_ADD, arg) ? -errno : 0;
}

/* --------------------------------- vDSOs --------------------------------- */

/* In a vDSO, the offset in the file equals the address. @vdso is where the table has it. */
static int add_vdso_table(struct tables_session *t, const struct gen_table *table, uint64_t vdso)
{
	struct unwind_table_file arg = {
		.size = sizeof(arg), .flags = UNWIND_TABLE_VDSO,
		.table = (uintptr_t)table->data, .table_size = table->size,
		.table_vaddr = table->base - vdso,
		.text_offset = table->text_start - vdso, .text_size = table->text_size,
		.text_vaddr = table->text_start - vdso,
	};

	return t->add(t, &arg);
}

int tables_add_vdso(struct tables_session *t)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR), bias = 0;
	struct tables_id id = { .st = { .st_mtim = { 0 } } };
	struct gen_table table;
	int ret = 0;

	/* the vDSO is not a file */
	if (t->opts.add_file)
		return 0;
	pthread_mutex_lock(&t->work);
	if (t->vdso)
		goto out;
	ret = -ENOENT;
	if (!vdso)
		goto out;
	ret = gen_from_own_memory(vdso, &table, &bias);
	if (!ret)
		ret = add_vdso_table(t, &table, vdso - bias);
	note_file(t, &id, (struct file_result){
		.path = "[vdso]", .table = &table, .used = true, .error = ret });
	gen_free(&table);
	t->vdso = !ret;
out:
	pthread_mutex_unlock(&t->work);
	return ret;
}

/* 32-bit programs have another vDSO. It gets its table with the first of their files. */
static void add_vdso32(struct tables_session *t)
{
	struct tables_id id = { .is_vdso = true };
	struct gen_table table;
	int ret;

	if (t->vdso32)
		return;
	t->vdso32 = true;
	ret = tables_make_vdso32_table(&id, &table);
	if (!ret)
		ret = add_vdso_table(t, &table, 0);
	/* device 0, inode 0 stand for the other vDSO */
	id.st = (struct stat) { .st_ino = 1 };
	if (ret != -ENOEXEC)
		note_file(t, &id, (struct file_result){
			.path = TABLES_VDSO32, .table = &table, .used = true, .error = ret });
	gen_free(&table);
}

/* -------------------------- files to the kernel -------------------------- */

static int add_segments(struct tables_session *t, int fd, const struct tables_id *id,
			const struct gen_table *table)
{
	struct unwind_table_file arg = {
		.size = sizeof(arg), .fd = fd, .build_id_size = id->build_id_size,
		.table = (uintptr_t)table->data, .table_size = table->size,
		.table_vaddr = table->base,
	};
	uint32_t i;
	int ret;

	memcpy(arg.build_id, id->build_id, sizeof(arg.build_id));
	for (i = 0; i < id->nr_segs; i++) {
		arg.text_offset = id->seg[i].offset;
		arg.text_size = id->seg[i].size;
		arg.text_vaddr = id->seg[i].vaddr;
		ret = t->add(t, &arg);
		if (ret)
			return ret;
	}
	return 0;
}

/* Returns whether the file has a result already. If so, notes that it is @used. */
static bool note_if_known(struct tables_session *t, const struct stat *st, bool used)
{
	struct tables_entry *e;
	bool known;

	pthread_mutex_lock(&t->lock);
	e = get_entry(t, st->st_dev, st->st_ino, NULL);
	known = e && is_unchanged(e, st) && e->file.cause != TABLES_CHANGING;
	if (known)
		e->used |= used;
	pthread_mutex_unlock(&t->lock);
	return known;
}

static int add_file(struct tables_session *t, int fd, const char *path, bool recalled)
{
	struct gen_table table;
	struct tables_id id;
	bool cached = false;
	struct stat st;
	int ret = 0;

	if (fstat(fd, &st))
		return -errno;
	pthread_mutex_lock(&t->work);
	if (note_if_known(t, &st, !recalled))
		goto out;
	memset(&table, 0, sizeof(table));
	if (recalled)
		ret = tables_get_cached_table(t->cache, fd, &id, &table);
	else
		ret = tables_get_table(t->cache, fd, &id, &table, &cached);
	if (!ret && !table.stats.table_fdes)
		ret = -ENODATA;
	if (t->opts.add_file && !(recalled && ret)) {
		int added = t->opts.add_file(t->opts.ctx, fd, path);

		ret = ret ? ret : added;
	} else if (!ret) {
		ret = add_segments(t, fd, &id, &table);
		if (!ret && id.compat)
			add_vdso32(t);
	}
	/* A file that could not be read keeps the identity that fstat() gave */
	id.st = st;
	/* a recalled program does not run yet: a later try can succeed */
	if (!recalled || !ret)
		note_file(t, &id, (struct file_result){
			.path = path, .table = &table, .cached = cached || recalled,
			.used = !recalled, .error = ret });
	gen_free(&table);
out:
	pthread_mutex_unlock(&t->work);
	return ret;
}

int tables_add_fd(struct tables_session *t, int fd, const char *path)
{
	return add_file(t, fd, path, false);
}

int tables_recall_fd(struct tables_session *t, int fd, const char *path)
{
	return add_file(t, fd, path, true);
}

int tables_add_path(struct tables_session *t, const char *path)
{
	/* A path can lead to a pipe without a writer */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = tables_add_fd(t, fd, path);
	close(fd);
	return ret;
}

/* ------------------------------ the session ------------------------------ */

int tables_open_with(const struct tables_opts *opts,
		     int (*add)(struct tables_session *t, const struct unwind_table_file *arg),
		     struct tables_session **tables)
{
	struct tables_session *t = calloc(1, sizeof(*t));

	*tables = NULL;
	if (!t)
		return -ENOMEM;
	t->fd = -1;
	t->add = add;
	if (opts)
		memcpy(&t->opts, opts,
		       opts->size < sizeof(t->opts) ? opts->size : sizeof(t->opts));
	t->proc = strdup("/proc");
	if (!t->proc) {
		free(t);
		return -ENOMEM;
	}
	pthread_mutex_init(&t->work, NULL);
	pthread_mutex_init(&t->lock, NULL);
	if (!t->opts.no_cache)
		t->cache_error = tables_cache_open(t->opts.cache_dir, t->opts.cache_limit,
						   &t->cache);
	*tables = t;
	return 0;
}

int tables_open(const struct tables_opts *opts, struct tables_session **tables)
{
	const char *tracefs = opts && opts->tracefs ? opts->tracefs : TRACEFS;
	char *path;
	int fd, ret;

	*tables = NULL;
	if (asprintf(&path, "%s/user_unwind_tables", tracefs) < 0)
		return -ENOMEM;
	fd = open(path, O_RDWR | O_CLOEXEC);
	ret = -errno;
	free(path);
	if (fd < 0)
		return ret;
	ret = tables_open_with(opts, add_by_ioctl, tables);
	if (ret)
		close(fd);
	else
		(*tables)->fd = fd;
	return ret;
}

void *tables_get_ctx(const struct tables_session *t)
{
	return t->opts.ctx;
}

static void free_no_entry(void *p)
{
	(void)p;
}

void tables_close(struct tables_session *t)
{
	size_t i;

	if (!t)
		return;
	tables_follow_stop(t);
	tables_recall_free(t->recall);
	if (t->fd >= 0)
		close(t->fd);
	tables_cache_close(t->cache);
	tdestroy(t->index, free_no_entry);
	for (i = 0; i < t->entries.nr; i++) {
		free((char *)t->entries.v[i]->file.path);
		free(t->entries.v[i]);
	}
	vec_free(&t->entries);
	free(t->proc);
	pthread_mutex_destroy(&t->work);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int tables_get_cache_error(const struct tables_session *t)
{
	return t->cache_error;
}

void tables_get_summary(struct tables_session *t, struct tables_summary *sum)
{
	size_t i;

	pthread_mutex_lock(&t->lock);
	*sum = t->sum;
	for (i = 0; i < t->entries.nr; i++) {
		const struct tables_file *f = &t->entries.v[i]->file;

		sum->files[f->cause]++;
		if (f->cause != TABLES_COVERED) {
			sum->uncovered += f->cause != TABLES_VANISHED;
			continue;
		}
		sum->cached += f->cached;
		sum->table_bytes += f->table_size;
		sum->text_bytes += f->stats.text_bytes;
		sum->covered_bytes += f->stats.covered_bytes;
		sum->hole_bytes += f->stats.hole_bytes;
		sum->unknown_bytes += stats_get_unknown_bytes(&f->stats);
		sum->holes += stats_get_nr_holes(&f->stats);
	}
	pthread_mutex_unlock(&t->lock);
}

void tables_for_each(struct tables_session *t,
		     void (*fn)(void *ctx, const struct tables_file *file), void *ctx)
{
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < t->entries.nr; i++)
		fn(ctx, &t->entries.v[i]->file);
	pthread_mutex_unlock(&t->lock);
}
