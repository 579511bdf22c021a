/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stat.h - the figures of trace-ustack stat: requests.c, files.c and ends.c fill them, text.c and
 * json.c print them
 */
#ifndef TRACE_USTACK_STAT_H
#define TRACE_USTACK_STAT_H

#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/base/base.h"

/* Why a joined stack is incomplete or marked. */
enum stat_mark {
	STAT_TRUNCATED,
	STAT_INCOMPLETE,
	STAT_FRAME_POINTER,
	STAT_OUTSIDE,			/* it ended before an address that is not code */
	STAT_CUT,			/* a part of it was dropped */
	STAT_EMPTY,
	STAT_NR_MARKS
};

/* Requests for a user stack, by their outcome. */
struct stat_requests {
	uint64_t states[JOIN_NR_STATES];
	uint64_t marks[STAT_NR_MARKS];	/* of the joined requests; a stack may have several */
};

struct stat_process {
	uint32_t pid;			/* the process; the thread if the process is not known */
	uint32_t tid;			/* one of its threads */
	uint64_t events;
	struct stat_requests r;
};

struct stat_event {
	uint32_t type;			/* model_get_type() */
	uint64_t nr;
};

/* The source of the facts about the table of a file. */
enum stat_known {
	STAT_UNKNOWN,			/* there is no source */
	STAT_RECORDED,			/* FILE.tables */
	STAT_POSSIBLE,			/* a table made now from a file with that build ID */
	STAT_NO_FILE,			/* code in no file, or in an unknown file: no table */
};

struct stat_file {
	const struct maps_file *file;	/* NULL: no mapping known */
	bool compat;			/* the vDSO of 32-bit programs, which has another table */
	uint64_t frames, stacks;	/* stacks with one or more frames in it */
	uint64_t incomplete;		/* stacks that ended in it */
	uint64_t frame_pointer;		/* stacks that went on from it by frame pointers */
	enum stat_known known;
	/* the rest is valid with STAT_RECORDED and STAT_POSSIBLE */
	enum tables_cause cause;
	int error;			/* errno of TABLES_ERROR, or 0 */
	uint64_t text_bytes, covered_bytes, holes;
	uint32_t last_stack;		/* the last stack that counted, while counting */
	struct stat_table *table;	/* NULL until needed */
};

struct stat_counts {
	bool filtered;
	uint64_t events;		/* events that the filter wants */
	uint64_t all_events, bytes;	/* in the file; bytes with their stacks and mappings */
	struct stat_requests r;
	/* events without a request: of processes with requests, and of processes without */
	uint64_t unasked, never_asked;
	uint64_t ends[END_NR];		/* of the incomplete stacks that requests got */
	VEC(struct stat_process) processes;	/* most requests first */
	VEC(struct stat_event) by_event;	/* most frequent first */
	VEC(struct stat_file) files;	/* files in which most stacks ended first */
	int saved_error;		/* result of saved_tables_read() */
	struct saved_tables saved;
	VEC(uint64_t) weights;		/* by user stack: number of requests that it answers */
	struct hidx process_idx;
};

/* Count into a zeroed @s. 0, or a negative errno. */
int stat_count(struct stat_counts *s, struct model *m, bool filtered);
/* After stat_count(): count by file. @path is the path of the recording. */
int stat_count_files(struct stat_counts *s, struct model *m, const char *path);
/* Open the traced file for reading, if this machine has it with its build ID; -1 if not. */
int stat_open_traced(const struct maps_file *file, const char *sysroot);
/* ends.c: why a walk gave up at this offset of @f. @innermost: in the first frame of the stack. */
enum end_reason stat_find_end_reason(struct stat_file *f, uint64_t offset, bool innermost,
				     const char *sysroot);
void stat_table_free(struct stat_table *t);
const char *stat_get_process_name(struct model *m, const struct stat_process *p);
const char *stat_get_file_name(const struct stat_file *f);
const char *stat_get_mark_name(enum stat_mark mark);
uint64_t stat_sum_requests(const struct stat_requests *r);
/* Print to standard output. @path is that of the recording; @all: lists have all their lines. */
void stat_print(struct model *m, const struct stat_counts *s, const char *path, bool all);
void stat_print_json(struct model *m, const struct stat_counts *s, const char *path);
void stat_free(struct stat_counts *s);

#endif
