// SPDX-License-Identifier: GPL-2.0
/*
 * tables.c - tables of files: made, and put where the programs find them
 *
 * The programs know a file by device and inode, as /proc/PID/maps shows them, and its contents by
 * size and time of modification. fstat() gives another device on some file systems (btrfs). So for
 * the first file of each device, this code maps a page of the file and reads /proc/self/maps.
 *
 * Files come from the caller (bpfsrc_tables_add()), and from stacks: when a file without a table
 * appears in a stack, a thread opens it through /proc/PID/map_files and makes a table for it. That
 * works as long as the process lives. Until then stacks end at this file; nothing is guessed.
 *
 * A file for which no table can be made gets parts without rows: the programs then follow
 * frame pointers there. No stack goes through a file of another ABI, such as x32.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "impl.h"
#include "flat.h"

#define MAX_WANTED	256		/* requests that the thread has not handled yet */
#define MAX_PARTS	4096		/* 4 GiB of a file without rows */

struct file {
	uint64_t ino;
	uint32_t dev;			/* as in struct part_key */
	bool tried;			/* with these contents it has a table, or cannot have one */
	bool wanted;			/* the thread will make a table for it */
	struct file_state state;
	char *path;			/* NULL: not known */
	uint8_t build_id[20];
	uint32_t build_id_size;
	uint64_t bytes;			/* memory of the file's rows */
};

/* A file and its contents, as the programs see them */
struct seen_file {
	uint32_t dev;			/* as in struct part_key */
	uint64_t ino;			/* 0: a vDSO */
	struct file_state state;
	const char *path;
};

struct wanted {
	uint32_t tgid, dev;
	uint64_t ino, start, end;
};

/* Does fstat() give the device that the kernel shows for mappings? */
struct device {
	dev_t dev;
	bool same;
};

struct bpfsrc_tables {
	struct bpfsrc_table_maps maps;
	struct tables_cache *cache;
	struct full_rules full;
	pthread_mutex_t lock;		/* for all below */
	VEC(struct file) file;
	struct hidx idx;
	VEC(struct device) device;
	uint32_t *chunk;		/* the last one, mapped */
	int chunk_fd;
	uint32_t nr_chunks, used;	/* words of the last */
	struct python_layout python[MAX_PYTHONS];	/* the first one is not used */
	uint32_t nr_pythons, pythons_refused;
	struct wanted wanted[MAX_WANTED];
	unsigned int nr_wanted;
	bool stop, started;
	int vdso32_error;		/* why the vDSO of 32-bit programs has no table, or 0 */
	pthread_cond_t more;
	pthread_t thread;
};

/* ---------------------------------- files -------------------------------- */

static uint64_t hash_file(uint32_t dev, uint64_t ino)
{
	return hash64(ino ^ hash64(dev));
}

/* Call it with t->lock held. NULL if the file is not known. */
static struct file *find_file(struct bpfsrc_tables *t, uint32_t dev, uint64_t ino)
{
	uint32_t i;
	size_t pos;

	for_each_hidx(&t->idx, hash_file(dev, ino), pos, i) {
		if (t->file.v[i].ino == ino && t->file.v[i].dev == dev)
			return &t->file.v[i];
	}
	return NULL;
}

/* Call it with t->lock held. NULL if there is not enough memory. */
static struct file *get_file(struct bpfsrc_tables *t, uint32_t dev, uint64_t ino)
{
	struct file *f = find_file(t, dev, ino);

	if (f)
		return f;
	f = vec_add_hashed(&t->file, &t->idx, hash_file(dev, ino));
	if (!f)
		return NULL;
	f->dev = dev;
	f->ino = ino;
	return f;
}

static struct file_state get_state(const struct stat *st)
{
	return (struct file_state) {
		.size = st->st_size,
		.mtime = st->st_mtim.tv_sec,
		.mtime_nsec = st->st_mtim.tv_nsec,
	};
}

static bool is_same_state(const struct file_state *a, const struct file_state *b)
{
	return a->size == b->size && a->mtime == b->mtime && a->mtime_nsec == b->mtime_nsec;
}

static uint32_t encode_dev(dev_t dev)
{
	return major(dev) << 20 | (minor(dev) & 0xfffff);
}

