/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drops.h - which buffers of a trace.dat dropped events, from its statistics
 *
 * The file marks the places where events were overwritten before they were read. It does not mark
 * the events that a full buffer refused: trace-cmd only keeps the text of per_cpu/cpuN/stats for
 * these, and libtracecmd has no function that returns this text.
 */
#ifndef USTACK_DROPS_H
#define USTACK_DROPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read the trace.dat file open at @fd, version 6 or 7, and call @found with the
 * name of each buffer ("" for the top one) for each CPU that dropped events.
 * Returns 0; what @found returned, if that is not 0; -EINVAL for a file that
 * cannot be understood; or -ENOMEM. After -ENOMEM nobody knows what was dropped: the caller must
 * not answer from what it has.
 */
int drops_read(int fd, int (*found)(void *data, const char *buffer), void *data);

/*
 * Facts in a file that no function of libtracecmd returns. Members may be NULL. A result other than
 * 0 ends the walk and is returned. drops_walk() returns the same as drops_read().
 */
struct drops_sink {
	int (*dropped)(void *data, const char *buffer);
	/* the clock's name, "" where the file does not say */
	int (*clock)(void *data, const char *buffer, const char *clock);
	/* where the pages of a CPU are; page_size 0: the size in the head of the file */
	int (*pages)(void *data, const char *buffer, uint32_t cpu, uint64_t offset,
		     uint64_t size, uint32_t page_size, bool compressed);
	void *data;
};
int drops_walk(int fd, const struct drops_sink *sink);
/* Can 2^31 kernel entries pass in fewer of its units? */
bool drops_slow_clock(const char *clock);

#endif
