// SPDX-License-Identifier: GPL-2.0
/* tracefs.c - find tracefs, read and write its files */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "impl.h"

#define TRACEFS "/sys/kernel/tracing"

static bool verbose;

void rec_tracefs_set_verbose(bool on)
{
	verbose = on;
}

static const char *use_tracefs(const char *dir, struct tool_why *why)
{
	struct stat st;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events", dir);
	if (stat(path, &st)) {
		if (errno == EACCES || errno == EPERM)
			tool_set_why(why, 0, "run it as root", "%s: %s", dir, strerror(errno));
		else
			tool_set_why(why, 0, "give its mount point", "%s: no tracefs is there",
				     dir);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s", dir);
	if (tracefs_set_tracing_dir(path)) {
		tool_set_why(why, 0, NULL, "%s: not enough memory", dir);
		return NULL;
	}
	return tracefs_tracing_dir();
}

/* Returns 0 or -errno; -EACCES if only root may search the directory. */
static int stat_events(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/events", dir);
	return stat(path, &st) ? -errno : 0;
}

const char *rec_tracefs_find(const char *dir, bool may_mount, struct tool_why *why)
{
	const char *found = NULL;
	int ret;

	if (dir)
		return use_tracefs(dir, why);
	ret = stat_events(TRACEFS);
	if (ret == -EACCES || ret == -EPERM)
		return use_tracefs(TRACEFS, why);
	if (ret && may_mount && !access(TRACEFS, F_OK) &&
	    !mount("nodev", TRACEFS, "tracefs", 0, NULL))
		ret = stat_events(TRACEFS);
	if (!ret)
		return use_tracefs(TRACEFS, why);
	if (tracefs_tracing_dir_is_mounted(false, &found) > 0 && found)
		return use_tracefs(found, why);
	if (access(TRACEFS, F_OK))
		tool_set_why(why, 0, "boot a kernel with CONFIG_TRACING=y",
			     "the kernel has no tracefs");
	else
		tool_set_why(why, 0, "mount -t tracefs nodev " TRACEFS, "tracefs is not mounted");
	return NULL;
}

bool rec_tracefs_in_other_pid_namespace(void)
{
	const char *dir = tracefs_tracing_dir();
	struct statfs fs;
	char ns[64];
	ssize_t n;

	/* a fake tracefs has the PIDs of the namespace that made it */
	if (!dir || statfs(dir, &fs) || fs.f_type != TRACEFS_MAGIC)
		return false;
	n = readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1);
	if (n < 0)
		return false;
	ns[n] = '\0';
	/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	return strcmp(ns, "pid:[4026531836]") != 0;
}

/* tracefs_file_exists() of libtracefs 1.6 looks in /sys/kernel/tracing, wherever tracefs is. */
bool rec_tracefs_exists(const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tracefs_tracing_dir(), file);
	return !access(path, F_OK);
}

static int write_file(struct tracefs_instance *in, const char *file, const char *value, int flags)
{
	char *path = tracefs_instance_get_file(in, file);
	const char *name = in ? tracefs_instance_get_name(in) : NULL;
	int fd, ret = 0;
	ssize_t n;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0) {
		ret = -errno;
	} else {
		n = write(fd, value, strlen(value));
		if (n < 0)
			ret = -errno;
		close(fd);
	}
	if (verbose)
		fprintf(stderr, "trace-ustack: %s%s%s %s '%s'%s%s\n", name ? name : "",
			name ? "/" : "", file, flags & O_APPEND ? ">>" : ">", value,
			ret ? ": " : "", ret ? strerror(-ret) : "");
	tracefs_put_tracing_file(path);
	return ret;
}

int rec_tracefs_write(struct tracefs_instance *in, const char *file, const char *value)
{
	return write_file(in, file, value, O_TRUNC);
}

int rec_tracefs_append(struct tracefs_instance *in, const char *file, const char *value)
{
	return write_file(in, file, value, O_APPEND);
}

/* error_log: "[ TIME ] SUBSYSTEM: error: TEXT", the command, and a ^ below the place. */
char *rec_tracefs_read_error(struct tracefs_instance *in)
{
	char *text = rec_tracefs_read(in, "error_log", NULL), *at = NULL, *next, *says = NULL;

	if (!text)
		return NULL;
	for (next = text; (next = strstr(next, "error: ")); next += 7)
		at = next + 7;
	if (at) {
		at[strcspn(at, "\n")] = '\0';
		says = strdup(at);
	}
	free(text);
	return says;
}

char *rec_tracefs_read_path(const char *path, size_t *size)
{
	struct text t = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		if (vec_reserve(&t, 4096)) {
			n = -1;
			errno = ENOMEM;
			break;
		}
		n = read(fd, t.v + t.nr, t.room - t.nr - 1);
		t.nr += n > 0 ? n : 0;
	}
	err = errno;
	if (fd >= 0)
		close(fd);
	if (n) {
		free(t.v);
		errno = err;
		return NULL;
	}
	t.v[t.nr] = '\0';
	if (size)
		*size = t.nr;
	return t.v;
}

char *rec_tracefs_read(struct tracefs_instance *in, const char *file, size_t *size)
{
	char *path = tracefs_instance_get_file(in, file), *text;

	if (!path)
		return NULL;
	text = rec_tracefs_read_path(path, size);
	tracefs_put_tracing_file(path);
	return text;
}

int rec_tracefs_read_id(const char *system, const char *name)
{
	char file[PATH_MAX], *text, *at;
	int id = -1;

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	text = rec_tracefs_read(NULL, file, NULL);
	if (!text)
		return -1;
	at = strstr(text, "\nID:");
	if (at)
		id = atoi(at + 4);
	free(text);
	return id;
}
