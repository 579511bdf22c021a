/* SPDX-License-Identifier: GPL-2.0 */
/*
 * waits.h - how long each task was off the CPU, and who woke it
 *
 * A task is off the CPU from the sched_switch in which it is prev_pid to the next sched_switch in
 * which it is next_pid. The first of the two events has the blocking stack. A wait is complete if
 * both events are in the file and no event is missing between them. All other waits are counted
 * separately and never guessed:
 *
 *  - started before: the task was switched in, and its switch out is not in the file. The task was
 *    already waiting when the recording started, or it is new.
 *  - not over: the task was switched out, and not in again before the recording ended. The task
 *    waited until the last event, but the wait is not complete. Tasks that ended do not count here.
 *  - uncertain: events were dropped, on any CPU, between out and in. The task may have run there.
 *    The gap reaches from the CPU's last event before the drop to its first event after the drop.
 *    Events that a full buffer refused leave no mark. Then the gap is where a task leaves a CPU on
 *    which another task ran.
 *  - disordered: two switches out or two switches in without a gap between them. The clocks of two
 *    CPUs disagree, or a filter left out some of these events.
 *
 * Task 0, one for each CPU, is ignored. If several buffers have sched_switch events, only those of
 * the first such buffer count, because the others recorded the same switches.
 *
 * A wake-up is the first sched_waking (sched_wakeup in a file without sched_waking) for a task that
 * is off the CPU. The task waited from the switch out to the wake-up; the rest is waiting for a
 * CPU.
 */
#ifndef TRACE_USTACK_WAITS_H
#define TRACE_USTACK_WAITS_H

#include "trace-cmd-ext/model/model.h"

enum waker_context {
	WAKER_TASK,			/* the waker is the task that was running */
	WAKER_SOFTIRQ,			/* the waker is an interrupt that came while it ran */
	WAKER_HARDIRQ,
	WAKER_NMI,
};

/* A task that went off the CPU. */
struct wait {
	uint64_t from;			/* time stamp of the switch out */
	uint64_t ns;			/* time up to the switch in, or up to the wake-up */
	uint64_t state;			/* prev_state; 0 (or with 0x100): it was preempted */
	uint32_t tid, cpu;		/* cpu: the CPU of the switch out */
	uint32_t kstack, ustack;	/* stacks of the switch out */
};

struct waker {
	uint64_t ts;
	uint32_t tid;			/* the task that was running */
	uint32_t cpu;
	uint32_t kstack, ustack;
	enum waker_context context;
};

struct waits_opts {
	const char *file;		/* path of the model's file, for its statistics */
	bool wakers;			/* look for wake-ups too */
	/* each may be NULL, and returns 0, or a result that ends the walk */
	int (*wait)(void *data, const struct wait *w);
	int (*wake)(void *data, const struct wait *w, const struct waker *by);
	void *data;
};

/* The number of waits, and of switches without a pair. Times are sums, in units of the clock. */
struct waits_stats {
	uint64_t nr, ns;		/* complete waits */
	uint64_t started_before;	/* waits whose switch out is not in the file */
	uint64_t not_over, not_over_ns;	/* time until the last event */
	uint64_t ended;			/* tasks that exited */
	uint64_t uncertain, uncertain_ns;
	uint64_t disordered;
	uint64_t gaps;			/* places where events were dropped */
	bool refused;			/* events were dropped at unknown places, too */
	uint64_t wakeups, wakeups_ns;	/* wake-ups passed on */
	uint64_t wakeups_uncertain;	/* events were dropped between switch out and wake-up */
	uint64_t wakeups_unknown;	/* wake-ups of tasks not known to be off the CPU */
	uint32_t buffer;		/* the buffer whose sched_switch events count */
	uint32_t other_buffers;		/* number of other buffers with sched_switch events */
};

/*
 * Go through all sched_switch events of @m, in the order of time. The model's filter must let them
 * through, and with @wakers also sched_waking and sched_wakeup: waits_events lists them. 0; a
 * negative errno; -ENODATA if the file has no such events; or the result of a callback.
 */
int waits_for_each(struct model *m, const struct waits_opts *o, struct waits_stats *st);

extern const char *waits_events[3];

#endif
