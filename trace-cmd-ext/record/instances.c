// SPDX-License-Identifier: GPL-2.0
/*
 * instances.c - instances of recorders that are gone
 *
 * An instance is named trace-ustack-PID, or trace-ustack-PID.maps. A recorder and its guard keep a
 * shared lock on the instance's directory. The lock ends with them, however they end, and means the
 * same in every PID namespace. A process that gets an exclusive lock has found an instance without
 * an owner. Between mkdir and lock of a new instance there are some microseconds; during these the
 * PID in its name says that its owner is alive.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "impl.h"

#define TRIES		50
#define TRY_US		100000

int instance_lock(const char *name, bool own)
{
	char path[PATH_MAX];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(), name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, own ? LOCK_SH : LOCK_EX | LOCK_NB))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* The PID in the name of a recorder's instance; 0: another name. */
static pid_t parse_pid(const char *name)
{
	static const char prefix[] = "trace-ustack-";
	char *end;
	long pid;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return 0;
	name += sizeof(prefix) - 1;
	if (*name < '1' || *name > '9')
		return 0;
	pid = strtol(name, &end, 10);
	return (!*end || !strcmp(end, ".maps")) && pid <= INT_MAX ? pid : 0;
}

/* Is this process a recorder that has just made its instance? */
static bool may_be_starting(pid_t pid)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(comm, sizeof(comm), f))
		*comm = '\0';
	fclose(f);
	return !strncmp(comm, "trace-ustack", 12);
}

static bool is_alive(const char *name, pid_t pid)
{
	int fd = instance_lock(name, false);

	if (fd >= 0 && may_be_starting(pid)) {
		close(fd);
		usleep(TRY_US);
		fd = instance_lock(name, false);
	}
	if (fd < 0)
		return fd == -EWOULDBLOCK;
	close(fd);
	return false;
}

int instance_list(struct recorder_instance **v, size_t *nr)
{
	struct recorder_instance *new;
	char path[PATH_MAX];
	struct dirent *d;
	int ret = 0;
	DIR *dir;
	pid_t pid;

	*v = NULL;
	*nr = 0;
	snprintf(path, sizeof(path), "%s/instances", tracefs_tracing_dir());
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (d = readdir(dir))) {
		pid = parse_pid(d->d_name);
		if (!pid || strlen(d->d_name) >= sizeof((*v)->name))
			continue;
		new = array_add(*v, *nr);
		if (!new) {
			ret = -ENOMEM;
			break;
		}
		strcpy(new->name, d->d_name);
		new->pid = pid;
		new->alive = is_alive(d->d_name, pid);
	}
	closedir(dir);
	return ret;
}

int instance_remove(const char *name)
{
	struct tracefs_instance *in = tracefs_instance_create(name);
	int i, ret = 0;

	if (!in)
		return -errno;
	rec_tracefs_write(in, "tracing_on", "0");
	rec_tracefs_write(in, "events/enable", "0");
	/* EBUSY while a process reads from it: that process may be about to end */
	for (i = 0; i < TRIES; i++) {
		errno = 0;
		if (!tracefs_instance_destroy(in))
			break;
		ret = errno ? -errno : -EIO;
		if (ret != -EBUSY)
			break;
		usleep(TRY_US);
	}
	if (i < TRIES && ret == -EBUSY)
		ret = 0;
	tracefs_instance_free(in);
	return ret;
}
