// SPDX-License-Identifier: GPL-2.0
/*
 * cost - run in the guest, print NAME VALUE lines; see run for their meaning
 *
 * Each value is the smallest of a few runs, because every disturbance only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "cost.h"

#define RUNS	5
#define CALLS	1000

static const char * const stack_name[] = {
	[COST_NONE] = "none",
	[COST_USERSTACK] = "userstacktrace",
	[COST_DEFERRED] = "userstacktrace_deferred",
	[COST_TABLES] = "tables",
	[COST_CHANGING] = "changing",
};

/* One, two or four events in each getppid() */
static const char * const entry_events[] = {
	"raw_syscalls:sys_enter",
	"raw_syscalls:sys_exit",
	"syscalls:sys_enter_getppid",
	"syscalls:sys_exit_getppid",
};

static void print_value(const char *what, const char *how, double value)
{
	printf("%s.%s %.2f\n", what, how, value);
	fflush(stdout);
}

static void measure_switches(void)
{
	unsigned long events, cookies;
	uint64_t cost, least;

	trace_set("set_event", "");
	least = UINT64_MAX;
	for (int i = 0; i < RUNS; i++) {
		cost = switches_run();
		least = cost < least ? cost : least;
	}
	print_value("switches", "off", least);

	trace_set("set_event", "sched:sched_switch");
	for (int stack = COST_NONE; stack <= COST_DEFERRED; stack++) {
		trace_stack(stack);
		least = UINT64_MAX;
		for (int i = 0; i < RUNS; i++) {
			trace_clear();
			cost = switches_run();
			least = cost < least ? cost : least;
		}
		trace_set("tracing_on", "0");
		events = trace_count("sched_switch:");
		cookies = trace_count("<user unwind");
		print_value("switches", stack_name[stack], least);
		printf("switches.%s.events %lu\n", stack_name[stack], events);
		printf("switches.%s.cookies %lu\n", stack_name[stack], cookies);
		trace_set("tracing_on", "1");
	}
	trace_stack(COST_NONE);
	trace_set("set_event", "");
}

static void set_events(unsigned int events)
{
	trace_set("set_event", "");
	for (unsigned int i = 0; i < events; i++)
		trace_add("set_event", entry_events[i]);
}

static void measure_entries(unsigned int events, unsigned int depth)
{
	uint64_t cost, least;
	char what[64];

	snprintf(what, sizeof(what), "entry.%u.%u", events, depth + 1);
	set_events(events);

	for (int stack = COST_NONE; stack <= COST_CHANGING; stack++) {
		bool changing = stack == COST_CHANGING;

		trace_stack(changing ? COST_TABLES : stack);
		least = UINT64_MAX;
		for (int i = 0; i < RUNS; i++) {
			trace_clear();
			cost = entries_run(SYS_getppid, depth, CALLS, changing);
			least = cost < least ? cost : least;
		}
		print_value(what, stack_name[stack], (double)least / CALLS);
		if (stack == COST_NONE)
			continue;

		/* The recording has what is measured */
		trace_set("tracing_on", "0");
		trace_clear();
		trace_set("tracing_on", "1");
		entries_run(SYS_getppid, depth, 100, changing);
		trace_set("tracing_on", "0");
		printf("%s.%s.frames %u\n", what, stack_name[stack], trace_frames());
		trace_set("tracing_on", "1");
	}
	trace_stack(COST_NONE);
	trace_set("set_event", "");
}

/* Make the same system call again and again, for profile. */
static void loop(enum cost_stack stack, unsigned int events, unsigned int depth)
{
	trace_stack(stack == COST_CHANGING ? COST_TABLES : stack);
	set_events(events);
	printf("looping\n");
	fflush(stdout);
	for (;;)
		entries_run(SYS_getppid, depth, CALLS, stack == COST_CHANGING);
}

int main(int argc, char **argv)
{
	trace_begin();
	if (argc == 5 && !strcmp(argv[1], "loop"))
		loop(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));

	measure_switches();
	measure_entries(1, 1);
	measure_entries(1, 29);
	measure_entries(2, 29);
	measure_entries(4, 29);
	measure_entries(4, 1);

	return 0;
}
