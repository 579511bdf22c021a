/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tool.h - functions for every subcommand: errors, the pager, progress, lists of numbers, output
 * files
 *
 *	near.h		names that are similar to a wrong one
 *	output.h	a file that appears when it is complete
 */
#ifndef TRACE_USTACK_CMD_H
#define TRACE_USTACK_CMD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "near.h"
#include "output.h"

/* Exit codes. Documented in trace-ustack(1); programs rely on them. */
enum cmd_exit {
	CMD_OK = 0,		/* done, and nothing is wrong */
	CMD_FAIL = 1,		/* what was asked for is not so, or could not be done */
	CMD_USAGE = 2,		/* the command line is wrong; nothing was done */
	CMD_INPUT = 3,		/* an input file cannot be opened, or is not what it should be */
	CMD_OUTPUT = 4,		/* the output cannot be written */
};

/* ---- messages ----
 *
 * One sentence on standard error: "trace-ustack: FILE: cause; remedy". Bytes that a terminal would
 * obey are written as \ooo.
 */
void cmd_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "trace-ustack NAME: ..., and that --help tells more"; returns CMD_USAGE. */
int cmd_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The option that getopt_long() returned '?' for: tell what is wrong; returns CMD_USAGE. */
int cmd_bad_option(const char *cmd);
/* The arguments the subcommand was called with; set by main(). */
extern char **cmd_argv;
/* Print a --help text through the pager if there is one; returns CMD_OK. */
int cmd_help(const char *text);

/* ---- reading a file ----
 *
 * A trace.dat is read in a process of its own, as libtracecmd and libtraceevent were not written
 * for damaged files: its end by a signal, or by its limit of CPU time, is told as one sentence.
 * @run is called there, its result is the exit code. What it wrote stays written. Ends of the
 * process by Ctrl-C or by a closed pipe are passed on as such.
 */
int cmd_guard(const char *file, int (*run)(void *arg), void *arg);
/* _exit() of a process that a subcommand forked; a build with LeakSanitizer reports its leaks. */
void cmd_exit(int code) __attribute__((noreturn));
/*
 * What was read of @file is incomplete: cmd_finish() tells it and makes CMD_INPUT of CMD_OK. At the
 * end, so that it is one sentence where the library breaks off later on.
 */
void cmd_incomplete(const char *file);
/*
 * Some request for memory failed, see memory.c: what was printed may lack something. cmd_finish()
 * says so and makes CMD_FAIL of CMD_OK.
 */
extern atomic_bool cmd_no_memory;
/* Flush standard output and tell of errors; CMD_OUTPUT if there was one, else @code. */
int cmd_finish(int code);

/* ---- the terminal ---- */

/*
 * From here on standard output goes to the pager ($TRACE_USTACK_PAGER, $PAGER, less, as git does),
 * if it is a terminal. Call it once, before anything is printed and before cmd_guard().
 */
void cmd_pager(void);
/* Is standard output a terminal, or a pager on one? */
bool cmd_on_terminal(void);
/* May standard output be coloured? A terminal (or the pager on one), no NO_COLOR, no TERM=dumb. */
bool cmd_colour(void);

/*
 * Progress on standard error, once something takes over a second and if that is a terminal:
 * "trace-ustack: WHAT  42%". Cheap enough to be called often. @total 0: not known.
 */
void cmd_progress(const char *what, uint64_t done, uint64_t total);
/* Remove the line again. */
void cmd_progress_end(void);
/* For --quiet: none at all. */
void cmd_progress_off(void);

/* ---- options that several have ---- */

/* "1,3-5" to a list of numbers, appended to *@v (realloc); -1 if it is none. */
int cmd_numbers(const char *arg, uint32_t **v, size_t *nr);
/*
 * "FROM-TO" in seconds with up to nine digits behind the point, as reports print them; either may
 * be left out. In nanoseconds; -1 if it is none.
 */
int cmd_times(const char *arg, uint64_t *from, uint64_t *to);

#endif
