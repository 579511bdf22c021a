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

/* The writing end: the sink that wire_sink() sets up writes to @fd. */
struct wire {
	int fd;
	size_t used;
	char buf[1 << 16];
};

void wire_sink(struct sink *sink, struct wire *w, int fd);
/* All is said; @complete tells whether the file was read to its end. */
int wire_end(struct wire *w, bool complete);

/* The clock of the times below: CLOCK_MONOTONIC, in milliseconds. */
int64_t wire_now_ms(void);

/*
 * Wait until there is something to read at @fd, or its writer is gone: 0. -ETIMEDOUT when that did
 * not happen before @until; a negative errno.
 */
int wire_wait(int fd, int64_t until);

/*
 * Read what a writer said until it ends, and pass it to @sink.
 * 0; -EPIPE when it broke off or did not read its file to the end; -EPROTO for
 * what no writer says; -ETIMEDOUT when it said nothing more before @until; or
 * what the sink, poll(2) or read(2) returned.
 */
int wire_read(int fd, const struct sink *sink, int64_t until);

#endif
