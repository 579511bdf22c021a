/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bpf.h - user stacks by BPF programs, for kernels without deferred user stacks
 *
 * The BPF programs are on the same tracepoints as the events of the recording. At each event, a
 * program walks the user stack by unwind tables in BPF maps, and sends the stack to the recorder
 * (msg.h). Afterwards, insert.c adds these stacks to the recording, as the records that a patched
 * kernel would have written.
 *
 * Functions that return int return 0 or a negative errno, with a sentence in @why (cause and
 * remedy) if they take @why. Without clang and libbpf at build time, none.c takes the place of
 * all but insert.c, and bpfsrc_check() says that the programs are missing.
 */
#ifndef TRACE_USTACK_RECORD_BPF_H
#define TRACE_USTACK_RECORD_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "msg.h"

enum bpfsrc_kind {
	BPFSRC_TRACEPOINT,
	BPFSRC_KPROBE,			/* kprobe or kretprobe, of kprobe_events */
	BPFSRC_UPROBE,			/* uprobe or uretprobe, of uprobe_events */
	BPFSRC_OTHER,			/* another event that a user has defined */
};

struct bpfsrc_event {
	const char *system, *name;
	int id;				/* from its format file; not for bpfsrc_check_event() */
	enum bpfsrc_kind kind;
	bool may_migrate;		/* the task can change CPUs between program and record */
};

/* Where a uprobe event is */
struct bpfsrc_site {
	const char *path;
	uint64_t offset, ref_ctr;	/* in the file; ref_ctr 0: no reference counter */
	bool returns;			/* a uretprobe */
};

struct bpfsrc_opts {
	const struct bpfsrc_event *event;	/* valid during bpfsrc_open() */
	size_t nr_events;
	const char *file;		/* path of the message file; made, and replaced */
	bool all;			/* trace all tasks; else those of bpfsrc_add_task() */
	bool inherit;			/* record the children of these tasks, too */
	bool quiet;			/* no progress */
	bool trampolines;		/* Python's perf trampolines already give names */
	bool other_pids;		/* task IDs of the recorder differ from the programs' */
	uint64_t period;		/* ns between the samples of a CPU; 0: no samples */
	uint32_t sample;		/* msg_event.event of samples */
	const uint64_t *function;	/* addresses in the kernel; valid during bpfsrc_open() */
	size_t nr_functions;
	uint32_t function_id;		/* msg_event.event of calls of these functions */
};

/* Counts of the programs' work, for the summary. */
struct bpfsrc_stats {
	uint64_t events;		/* messages about events */
	uint64_t lost;			/* messages without room in the ring buffer */
	uint64_t stacks;		/* different stacks */
	uint64_t repeated;		/* events whose stack was still that of an earlier walk */
	uint64_t tables, table_bytes;	/* files with a table; memory of all tables */
	uint32_t pythons_refused;	/* files with Python whose functions are not shown */
	int vdso32_error;		/* -errno: the vDSO of 32-bit programs has no table */
	uint64_t reason[MSG_NR_REASONS];	/* events by enum msg_reason */
	/* runs that the kernel skipped, because the same program ran on that CPU: no message */
	uint64_t skipped;
	/* skipped saves of the stacks of ending tasks, whose last events have MSG_NO_REGISTERS */
	uint64_t ends_skipped;
	/*
	 * calls of functions that are not recorded, because a program was running on their CPU.
	 * These are calls by any task, and calls that a walk itself makes
	 */
	uint64_t functions_skipped;
};

struct bpfsrc;

/* Can this kernel, this user and this build do it? 0, or -errno with @why. Loads nothing large. */
struct tool_why;
int bpfsrc_check(struct tool_why *why);

/*
 * Whether a task can move to another CPU between two functions of a tracepoint. True on kernels
 * that call these functions under SRCU, and where that is not known.
 */
bool bpfsrc_tracepoints_migrate(void);
/* Can this kernel run programs at its functions? 0, or -errno with @why. */
int bpfsrc_check_functions(struct tool_why *why);

/* Load and attach the programs, which send nothing yet. Call it before ftrace has the events on. */
int bpfsrc_open(struct bpfsrc **src, const struct bpfsrc_opts *opts, char *why, size_t size);
/* Can an event of this kind get stacks from this source? 0, or -EOPNOTSUPP with @why. */
int bpfsrc_check_event(const struct bpfsrc_event *event, char *why, size_t size);
/*
 * Attach a program to a site of a uprobe event of bpfsrc_opts. Call it after ftrace has the event
 * on, and before bpfsrc_start(), for each site of the event.
 */
