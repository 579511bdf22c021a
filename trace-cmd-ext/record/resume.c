// SPDX-License-Identifier: GPL-2.0
/*
 * resume.c - complete the files of recorders that are gone
 *
 * Such a file is FILE.partPID: the head of a recording, with the data of the CPUs in files next to
 * it. A recorder and its guard keep a shared lock on it. It is left only if both were killed, or if
 * the disk was full while the file was put together. The recorded data still exists (see dat.c).
 * There are two cases:
 *
 *  - The table of the CPUs' data is missing: nothing was moved. The rest of the instances is read,
 *    and the file is put together as the recorder would have done it.
 *  - The table is there: the rest of the data is moved to the places in the table.
 *
 * Instances are known by a PID, and PIDs come back. The instances of this recorder were made before
 * the files of the CPUs, and so before the last write to one of these files. Instances of a later
 * recorder were made after it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "impl.h"
#include "bytes.h"

#define MAX_CPUS	8192		/* the kernel's limit */
#define CLOCK_SIZE	32		/* of the name of a trace clock */

/* ------------------------- contents of such a file ----------------------- */

static struct cursor open_cursor(int fd, uint64_t at)
{
	return (struct cursor){ .fd = fd, .pos = at, .size = lseek(fd, 0, SEEK_END),
				.big_endian = __BYTE_ORDER == __BIG_ENDIAN };
}

/* Read this text with its terminator; a shorter file may be the start of it. */
static void expect_text(struct cursor *c, const char *text)
{
	size_t len = strlen(text) + 1, have = len;
	char found[32];

	if (c->failed)
		return;
	if (c->size - c->pos < len)
		have = c->size - c->pos;
	cursor_read(c, found, have);
	c->foreign |= !c->failed && memcmp(found, text, have);
	c->failed |= have < len || c->foreign;
}

/* Read the head, as dat_write_header() writes it. False if a part is missing. */
static bool read_head(struct rec *r, struct cursor *c)
{
	uint32_t systems;

	expect_text(c, DAT_MAGIC);
	cursor_skip(c, 2);
	r->page_size = cursor_read_number(c, 4);
	expect_text(c, "header_page");
	cursor_skip_texts(c, 1);
	expect_text(c, "header_event");
	cursor_skip_texts(c, 1);
	cursor_skip_texts(c, cursor_read_number(c, 4));
	systems = cursor_read_number(c, 4);
	while (systems-- && !c->failed) {
		cursor_skip_string(c);
		cursor_skip_texts(c, cursor_read_number(c, 4));
	}
	cursor_skip(c, cursor_read_number(c, 4));
	cursor_skip(c, cursor_read_number(c, 4));
	/* a wrong page size would lead to a division by zero */
	c->foreign |= !c->failed && r->page_size < 1024;
	return !c->failed && !c->foreign;
}

static bool read_table(const struct rec *r, struct cursor *c, struct dat_layout *l)
{
	uint64_t page = r->page_size, room = UINT64_MAX / 4;
	int cpu;

	expect_text(c, "flyrecord");
	l->size = calloc(r->nr_cpus, sizeof(*l->size));
	if (!l->size)
		return false;
	l->data = c->pos + 16ull * r->nr_cpus;
	l->data += -l->data % page;
	l->end = l->data;
	for (cpu = 0; cpu < r->nr_cpus && !c->failed; cpu++) {
		c->failed |= cursor_read_number(c, 8) != l->end;
		l->size[cpu] = cursor_read_number(c, 8);
		c->failed |= l->size[cpu] % page || l->size[cpu] > room;
		l->end += l->size[cpu];
		c->failed |= l->end > room;
	}
	return !c->failed;
}

/* Read the rest, which dat_finish() writes at once; false: a part is missing, no data was moved. */
static bool read_layout(struct rec *r, struct cursor *c, struct dat_layout *top,
			struct dat_layout *maps)
{
	uint64_t instance = 0;
	uint16_t id;
	uint32_t len;

	cursor_skip_texts(c, 1);
	r->nr_cpus = cursor_read_number(c, 4);
	if (c->failed || r->nr_cpus < 1 || r->nr_cpus > MAX_CPUS)
		return false;
	expect_text(c, "options  ");
	while ((id = cursor_read_number(c, 2)) && !c->failed) {
		len = cursor_read_number(c, 4);
		if (id == OPTION_BUFFER && len >= sizeof(instance)) {
			instance = cursor_read_number(c, 8);
			len -= sizeof(instance);
		}
		cursor_skip(c, len);
	}
	if (!read_table(r, c, top) || (instance && instance != top->end))
		return false;
	r->buf[BUF_MAPS].recorded = instance;
	if (!instance)
		return true;
	c->pos = top->end;
	expect_text(c, "options  ");
	id = cursor_read_number(c, 2);
	if (!c->failed && !id && read_table(r, c, maps))
		return true;
	/* no data of the mappings' buffer was moved */
	free(maps->size);
	return !dat_lay_out(r, BUF_MAPS, top->end + DAT_MAPS_HEAD, maps);
}

