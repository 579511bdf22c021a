// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cache.c - a directory of tables that were made before
 *
 * abi/format.h describes file names and contents. audit/audit.c reads these files too.
 *
 * A build ID is only a claim. Anyone can make a file with the build ID of libc and run it, and the
 * cache would keep its table as the table of libc. So a build ID counts only where nobody but root
 * and the caller can put files. Such a file belongs to one of them, and lies on a file system of
 * the caller's own root (root of a container writes to another file system). All other files, and
 * files without a build ID, are known by the inode and its times, which nobody can fake.
 *
 * The directory of root is for all users: audit/audit.c takes tables from it in any user's
 * programs. So a table that all may read is never made from a file that not all may read.
 *
 * The cache does not trust its own files. Each file starts with sizes and a checksum over
 * everything. They find damage, not malice. Against malice, the directory and each file must belong
 * to the caller, with nobody else allowed to write.
 *
 * A writer makes a file under a name that readers do not use, and renames it, so a reader sees all
 * of a table or nothing. Of two writers the last one wins, with the same table. Each use sets the
 * time of last access. When the directory gets too large, the tables with the oldest access go.
 * This needs no lock: a file that goes while a process reads it is still there for that process,
 * and a file that went before is made again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "gen_version.h"
#include "tables.h"
#include "libunwind-user/abi/abi.h"
#include "libunwind-user/base/base.h"

#define LIST_NAME	".paths"
#define LIST_MAX	(4u << 20)	/* bytes */
#define TMP_PREFIX	".tmp-"
#define TMP_MAX_AGE	3600		/* seconds; its writer is dead by then */
#define USED_EVERY	60		/* seconds between two notes of a use */

#define MAX_TRUSTED	8

struct tables_cache {
	int dir;
	uint64_t limit;
	uid_t uid;
	dev_t trusted[MAX_TRUSTED];	/* build IDs count for files there */
	unsigned int nr_trusted;
	pthread_mutex_t lock;		/* protects the fields below */
	bool counted;			/* bytes is known */
	uint64_t bytes;			/* in the directory, as far as this process knows */
};

struct cache_header {
	struct tables_head head;
	struct stats stats;
};

static uint32_t compute_checksum(const struct cache_header *h, const uint8_t *data)
{
	const uint8_t *p = (const uint8_t *)&h->head.crc + sizeof(h->head.crc);
	uint32_t crc = crc32(0, p, (const uint8_t *)(h + 1) - p);

	return crc32_z(crc, data, h->head.table_size);
}

/* ------------------------------ the directory ------------------------------- */

/* Open the directory @path. If it does not exist, create its parents, then create it with @mode. */
static int make_dirs(char *path, mode_t mode)
{
	char *p;
	int fd;

	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST && errno != EROFS && errno != EACCES) {
			fd = -errno;
			*p = '/';
			return fd;
		}
		*p = '/';
	}
	if (mkdir(path, mode) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The default directory of tables; NULL: there is none. The caller frees it. */
static char *make_default_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *env = getenv(TABLES_ENV);
	char *dir;
	int n;

	if (env && *env)
		return strdup(env);
	if (!geteuid())
		return strdup(TABLES_ROOT_DIR);
	/* The XDG base directory specification ignores relative paths */
	if (cache && *cache == '/')
		n = asprintf(&dir, "%s/%s", cache, TABLES_USER_DIR);
	else if (home && *home == '/')
		n = asprintf(&dir, "%s/%s", home, TABLES_HOME_DIR);
	else
		return NULL;
	return n < 0 ? NULL : dir;
}

int tables_cache_trust(struct tables_cache *c, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (c->nr_trusted == MAX_TRUSTED)
		return -ENOSPC;
	c->trusted[c->nr_trusted++] = st.st_dev;
	return 0;
}

