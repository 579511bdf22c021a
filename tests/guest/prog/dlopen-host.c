// SPDX-License-Identifier: GPL-2.0
/*
 * dlopen-host STEP...: make system calls from code that comes and goes.
 *   FILE     opens the library FILE and calls its touch(), then closes it
 *   keep:FILE  the same without closing it
 *   N        calls getppid() N times from the program itself
 *   wait     waits for a line on standard input
 * Prints the address of touch() for each library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/getppid.h"

static __attribute__((noinline)) long touch_here(void)
{
	return own_getppid();
}

int main(int argc, char **argv)
{
	long (*touch)(void);
	int i, n, keep;
	char line[8];
	void *lib;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "wait")) {
			if (!fgets(line, sizeof(line), stdin))
				return 3;
			continue;
		}
		n = atoi(argv[i]);
		if (n > 0) {
			while (n--)
				touch_here();
			continue;
		}
		keep = !strncmp(argv[i], "keep:", 5);
		lib = dlopen(argv[i] + 5 * keep, RTLD_NOW | RTLD_LOCAL);
		touch = lib ? dlsym(lib, "touch") : NULL;
		if (!touch) {
			fprintf(stderr, "dlopen-host: %s\n", dlerror());
			return 1;
		}
		printf("%s touch at %p\n", argv[i], (void *)touch);
		fflush(stdout);
		touch();
		if (!keep)
			dlclose(lib);
	}
	return 0;
}
