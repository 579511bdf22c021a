// SPDX-License-Identifier: GPL-2.0
/*
 * event DEPTH - count the instructions of one system call that makes one event, under any tracer
 *
 * wait4() of a process without children passes only the tracepoint sched_process_wait, and every
 * tracer knows this tracepoint. There are many short runs, and the smallest value counts: the other
 * runs contain the work of the tracer's own processes, for example to read its buffers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "../kernel/cost.h"

#define RUNS	60
#define CALLS	20

int main(int argc, char **argv)
{
	uint64_t cost, least = UINT64_MAX;

	if (argc != 2 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: event DEPTH\n");
		return 2;
	}
	for (int i = 0; i < RUNS; i++) {
		cost = entries_run(SYS_wait4, atoi(argv[1]), CALLS, false);
		least = cost < least ? cost : least;
	}
	printf("%.2f\n", (double)least / CALLS);

	return 0;
}
