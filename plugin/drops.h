/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drops - which buffers of a trace.dat dropped events, as its statistics tell
 *
 * Events that were overwritten before they were read are marked where they are
 * missing. Events that a full buffer refused are not: trace-cmd keeps of them
 * only the text of per_cpu/cpuN/stats, which libtracecmd gives nobody.
 */
#ifndef USTACK_DROPS_H
#define USTACK_DROPS_H

/*
 * Read the trace.dat file open at @fd, version 6 or 7, and call @found with the
 * name of each buffer ("" for the top one) for each CPU that dropped events.
 * Returns 0; what @found returned, if that is not 0; or -EINVAL for a file that
 * cannot be understood.
 */
int drops_read(int fd, int (*found)(void *data, const char *buffer), void *data);

#endif
