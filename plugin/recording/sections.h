/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sections.h - facts in a trace.dat that no function of libtracecmd returns
 *
 * These are the statistics, the clocks, and the places of the pages. The statistics say which
 * buffers dropped events. The records mark the places where events were overwritten before they
 * were read, but not the events that a full buffer refused: for these, trace-cmd only keeps the
 * text of per_cpu/cpuN/stats.
 */
#ifndef USTACK_SECTIONS_H
#define USTACK_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The first bytes of a trace.dat. Two bytes with the version follow, as text. */
#define TRACE_DAT_MAGIC		"\x17\x08\x44tracing"
#define TRACE_DAT_MAGIC_LEN	10

/* Options of a trace.dat, with the numbers of the format */
enum {
	OPTION_DONE, OPTION_DATE, OPTION_CPUSTAT, OPTION_BUFFER, OPTION_TRACECLOCK, OPTION_UNAME,
	OPTION_HOOK, OPTION_OFFSET, OPTION_CPUCOUNT, OPTION_VERSION, OPTION_PROCMAPS,
	OPTION_TRACEID, OPTION_TSC2NSEC = 14,
};

/*
 * Read the trace.dat file open at @fd, version 6 or 7. For each CPU that dropped events, call
 * @found with the name of its buffer ("" for the top buffer). Returns 0; a result of @found other
 * than 0, which ends the reading; -EINVAL for a file that cannot be understood; or -ENOMEM. After
 * -ENOMEM the drops are not known, and the caller must not give answers that depend on them.
 */
int sections_read_drops(int fd, int (*found)(void *data, const char *buffer), void *data);

/*
 * Members may be NULL. A result other than 0 ends the walk and is returned. sections_walk() returns
 * the same as sections_read_drops().
 */
struct sections_sink {
	int (*dropped)(void *data, const char *buffer);
	/* the clock's name, "" if the file does not say it */
	int (*clock)(void *data, const char *buffer, const char *clock);
	/* where the pages of a CPU are; page_size 0: the size in the head of the file */
	int (*pages)(void *data, const char *buffer, uint32_t cpu, uint64_t offset,
		     uint64_t size, uint32_t page_size, bool compressed);
	void *data;
};
int sections_walk(int fd, const struct sections_sink *sink);
/* Can 2^31 kernel entries pass in fewer units of this clock? */
bool sections_is_slow_clock(const char *clock);

#endif
