// SPDX-License-Identifier: GPL-2.0
/*
 * chain N: N times, make two system calls at the end of chain_a, chain_b, chain_c, then the same in
 * a thread that starts in thread_a. Compiled without frame pointers; also linked statically.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain.h"

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
