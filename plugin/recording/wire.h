/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wire.h - the calls of a sink as bytes through a pipe
 *
 * The writer is the process that reads the file, and a hostile file may have taken over that
 * process. So the reader checks everything.
 */
#ifndef USTACK_WIRE_H
#define USTACK_WIRE_H

#include "feed.h"

/* The writing end */
struct wire {
	int fd;
	size_t used;
	char buf[1 << 16];
};

/* Make the sink whose functions write to @fd through @w. */
void wire_make_sink(struct sink *sink, struct wire *w, int fd);
/* Write MSG_END; @err: 0 if the file was read to its end, otherwise a negative errno. */
int wire_write_end(struct wire *w, int err);

/*
 * Wait until @fd can be read, or its writer is gone. 0; -ETIMEDOUT if that did not happen before
 * @until (clock_get_ms()); or another negative errno.
 */
int wire_wait(int fd, int64_t until);

/*
 * Read the messages of a writer until its end, and pass them to @sink. 0; -ENOMEM if the writer
 * had not enough memory; -EPIPE if it broke off or did not read its file to the end for another
 * reason; -EPROTO for a message that no writer sends; -ETIMEDOUT if nothing more came before
 * @until; or the error of the sink, poll(2) or read(2).
 */
int wire_read_all(int fd, const struct sink *sink, int64_t until);

#endif
