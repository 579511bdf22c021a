// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * debuginfod.c - debug information from a server, if the caller asked for servers
 *
 * libdebuginfod (elfutils, debuginfod_find_debuginfo(3)) asks the servers in $DEBUGINFOD_URLS and
 * keeps the answers in a cache. It is loaded when it is first needed, so that other programs do not
 * depend on it and on curl. libdebuginfod calls a progress function while it waits. This function
 * ends a request that takes too long. The time limit is for all requests together, so a server that
 * does not answer costs it once.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "debug.h"
#include "libunwind-user/base/base.h"

struct client;

/* elfutils/debuginfod.h has these types, but building this does not need its package. */
typedef int find_fn(struct client *c, const unsigned char *id, int size, char **path);
typedef int progress_fn(struct client *c, long a, long b);

struct servers {
	void *lib;
	struct client *client;
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	void (*set_progress)(struct client *c, progress_fn *fn);
	find_fn *debuginfo, *executable;
};

/* When the request of this thread has to end; libdebuginfod has no argument for it. */
static __thread int64_t until_ms;

static int is_time_over(struct client *c, long a, long b)
{
	(void)c;
	(void)a;
	(void)b;
	return clock_get_ms() >= until_ms;
}

static struct servers *load_library(void)
{
	struct servers *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!s->lib)
		return s;
	s->begin = dlsym(s->lib, "debuginfod_begin");
	s->end = dlsym(s->lib, "debuginfod_end");
	s->set_progress = dlsym(s->lib, "debuginfod_set_progressfn");
	s->debuginfo = dlsym(s->lib, "debuginfod_find_debuginfo");
	s->executable = dlsym(s->lib, "debuginfod_find_executable");
	if (s->begin && s->end && s->set_progress && s->debuginfo && s->executable)
		s->client = s->begin();
	if (s->client)
		s->set_progress(s->client, is_time_over);
	return s;
}

int debuginfod_fetch(struct uu_symbols *syms, const uint8_t *id, size_t size, bool executable,
		     struct place *place)
{
	struct servers *s = syms->debuginfod;
	char *path = NULL;
	int64_t start;
	int fd;

	if (!syms->debuginfod_ms || size < 2)
		return -1;
	if (!s) {
		s = load_library();
		syms->debuginfod = s;
	}
	if (!s || !s->client)
		return -1;
	start = clock_get_ms();
	until_ms = start + syms->debuginfod_ms;
	fd = (executable ? s->executable : s->debuginfo)(s->client, id, size, &path);
	start = clock_get_ms() - start;
	syms->debuginfod_ms = start < syms->debuginfod_ms ? syms->debuginfod_ms - start : 0;
	if (fd >= 0 && (!path || place_set(place, "", path))) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd < 0 ? -1 : fd;
}

void debuginfod_close(struct uu_symbols *syms)
{
	struct servers *s = syms->debuginfod;

	if (!s)
		return;
	if (s->client)
		s->end(s->client);
	/* curl may have threads of its own that still end: the library stays */
	free(s);
	syms->debuginfod = NULL;
}
