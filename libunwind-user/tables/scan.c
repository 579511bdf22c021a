// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * scan.c - registers everything that runs
 *
 * The scan reads /proc/PID/maps of all processes once, and keeps one mapping of each file. Then it
 * opens each file through /proc/PID/map_files/START-END. This opens the mapped file, even if it was
 * deleted or replaced, or has a name in another mount namespace only. Where map_files is not
 * allowed, or the process is gone, the scan uses the file's path.
 *
 * The kernel identifies the file by the descriptor, so a path that leads elsewhere by now does no
 * harm.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "impl.h"

#define PROGRESS_EVERY	16	/* files */

/* ------------------------ a set of (device, inode) ------------------------ */

uint64_t *tables_seen_get_time(struct tables_seen *set, uint64_t dev, uint64_t ino)
{
	uint64_t hash = hash64(ino ^ hash64(dev));
	struct tables_seen_file *f;
	uint32_t i;
	size_t pos;

	for_each_hidx(&set->idx, hash, pos, i) {
		f = &set->files.v[i];
		if (f->ino == ino && f->dev == dev)
			return &f->when;
	}
	f = vec_add_hashed(&set->files, &set->idx, hash);
	if (!f)
		return NULL;
	f->dev = dev;
	f->ino = ino;
	return &f->when;
}

void tables_seen_free(struct tables_seen *set)
{
	vec_free(&set->files);
	hidx_free(&set->idx);
}

/* ------------------------------- mappings -------------------------------- */

struct mapping {
	pid_t pid;
	uint64_t start, end;
	dev_t dev;
	ino_t ino;
	char *path;
};

struct process_scan {
	struct tables_session *t;
	bool report;			/* progress */
	struct tables_seen seen;
	VEC(struct mapping) maps;
	struct tables_summary sum;	/* counts of processes */
	bool anon;			/* this process has code in no file */
};

/* Add the first mapping of each file, with a copy of its path. */
static int add_mapping(struct process_scan *s, const struct mapping *new)
{
	uint64_t *when = tables_seen_get_time(&s->seen, new->dev, new->ino);
	struct mapping *m;

	if (!when)
		return -ENOMEM;
	if (*when)
		return 0;
	m = vec_add(&s->maps);
	if (!m)
		return -ENOMEM;
	*m = *new;
	m->path = strdup(new->path);
	if (!m->path) {
		s->maps.nr--;
		return -ENOMEM;
	}
	*when = 1;
	return 0;
}

/* "START-END PERMS PGOFF MAJOR:MINOR INODE   PATH" */
static int read_line(struct process_scan *s, pid_t pid, char *line)
{
	struct mapping m = { .pid = pid };
	unsigned int major, minor;
	char perms[8];
	uint64_t ino;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %x:%x %" SCNu64 " %n", &m.start, &m.end,
		   perms, &major, &minor, &ino, &at) != 6 || !at || perms[2] != 'x')
		return 0;
	line[strcspn(line, "\n")] = '\0';
	m.dev = makedev(major, minor);
	m.ino = ino;
	m.path = line + at;
	if (ino)
		return add_mapping(s, &m);
	if (line[at] != '[' || !strncmp(line + at, "[anon", 5) ||
	    !strcmp(line + at, "[heap]") || !strcmp(line + at, "[stack]")) {
		s->anon = true;
		s->sum.anon_bytes += m.end - m.start;
	}
	return 0;
}

static int read_process(struct process_scan *s, pid_t pid)
{
	size_t size = 0;
	bool any = false;
	char *line = NULL, *path;
	int ret = 0;
	FILE *f;

	if (asprintf(&path, "%s/%d/maps", s->t->proc, (int)pid) < 0)
		return -ENOMEM;
	f = fopen(path, "re");
	free(path);
	if (!f) {
		s->sum.unreadable += errno == EACCES || errno == EPERM;
		return 0;
	}
	s->anon = false;
	errno = 0;
	while (!ret && getline(&line, &size, f) > 0) {
		any = true;
		ret = read_line(s, pid, line);
	}
	if (!any && (errno == EACCES || errno == EPERM))
		s->sum.unreadable++;
	/* Kernel threads have no mappings */
	s->sum.processes += any;
	s->sum.anon_processes += s->anon;
	free(line);
	fclose(f);
	return ret;
}

static int read_processes(struct process_scan *s)
{
	DIR *dir = opendir(s->t->proc);
	struct dirent *d;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (d = readdir(dir))) {
		if (isdigit((unsigned char)d->d_name[0]))
			ret = read_process(s, atoi(d->d_name));
	}
	closedir(dir);
	return ret;
}

/* --------------------------------- files --------------------------------- */

static int try_open(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int try_open(const char *fmt, ...)
{
	va_list ap;
	char *path;
	int n, fd;

	va_start(ap, fmt);
	n = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(path);
	return fd;
}

int tables_open_mapping(struct tables_session *t, pid_t pid, uint64_t start, uint64_t end,
			const char *path)
{
	int fd, ret;

	ret = try_open("%s/%d/map_files/%" PRIx64 "-%" PRIx64, t->proc, (int)pid, start, end);
	if (ret >= 0 || *path != '/')
		return ret;
	fd = try_open("%s/%d/root%s", t->proc, (int)pid, path);
	if (fd < 0 && (fd == -ENOENT || fd == -ESRCH))
		fd = try_open("%s", path);
	/* The error of map_files counts (EPERM), unless the file was gone there, too */
	return fd >= 0 || ret == -ENOENT || ret == -ESRCH ? fd : ret;
}

static int report_progress(const struct process_scan *s, uint64_t done)
{
	const struct tables_opts *opts = &s->t->opts;

	return s->report && opts->progress ? opts->progress(opts->ctx, done, s->maps.nr) : 0;
}

static int register_all(struct process_scan *s)
{
	struct tables_session *t = s->t;
	size_t i;
	int fd, ret;

	for (i = 0; i < s->maps.nr; i++) {
		struct mapping *m = &s->maps.v[i];

		ret = i % PROGRESS_EVERY ? 0 : report_progress(s, i);
		if (ret)
			return ret;
		fd = tables_open_mapping(t, m->pid, m->start, m->end, m->path);
		if (fd < 0) {
			tables_note_failure(t, m->dev, m->ino, m->path, fd);
			continue;
		}
		tables_add_fd(t, fd, m->path);
		close(fd);
	}
	return report_progress(s, s->maps.nr);
}

int tables_scan_processes(struct tables_session *t, bool report)
{
	struct process_scan s = { .t = t, .report = report };
	size_t i;
	int ret;

	ret = read_processes(&s);
	if (!ret) {
		tables_add_vdso(t);
		ret = register_all(&s);
	}
	pthread_mutex_lock(&t->lock);
	t->sum.processes = s.sum.processes;
	t->sum.unreadable = s.sum.unreadable;
	t->sum.anon_processes = s.sum.anon_processes;
	t->sum.anon_bytes = s.sum.anon_bytes;
	pthread_mutex_unlock(&t->lock);
	for (i = 0; i < s.maps.nr; i++)
		free(s.maps.v[i].path);
	vec_free(&s.maps);
	tables_seen_free(&s.seen);
	return ret;
}

int tables_scan(struct tables_session *t)
{
	return tables_scan_processes(t, true);
}
