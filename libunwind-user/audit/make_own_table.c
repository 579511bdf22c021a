// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * make_own_table.c - make_own_table MODULE TABLE: write the table of the audit module
 *
 * The build then puts the table into the module. This program runs while the module is built, and
 * is not part of it: it uses a C library, and libunwind-user as it was just built.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"

static int report_error(const char *path, const char *failed, int error)
{
	fprintf(stderr, "make_own_table: %s: cannot %s: %s\n", path, failed, strerror(error));
	return 1;
}

int main(int argc, char **argv)
{
	struct gen_table table;
	int fd, ret;
	FILE *to;

	if (argc != 3) {
		fprintf(stderr, "usage: make_own_table MODULE TABLE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return report_error(argv[1], "open the module", errno);
	ret = gen_from_fd(fd, &table);
	close(fd);
	if (ret)
		return report_error(argv[1], "make a table of the module", -ret);
	to = fopen(argv[2], "wbe");
	if (!to || fwrite(table.data, table.size, 1, to) != 1)
		ret = report_error(argv[2], "write the table", errno);
	if (to && fclose(to) && !ret)
		ret = report_error(argv[2], "write the table", errno);
	gen_free(&table);
	return ret;
}
