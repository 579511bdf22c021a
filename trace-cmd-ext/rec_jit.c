// SPDX-License-Identifier: GPL-2.0
/*
 * rec_jit - symbols of code that was compiled at run time
 *
 * Such code is in no file; its compiler tells where its functions are in /tmp/perf-PID.map, which
 * means something as long as the process lives, and on this machine. The maps of traced processes
 * are copied to FILE.jit/perf-PID.map, PID being the process as the recording calls it.
 *
 * Anyone can put a file into /tmp: one is taken only if it is a regular file of the user whose
 * process it is, or of root.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rec.h"

#define MAX_BYTES	(128ull << 20)	/* what symbols_perfmap.c reads */

/* The last of the PIDs a process has, that of its own namespace; its user. */
static int read_status(uint32_t tgid, uint32_t *inner, uid_t *uid)
{
	char path[64], *text, *at;

	*inner = tgid;
	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	text = rt_read_path(path, NULL);
	if (!text)
		return -ENOENT;
	at = strstr(text, "\nUid:");
	*uid = at ? strtoul(at + 5, NULL, 10) : (uid_t)-1;
	at = strstr(text, "\nNSpid:");
	if (at) {
		at += 7;
		at[strcspn(at, "\n")] = '\0';
		while (*at)
			*inner = strtoul(at, &at, 10);
	}
	free(text);
	return 0;
}

static int open_map(uint32_t tgid)
{
	bool lives;
	char path[96];
	struct stat st;
	uint32_t inner;
	uid_t uid = 0;
	int fd;

	lives = !read_status(tgid, &inner, &uid);
	if (lives)
		snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", tgid, inner);
	else
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	/* of whom a process was that is gone nobody knows: addresses still match or do not */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size &&
	    (!lives || st.st_uid == uid || !st.st_uid))
		return fd;
	close(fd);
	return -1;
}

static bool copy(int from, int dir, const char *name)
{
	int to = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	uint64_t done = 0;
	char buf[65536];
	ssize_t n = -1;

	if (to < 0)
		return false;
	while (done < MAX_BYTES && (n = read(from, buf, sizeof(buf))) > 0) {
		if (write(to, buf, n) != n) {
			n = -1;
			break;
		}
		done += n;
	}
	close(to);
	if (n >= 0)
		return true;
	unlinkat(dir, name, 0);
	return false;
}

/* The folder, made if it is not there; a descriptor, or -1. */
static int open_folder(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Maps of a recording that had this name before mean other processes. */
static void remove_old(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "perf-", 5))
			unlinkat(dir, e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

int jit_save(const struct rec *r, const uint32_t *tgids, size_t nr)
{
	char path[PATH_MAX + 8], name[32];
	int fd, dir = -1, saved = 0;
	size_t i;

	snprintf(path, sizeof(path), "%s.jit", r->opts.out);
	remove_old(path);
	for (i = 0; i < nr; i++) {
		fd = open_map(tgids[i]);
		if (fd < 0)
			continue;
		if (dir < 0)
			dir = open_folder(path);
		snprintf(name, sizeof(name), "perf-%u.map", tgids[i]);
		if (dir >= 0 && copy(fd, dir, name))
			saved++;
		else
			cmd_error("%s/%s: %s; functions that process %u compiled are not kept",
				  path, name, strerror(errno), tgids[i]);
		close(fd);
	}
	if (dir >= 0)
		close(dir);
	return saved;
}
