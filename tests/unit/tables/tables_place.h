/* SPDX-License-Identifier: GPL-2.0 */
/* tables_place.h - a directory for tests of tables, and a file with a table: the C library */
#ifndef TABLES_PLACE_H
#define TABLES_PLACE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libunwind-user/tables/impl.h"
#include "tests/unit/unit.h"

static char tmp[64], libc[256];
static char cache_dir[128];

static inline const char *in_tmp(const char *name)
{
	static char path[4][256];
	static unsigned int n;
	char *p = path[n++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", tmp, name);
	return p;
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void find_libc(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "/");

		if (p && strstr(p, "/libc.so.6") && strlen(p) < sizeof(libc)) {
			p[strcspn(p, "\n")] = '\0';
			strcpy(libc, p);
		}
	}
	fclose(f);
	assert_true(libc[0]);
}

static inline int setup(void **state)
{
	(void)state;
	strcpy(tmp, "/tmp/test_tables.XXXXXX");
	if (!mkdtemp(tmp))
		return -1;
	snprintf(cache_dir, sizeof(cache_dir), "%s/cache", tmp);
	find_libc();
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	return nftw(tmp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wbe");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static inline void copy_file(const char *from, const char *to)
{
	FILE *f = fopen(from, "rbe");
	static char buf[8 << 20];
	size_t len;

	assert_non_null(f);
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	write_file(to, buf, len);
}

static inline int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

#endif
