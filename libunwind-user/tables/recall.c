// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * recall.c - registers files that ran in earlier sessions and may start again
 *
 * follow.c registers a table when it sees a program's first mapping. This is late for the first
 * stacks of the program. Nobody knows which programs will start, but mostly they are the programs
 * that started before. So a session leaves the paths of the files that ran in the directory of
 * tables. The next session registers these files before anything happens. The files used last are
 * on top of the list. A session that cannot wait for all of them leaves the rest to the thread of
 * follow.c.
 *
 * The list need not be right. A path leads to a file, and the file is identified by its contents
 * like any other; at worst nobody runs it. But the owner of a directory on the way can redirect a
 * path, and opening a device or a pipe has effects. So the session checks a file before it opens
 * the file.
 *
 * The list has one path a line, the most recently used first. When two sessions end at once, the
 * paths of one of them may get lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

#define MAX_FILES	1024
#define MAX_BYTES	(64ull << 20)	/* of tables: the kernel keeps them in memory */
#define PROGRESS_EVERY	16		/* files */

/* The next line, cut out of *@text; NULL at the end. */
static char *cut_next_path(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*text = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

/* -------------------------------- register ------------------------------- */

/* Open @path for reading if it is a regular file; else return -1. */
static int open_regular(const char *path)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char link[64];
	struct stat st;

	if (at < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	if (!fstat(at, &st) && S_ISREG(st.st_mode))
		fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(at);
	return fd;
}

static uint64_t sum_table_bytes(struct tables_session *t)
{
	struct tables_summary sum;

	tables_get_summary(t, &sum);
	return sum.table_bytes;
}

static struct tables_recall *start_recall(struct tables_session *t)
{
	struct tables_recall *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->text = r->at = tables_cache_get_list(t->cache);
	r->before = sum_table_bytes(t);
	return r;
}

void tables_recall_free(struct tables_recall *r)
{
	if (!r)
		return;
	free(r->text);
	free(r);
}

bool tables_recall_next(struct tables_session *t, struct tables_recall *r)
{
	char *path = r->nr < MAX_FILES ? cut_next_path(&r->at) : NULL;
	int fd, ret;

	if (!path || (r->nr % PROGRESS_EVERY == 0 && sum_table_bytes(t) - r->before > MAX_BYTES))
		return false;
	r->nr++;
	fd = *path == '/' ? open_regular(path) : -1;
	if (fd < 0)
		return true;
	ret = tables_recall_fd(t, fd, path);
	close(fd);
	/* the kernel takes no more tables; running programs need the rest */
	return ret != -ENOSPC && ret != -ENOMEM;
}

int tables_recall_within(struct tables_session *t, uint64_t ns)
{
	uint64_t end = ns == UINT64_MAX ? ns : clock_get_ns(CLOCK_MONOTONIC) + ns;
	bool more = true;
	int ret = 0;

	if (!t->cache)
		return -ENOENT;
	if (!t->recall)
		t->recall = start_recall(t);
	if (!t->recall)
		return -ENOMEM;
	while (more && clock_get_ns(CLOCK_MONOTONIC) < end) {
		if (t->opts.progress && t->recall->nr % PROGRESS_EVERY == 0)
			ret = t->opts.progress(t->opts.ctx, t->recall->nr, MAX_FILES);
		if (ret)
			break;
		more = tables_recall_next(t, t->recall);
	}
	if (ret || !more) {
		tables_recall_free(t->recall);
		t->recall = NULL;
	}
	return ret ? ret : more;
}

int tables_recall_rest(struct tables_session *t)
{
	int ret;

	if (!t->recall)
		return 0;
	if (tables_follow_hand_over(t, t->recall)) {
		t->recall = NULL;
		return 0;
	}
	ret = tables_recall_within(t, UINT64_MAX);
	return ret < 0 ? ret : 0;
}

int tables_recall(struct tables_session *t)
{
	int ret = tables_recall_within(t, UINT64_MAX);

	return ret < 0 ? ret : 0;
}

/* -------------------------------- remember ------------------------------- */

struct recall_list {
	struct text text;
	unsigned int nr;
	struct tables_seen seen;
};

/* Append the path of a file that is not in the list yet. */
static int append_path(struct recall_list *l, const char *path, const struct stat *st)
{
	uint64_t *seen;

	if (l->nr == MAX_FILES || strchr(path, '\n'))
		return 0;
	seen = tables_seen_get_time(&l->seen, st->st_dev, st->st_ino);
	if (!seen)
		return -ENOMEM;
	if (*seen)
		return 0;
	text_addf(&l->text, "%s\n", path);
	if (l->text.failed)
		return -ENOMEM;
	l->nr++;
	*seen = 1;
	return 0;
}

/*
 * Add the files of this session. Skip a path that leads to another file here: its program runs in
 * another mount namespace.
 */
static int append_used(struct tables_session *t, struct recall_list *l)
{
	struct stat st;
	int ret = 0;
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < t->entries.nr && !ret; i++) {
		const struct tables_entry *e = t->entries.v[i];

		if (e->used && e->file.cause == TABLES_COVERED && *e->file.path == '/' &&
		    !stat(e->file.path, &st) && st.st_dev == e->dev && st.st_ino == e->ino)
			ret = append_path(l, e->file.path, &st);
	}
	pthread_mutex_unlock(&t->lock);
	return ret;
}

int tables_remember(struct tables_session *t)
{
	char *old, *at, *path;
	struct recall_list l = {};
	struct stat st;
	int ret;

	if (!t->cache)
		return -ENOENT;
	ret = append_used(t, &l);
	/* then the files of the previous list that still exist */
	old = tables_cache_get_list(t->cache);
	at = old;
	while (!ret && (path = cut_next_path(&at))) {
		if (*path == '/' && !stat(path, &st) && S_ISREG(st.st_mode))
			ret = append_path(&l, path, &st);
	}
	if (!ret && l.nr)
		ret = tables_cache_put_list(t->cache, l.text.v, l.text.nr);
	free(old);
	free(l.text.v);
	tables_seen_free(&l.seen);
	return ret;
}
