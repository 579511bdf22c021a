/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fd.h - read and write loops that transfer all bytes or fail; paths of descriptors
 *
 * Functions that read or write return 0 or -errno; after an error, a part may have been read or
 * written. They go on after a signal. Reading returns -ENODATA if the file ends too soon.
 */
#ifndef UU_FD_H
#define UU_FD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Returns true if the loop must end, with its result in *@ret. @end is the result for a call that
 * moved no bytes. If the loop goes on, *@n bytes were moved.
 */
static inline bool fd_must_end(ssize_t *n, int end, int *ret)
{
	if (*n > 0)
		return false;
	*ret = *n ? -errno : end;
	*n = 0;
	return *ret != -EINTR;
}

static inline int fd_write_all(int fd, const void *from, size_t len)
{
	ssize_t n;
	int ret;

	for (; len; len -= n, from = (const char *)from + n) {
		n = write(fd, from, len);
		if (fd_must_end(&n, -EIO, &ret))
			return ret;
	}
	return 0;
}

static inline int fd_pwrite_all(int fd, const void *from, size_t len, uint64_t at)
{
	ssize_t n;
	int ret;

	for (; len; len -= n, at += n, from = (const char *)from + n) {
		n = pwrite(fd, from, len, at);
		if (fd_must_end(&n, -EIO, &ret))
			return ret;
	}
	return 0;
}

static inline int fd_read_all(int fd, void *to, size_t len)
{
	ssize_t n;
	int ret;

	for (; len; len -= n, to = (char *)to + n) {
		n = read(fd, to, len);
		if (fd_must_end(&n, -ENODATA, &ret))
			return ret;
	}
	return 0;
}

/* Returns -ENODATA also if no file can reach @at. */
static inline int fd_pread_all(int fd, void *to, size_t len, uint64_t at)
{
	ssize_t n;
	int ret;

	if (at > INT64_MAX - len)
		return -ENODATA;
	for (; len; len -= n, at += n, to = (char *)to + n) {
		n = pread(fd, to, len, at);
		if (fd_must_end(&n, -ENODATA, &ret))
			return ret;
	}
	return 0;
}

/* The path of what is open at @fd, cut to @size bytes; false, and "", if it has no path. */
static inline bool fd_get_path(int fd, char *path, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, size - 1);
	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

#endif
