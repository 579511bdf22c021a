// SPDX-License-Identifier: GPL-2.0
/*
 * calls N: N times, make system calls at the end of chain_a, chain_b, chain_c: from main, from
 * threads, from a comparison that qsort() calls, from a signal handler, and in stdio. For musl,
 * whose code has no .eh_frame. This program has no .eh_frame either: it is compiled without frame
 * pointers and unwind tables.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../chain.h"

static int DEEP chain_a(int n)
{
	int ret;

	/* a table of jumps */
	switch (n % 8) {
	case 0:
		ret = chain_b(n);
		break;
	case 1:
		ret = chain_b(n + 1) + 3;
		break;
	case 2:
		ret = getppid() + chain_b(n);
		break;
	case 3:
		ret = 5 * chain_b(n - 1);
		break;
	case 4:
		ret = chain_b(n) - 7;
		break;
	case 6:
		ret = -chain_b(n);
		break;
	default:
		ret = chain_b(0);
	}
	KEEP(&ret);
	return ret + 1;
}

static int compare(const void *a, const void *b)
{
	getppid();
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void handler(int sig)
{
	chain_a(sig);
	KEEP(&sig);
}

static void *thread_a(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 0; i < n; i++)
		chain_a(i);
	return arg;
}

static void DEEP sort(void)
{
	const char *names[] = { "one", "two", "three", "four", "five", "six", "seven" };

	qsort(names, sizeof(names) / sizeof(*names), sizeof(*names), compare);
	KEEP(names);
}

static void DEEP print(FILE *to, int n)
{
	char line[100];

	snprintf(line, sizeof(line), "%d %s %.3f\n", n, "lines", n / 3.0);
	fputs(line, to);
	fflush(to);
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	struct sigaction action = { .sa_handler = handler };
	FILE *null = fopen("/dev/null", "w");
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < n; i++) {
		chain_a(i);
		sort();
		print(null, i);
		raise(SIGUSR1);
		if (pthread_create(&t, NULL, thread_a, &i))
			return 1;
		/* a detached thread unmaps its stack at its end: no stack is left to walk */
		pthread_join(t, NULL);
	}
	return fclose(null);
}
