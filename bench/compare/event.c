// SPDX-License-Identifier: GPL-2.0
/*
 * event DEPTH - instructions of one system call that makes one event, whoever traces
 *
 * wait4() of a process without children passes the tracepoint sched_process_wait, and nothing else,
 * which all tracers know. Runs are short and many, and the least counts: what a tracer's own
 * processes do, when it has them read its buffers, is in the others.
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
		cost = entries_run(SYS_wait4, atoi(argv[1]), CALLS);
		least = cost < least ? cost : least;
	}
	printf("%.2f\n", (double)least / CALLS);

	return 0;
}
