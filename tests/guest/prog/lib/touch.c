// SPDX-License-Identifier: GPL-2.0
/* A library whose touch() makes one system call in its own text. */
#include "getppid.h"

long touch(void);

long __attribute__((noinline)) touch(void)
{
	return own_getppid();
}
