/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fd.h - writes to file descriptors */
#ifndef UU_FD_H
#define UU_FD_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Write all @len bytes; 0 or -errno, and a part may have been written then. */
static inline int fd_write_all(int fd, const void *from, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, from, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from = (const char *)from + n;
		len -= n;
	}
	return 0;
}

#endif
