// SPDX-License-Identifier: GPL-2.0
/* Inlined calls three deep, in loops and in cold code, and a function that nobody calls. */
#include <stdio.h>
#include <stdlib.h>

#include "sample.h"

static inline __attribute__((always_inline)) int inner(int n)
{
	if (__builtin_expect(n == 12345, 0)) {
		fprintf(stderr, "inner %d\n", n);
		abort();
	}
	return n * 3 + 1;
}

static inline __attribute__((always_inline)) int middle(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += inner(i ^ sum);
	return sum;
}

__attribute__((noinline)) int outer(int n)
{
	return middle(n) + header_inline(n) - inner(n);
}

__attribute__((noinline)) int never_called(int n)
{
	return middle(n * 2);
}

__attribute__((noinline, cold)) int cold_one(int n)
{
	return inner(n) + outer(n);
}

int switched(int n)
{
	switch (n) {
	case 0: return middle(n);
	case 1: return outer(n);
	case 2: return cold_one(n);
	case 3: return header_inline(n + 1);
	case 4: return inner(n);
	default: return -1;
	}
}
