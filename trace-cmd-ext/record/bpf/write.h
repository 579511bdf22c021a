/* SPDX-License-Identifier: GPL-2.0 */
/* write.h - write all of a buffer to a file, at its position */
#ifndef TRACE_USTACK_RECORD_BPF_WRITE_H
#define TRACE_USTACK_RECORD_BPF_WRITE_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* 0 or -errno; a part may have been written then. */
static inline int write_all(int fd, const void *data, size_t size)
{
	const char *from = data;
	ssize_t n;

	while (size) {
		n = write(fd, from, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		size -= n;
	}
	return 0;
}

#endif
