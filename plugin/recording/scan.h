/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan.h - read a trace.dat file once, for its stacks and maps
 *
 * scan_file() opens the file a second time, through the public interface of the host program's
 * libtracecmd, and reads it CPU by CPU. It does so in a process of its own, because libtracecmd was
 * not written for hostile files. That process can neither crash the host nor hang it: its CPU time
 * is limited, and the host waits at most six times that limit. scan_file() reads regular files
 * only.
 */
#ifndef USTACK_SCAN_H
#define USTACK_SCAN_H

#include "plugin/join/join.h"

struct scan {
	struct join *join;		/* finished; NULL when nothing could be read */
	struct maps *maps;		/* finished */
	const char *problem;		/* a sentence for the user about an error, or NULL */
};

/* Read the trace.dat file open at @fd, which stays open and is not moved. */
void scan_file(struct scan *s, int fd);
/* Read the file as scan_file() does, but give up after @ms milliseconds. */
void scan_file_within(struct scan *s, int fd, int64_t ms);
void scan_free(struct scan *s);

#endif
