// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * open.c - finds and opens the file that a trace names
 *
 * The path comes from a trace. Anyone may have written the trace, and the path may be relative to
 * another root directory: that of a container, or of an image of another machine. An absolute
 * symbolic link in such a directory starts at that root. Only regular files are opened for reading,
 * and the open does not wait for the writer of a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl.h"

#define READ_FLAGS	(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int open_at(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static int open_below(const char *root, const char *path, int flags)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, look;
	struct stat st;
	char *full;

	if (dir < 0)
		return -1;
	look = open_at(dir, path, O_PATH | O_CLOEXEC | flags);
	if (look < 0 && (errno == ENOSYS || errno == EPERM)) {
		/* before Linux 5.6, or with a filter that forbids unknown system calls */
		close(dir);
		if (asprintf(&full, "%s%s", root, path) < 0)
			return -1;
		fd = symbols_open("", full, flags);
		free(full);
		return fd;
	}
	fd = -1;
	if (look >= 0 && !fstat(look, &st) && S_ISREG(st.st_mode))
		fd = open_at(dir, path, READ_FLAGS | flags);
	if (look >= 0)
		close(look);
	close(dir);
	return fd;
}

int symbols_open(const char *root, const char *path, int flags)
{
	struct stat st;
	int fd;

	if (*path != '/')
		return -1;
	if (*root) {
		fd = open_below(root, path, flags);
	} else {
		/* check the type first, because opening a device can have side effects */
		if ((flags & O_NOFOLLOW ? lstat : stat)(path, &st) || !S_ISREG(st.st_mode))
			return -1;
		fd = open(path, READ_FLAGS | flags);
	}
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	return fd;
}

int place_set(struct place *p, const char *root, const char *path)
{
	place_free(p);
	p->root = strdup(root);
	p->path = strdup(path);
	if (p->root && p->path)
		return 0;
	place_free(p);
	return -ENOMEM;
}

void place_free(struct place *p)
{
	free(p->root);
	free(p->path);
	p->root = p->path = NULL;
}

int symbols_open_mapped(const char *root, const char *path, struct place *place)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), end = strlen(deleted);
	int fd = symbols_open(root, path, 0);

	if (place_set(place, root, path))
		goto fail;
	/* the build ID shows if this is another file of that name */
	if (fd < 0 && len > end && !strcmp(path + len - end, deleted)) {
		place->path[len - end] = '\0';
		fd = symbols_open(root, place->path, 0);
	}
	if (fd >= 0)
		return fd;
fail:
	if (fd >= 0)
		close(fd);
	place_free(place);
	return -1;
}
