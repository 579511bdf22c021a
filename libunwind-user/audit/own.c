// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * own.c - own MODULE TABLE: writes the table of the audit module, which the build then puts into it
 *
 * This program runs while the module is built. So it uses a C library, and the library as it was
 * just built. It is not part of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"

static int report_error(const char *path, int error)
{
	fprintf(stderr, "own: %s: no table of the audit module: %s\n", path, strerror(error));
	return 1;
}

int main(int argc, char **argv)
{
	struct gen_table table;
	int fd, ret;
	FILE *to;

	if (argc != 3) {
		fprintf(stderr, "usage: own MODULE TABLE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return report_error(argv[1], errno);
	ret = gen_from_fd(fd, &table);
	close(fd);
	if (ret)
		return report_error(argv[1], -ret);
	to = fopen(argv[2], "wbe");
	if (!to || fwrite(table.data, table.size, 1, to) != 1)
		ret = report_error(argv[2], errno);
	if (to && fclose(to) && !ret)
		ret = report_error(argv[2], errno);
	gen_free(&table);
	return ret;
}