bool rec_resume(struct rec *r, int *ret)
{
	struct dat_layout top = {}, maps = {};
	struct cursor c = open_cursor(r->out_fd, r->shared->header_end);
	int nr_cpus = r->nr_cpus;

	if (!read_layout(r, &c, &top, &maps)) {
		r->nr_cpus = nr_cpus;
		free(top.size);
		free(maps.size);
		return false;
	}
	*ret = dat_move_data(r, &top, r->buf[BUF_MAPS].recorded ? &maps : NULL);
	return true;
}

/* ----------------------- such a file and its raw files ------------------- */

/* The end of a name, after "FILE": ".part" and digits. */
static const char *find_suffix(const char *path)
{
	const char *at = path + strlen(path);

	while (at > path && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return *at && at - path > 5 && !strncmp(at - 5, ".part", 5) && at[-6] != '/' ? at - 5 :
	       NULL;
}

bool unfinished_is_name(const char *path)
{
	return find_suffix(path) && strlen(path) + 32 < PATH_MAX;
}

/* Other programs use such names, too: did a recorder start this file? */
static bool is_ours(int fd)
{
	struct cursor c = open_cursor(fd, 0);

	expect_text(&c, DAT_MAGIC);
	return !c.foreign;
}

/* Open the file, set the fields that its name gives, and lock it if no recorder has it. */
static int open_part(const char *path, struct rec *r, bool *alive)
{
	struct stat st;
	int ret = 0;

	snprintf(r->part, sizeof(r->part), "%s", path);
	r->out_fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (r->out_fd < 0 || fstat(r->out_fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	else if (st.st_uid != geteuid())
		ret = -EPERM;
	else if (!is_ours(r->out_fd))
		ret = -EMEDIUMTYPE;
	if (ret) {
		if (r->out_fd >= 0)
			close(r->out_fd);
		r->out_fd = -1;
		return ret;
	}
	*alive = flock(r->out_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	return 0;
}

static void keep_newer(struct timespec *newest, const struct timespec *t)
{
	if (t->tv_sec > newest->tv_sec ||
	    (t->tv_sec == newest->tv_sec && t->tv_nsec > newest->tv_nsec))
		*newest = *t;
}

/* Returns how many CPUs have a raw file; also their bytes, and the time of the last write. */
static int measure_raw_files(struct rec *r, uint64_t *bytes, struct timespec *written)
{
	char path[PATH_MAX];
	struct stat st;
	int i, cpu, nr = 0;

	for (i = 0; i < NR_BUFS; i++) {
		for (cpu = 0; cpu < MAX_CPUS; cpu++) {
			rec_get_raw_path(r, i, cpu, path);
			if (lstat(path, &st) || !S_ISREG(st.st_mode))
				continue;
			*bytes += st.st_size;
			keep_newer(written, &st.st_mtim);
			r->buf[i].recorded = true;
			if (cpu >= nr)
				nr = cpu + 1;
		}
	}
	return nr;
}

int unfinished_examine(const char *path, struct unfinished *u)
{
	struct rec r = { .out_fd = -1 };
	struct timespec written = {};
	int ret;

	*u = (struct unfinished){ .pid = atoi(find_suffix(path) + 5) };
	ret = open_part(path, &r, &u->alive);
	if (ret)
		return ret;
	u->empty = !lseek(r.out_fd, 0, SEEK_END);
	measure_raw_files(&r, &u->bytes, &written);
	close(r.out_fd);
	return 0;
}

/* The clock of the recording; @clock does not change if it cannot be read. */
static void read_clock(const struct rec *r, char clock[CLOCK_SIZE])
{
	char *text = rec_tracefs_read(r->buf[BUF_EVENTS].instance, "trace_clock", NULL);
	char *at = text ? strchr(text, '[') : NULL;

	if (at)
		snprintf(clock, CLOCK_SIZE, "%.*s", (int)strcspn(at + 1, "]"), at + 1);
	free(text);
}

/* Open the instances of the recorder @pid, if they still exist; @written: its last write. */
static void adopt_instances(struct rec *r, pid_t pid, const struct timespec *written,
			    char clock[CLOCK_SIZE])
{
	struct timespec made;
	char path[PATH_MAX];
	struct stat st;
	int fd;

	rec_name_instances(r, pid);
	fd = instance_lock(r->buf[BUF_EVENTS].name, false);
	if (fd < 0)
		return;
	close(fd);
	snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(),
		 r->buf[BUF_EVENTS].name);
	if (stat(path, &st))
		return;
	made = st.st_mtim;
	keep_newer(&made, written);
	if (made.tv_sec != written->tv_sec || made.tv_nsec != written->tv_nsec)
		return;
	rec_adopt_instances(r);
	read_clock(r, clock);
}

/* Complete a file to which no data was moved yet. */
static int finish_file(struct rec *r)
{
	int ret = 0;

	if (r->buf[BUF_EVENTS].instance) {
		rec_stop(r);
		ret = rec_read_start(r, false);
		if (!ret)
			ret = rec_read_stop(r);
		rec_read_stats(r);
	}
	return ret ? ret : dat_finish(r);
}

/* The name without its suffix, or another one if a file has that name. */
static void choose_name(const char *path, pid_t pid, char out[PATH_MAX])
{
	int len = find_suffix(path) - path;
	struct stat st;

	snprintf(out, PATH_MAX, "%.*s", len, path);
	if (!lstat(out, &st))
		snprintf(out, PATH_MAX, "%.*s.%d", len, path, (int)pid);
}

/* Open @path, which becomes @out. Returns false after printing the error. */
static bool open_unfinished(struct rec *r, const char *path, const char *out)
{
	bool alive = false;
	struct stat st;
	int ret = open_part(path, r, &alive);

	if (ret)
		tool_error("%s: %s", path, strerror(-ret));
	else if (alive)
		tool_error("%s: its recorder still runs, and completes it", path);
	else if (!lstat(out, &st))
		tool_error("%s: it exists already; move it to another place first", out);
	else
		return true;
	if (r->out_fd >= 0)
		close(r->out_fd);
	return false;
}

/* Complete the open file. Empties @out if there is no data. -EBADMSG: no head of a recording. */
static int complete_file(struct rec *r, pid_t pid, bool traces, char clock[CLOCK_SIZE], char *out)
{
	struct cursor c = open_cursor(r->out_fd, 0);
	struct timespec written = {};
	uint64_t bytes = 0;
	int ret, nr_raw = measure_raw_files(r, &bytes, &written);

	if (!read_head(r, &c)) {
		/* the recorder was killed while it wrote the head: there is no data yet */
		*out = '\0';
		return c.foreign || bytes ? -EBADMSG : 0;
	}
	r->shared->header_end = c.pos;
	if (rec_resume(r, &ret))
		return ret;
	r->nr_cpus = nr_raw;
	if (!nr_raw) {
		/* the file ends after the head, or something else wrote the rest */
		*out = '\0';
		return c.size > c.pos ? -EBADMSG : 0;
	}
	/* the recorder makes the files of CPUs before it records */
	if (traces)
		adopt_instances(r, pid, &written, clock);
	return finish_file(r);
}

int unfinished_complete(const char *path, bool traces, char out[PATH_MAX])
{
	struct rec_shared shared = {};
	char clock[CLOCK_SIZE] = "";
	pid_t pid = atoi(find_suffix(path) + 5);
	struct rec r = {
		.out_fd = -1, .stop = -1, .reader_failed = -1, .shared = &shared,
		.opts = { .quiet = true, .clock = clock, .out = out },
	};
	int ret;

	signal(SIGXFSZ, SIG_IGN);
	r.buf[BUF_EVENTS].lock = r.buf[BUF_MAPS].lock = -1;
	r.buf[BUF_MAPS].label = "maps";
	r.buf[BUF_EVENTS].label = "";
	choose_name(path, pid, out);
	if (!open_unfinished(&r, path, out)) {
		rec_free(&r);
		return TOOL_OUTPUT;
	}
	ret = complete_file(&r, pid, traces, clock, out);
	if (ret == -EBADMSG) {
		tool_error("%s: it is not the head of a recording, or it is damaged; nothing was "
			   "changed: remove %s* if you do not need it", path, path);
		ret = TOOL_OUTPUT;
	} else if (!*out) {
		r.nr_cpus = MAX_CPUS;
		dat_discard(&r);
	}
	rec_remove_instances(&r);
	close(r.out_fd);
	rec_free(&r);
	return ret;
}
