/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stat.h - the figures of trace-ustack stat: count.c, files.c and ends.c fill them, commands/stat.c
 * prints them
 */
#ifndef TRACE_USTACK_STAT_H
#define TRACE_USTACK_STAT_H

#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/base/base.h"

enum stat_mark {			/* what a joined stack can be, besides whole */
	STAT_TRUNCATED,
	STAT_INCOMPLETE,
	STAT_FRAME_POINTER,
	STAT_OUTSIDE,			/* it ended where what came next is no code */
	STAT_CUT,			/* a part of it was dropped */
	STAT_EMPTY,
	STAT_NR_MARKS
};

/* Requests for a user stack, by what became of them. */
struct stat_requests {
	uint64_t states[JOIN_NR_STATES];
	uint64_t marks[STAT_NR_MARKS];	/* of the joined ones; one may have several */
};

struct stat_process {
	uint32_t pid;			/* the process, or the thread where that is not known */
	uint32_t tid;			/* one of its threads */
	uint64_t events;
	struct stat_requests r;
};

struct stat_event {
	uint32_t type;			/* model_type() */
	uint64_t nr;
};

/* How it is known what tables a file had. */
enum stat_known {
	STAT_UNKNOWN,			/* it is not */
	STAT_RECORDED,			/* FILE.tables says it */
	STAT_POSSIBLE,			/* a table was made now, of a file of that build-id */
	STAT_NO_FILE,			/* code in no file, or nobody knows in which: no table */
};

struct stat_file {
	const struct maps_file *file;	/* NULL: no mapping known */
	bool compat;			/* the vDSO of 32-bit programs, which is another one */
	uint64_t frames, stacks;	/* stacks with one or more frames in it */
	uint64_t incomplete;		/* stacks that ended in it, */
	uint64_t frame_pointer;		/* ... or were continued from it by frame pointers */
	enum stat_known known;
	/* the rest only where it is known */
	enum tables_cause cause;
	int error;			/* errno of TABLES_ERROR, or 0 */
	uint64_t text_bytes, covered_bytes, holes;
	uint32_t last_stack;		/* while counting */
	struct stat_table *table;	/* NULL: not asked for yet */
};

struct stat_counts {
	bool filtered;
	uint64_t events;		/* that are wanted */
	uint64_t all_events, bytes;	/* in the file; bytes with their stacks and mappings */
	struct stat_requests r;
	/* events without a request: of processes that have some, and of those that have none */
	uint64_t unasked, never_asked;
	uint64_t ends[END_NR];		/* of the incomplete stacks that requests got */
	VEC(struct stat_process) processes;	/* the one with most requests first */
	VEC(struct stat_event) by_event;	/* the most frequent first */
	VEC(struct stat_file) files;	/* those in which most stacks ended first */
	int saved_error;		/* of saved_tables_read() */
	struct saved_tables saved;
	VEC(uint64_t) weights;		/* of user stacks: requests they answer */
	struct hidx process_idx;
};

/* 0, or a negative errno. Start with a zeroed one. */
int stat_count(struct stat_counts *s, struct model *m, bool filtered);
/* After that, what is by file; @path is that of the recording. */
int stat_files(struct stat_counts *s, struct model *m, const char *path);
/* The file that is traced, open for reading, if it is here with its build ID; -1 if not. */
int stat_open_traced(const struct maps_file *file, const char *sysroot);
/* ends.c: why a walk gave up at this offset of @f; @innermost: in its first frame. */
enum end_reason stat_end_of(struct stat_file *f, uint64_t offset, bool innermost,
			    const char *sysroot);
void stat_table_free(struct stat_table *t);
const char *stat_process_name(struct model *m, const struct stat_process *p);
void stat_free(struct stat_counts *s);

#endif
