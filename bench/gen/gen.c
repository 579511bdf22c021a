// SPDX-License-Identifier: GPL-2.0
/*
 * gen FILE[=MS]... [--big FILE[=MS]...]: how long does it take to make tables, and how large are
 * they?
 *
 * The file is in the page cache, and the fastest of RUNS is shown. MS is the bar for the CPU time,
 * because the machine may be busy with other work. The bar for the size is one bar over all files,
 * without the files after --big.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"

#define RUNS		20
#define RATIO_BAR	0.70

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int time_generator(const char *path, struct gen_table *table, double *wall, double *cpu)
{
	double start, cpu_start;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	start = now(CLOCK_MONOTONIC);
	cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
	ret = gen_from_fd(fd, table);
	*cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
	*wall = now(CLOCK_MONOTONIC) - start;
	close(fd);
	return ret;
}

static int measure_file(char *arg, uint64_t sums[2])
{
	char *eq = strrchr(arg, '='), *name;
	double bar = eq ? atof(eq + 1) : 0, best = 0, cpu_best = 0;
	double wall = 0, cpu = 0;
	struct gen_table table;
	uint64_t source;
	int i, ret;

	if (eq)
		*eq = 0;
	name = strrchr(arg, '/') ? strrchr(arg, '/') + 1 : arg;
	for (i = 0; i < RUNS; i++) {
		ret = time_generator(arg, &table, &wall, &cpu);
		if (ret) {
			printf("%s: %s\n", arg, strerror(-ret));
			return 1;
		}
		if (!i || wall < best)
			best = wall;
		if (!i || cpu < cpu_best)
			cpu_best = cpu;
		if (i < RUNS - 1)
			gen_free(&table);
	}
	source = table.stats.eh_frame_size + table.stats.eh_frame_hdr_size;
	printf("%-26s %7" PRIu64 " FDEs %7" PRIu64 " rows  %8" PRIu64 " -> %7zu bytes %5.3f  %7.2f"
	       " ms (CPU %7.2f)", name, table.stats.nr_fdes, table.stats.nr_rows, source,
	       table.size, (double)table.size / source, best, cpu_best);
	if (bar)
		printf("  bar %.0f ms: %s", bar, cpu_best <= bar ? "met" : "NOT met");
	putchar('\n');
	sums[0] += table.size;
	sums[1] += source;
	gen_free(&table);
	return bar && cpu_best > bar;
}

int main(int argc, char **argv)
{
	uint64_t sums[2] = { 0 };
	double ratio;
	uint64_t big[2] = { 0 }, *to = sums;
	int i, missed = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--big"))
			to = big;
		else
			missed += measure_file(argv[i], to);
	}
	if (!sums[1])
		return 1;
	ratio = (double)sums[0] / sums[1];
	printf("%-26s %5.3f of .eh_frame and .eh_frame_hdr  bar %.2f: %s\n", "all tables", ratio,
	       RATIO_BAR, ratio <= RATIO_BAR ? "met" : "NOT met");
	return missed || ratio > RATIO_BAR;
}
