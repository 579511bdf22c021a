/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a trace as the checker sees them. A reader of the trace fills an array of events,
 * oldest first, each with the user stack that was joined with it. judge.c then compares the stacks
 * with the truth.
 *
 *   read_dat.c     trace.dat, joined by join.c, which is not the plugin's join
 *   read_report.c  the text of trace-cmd report, joined by the plugin
 */
#ifndef CHECK_EVENT_H
#define CHECK_EVENT_H

#include <stdint.h>
#include "truth.h"

enum kind {
	EV_OTHER,
	EV_ENTER,		/* raw_syscalls:sys_enter */
	EV_EXIT,		/* raw_syscalls:sys_exit */
	EV_FORK,		/* sched:sched_process_fork */
	EV_EXEC,		/* sched:sched_process_exec */
	EV_DEAD,		/* sched:sched_process_exit */
};

enum status {
	JOIN_NO_COOKIE,		/* no stack was asked for */
	JOIN_STACK,
	JOIN_PENDING,		/* still in the kernel at the end */
	JOIN_LOST,
	JOIN_NOT_RECORDED,
};

/* Flags of a stack where the reader cannot see them */
#define FLAGS_UNKNOWN	0x80000000u

struct event {
	uint64_t	ts;		/* nanoseconds */
	int		cpu;
	unsigned int	tid;
	const char	*name;
	enum kind	kind;
	enum status	status;
	int		nr;		/* EV_ENTER: system call number */
	unsigned int	seq;		/* EV_ENTER: its fifth argument */
	unsigned int	other;		/* EV_FORK: the child; EV_EXEC: the old tid */
	uint64_t	cookie;		/* 0 when there is none, or not shown */
	uint64_t	*addr;		/* JOIN_STACK: innermost first */
	unsigned int	nr_addr;
	unsigned int	flags;		/* of the stack, or FLAGS_UNKNOWN */
	unsigned int	tgid;		/* of the stack, 0 when unknown */
	int		stack_cpu;	/* where the stack was recorded, -1 when unknown */
};

struct trace {
	struct event	*event;
	unsigned int	nr, room;
	int		dropped;	/* the buffer lost events */
	unsigned int	stacks;		/* complete stacks seen */
	unsigned int	stacks_unused;	/* stacks without an event that asked for them */
	unsigned int	broken;		/* MORE without a continuation, or unequal twins */
};

/* Adds a zeroed event at the end. Ends the program if there is not enough memory. */
struct event *trace_add(struct trace *trace);

/* The program files of the tasks under test */
struct program {
	const char	*path;
	const char	*base;		/* the last part of path */
	uint64_t	entry;
	struct {
		uint64_t offset, vaddr, size;
	} load[8];
	unsigned int	nr_load;
};

/* Returns 0, or a negative errno after a sentence on stderr */
int program_read(struct program *p, const char *path);
/* Address of file offset @offset in a program that is loaded where it was linked, or 0 */
uint64_t program_address(const struct program *p, uint64_t offset);

/* Readers: 0, or a negative errno after a sentence on stderr */
int read_dat(struct trace *trace, const char *path);
int read_report(struct trace *trace, const char *path, const struct program *programs,
		unsigned int nr_programs);

/* join.c: read_dat() calls these; see there. @part: a record of a stack, with its addresses */
void join_add_cookie(struct event *ev, uint64_t cookie);
void join_add_stack(const struct event *part);
/* @again: a record with no addresses, which has the stack recorded under the cookie @first */
void join_add_again(const struct event *again, uint64_t first);
void join_all(struct trace *trace);

struct verdict {
	unsigned long	events;		/* of tasks under test, with a cookie */
	unsigned long	right, frames;	/* @frames: of the right ones */
	unsigned long	between;	/* outside system calls: no entry has the path */
	unsigned long	partial;	/* a part of the stack, with flags that say so */
	unsigned long	wrong;
	unsigned long	pending, lost, not_recorded;
	unsigned long	no_cookie;	/* without a cookie, and without a reason */
	unsigned long	unexplained;	/* a cookie, but neither a stack nor a reason shown */
	unsigned long	exiting;	/* without a cookie since the task is exiting */
	unsigned long	unknown;	/* no entry in the record for a system call */
	unsigned long	placed;		/* in a gap of the trace, and right by the entries there */
	unsigned long	unplaced;	/* in a gap of the trace: cannot be judged */
	unsigned long	truncated;	/* right, and cut at the limit */
	unsigned long	elsewhere;	/* right, and recorded on another CPU */
	unsigned long	named;		/* right, and of the event judge.name */
};

struct judge {
	struct truth		*truth;
	const struct program	*programs;
	unsigned int		nr_programs;
	int			tables;		/* see truth_same() */
	int			at_event;	/* walked at the event: some are incomplete */
	int			lossy;		/* system calls may be missing in the trace */
	unsigned int		show;		/* print this many wrong stacks */
	const char		*name;		/* count the right stacks of this event, or NULL */
};

void judge_all(const struct judge *j, const struct trace *trace, struct verdict *v);

#endif /* CHECK_EVENT_H */
