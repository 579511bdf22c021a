// SPDX-License-Identifier: GPL-2.0
/*
 * Both sides of dlopen(). With -DLIBRARY this is the library, with a constructor, a destructor,
 * stubs of its own and a call back into the program. Without it, this is the code that opens and
 * closes the library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepped.h"

#ifdef LIBRARY

static volatile int state;

__attribute__((constructor)) static void constructor(void)
{
	state = atoi("3");
}

__attribute__((destructor)) static void destructor(void)
{
	state = 0;
}

int library_call(int (*back)(int), int n)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%d", n);
	return back(atoi(buf) + state);
}

#else

static int back(int n)
{
	sink += n;
	return n;
}

void library(const char *self)
{
	int (*call)(int (*)(int), int), i;
	char path[4096];
	void *lib;

	snprintf(path, sizeof(path), "%s.so", self);
	for (i = 0; i < 2; i++) {
		lib = dlopen(path, RTLD_LAZY);
		call = lib ? (int (*)(int (*)(int), int))dlsym(lib, "library_call") : NULL;
		if (!call || call(back, 4) != 7)
			abort();
		dlclose(lib);
	}
}

#endif
