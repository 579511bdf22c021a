// SPDX-License-Identifier: GPL-2.0
/* Preloaded: the kernel seems to have pages of 64 KiB. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

long sysconf(int name)
{
	long (*next)(int) = dlsym(RTLD_NEXT, "sysconf");

	return name == _SC_PAGESIZE ? 65536 : next(name);
}
