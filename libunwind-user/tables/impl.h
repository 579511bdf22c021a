/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* impl.h - what the parts of a session share: session.c, scan.c, follow.c, recall.c */
#ifndef TABLES_IMPL_H
#define TABLES_IMPL_H

#include <pthread.h>
#include <sys/types.h>

#include "tables.h"
#include "libunwind-user/base/base.h"
#include "libunwind-user/abi/abi.h"

struct tables_follow;
struct tables_recall;

/* A file, by device and inode. */
struct tables_entry {
	dev_t dev;
	ino_t ino;
	bool opened;			/* stamp is known */
	bool used;			/* in this session, not only in an earlier session */
	struct stamp stamp;
	struct tables_file file;	/* its path belongs to the entry */
};

struct tables_session {
	int fd;				/* user_unwind_tables */
	/* Hand a table to the kernel; 0 or -errno. Tests set another function. */
	int (*add)(struct tables_session *t, const struct unwind_table_file *arg);
	struct tables_opts opts;	/* the caller's, never changed */
	char *proc;			/* "/proc", except in tests */
	struct tables_cache *cache;
	int cache_error;
	pthread_mutex_t work;		/* one file at a time; taken before @lock */
	pthread_mutex_t lock;		/* for all fields below */
	void *index;			/* tsearch() tree of the entries */
	VEC(struct tables_entry *) entries;	/* in the order they came */
	struct tables_summary sum;	/* without the counts that come from the entries */
	bool vdso;			/* the vDSO is registered */
	bool vdso32;			/* the 32-bit vDSO is registered, or cannot be */
	struct tables_follow *follow;
	struct tables_recall *recall;	/* the rest of the list, not yet handed to a thread */
};

/*
 * tables_scan() that calls progress() only if @report. The thread of tables_follow() calls
 * progress() for the scan that the caller waits for, and not later, when another thread may be in
 * tables_recall().
 */
int tables_scan_processes(struct tables_session *t, bool report);

/* Note that a file could not be opened, for -errno @error. */
void tables_note_failure(struct tables_session *t, dev_t dev, ino_t ino, const char *path,
			 int error);

/*
 * tables_add_fd() for a file that may not run at all. It registers the file only if its table is in
 * the cache, else it returns -ENOENT. The summary does not count a failure.
 */
int tables_recall_fd(struct tables_session *t, int fd, const char *path);

/* A list of paths, and the position in it. */
struct tables_recall {
	char *text, *at;
	unsigned int nr;		/* paths tried so far */
	uint64_t before;		/* bytes of tables at the start */
};

void tables_recall_free(struct tables_recall *r);
/* Register the next file; false at the end of the list. */
bool tables_recall_next(struct tables_session *t, struct tables_recall *r);

/* Hand @r to the thread of tables_follow(), which then owns it; false if there is no thread. */
bool tables_follow_hand_over(struct tables_session *t, struct tables_recall *r);

/* ------------------------ a set of (device, inode) ------------------------ */

struct tables_seen_file {
	uint64_t dev, ino, when;
};

struct tables_seen {
	VEC(struct tables_seen_file) files;
	struct hidx idx;
};

/*
 * The time noted for a file, which the caller may set before the next call; it is 0 if the file is
 * new. NULL if there is not enough memory.
 */
uint64_t *tables_seen_get_time(struct tables_seen *set, uint64_t dev, uint64_t ino);
void tables_seen_free(struct tables_seen *set);

#endif
