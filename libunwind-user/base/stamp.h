/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stamp.h - says whether a file has changed: its size and the time of its last change */
#ifndef UU_STAMP_H
#define UU_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>

struct stamp {
	off_t size;
	struct timespec mtime;
};

static inline struct stamp get_stamp(const struct stat *st)
{
	return (struct stamp) { .size = st->st_size, .mtime = st->st_mtim };
}

static inline bool is_same_stamp(struct stamp a, struct stamp b)
{
	return a.size == b.size && a.mtime.tv_sec == b.mtime.tv_sec &&
	       a.mtime.tv_nsec == b.mtime.tv_nsec;
}

#endif
