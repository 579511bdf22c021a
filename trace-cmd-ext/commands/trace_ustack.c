// SPDX-License-Identifier: GPL-2.0
/*
 * trace_ustack.c - main(): find the subcommand and call it
 *
 * This file only knows the list of subcommands (commands.h). tool/tool.h has the functions that all
 * of them use, and the exit codes.
 */
#include <getopt.h>
#include <string.h>

#include "commands.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"

#ifndef TRACE_USTACK_VERSION
#define TRACE_USTACK_VERSION "unknown"
#endif

static const struct command {
	const char *name, *about;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "check", "say what can be recorded here, and how to fix the rest", cmd_check },
	{ "record", "record events with their stacks, of a command or of all tasks", cmd_record },
	{ "export", "write the events and stacks for other tools", cmd_export },
	{ "flame", "draw a flame graph of events, of waits, or of wake-ups", cmd_flame },
	{ "report", "print the events, each with its kernel stack and its user stack", cmd_report },
	{ "stat", "count events and stacks, and say why stacks are missing", cmd_stat },
};

#define NR_COMMANDS ARRAY_SIZE(commands)

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void list_commands(FILE *f)
{
	size_t i;

	fputs("usage: trace-ustack COMMAND [OPTION...] [FILE]\n"
	      "\n"
	      "Record trace events with complete kernel and user stacks, and read recordings.\n"
	      "\n", f);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  %-8s  %s\n", commands[i].name, commands[i].about);
	fputs("\n"
	      "  help COMMAND, or COMMAND --help, explains a command.\n"
	      "\n"
	      "  --help      print this text\n"
	      "  --version   print the version\n"
	      "  --commands  print the names of the commands, one per line\n"
	      "\n"
	      "Exit status: 0 done; 1 failed, or what was checked is not in order;\n"
	      "2 wrong command line; 3 the input cannot be read; 4 the output cannot be written.\n",
	      f);
}

static int report_unknown(const char *name)
{
	tool_error("there is no command '%s'; trace-ustack --help lists them", name);
	return TOOL_USAGE;
}

static int run_help(int argc, char **argv)
{
	char *args[] = { argv[0], (char *)"--help", NULL };
	const struct command *c;

	if (argc < 2) {
		list_commands(stdout);
		return tool_finish(TOOL_OK);
	}
	c = find_command(argv[1]);
	if (!c)
		return report_unknown(argv[1]);
	args[0] = argv[1];
	tool_argv = args;
	return c->run(2, args);
}

int main(int argc, char **argv)
{
	const struct command *c;
	size_t i;

	opterr = 0;		/* tool_bad_option() prints errors */
	tool_argv = argv + 1;
	if (argc < 2) {
		list_commands(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return run_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version")) {
		puts("trace-ustack " TRACE_USTACK_VERSION);
		return tool_finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "--commands")) {
		for (i = 0; i < NR_COMMANDS; i++)
			puts(commands[i].name);
		return tool_finish(TOOL_OK);
	}
	c = find_command(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : report_unknown(argv[1]);
}
