/* SPDX-License-Identifier: GPL-2.0 */
/* tables_serve.h - subcommands that register unwind tables with the kernel */
#ifndef TABLES_SERVE_H
#define TABLES_SERVE_H

/*
 * argv[0] is the name of the subcommand. They return the exit status: 0, 1 after an error that was
 * told, 2 for wrong arguments; cmd_run() that of its command.
 */
int cmd_register(int argc, char **argv);
int cmd_run(int argc, char **argv);

#endif
