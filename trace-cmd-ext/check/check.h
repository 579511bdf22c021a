/* SPDX-License-Identifier: GPL-2.0 */
/*
 * check.h - what trace-ustack check finds, and where it looks
 *
 *	findings.c	the list of findings
 *	kernel.c	the kernel, its configuration, permissions
 *	recorders.c	what recorders left
 *	files.c	programs and libraries: tables, symbols, debug files
 *	code.c	how well the unwinder can walk the code of a file
 */
#ifndef TRACE_USTACK_CHECK_H
#define TRACE_USTACK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum check_level {
	CHECK_OK,
	CHECK_NOTE,			/* works, and could be better */
	CHECK_MISSING,			/* does not work: the exit code is 1 */
};

struct check_finding {
	enum check_level level;
	const char *group;		/* static */
	char *name, *text;
	char *remedy;			/* or NULL */
};

struct check {
	struct check_finding *finding;
	size_t nr;
	bool verbose, json, repair;
	/* A recording can have these on this kernel; set by check_kernel() */
	bool traces, kernel_stacks, user_stacks, tables, maps, frame_pointers, bpf;
	const char *source;		/* the source that a recording takes, NULL: none */
};

/* Note a finding. @remedy may be NULL; texts are copied. */
void check_add(struct check *c, enum check_level level, const char *group, const char *name,
	       const char *remedy, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

void check_kernel(struct check *c, const char *tracefs);
/* Check the instances, and the files in the current directory. */
void check_recorders(struct check *c);
/* Check a file that a recorder has not completed; false: unfinished_is_name() is false. */
bool check_unfinished(struct check *c, const char *path);

/*
 * Note how well the unwinder can walk the code of a file with a table. @fd: the file, or -1.
 * @all: the check is of every running program. @symbols: a text about its symbols, which ends the
 * finding.
 */
struct stats;
void check_code(struct check *c, const char *path, int fd, const struct stats *s, bool all,
		const char *symbols);

/* Check every running program. */
void check_running(struct check *c);
/* Check a process or a file, as the command line names it. */
void check_argument(struct check *c, const char *arg);

#endif
