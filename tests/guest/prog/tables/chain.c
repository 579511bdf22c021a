// SPDX-License-Identifier: GPL-2.0
/*
 * chain N: makes N times two system calls at the end of chain_a, chain_b, chain_c, then of a thread
 * that thread_a begins. Compiled without frame pointers; also linked statically.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "deep.h"

static void DEEP chain_c(int n)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	volatile char room[100 + (n & 1)];

	room[0] = n;
	syscall(SYS_getppid);
	nanosleep(&ms, NULL);
	KEEP(room);
}

static int DEEP chain_b(int n)
{
	volatile int a[8] = { n };

	chain_c(a[0]);
	KEEP(a);
	return a[0];
}

static int DEEP chain_a(int n)
{
	int ret = chain_b(n);

	KEEP(&ret);
	return ret + 1;
}

static void *thread_a(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 0; i < n; i++)
		chain_a(i);
	return arg;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t;

	for (i = 0; i < n; i++)
		chain_a(i);
	if (pthread_create(&t, NULL, thread_a, &n))
		return 1;
	pthread_join(t, NULL);
	return 0;
}