int tables_cache_open(const char *dir, uint64_t limit, struct tables_cache **cache)
{
	char *path = dir ? strdup(dir) : make_default_dir();
	struct tables_cache *c;
	struct stat st;
	int fd;

	*cache = NULL;
	if (!path)
		return dir ? -ENOMEM : -ENOENT;
	fd = make_dirs(path, strcmp(path, TABLES_ROOT_DIR) ? 0700 : 0755);
	free(path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return -EPERM;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	c->dir = fd;
	c->uid = geteuid();
	c->limit = limit ? limit : TABLES_CACHE_LIMIT;
	pthread_mutex_init(&c->lock, NULL);
	tables_cache_trust(c, "/");
	tables_cache_trust(c, "/usr");
	*cache = c;
	return 0;
}

void tables_cache_close(struct tables_cache *c)
{
	if (!c)
		return;
	close(c->dir);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ------------------------------- its files ------------------------------- */

static bool is_trusted(const struct tables_cache *c, const struct tables_id *id)
{
	const struct stat *st = &id->st;
	unsigned int i;

	if (id->is_vdso)
		return true;
	if (!tables_is_trusted(st->st_uid, st->st_mode, c->uid))
		return false;
	for (i = 0; i < c->nr_trusted && c->trusted[i] != st->st_dev; i++)
		;
	return i < c->nr_trusted;
}

static void write_name(const struct tables_cache *c, const struct tables_id *id, char *name)
{
	const struct stat *st = &id->st;
	const struct tables_inode inode = {
		.dev = st->st_dev, .ino = st->st_ino, .size = st->st_size,
		.mtime = st->st_mtim.tv_sec, .mtime_nsec = st->st_mtim.tv_nsec,
		.ctime = st->st_ctim.tv_sec, .ctime_nsec = st->st_ctim.tv_nsec,
	};
	bool by_build_id = id->build_id_size && is_trusted(c, id);

	tables_write_name(name, id->build_id, id->build_id_size, by_build_id ? NULL : &inode,
			  GEN_VERSION);
}

static int read_all(int fd, void *to, size_t len, uint64_t at)
{
	int ret = fd_pread_all(fd, to, len, at);

	return ret == -ENODATA ? -ENOENT : ret;
}

static bool header_fits(const struct cache_header *h, const struct tables_id *id,
			const struct stat *st)
{
	return tables_head_fits(&h->head, st->st_size, id->build_id, id->build_id_size, id->layout,
				GEN_VERSION) &&
	       h->head.stats_size == sizeof(h->stats);
}

static int load_table(int fd, const struct tables_id *id, struct gen_table *table)
{
	struct cache_header h;
	struct stat st;
	int ret;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(h) ||
	    (uint64_t)st.st_size > TABLES_MAX_FILE)
		return -ENOENT;
	ret = read_all(fd, &h, sizeof(h), 0);
	if (ret)
		return ret;
	if (!header_fits(&h, id, &st))
		return -ENOENT;
	table->data = malloc(h.head.table_size ? h.head.table_size : 1);
	if (!table->data)
		return -ENOMEM;
	ret = read_all(fd, table->data, h.head.table_size, sizeof(h));
	if (!ret && compute_checksum(&h, table->data) != h.head.crc)
		ret = -ENOENT;
	if (ret) {
		gen_free(table);
		return ret;
	}
	table->size = h.head.table_size;
	table->base = h.head.base;
	table->text_start = h.head.text_start;
	table->text_size = h.head.text_size;
	table->stats = h.stats;
	return 0;
}

int tables_cache_load(struct tables_cache *c, const struct tables_id *id, struct gen_table *table)
{
	struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };
	char name[TABLES_NAME_SIZE];
	struct stat st;
	int fd, ret;

	memset(table, 0, sizeof(*table));
	write_name(c, id, name);
	fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME);
	if (fd < 0)
		return -ENOENT;
	ret = -ENOENT;
	if (!fstat(fd, &st) && st.st_uid == c->uid && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		ret = load_table(fd, id, table);
	if (!ret && time(NULL) - st.st_atime > USED_EVERY)
		futimens(fd, now);
	close(fd);
	return ret;
}

/* --------------------------- room for new tables ------------------------- */

struct cache_entry {
	char *name;
	struct timespec used;
	uint64_t bytes;
};

static int compare_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct cache_entry *)a)->used;
	const struct timespec *y = &((const struct cache_entry *)b)->used;

	RETURN_IF_DIFFERENT(x->tv_sec, y->tv_sec);
	return cmp_int(x->tv_nsec, y->tv_nsec);
}

/*
 * List all files of the directory, and remove those of dead writers. Returns their number or
 * -errno.
 */
