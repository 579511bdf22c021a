/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tool.h - functions for every subcommand: errors, the pager, progress, lists of numbers, output
 * files
 *
 *	near.h		names that are similar to a wrong one
 *	output.h	a file that appears when it is complete
 */
#ifndef TRACE_USTACK_TOOL_H
#define TRACE_USTACK_TOOL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libunwind-user/base/base.h"
#include "near.h"
#include "output.h"

/* Exit codes. Documented in trace-ustack(1); programs rely on them. */
enum tool_exit {
	TOOL_OK = 0,		/* done, and nothing is wrong */
	TOOL_FAIL = 1,		/* the answer is no, or the task could not be done */
	TOOL_USAGE = 2,		/* the command line is wrong; nothing was done */
	TOOL_INPUT = 3,		/* an input file cannot be opened, or is not what it should be */
	TOOL_OUTPUT = 4,		/* the output cannot be written */
};

/* ---- messages ----
 *
 * Print one sentence to standard error: "trace-ustack: FILE: cause; remedy". Control characters are
 * written as \ooo.
 */
void tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print that a request for memory failed; returns TOOL_FAIL. */
int tool_report_no_memory(void);

/* Why something cannot be done */
struct tool_why {
	char text[PATH_MAX + 256];	/* "cause; remedy", as in an error */
	size_t cause_len;		/* bytes of the cause in it */
	const char *remedy;		/* NULL: none is known */
};
/* Fill @why. Returns @error. @remedy may be NULL, and is not copied. */
int tool_set_why(struct tool_why *why, int error, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Print "trace-ustack NAME: ..." and a pointer to --help; returns TOOL_USAGE. */
int tool_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print what is wrong with the option for which getopt_long() returned '?'; returns TOOL_USAGE. */
int tool_bad_option(const char *cmd);
/* The arguments of the subcommand; main() sets it. */
extern char **tool_argv;
/* Print a --help text through the pager if there is one; returns TOOL_OK or TOOL_OUTPUT. */
int tool_help(const char *text);

/* ---- reading a file ----
 *
 * tool_run_in_child() reads a trace.dat in a process of its own, because libtracecmd and
 * libtraceevent were not written for damaged files. It calls @run in that process; the result is
 * the exit code. If a signal or the limit of CPU time ends the process, tool_run_in_child() prints
 * one sentence. The output written before stays. If Ctrl-C or a closed pipe ends the process, this
 * process ends likewise.
 */
int tool_run_in_child(const char *file, int (*run)(void *arg), void *arg);
/* _exit() of a process that a subcommand forked; a build with LeakSanitizer reports its leaks. */
void tool_exit_child(int code) __attribute__((noreturn));
/*
 * Note that @file could not be read to its end: tool_finish() prints it and makes TOOL_INPUT of
 * TOOL_OK. It is printed at the end: one sentence even if the library breaks off later.
 */
void tool_note_incomplete(const char *file);
/* A request for memory failed (memory.c). tool_finish() says so and makes TOOL_FAIL of TOOL_OK. */
extern atomic_bool tool_no_memory;
/* Flush standard output and print errors; TOOL_OUTPUT if there was an error, else @code. */
int tool_finish(int code);

/* ---- the terminal ---- */

/*
 * Send standard output to the pager ($TRACE_USTACK_PAGER, $PAGER, less, as git does), if it is a
 * terminal. Call it once, before any output and before tool_run_in_child().
 */
void tool_start_pager(void);
/* Is standard output a terminal, or a pager on one? */
bool tool_is_on_terminal(void);
/* May output have colours? True on a terminal (or its pager), without NO_COLOR and TERM=dumb. */
bool tool_use_colour(void);

/*
 * Print progress to standard error if it is a terminal, after the first second:
 * "trace-ustack: WHAT  42%". Cheap enough to be called often. @total 0: not known.
 */
void tool_show_progress(const char *what, uint64_t done, uint64_t total);
/* Remove the progress line. */
void tool_end_progress(void);
/* Print no progress, for --quiet. */
void tool_disable_progress(void);

/* ---- options that several have ---- */

/* Parse "1,3-5" and append the numbers to *@v (realloc); -1 if it is not such a list. */
int tool_parse_numbers(const char *arg, uint32_t **v, size_t *nr);
/*
 * Parse "FROM-TO", in seconds with up to nine digits after the point, as reports print them; one of
 * the two may be left out. The results are in nanoseconds; -1 for another text.
 */
int tool_parse_times(const char *arg, uint64_t *from, uint64_t *to);

#endif
