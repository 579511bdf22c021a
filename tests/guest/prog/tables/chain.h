/* SPDX-License-Identifier: GPL-2.0 */
/* The inner end of the chain of calls in chain.c and musl/calls.c: two system calls. */
#ifndef CHAIN_H
#define CHAIN_H

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

#endif
