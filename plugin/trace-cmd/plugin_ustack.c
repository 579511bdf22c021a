// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plugin_ustack.c - make libtraceevent load plugin_ustack_join.so after all other plugins
 *
 * libtraceevent prints a record with the handler that was registered last, and its own function
 * plugin has a handler for kernel_stack. Within a directory, plugins come in the order of
 * readdir(). So this small plugin only asks libtraceevent to read one more directory, ustack/ next
 * to this file, after all others.
 *
 * perf loads the same plugins. Some builds of perf have libtraceevent inside and do not let plugins
 * call tep_add_plugin_path(). In these builds this plugin does nothing and loads nothing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/recording/recording.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int tep_plugin_loader(struct tep_handle *tep);
EXPORT void tep_plugin_unloader(struct tep_handle *tep);

#define JOIN "plugin_ustack_join.so"

/* The plugin, if this file loads it: without HOME, libtraceevent reads no more directories. */
static void *loaded;

static int load_directly(struct tep_handle *tep, const char *path)
{
	tep_plugin_load_func load;

	loaded = dlopen(path, RTLD_NOW);
	load = loaded ? (tep_plugin_load_func)dlsym(loaded, TEP_PLUGIN_LOADER_NAME) : NULL;
	return load ? load(tep) : 0;
}

int tep_plugin_loader(struct tep_handle *tep)
{
	char dir[4096], path[4096 + sizeof(JOIN) + 1];
	const char *slash;
	Dl_info info;

	/* not the address of tep_plugin_loader: it may be that of another plugin */
	if (!tep_add_plugin_path || !dladdr(&loaded, &info) || !info.dli_fname)
		return 0;
	slash = strrchr(info.dli_fname, '/');
	if (snprintf(dir, sizeof(dir), "%.*sustack",
		     slash ? (int)(slash - info.dli_fname + 1) : 0, info.dli_fname) >=
	    (int)sizeof(dir))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, JOIN);
	if (access(path, R_OK)) {
		fprintf(stderr, "plugin_ustack: %s is missing, user stacks are not joined; "
			"install it there\n", path);
		return 0;
	}
	if (!getenv("HOME"))
		return load_directly(tep, path);
	tep_add_plugin_path(tep, dir, TEP_PLUGIN_LAST);
	return 0;
}

void tep_plugin_unloader(struct tep_handle *tep)
{
	void (*unload)(struct tep_handle *tep);

	if (!loaded)
		return;
	unload = (void (*)(struct tep_handle *))dlsym(loaded, TEP_PLUGIN_UNLOADER_NAME);
	if (unload)
		unload(tep);
}
