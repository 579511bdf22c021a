// SPDX-License-Identifier: GPL-2.0
/* loads FILE N: N times, open a library, call its plugged() for a system call, close it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "deep.h"

static int DEEP load(const char *file, int i)
{
	long (*plugged)(int) = NULL;
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (lib)
		*(void **)&plugged = dlsym(lib, "plugged");
	if (!plugged) {
		fprintf(stderr, "loads: %s\n", dlerror());
		return 1;
	}
	plugged(i);
	return dlclose(lib);
}

int main(int argc, char **argv)
{
	int i, n = argc > 2 ? atoi(argv[2]) : 1;

	for (i = 0; i < n; i++) {
		if (load(argv[1], i))
			return 1;
	}
	return 0;
}
