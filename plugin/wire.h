/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wire - a sink's calls as bytes through a pipe
 *
 * The writer is the process that reads the file, and a hostile file may have
 * taken it over: the reader believes nothing.
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

/*
 * Read what a writer said until it ends, and pass it to @sink.
 * 0; -EPIPE when it broke off or did not read its file to the end; -EPROTO for
 * what no writer says; or what the sink or read(2) returned.
 */
int wire_read(int fd, const struct sink *sink);

#endif