/* Map a page of the file, and read the device that the kernel shows for it. */
static int look_up_mapping(int fd, uint32_t *dev, uint64_t *ino)
{
	unsigned int major, minor;
	uint64_t start, at;
	char *line = NULL;
	size_t size = 0;
	int ret = -ENOENT;
	void *mem;
	FILE *f;

	mem = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	f = fopen("/proc/self/maps", "re");
	at = (uintptr_t)mem;
	while (f && ret && getline(&line, &size, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &major, &minor,
			   ino) == 4 && start == at) {
			*dev = major << 20 | minor;
			ret = 0;
		}
	}
	free(line);
	if (f)
		fclose(f);
	munmap(mem, 1);
	return ret;
}

/* Device and inode of an open file as the programs see them. */
static int identify_file(struct bpfsrc_tables *t, int fd, const struct stat *st, uint32_t *dev,
			 uint64_t *ino)
{
	struct device *d;
	bool known = false, same = false;
	size_t i;
	int ret;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < t->device.nr && !known; i++) {
		known = t->device.v[i].dev == st->st_dev;
		same = known && t->device.v[i].same;
	}
	pthread_mutex_unlock(&t->lock);
	*dev = encode_dev(st->st_dev);
	*ino = st->st_ino;
	if (same)
		return 0;
	ret = look_up_mapping(fd, dev, ino);
	if (ret || known)
		return ret;
	pthread_mutex_lock(&t->lock);
	d = vec_add(&t->device);
	if (d) {
		d->dev = st->st_dev;
		d->same = *dev == encode_dev(st->st_dev) && *ino == st->st_ino;
	}
	pthread_mutex_unlock(&t->lock);
	return 0;
}

/* ---------------------------------- rows --------------------------------- */

/* Make room for this many words in the chunk, or start a new chunk. Call it with t->lock held. */
static int reserve_chunk(struct bpfsrc_tables *t, uint32_t words)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t *mem;
	int fd, ret;

	if (t->chunk && t->used + words <= CHUNK_WORDS)
		return 0;
	if (t->nr_chunks == MAX_CHUNKS)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ustack_rows", sizeof(uint32_t),
			    CHUNK_WORDS * sizeof(uint32_t), 1, &opts);
	if (fd < 0)
		return -errno;
	mem = mmap(NULL, CHUNK_WORDS * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		ret = -errno;
		close(fd);
		return ret;
	}
	if (bpf_map_update_elem(t->maps.chunks, &t->nr_chunks, &fd, BPF_ANY)) {
		ret = -errno;
		munmap(mem, CHUNK_WORDS * sizeof(uint32_t));
		close(fd);
		return ret;
	}
	if (t->chunk) {
		munmap(t->chunk, CHUNK_WORDS * sizeof(uint32_t));
		close(t->chunk_fd);
	}
	t->chunk = mem;
	t->chunk_fd = fd;
	t->nr_chunks++;
	t->used = 0;
	return 0;
}

