/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan - read a trace.dat file once, for its stacks and maps
 *
 * The file is opened a second time, through libtracecmd's public interface as
 * the host program provides it, and read CPU by CPU in a process of its own:
 * libtracecmd was not written for hostile files, and what a broken one does
 * there must not happen in the host. The process can neither crash the host
 * nor hang it: its CPU time is limited, and so is how long the host waits for
 * it, to six times that. What is no regular file is not read at all.
 */
#ifndef USTACK_SCAN_H
#define USTACK_SCAN_H

#include "plugin/join/join.h"

struct scan {
	struct join *join;		/* finished; NULL when nothing could be read */
	struct maps *maps;		/* finished */
	const char *problem;		/* one sentence on what went wrong, or NULL */
};

/* Read the trace.dat file open at @fd, which stays open and is not moved. */
void scan_file(struct scan *s, int fd);
/* The same, and give up after @ms milliseconds. */
void scan_file_within(struct scan *s, int fd, int64_t ms);
void scan_free(struct scan *s);

#endif
