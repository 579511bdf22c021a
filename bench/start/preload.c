// SPDX-License-Identifier: GPL-2.0
/* The least that LD_PRELOAD can do at start: a constructor. It would not see dlopen(). */
#include <unistd.h>

static void __attribute__((constructor)) start(void)
{
	getppid();
}
