/* SPDX-License-Identifier: GPL-2.0 */
/* tables.h - the subcommands of trace-ustack-tables that keep tables or register them */
#ifndef TRACE_USTACK_TABLES_H
#define TRACE_USTACK_TABLES_H

/* Why a file has no table: -ENODATA */
#define TABLES_NOTHING \
	"nothing to make a table from: no .eh_frame, and no code that can be followed"

/*
 * argv[0] is the name of the subcommand. They return the exit status: 0; 1 after printing an error;
 * 2 for wrong arguments. cmd_run() returns that of its command.
 */
int cmd_register(int argc, char **argv);
int cmd_run(int argc, char **argv);

/* @write_table writes the table of one file to another one, and returns the exit status. */
int cmd_make(int argc, char **argv, int (*write_table)(const char *path, const char *out));

#endif
