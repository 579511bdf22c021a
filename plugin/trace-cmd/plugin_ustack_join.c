// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plugin_ustack_join.c - the plugin itself, loaded by plugin_ustack.so
 *
 * libtraceevent calls the loader once for each file, before it reads the file's formats, with a tep
 * handle that does not know its file. At that moment the host has read the first 13 bytes of the
 * file (magic, version, endianness). So the file is the open descriptor whose file starts with the
 * magic and whose position is 13. The loader opens that file again at once, for its own use.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace-cmd.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int tep_plugin_loader(struct tep_handle *tep);
EXPORT void tep_plugin_unloader(struct tep_handle *tep);

#define LOADER_OFFSET	13	/* file position of the host when it calls the loader */

static struct ustack_file *all;

static bool is_file_of_host(int fd)
{
	char buf[TRACE_DAT_MAGIC_LEN];
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       lseek(fd, 0, SEEK_CUR) == LOADER_OFFSET &&
	       pread(fd, buf, sizeof(buf), 0) == (ssize_t)sizeof(buf) &&
	       !memcmp(buf, TRACE_DAT_MAGIC, sizeof(buf));
}

/* Open the trace.dat that the host is opening a second time. Returns the descriptor, or -1. */
static int open_file(char **path)
{
	DIR *dir = opendir("/proc/self/fd");
	char name[64], target[PATH_MAX];
	struct dirent *de;
	int fd, found = -1;

	if (!dir)
		return -1;
	while ((de = readdir(dir))) {
		fd = *de->d_name == '.' ? -1 : atoi(de->d_name);
		/* a host opens one file at a time; the last descriptor counts */
		if (fd > found && is_file_of_host(fd))
			found = fd;
	}
	closedir(dir);
	if (found < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	fd_get_path(found, target, sizeof(target));
	*path = strdup(target);
	return open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static bool host_has_functions(void)
{
	return tep_find_common_field && tep_find_event_by_name &&
	       tep_find_field && tep_find_function && tep_find_function_address &&
	       tep_get_cpus && tep_get_long_size && tep_plugin_add_options &&
	       tep_plugin_remove_options && tep_read_number && tep_register_event_handler &&
	       tep_unregister_event_handler && trace_seq_destroy && trace_seq_init &&
	       trace_seq_printf && trace_seq_putc && trace_seq_puts && trace_seq_terminate;
}

int tep_plugin_loader(struct tep_handle *tep)
{
	struct ustack_file *u;
	char *path = NULL;
	int fd;

	if (!host_has_functions())
		return 0;
	options_add();
	fd = open_file(&path);
	if (fd < 0) {
		free(path);
		return 0;
	}
	u = calloc(1, sizeof(*u));
	if (!u || !path) {
		free(u);
		free(path);
		close(fd);
		return 0;
	}
	u->tep = tep;
	u->fd = fd;
	u->path = path;
	u->next = all;
	all = u;
	handlers_register(u);
	return 0;
}

void tep_plugin_unloader(struct tep_handle *tep)
{
	struct ustack_file **p, *u;

	if (!host_has_functions())
		return;
	for (p = &all; (u = *p); p = &u->next) {
		if (u->tep != tep)
			continue;
		*p = u->next;
		ustack_file_close(u);
		break;
	}
	options_remove();
}