int bpfsrc_add_uprobe(struct bpfsrc *src, const struct bpfsrc_event *event,
		      const struct bpfsrc_site *at, char *why, size_t size);
/* Trace this task (a thread) and, with bpfsrc_opts.inherit, the children that it will have. */
int bpfsrc_add_task(struct bpfsrc *src, pid_t tid);
/* Leave this task out: one of the recorder's own. */
int bpfsrc_leave_out(struct bpfsrc *src, pid_t tid);
/* Make a table for this file if it has none; the descriptor stays the caller's. */
int bpfsrc_add_table(struct bpfsrc *src, int fd, const char *path);
/* From now on the programs send; a thread of this source writes the messages to the file. */
int bpfsrc_start(struct bpfsrc *src);
/* Start or stop taking samples and noting calls of functions. */
void bpfsrc_set_sampling(struct bpfsrc *src, bool on);
/* Stop sending, write what is left, close the file. -ENOSPC etc. if the file is incomplete. */
int bpfsrc_stop(struct bpfsrc *src);
void bpfsrc_get_stats(const struct bpfsrc *src, struct bpfsrc_stats *stats);
/* Add a line "TID NAME" for each task in a sample. */
struct text;
void bpfsrc_add_comms(const struct bpfsrc *src, struct text *t);
/* Runs that the kernel skipped, of the program of the event with this id */
uint64_t bpfsrc_get_skipped(const struct bpfsrc *src, int id);
/*
 * Path and build ID of a file that was seen mapped, by device and inode; false if neither is
 * known. The strings live as long as @src. Call it after bpfsrc_stop().
 */
struct bpfsrc_file {
	const char *path;		/* NULL: not known */
	uint8_t build_id[20];
	unsigned int build_id_size;
};
bool bpfsrc_get_file(const struct bpfsrc *src, uint32_t dev_major, uint32_t dev_minor,
		     uint64_t ino, struct bpfsrc_file *file);
/* Detach and free; NULL is allowed. */
void bpfsrc_close(struct bpfsrc *src);

/* -------------------------------- insert.c ------------------------------- */

struct insert_event {
	int id;
	bool may_migrate;		/* the task can change CPUs between program and record */
	bool skips;			/* the kernel skipped runs of its program */
	bool filter;			/* some of its records may be missing */
	bool probe;			/* its record comes before its message */
	unsigned int address_off;	/* bytes before the probed address in the record; 0: none */
};

struct insert_opts {
	const char *messages;		/* path of the message file */
	const struct insert_event *event;	/* the events that get stacks */
	size_t nr_events;
	/* ids of records; kernel_stack is -1 if events have none */
	int kernel_stack, cookie, stack, map;
	int sample, function;		/* ids of their records; -1: no such records */
	uint64_t period;		/* ns between samples */
	bool few_tids;			/* pid_max is below 32,768: thread IDs come back soon */
	int nr_cpus;
	unsigned int page_size;		/* bytes of a page of the ring buffer */
	const char *header_page;	/* text of events/header_page */
	/* Put into @path the path of a CPU's pages (PATH_MAX bytes). The file may be missing. */
	void (*raw_path)(void *ctx, int cpu, char *path);
	bool (*get_file)(void *ctx, uint32_t dev_major, uint32_t dev_minor, uint64_t ino,
			 struct bpfsrc_file *file);
	/* May be NULL. A result other than 0 ends the work, and the files stay as they were. */
	int (*progress)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

/* Counts of insert_stacks() */
struct insert_stats {
	uint64_t events;
	uint64_t cookies;		/* records that got a cookie */
	uint64_t other;			/* records of tasks that never sent a message */
	uint64_t no_message;		/* the message was lost, or may be of another event */
	uint64_t reason[MSG_NR_REASONS];	/* records with a cookie, by enum msg_reason */
	uint64_t stacks, maps;		/* records written */
	uint64_t messages;		/* messages about events */
	uint64_t gaps;			/* how many times messages were lost */
};

/* Rewrite the files of all CPUs with the stacks. 0, or -errno with @why; no file is half new. */
int insert_stacks(const struct insert_opts *opts, struct insert_stats *stats, char *why,
		  size_t size);
/* The path of the new file for @raw, which insert_stacks() leaves if it is killed. */
void insert_path(const char *raw, char *path, size_t size);

#endif
