/* SPDX-License-Identifier: GPL-2.0 */
/*
 * filter.h - the options that choose events, the same in every subcommand that reads a file; and
 * --sysroot, which all of these need too
 *
 *	static const struct option longs[] = { CMD_FILTER_OPTIONS, { "json", ... }, {} };
 *
 *	while ((opt = getopt_long(...)) != -1) switch (opt) {
 *	...
 *	default:
 *		ret = cmd_parse_filter("report", opt, optarg, &opts);
 *		if (ret)
 *			return ret;
 *	}
 *	ret = cmd_parse_file("report", argc, argv, &path);
 */
#ifndef TRACE_USTACK_FILTER_H
#define TRACE_USTACK_FILTER_H

#include <getopt.h>

#include "trace-cmd-ext/model/model.h"

enum {
	CMD_OPT_EVENT = 0x1000,
	CMD_OPT_PID,
	CMD_OPT_COMM,
	CMD_OPT_PROCESS,
	CMD_OPT_CPU,
	CMD_OPT_TIME,
	CMD_OPT_SYMBOL,
	CMD_OPT_SYSROOT,
};

#define CMD_FILTER_OPTIONS						\
	{ "event", required_argument, NULL, CMD_OPT_EVENT },		\
	{ "process", required_argument, NULL, CMD_OPT_PROCESS },	\
	{ "pid", required_argument, NULL, CMD_OPT_PID },		\
	{ "comm", required_argument, NULL, CMD_OPT_COMM },		\
	{ "cpu", required_argument, NULL, CMD_OPT_CPU },		\
	{ "time", required_argument, NULL, CMD_OPT_TIME },		\
	{ "symbol", required_argument, NULL, CMD_OPT_SYMBOL },		\
	{ "sysroot", required_argument, NULL, CMD_OPT_SYSROOT }

#define CMD_FILTER_HELP \
	"Which events; each option can be given more than once:\n" \
	"  --event PATTERN    only events with this name, or SYSTEM:NAME; with shell wildcards\n" \
	"  --process WHAT     only these processes or threads: IDs, or a name\n" \
	"  --pid LIST         only processes or threads with these IDs, such as 12,20-29\n" \
	"  --comm PATTERN     only threads with this name\n" \
	"  --cpu LIST         only these CPUs, such as 0,2-3\n" \
	"  --time FROM-TO     only between these time stamps, in seconds; one may be left out\n" \
	"  --symbol PATTERN   only events with this function in their kernel or user stack\n" \
	"\n" \
	"Symbols:\n" \
	"  --sysroot DIR      look for the files of the traced machine below DIR\n"

/* 0, or the exit code after printing that an option is wrong or unknown. */
int cmd_parse_filter(const char *cmd, int opt, const char *arg, struct model_opts *o);
/* Does the filter choose events, or does it want all? */
bool cmd_filter_is_set(const struct model_filter *f);
/* The single file left on the command line, or trace.dat; 0, or an exit code as above. */
int cmd_parse_file(const char *cmd, int argc, char **argv, const char **path);
/*
 * Open @path. On failure print the error and return NULL: the exit code is TOOL_INPUT then. If the
 * file could not be read to its end, tool_finish() prints that and sets the exit code.
 */
struct model *cmd_open_model(const char *path, const struct model_opts *opts);
/* Print that no event matches, although the file has all names. The exit code stays 0. */
void cmd_print_no_match(const char *path);

#endif
