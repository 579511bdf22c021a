/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record.h - make recordings, and complete those that a recorder did not complete
 *
 * Functions that return int return 0, or an exit code (enum tool_exit) after they printed the
 * error, unless their comment says otherwise.
 */
#ifndef TRACE_USTACK_RECORD_H
#define TRACE_USTACK_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "trace-cmd-ext/tool/tool.h"

/* An -e and the options after it, which configure its events. */
struct rec_select {
	const char *pattern;
	const char *filter;		/* or NULL */
	const char *stack_if;		/* condition for a stack, or NULL */
	bool no_stack;
	bool used;			/* it selects an event */
};

/* Where user stacks come from. */
enum source {
	SOURCE_AUTO,			/* ftrace where the kernel has it, else BPF */
	SOURCE_FTRACE, SOURCE_BPF, SOURCE_FRAME_POINTERS,
	SOURCE_NONE			/* no event gets a user stack; no name stands for this */
};

#define RUNTIME_PYTHON	0x1
#define RUNTIME_NODE	0x2
#define RUNTIME_JAVA	0x4
#define RUNTIME_ERLANG	0x8

struct rec_opts {
	struct rec_select *sel;
	size_t nr_sel;
	bool all;			/* -a: all tasks */
	uint32_t *pids;			/* -p */
	size_t nr_pids;
	char **cmd;			/* NULL: none */
	const char *out, *tracefs;
	const char *json;		/* path of a summary for programs; "": stdout; NULL: none */
	const char *clock;		/* "": no longer known */
	unsigned long kb;		/* buffer size, KB per CPU; 0: the default */
	double duration;		/* seconds; 0: no limit */
	unsigned int freq;		/* -F: samples of each CPU a second; 0: none */
	const char **functions;		/* -l: names of kernel functions, with shell wildcards */
	size_t nr_functions;
	enum source source;
	bool kernel_stack, tables, inherit, maps, once, pass_exit, quiet, verbose, summary;
	bool wait_tables;		/* programs wait at their start for their tables */
	unsigned int runtimes;		/* RUNTIME_: to be set up in the environment of CMD */
};

/* Record. Returns the exit code of the recorder, or with pass_exit that of CMD. */
int record_run(const struct rec_opts *opts);

/* ---- source.c ---- */

const char *source_get_name(enum source s);
/* 0 or -EINVAL */
int source_parse(const char *name, enum source *s);
/* Check whether this kernel can give stacks by source @s. 0, or -errno and @why. */
int source_check(enum source s, struct tool_why *why);
/* The source that a recording takes by default */
enum source source_choose(void);

/* ---- functions.c ---- */

/* Can BPF programs run at functions of this kernel (-l)? 0, or -errno as source_check(). */
int functions_check(struct tool_why *why);

/* ---- tracefs.c ---- */

/* The path of tracefs: @dir, or where it is mounted; mounts it if @may_mount. NULL and @why. */
const char *rec_tracefs_find(const char *dir, bool may_mount, struct tool_why *why);
/*
 * Is this another PID namespace, so that PIDs here differ from PIDs in traces? Then /proc says
 * nothing about a process in a trace, and no process can be chosen by its PID.
 */
bool rec_tracefs_in_other_pid_namespace(void);
/* Does this file or directory of the top instance exist? */
bool rec_tracefs_exists(const char *file);
/* Print every change to standard error. */
void rec_tracefs_set_verbose(bool on);
/* Write a file of an instance (NULL: the top one); 0 or -errno. */
int rec_tracefs_write(struct tracefs_instance *in, const char *file, const char *value);
int rec_tracefs_append(struct tracefs_instance *in, const char *file, const char *value);
/* The kernel's message about the last bad filter or trigger there; malloc()ed or NULL. */
char *rec_tracefs_read_error(struct tracefs_instance *in);
/* The whole text of a file, malloc()ed and terminated; NULL and errno. @size may be NULL. */
char *rec_tracefs_read_path(const char *path, size_t *size);
char *rec_tracefs_read(struct tracefs_instance *in, const char *file, size_t *size);
/* Read a format file's "ID:"; -1 if there is none. */
int rec_tracefs_read_id(const char *system, const char *name);

/* ---- instances.c ---- */

struct recorder_instance {
	char name[64];
	pid_t pid;
	bool alive;			/* its recorder is at work */
};

/* List the instances of recorders; *@v is malloc()ed. 0, or -errno if instances/ is unreadable. */
int instance_list(struct recorder_instance **v, size_t *nr);
/* Stop and remove an instance; 0 or -errno. */
int instance_remove(const char *name);

/* ---- resume.c ---- */

struct unfinished {
	pid_t pid;			/* PID of its recorder */
	bool alive;			/* the recorder is at work */
	bool empty;			/* a recording that has just started, or another file */
	uint64_t bytes;			/* of data, in the files next to this file */
};

/* Is this the name of a file that a recorder has not completed? */
bool unfinished_is_name(const char *path);
/* Examine such a file. 0, or -errno: -EPERM: of another user; -EMEDIUMTYPE: no recording. */
int unfinished_examine(const char *path, struct unfinished *u);
/*
 * Complete such a file. With @traces, add the data left in the instances of its recorder, and
 * remove these. @out gets the new name: the intended one, or that with .PID appended if a file has
 * it by now. It is "" if nothing was recorded: then the file was removed. 0, or an exit code after
 * printing the error.
 */
int unfinished_complete(const char *path, bool traces, char out[PATH_MAX]);

#endif
