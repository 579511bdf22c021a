// SPDX-License-Identifier: GPL-2.0
/* The library that `loads` loads. */
#include <sys/syscall.h>
#include <unistd.h>

#include "../deep.h"

long plugged(int n);

static long DEEP plugged_inside(int n)
{
	volatile char room[64 + (n & 7)];
	long ret;

	room[0] = n;
	ret = syscall(SYS_getppid);
	KEEP(room);
	return ret;
}

long plugged(int n)
{
	long ret = plugged_inside(n);

	KEEP(&ret);
	return ret;
}
