// SPDX-License-Identifier: GPL-2.0
/*
 * make.c - put tables into the cache before anybody needs them
 *
 * `register` and `run` make the tables they need. The audit module does not, so it depends on
 * `make`. The vDSO is not a file that could be named: its table is made each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "libunwind-user/tables/tables.h"
#include "tables.h"

#define TOOL		"trace-ustack-tables make"
#define PROGRESS_AFTER	1.0	/* seconds */

static struct {
	struct tables_cache *cache;
	bool verbose, quiet, progress_shown;
	double start;			/* clock_get_seconds() */
	uint64_t made, cached, bytes, none, failed;
} make;

static int print_error(const char *path, const char *what)
{
	fprintf(stderr, TOOL ": %s: %s\n", path, what);
	make.failed++;
	return 1;
}

static void show_progress(bool end)
{
	if (end && make.progress_shown)
		fputs("\r\033[K", stderr);
	if (end || make.quiet || !isatty(STDERR_FILENO) ||
	    clock_get_seconds() - make.start < PROGRESS_AFTER)
		return;
	fprintf(stderr, "\r" TOOL ": %" PRIu64 " tables", make.made + make.cached);
	make.progress_shown = true;
}

static void count_file(const char *path, const struct gen_table *table, bool cached)
{
	make.made += !cached;
	make.cached += cached;
	make.bytes += table->size;
	if (make.verbose)
		printf("  %s: %zu bytes, %s\n", path, table->size,
		       cached ? "in the cache" : "made now");
	show_progress(false);
}

static void make_file(const char *path)
{
	struct gen_table table;
	struct tables_id id;
	bool cached;
	int fd, ret;

	/* The path can lead to a pipe without a writer */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		print_error(path, strerror(errno));
		return;
	}
	ret = tables_get_table(make.cache, fd, &id, &table, &cached);
	close(fd);
	switch (-ret) {
	case 0:
		count_file(path, &table, cached);
		gen_free(&table);
		break;
	case ENOEXEC:
	case EOPNOTSUPP:
	case ENODATA:
		make.none++;
		if (make.verbose)
			printf("  %s: %s\n", path, ret == -ENODATA ? TABLES_NOTHING :
			       ret == -ENOEXEC ? "not an ELF file" :
			       "another architecture, whose tables go to a file: -o");
		break;
	case ESTALE:
		print_error(path, "is being written to; try again later");
		break;
	default:
		print_error(path, strerror(-ret));
	}
}

static int visit_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	if (type == FTW_F && S_ISREG(st->st_mode))
		make_file(path);
	return 0;
}

static void make_argument(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		print_error(path, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		make_file(path);
	else if (nftw(path, visit_file, 32, FTW_PHYS | FTW_MOUNT))
		print_error(path, strerror(errno));
}

static void make_vdso(void)
{
	struct gen_table table;
	struct tables_id id;
	bool cached;

	if (tables_get_vdso_table(make.cache, &id, &table, &cached))
		return;
	count_file("[vdso]", &table, cached);
	gen_free(&table);
}

static int usage(FILE *to)
{
	fputs("usage: " TOOL " [-qv] [--cache DIR] FILE...\n"
	      "       " TOOL " FILE -o OUT\n"
	      "Put the unwind tables of each FILE, of all ELF files below each FILE that is a\n"
	      "directory, and of the vDSO into the cache, where register, run and the audit\n"
	      "module find them; or write the table of FILE to OUT.\n"
	      "  -c, --cache DIR  keep the cache in DIR, see FILES in trace-ustack-tables(1)\n"
	      "  -o, --output OUT write the table to OUT\n"
	      "  -q, --quiet      print no summary\n"
	      "  -v, --verbose    print the result for each file\n"
	      "  -h, --help       print this text\n", to);
	return to == stdout ? 0 : 2;
}

int cmd_make(int argc, char **argv, int (*write_table)(const char *path, const char *out))
{
	static const struct option longs[] = {
		{ "cache", required_argument, NULL, 'c' },
		{ "output", required_argument, NULL, 'o' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *dir = NULL, *out = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, "c:o:qvh", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			dir = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'q':
			make.quiet = true;
			break;
		case 'v':
			make.verbose = true;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (optind == argc || (out && (dir || argc - optind > 1)))
		return usage(stderr);
	if (out)
		return write_table(argv[optind], out);
	ret = tables_cache_open(dir, 0, &make.cache);
	if (ret)
		return print_error(dir ? dir : "the cache", ret == -EPERM ?
				   "belongs to somebody else, or others may write to it; name "
				   "another one with --cache" : strerror(-ret));
	make.start = clock_get_seconds();
	for (; optind < argc; optind++)
		make_argument(argv[optind]);
	make_vdso();
	show_progress(true);
	if (!make.quiet)
		printf("%" PRIu64 " tables made, %" PRIu64 " were there, %.1f MiB, in %.3f s; %"
		       PRIu64 " files have none\n", make.made, make.cached, make.bytes / 1048576.0,
		       clock_get_seconds() - make.start, make.none);
	tables_cache_close(make.cache);
	return make.failed != 0;
}