static ssize_t list_files(struct tables_cache *c, struct cache_entry **list)
{
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t nr = 0, room = 0;
	struct dirent *d;
	struct cache_entry *e;
	struct stat st;

	*list = NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	while ((d = readdir(dir))) {
		if (fstatat(c->dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (!strncmp(d->d_name, TMP_PREFIX, strlen(TMP_PREFIX)) &&
		    time(NULL) - st.st_mtime > TMP_MAX_AGE) {
			unlinkat(c->dir, d->d_name, 0);
			continue;
		}
		if (!strcmp(d->d_name, LIST_NAME))
			continue;
		if (vec_grow(list, &room, nr, 1, sizeof(*e)))
			break;
		e = &(*list)[nr];
		e->name = strdup(d->d_name);
		if (!e->name)
			break;
		e->used = st.st_atim;
		e->bytes = st.st_size;
		nr++;
	}
	closedir(dir);
	return nr;
}

/* Remove the least recently used files until @max bytes are left at most, and count the bytes. */
static void remove_old_files(struct tables_cache *c, uint64_t max)
{
	struct cache_entry *list;
	uint64_t sum = 0;
	ssize_t nr, i;

	nr = list_files(c, &list);
	for (i = 0; i < nr; i++)
		sum += list[i].bytes;
	if (nr > 0)
		qsort(list, nr, sizeof(*list), compare_age);
	for (i = 0; i < nr; i++) {
		if (sum > max && !unlinkat(c->dir, list[i].name, 0))
			sum -= list[i].bytes;
		free(list[i].name);
	}
	free(list);
	c->bytes = sum;
	c->counted = true;
}

/* Write the new file as a whole, from @nr parts, or keep the old one. */
static int write_new_file(struct tables_cache *c, const char *name, mode_t mode,
			  const struct iovec *part, unsigned int nr)
{
	unsigned int i;
	char tmp[64];
	uint64_t id;
	int fd, ret = 0;

	/* Processes with the same PID in different containers may share the directory */
	do {
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			return -EIO;
		snprintf(tmp, sizeof(tmp), TMP_PREFIX "%016" PRIx64, id);
		fd = openat(c->dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    mode);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return -errno;
	for (i = 0; i < nr && !ret; i++)
		ret = fd_write_all(fd, part[i].iov_base, part[i].iov_len);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && renameat(c->dir, tmp, c->dir, name))
		ret = -errno;
	if (ret)
		unlinkat(c->dir, tmp, 0);
	return ret;
}

int tables_cache_store(struct tables_cache *c, const struct tables_id *id,
		       const struct gen_table *table)
{
	struct cache_header h = {
		.head = {
			.magic = TABLES_MAGIC, .head_size = sizeof(h), .version = GEN_VERSION,
			.file_size = sizeof(h) + table->size, .table_size = table->size,
			.base = table->base, .text_start = table->text_start,
			.text_size = table->text_size, .layout = id->layout,
			.build_id_size = id->build_id_size, .stats_size = sizeof(h.stats),
		},
		.stats = table->stats,
	};
	const struct iovec part[] = { { &h, sizeof(h) }, { table->data, table->size } };
	bool for_all = !c->uid && (id->is_vdso || id->st.st_mode & S_IROTH);
	char name[TABLES_NAME_SIZE];

	if (h.head.file_size > c->limit / 2 || h.head.file_size > TABLES_MAX_FILE)
		return -EFBIG;
	memcpy(h.head.build_id, id->build_id, sizeof(h.head.build_id));
	h.head.crc = compute_checksum(&h, table->data);

	pthread_mutex_lock(&c->lock);
	if (!c->counted)
		remove_old_files(c, UINT64_MAX);
	/* a quarter of the limit stays free, so the next files need no removal */
	if (c->bytes + h.head.file_size > c->limit)
		remove_old_files(c, c->limit - c->limit / 4 - h.head.file_size);
	c->bytes += h.head.file_size;
	pthread_mutex_unlock(&c->lock);
	write_name(c, id, name);
	return write_new_file(c, name, for_all ? 0644 : 0600, part, 2);
}

/* ---------------------------- paths of programs -------------------------- */

char *tables_cache_get_list(struct tables_cache *c)
{
	int fd = openat(c->dir, LIST_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == c->uid &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size <= LIST_MAX)
		text = calloc(1, st.st_size + 1);
	if (text && read_all(fd, text, st.st_size, 0)) {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

int tables_cache_put_list(struct tables_cache *c, const char *text, size_t len)
{
	const struct iovec part = { (void *)text, len };

	/* the list shows what the user ran, so other users must not read it */
	return len > LIST_MAX ? -EFBIG : write_new_file(c, LIST_NAME, 0600, &part, 1);
}