/* Write the rows of a file into chunks. Call it with t->lock held. */
static int store_rows(struct bpfsrc_tables *t, const struct seen_file *seen,
		      const struct flat *rows, uint32_t python, uint64_t *bytes)
{
	struct part_key key = { .ino = seen->ino, .dev = seen->dev };
	struct part part = { .state = seen->state, .python = python };
	uint32_t words;
	size_t i;
	int ret;

	*bytes = 0;
	for (i = 0; i < rows->part.nr; i++) {
		words = flat_words(&rows->part.v[i]);
		ret = reserve_chunk(t, words);
		if (ret)
			return ret;
		part.chunk = t->nr_chunks - 1;
		flat_write(rows, &rows->part.v[i], t->chunk, t->used, &part);
		t->used += words;
		*bytes += words * sizeof(uint32_t);
		key.nr = rows->part.v[i].nr;
		if (bpf_map_update_elem(t->maps.parts, &key, &part, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Put parts without rows for this file, because of @error. Call it with t->lock held. */
static int store_empty_parts(struct bpfsrc_tables *t, const struct seen_file *seen, int error)
{
	struct part_key key = { .ino = seen->ino, .dev = seen->dev };
	struct part part = {
		.state = seen->state, .abi = error == -EOPNOTSUPP ? ABI_OTHER : ABI_ANY,
	};

	do {
		if (bpf_map_update_elem(t->maps.parts, &key, &part, BPF_ANY))
			return -errno;
	} while (++key.nr <= seen->state.size >> PART_SHIFT && key.nr < MAX_PARTS);
	return 0;
}

/* Is it an error that another try will not fix? */
static bool is_final(int error)
{
	return error == -ENODATA || error == -ENOEXEC || error == -EOPNOTSUPP ||
	       error == -EBADMSG || error == -EFBIG;
}

/* Note the result for a file. Call it with t->lock held. @id may be NULL. */
static void note_file(struct bpfsrc_tables *t, const struct seen_file *seen,
		      const struct tables_id *id, uint64_t bytes)
{
	struct file *f = get_file(t, seen->dev, seen->ino);

	if (!f)
		return;
	f->tried = true;
	f->wanted = false;
	f->state = seen->state;
	f->bytes = bytes;
	f->build_id_size = 0;
	if (id) {
		memcpy(f->build_id, id->build_id, sizeof(f->build_id));
		f->build_id_size = id->build_id_size;
	}
	if (seen->path && (!f->path || strcmp(f->path, seen->path))) {
		char *new = strdup(seen->path);

		if (new) {
			free(f->path);
			f->path = new;
		}
	}
}

static int store_table(struct bpfsrc_tables *t, const struct seen_file *seen,
		       const struct gen_table *table, const struct tables_id *id, uint32_t python)
{
	struct flat rows;
	uint64_t bytes = 0;
	int ret;

	pthread_mutex_lock(&t->lock);
	ret = flat_make(&rows, &t->full, table, id);
	if (!ret) {
		ret = store_rows(t, seen, &rows, python, &bytes);
		flat_free(&rows);
	}
	if (is_final(ret))
		store_empty_parts(t, seen, ret);
	if (!ret || is_final(ret))
		note_file(t, seen, id, bytes);
	pthread_mutex_unlock(&t->lock);
	return ret;
}

/* Without room for one more runtime, stacks through its JIT code are marked. */
static void store_runtime(struct bpfsrc_tables *t, int fd, const struct seen_file *seen)
{
	struct part_key key = { .ino = seen->ino, .dev = seen->dev };
	struct runtime r;

	if (!HAS_RUNTIMES || !bpfsrc_find_runtime(fd, &r))
		return;
	r.state = seen->state;
	bpf_map_update_elem(t->maps.runtimes, &key, &r, BPF_ANY);
}

/* The number of the interpreter; 0: no room for one more. Call it with t->lock held. */
static uint32_t add_python(struct bpfsrc_tables *t, const struct python_layout *p)
{
	uint32_t nr;

	for (nr = 1; nr <= t->nr_pythons; nr++)
		if (!memcmp(&t->python[nr], p, sizeof(*p)))
			return nr;
	if (nr == MAX_PYTHONS || bpf_map_update_elem(t->maps.pythons, &nr, p, BPF_ANY)) {
		t->pythons_refused++;
		return 0;
	}
	t->python[nr] = *p;
	return ++t->nr_pythons;
}

/* The number of the file's interpreter; 0: the file has none, or there is no room for one more */
static uint32_t store_python(struct bpfsrc_tables *t, int fd)
{
	struct python_layout p;
	uint32_t nr;

	if (!HAS_RUNTIMES || t->maps.pythons < 0 || !bpfsrc_find_python(fd, &p))
		return 0;
	pthread_mutex_lock(&t->lock);
	nr = add_python(t, &p);
	pthread_mutex_unlock(&t->lock);
	return nr;
}

static int add_file(struct bpfsrc_tables *t, int fd, struct seen_file *seen)
{
	struct gen_table table = {};
	struct tables_id id = {};
	struct file *f;
	bool known;
	int ret;

	pthread_mutex_lock(&t->lock);
	f = find_file(t, seen->dev, seen->ino);
	known = f && f->tried && is_same_state(&f->state, &seen->state);
	pthread_mutex_unlock(&t->lock);
	if (known)
		return 0;
	ret = tables_get_table(t->cache, fd, &id, &table, NULL);
	if (!ret) {
		seen->state = get_state(&id.st);
		store_runtime(t, fd, seen);
		ret = store_table(t, seen, &table, &id, store_python(t, fd));
		gen_free(&table);
		return ret;
	}
	if (is_final(ret)) {
		pthread_mutex_lock(&t->lock);
		store_empty_parts(t, seen, ret);
		note_file(t, seen, &id, 0);
		pthread_mutex_unlock(&t->lock);
	}
	return ret;
}

int bpfsrc_tables_add(struct bpfsrc_tables *t, int fd, const char *path)
{
	struct seen_file seen = { .path = path };
	char opened[PATH_MAX];
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	seen.state = get_state(&st);
	ret = identify_file(t, fd, &st, &seen.dev, &seen.ino);
	/* the name that led to the file may now be of another file */
	if (!ret && fd_get_path(fd, opened, sizeof(opened)))
		seen.path = opened;
	return ret ? ret : add_file(t, fd, &seen);
}

/* In the vDSO, offsets and addresses in the file are one number: struct mapping, state.bpf.h */
static int store_vdso(struct bpfsrc_tables *t, const struct seen_file *vdso, struct tables_id *id,
		      struct gen_table *table)
{
	int ret;

	id->nr_segs = 1;
	id->seg[0] = (struct tables_seg) {
		.offset = table->text_start, .size = table->text_size, .vaddr = table->text_start,
	};
	ret = store_table(t, vdso, table, id, 0);
	gen_free(table);
	return ret;
}

/*
 * If a vDSO gets no table now, it has none for the whole recording. A kernel that runs no 32-bit
 * programs (-ENOEXEC) needs no table for their vDSO. Nor do the BPF programs for other
 * architectures than amd64.
 */
static void add_vdsos(struct bpfsrc_tables *t)
{
	struct seen_file vdso = { .dev = VDSO64_DEV, .path = "[vdso]" };
	struct gen_table table;
	struct tables_id id;
	int ret;

	ret = tables_get_vdso_table(t->cache, &id, &table, NULL);
	if (!ret)
		ret = store_vdso(t, &vdso, &id, &table);
	if (ret)
		store_empty_parts(t, &vdso, 0);
	if (!HAS_32BIT)
		return;
	vdso.dev = VDSO32_DEV;
	ret = tables_make_vdso32_table(&id, &table);
	if (!ret)
		ret = store_vdso(t, &vdso, &id, &table);
	if (ret)
		store_empty_parts(t, &vdso, 0);
	t->vdso32_error = ret == -ENOEXEC ? 0 : ret;
	vdso.dev = VDSOX32_DEV;
	store_empty_parts(t, &vdso, -EOPNOTSUPP);
}

/* --------------------------- files seen in stacks ------------------------ */

/*
 * The process may now have another file there, for example a program without PIE that it executed.
 * On overlayfs and FUSE, a file can stand for another file, and the programs see the other one.
 */
static bool is_wanted(struct bpfsrc_tables *t, const struct wanted *w, int fd,
		      const struct stat *st)
{
	struct statfs fs;
	uint32_t dev;
	uint64_t ino;

	if (fstatfs(fd, &fs))
		return false;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == FUSE_SUPER_MAGIC)
		return true;
	return !identify_file(t, fd, st, &dev, &ino) && dev == w->dev && ino == w->ino;
}

static void add_wanted_file(struct bpfsrc_tables *t, const struct wanted *w)
{
	struct seen_file seen = { .dev = w->dev, .ino = w->ino };
	char name[64], path[PATH_MAX];
	struct stat st;
	struct file *f;
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, w->tgid, w->start,
		 w->end);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && is_wanted(t, w, fd, &st) &&
	    fd_get_path(fd, path, sizeof(path))) {
		seen.path = path;
		seen.state = get_state(&st);
		add_file(t, fd, &seen);
	}
	pthread_mutex_lock(&t->lock);
	f = find_file(t, w->dev, w->ino);
	if (f)
		f->wanted = false;
	pthread_mutex_unlock(&t->lock);
	if (fd >= 0)
		close(fd);
}

static void *make_wanted_tables(void *arg)
{
	struct task out = { .flags = TASK_LEFT_OUT };
	struct bpfsrc_tables *t = arg;
	uint32_t tid = gettid();
	struct wanted w;

	bpf_map_update_elem(t->maps.tasks, &tid, &out, BPF_ANY);
	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		if (!t->nr_wanted) {
			pthread_cond_wait(&t->more, &t->lock);
			continue;
		}
		w = t->wanted[0];
		t->nr_wanted--;
		memmove(t->wanted, t->wanted + 1, t->nr_wanted * sizeof(*t->wanted));
		pthread_mutex_unlock(&t->lock);
		add_wanted_file(t, &w);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

void bpfsrc_tables_request(struct bpfsrc_tables *t, uint32_t tgid, const struct msg_code *code)
{
	uint32_t dev = code->dev_major << 20 | code->dev_minor;
	struct file *f;

	if (!code->ino)
		return;
	pthread_mutex_lock(&t->lock);
	f = get_file(t, dev, code->ino);
	if (f && !f->wanted && t->nr_wanted < MAX_WANTED) {
		f->wanted = true;
		t->wanted[t->nr_wanted++] = (struct wanted) {
			.tgid = tgid, .dev = dev, .ino = code->ino,
			.start = code->start, .end = code->end,
		};
		pthread_cond_signal(&t->more);
	}
	pthread_mutex_unlock(&t->lock);
}

/* -------------------------------- interface ------------------------------ */

int bpfsrc_tables_open(const struct bpfsrc_table_maps *maps, struct bpfsrc_tables **tables)
{
	struct bpfsrc_tables *t = calloc(1, sizeof(*t));
	int ret;

	*tables = NULL;
	if (!t)
		return -ENOMEM;
	t->maps = *maps;
	t->chunk_fd = -1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	t->full.rule = mmap(NULL, MAX_FULL * sizeof(struct full_rule), PROT_READ | PROT_WRITE,
			    MAP_SHARED, maps->full_rules, 0);
	if (t->full.rule == MAP_FAILED) {
		ret = -errno;
		t->full.rule = NULL;
		goto fail;
	}
	/* without the directory, each table is made again */
	tables_cache_open(NULL, 0, &t->cache);
	add_vdsos(t);
	ret = thread_start(&t->thread, make_wanted_tables, t);
	if (ret)
		goto fail;
	t->started = true;
	*tables = t;
	return 0;

fail:
	bpfsrc_tables_close(t);
	return ret;
}

void bpfsrc_tables_stop(struct bpfsrc_tables *t)
{
	if (!t->started)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	t->started = false;
}

void bpfsrc_tables_close(struct bpfsrc_tables *t)
{
	size_t i;

	if (!t)
		return;
	bpfsrc_tables_stop(t);
	if (t->chunk) {
		munmap(t->chunk, CHUNK_WORDS * sizeof(uint32_t));
		close(t->chunk_fd);
	}
	if (t->full.rule)
		munmap(t->full.rule, MAX_FULL * sizeof(struct full_rule));
	for (i = 0; i < t->file.nr; i++)
		free(t->file.v[i].path);
	vec_free(&t->file);
	hidx_free(&t->idx);
	vec_free(&t->device);
	tables_cache_close(t->cache);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int bpfsrc_tables_synchronize(struct bpfsrc_tables *t)
{
	uint32_t last;
	int ret = 0;

	pthread_mutex_lock(&t->lock);
	if (t->chunk) {
		/* The kernel waits for all programs after a change of such a map */
		last = t->nr_chunks - 1;
		if (bpf_map_update_elem(t->maps.chunks, &last, &t->chunk_fd, BPF_ANY))
			ret = -errno;
	}
	pthread_mutex_unlock(&t->lock);
	return ret;
}

bool bpfsrc_tables_get(struct bpfsrc_tables *t, uint32_t dev, uint64_t ino,
		       struct bpfsrc_file *file)
{
	const struct file *f;

	pthread_mutex_lock(&t->lock);
	f = find_file(t, dev, ino);
	memset(file, 0, sizeof(*file));
	if (f && (f->path || f->build_id_size)) {
		file->path = f->path;
		memcpy(file->build_id, f->build_id, sizeof(file->build_id));
		file->build_id_size = f->build_id_size;
	}
	pthread_mutex_unlock(&t->lock);
	return file->path || file->build_id_size;
}

void bpfsrc_tables_add_stats(struct bpfsrc_tables *t, struct bpfsrc_stats *stats)
{
	size_t i;

	stats->vdso32_error = t->vdso32_error;
	pthread_mutex_lock(&t->lock);
	stats->pythons_refused = t->pythons_refused;
	for (i = 0; i < t->file.nr; i++) {
		stats->tables += !!t->file.v[i].bytes;
		stats->table_bytes += t->file.v[i].bytes;
	}
	pthread_mutex_unlock(&t->lock);
}
