/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record.h - make recordings, and complete those that a recorder did not complete
 *
 * Functions that return int return 0, or an exit code (enum cmd_exit) after they printed the error,
 * unless their comment says otherwise.
 */
#ifndef TRACE_USTACK_RECORD_H
#define TRACE_USTACK_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

/* An -e and the options behind it that are about its events. */
struct rec_select {
	const char *pattern;
	const char *filter;		/* or NULL */
	const char *stack_if;		/* stacks where this holds only, or NULL */
	bool no_stack;
	bool used;			/* some event is meant by it */
};

struct rec_opts {
	struct rec_select *sel;
	size_t nr_sel;
	bool all;			/* -a: whatever runs */
	uint32_t *pids;			/* -p */
	size_t nr_pids;
	char **cmd;			/* NULL: none */
	const char *out, *tracefs;
	const char *json;		/* NULL, or where a summary for programs goes; "": stdout */
	const char *clock;		/* "": not known any more */
	unsigned long kb;		/* a CPU; 0: as much as seems right */
	double duration;		/* seconds; 0: no end */
	bool kernel_stack, tables, inherit, maps, fallback, pass_exit, quiet, verbose, summary;
};

/* Record. The exit code, of the recorder or with pass_exit that of CMD. */
int record_run(const struct rec_opts *opts);

/* ---- tracefs.c ---- */

/*
 * Find tracefs: @dir, or where it is mounted, or mount it. Its path, or NULL with the cause and the
 * remedy in @why. @mount: may mount it.
 */
const char *rt_find(const char *dir, bool mount, char *why, size_t size);
/*
 * Are numbers of processes here others than those in traces, as this is a PID namespace of its own?
 * Then /proc tells nothing of a process that a trace names, and none can be chosen by its number.
 */
bool rt_other_pids(void);
/* Is this file or folder of the top instance there? */
bool rt_exists(const char *file);
/* Tell every change on standard error. */
void rt_verbose(bool on);
/* Write a file of an instance (NULL: the top one); 0 or -errno. */
int rt_write(struct tracefs_instance *in, const char *file, const char *value);
int rt_append(struct tracefs_instance *in, const char *file, const char *value);
/* What the kernel said of the last error with a filter or trigger there; malloc()ed or NULL. */
char *rt_kernel_says(struct tracefs_instance *in);
/* The whole text of a file, malloc()ed and terminated; NULL and errno. @size may be NULL. */
char *rt_read_path(const char *path, size_t *size);
char *rt_read(struct tracefs_instance *in, const char *file, size_t *size);
/* Read a format file's "ID:"; -1 if there is none. */
int rt_event_id(const char *system, const char *name);

/* ---- left.c ---- */

struct left {
	char name[64];
	pid_t pid;
	bool alive;			/* its recorder is at work */
};

/* What recorders have in instances/; malloc()ed. -errno if that cannot be read. */
int left_list(struct left **v, size_t *nr);
/* Stop and remove an instance; 0 or -errno. */
int left_remove(const char *name);

/* ---- resume.c ---- */

struct unfinished {
	pid_t pid;			/* of its recorder */
	bool alive;			/* which is at work */
	bool empty;			/* as a recorder's is for a moment, but others', too */
	uint64_t bytes;			/* of data beside it */
};

/* Is this the name of a file that a recorder has not completed? */
bool part_name(const char *path);
/*
 * Look at one: 0, or -errno; -EPERM if it is not the caller's, -EMEDIUMTYPE if it is no recording
 * at all.
 */
int part_look(const char *path, struct unfinished *u);
/*
 * Complete it, with what is left in the instances of its recorder if @traces; these are removed. In
 * @out the name that it got: the one it was to have, or that with .PID behind if there is such a
 * file by now; "" if nothing had been recorded, and it was removed. 0, or an exit code after
 * telling the error.
 */
int part_finish(const char *path, bool traces, char out[PATH_MAX]);

#endif
