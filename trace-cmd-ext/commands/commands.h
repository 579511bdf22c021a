/* SPDX-License-Identifier: GPL-2.0 */
/*
 * commands.h - the subcommands of trace-ustack
 *
 * A subcommand is int cmd_NAME(int argc, char **argv): argv[0] is its name, and it returns the exit
 * code. trace_ustack.c lists all subcommands. Each has a page man/trace-ustack-NAME.1 and prints
 * its --help from a text of its own; a test compares the two.
 */
#ifndef TRACE_USTACK_COMMANDS_H
#define TRACE_USTACK_COMMANDS_H

int cmd_check(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stat(int argc, char **argv);

#endif
