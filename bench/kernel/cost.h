/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of tracing in the kernel, in instructions of the guest.
 *
 * With qemu -icount shift=0 and one CPU, the time stamp counter counts the executed instructions,
 * in user space and in the kernel. So the difference of two readings is exact and the same in each
 * run; only the tick adds to it. Without -icount, or with more CPUs, the figures mean nothing.
 */
#ifndef BENCH_COST_H
#define BENCH_COST_H

#include <stdbool.h>
#include <stdint.h>

/* The events and options that are on during a measurement */
enum cost_stack {
	COST_NONE,		/* the events alone */
	COST_USERSTACK,		/* options/userstacktrace */
	COST_DEFERRED,		/* options/userstacktrace_deferred */
	COST_TABLES,		/* the same, with a table for this program: the stack repeats */
	COST_CHANGING,		/* the same, from two places in turn: the stack changes */
};

static inline uint64_t cost_now(void)
{
	uint32_t low, high;

	asm volatile("lfence; rdtsc" : "=a" (low), "=d" (high) :: "memory");
	return (uint64_t)high << 32 | low;
}

/* trace.c: tracefs. All of them end the program, with a sentence, on an error. */
void trace_begin(void);
void trace_set(const char *file, const char *value);
void trace_add(const char *file, const char *value);
void trace_stack(enum cost_stack stack);
unsigned long trace_count(const char *name);
unsigned int trace_frames(void);
void trace_clear(void);

/* switches.c: instructions of a run with many switches within two system calls */
uint64_t switches_run(void);

/*
 * entries.c: instructions of @calls system calls from a call path of @depth functions. @nr is that
 * of getppid() or wait4(). @changing: from two places of the innermost function in turn
 */
uint64_t entries_run(long nr, unsigned int depth, unsigned int calls, bool changing);

/* libunwind-user/tables/session.c: begin to have a table for this program, and end it */
void tables_on(void);
void tables_off(void);

#endif
