// SPDX-License-Identifier: GPL-2.0
/* Read trace.dat through libtracecmd, and hand its cookies and stacks to join.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include <trace-cmd.h>
#include "event.h"

#define MAX_CPUS	64

static struct trace *trace;
static struct tep_handle *tep;

/*
 * Index of the event that a cookie would belong to, -1: no event. One for each context, because an
 * interrupt can have events of its own between an event and its cookie.
 */
static int owner[MAX_CPUS][4];

/* Context of an event from its common_flags (enum trace_flag_type) */
static unsigned int get_context(unsigned int flags)
{
	if (flags & 0x40)
		return 3;		/* NMI */
	if (flags & 0x08)
		return 2;		/* interrupt */
	return flags & 0x10 ? 1 : 0;	/* softirq, task */
}

static uint64_t read_number(struct tep_event *event, const char *name, void *data, uint64_t missing)
{
	struct tep_format_field *field = tep_find_any_field(event, name);
	unsigned long long val;

	if (!field || tep_read_number_field(field, data, &val))
		return missing;
	return val;
}

static void read_stack(struct tep_event *event, struct tep_record *rec, unsigned int tid,
		       int cpu)
{
	struct tep_format_field *field = tep_find_field(event, "stack");
	unsigned int where, len, i, nr;
	uint64_t addr[2048];

	if (!field || field->offset + 4u > (unsigned int)rec->size) {
		trace->broken++;
		return;
	}
	memcpy(&where, (char *)rec->data + field->offset, 4);
	len = where >> 16;
	where &= 0xffff;
	if (where + len > (unsigned int)rec->size || len % 8 || len / 8 > 2048) {
		trace->broken++;
		return;
	}
	nr = len / 8;
	for (i = 0; i < nr; i++)
		memcpy(&addr[i], (char *)rec->data + where + i * 8, 8);
	join_add_stack(&(struct event){
		.tid = tid, .ts = rec->ts, .cpu = cpu, .addr = addr, .nr_addr = nr,
		.cookie = read_number(event, "cookie", rec->data, 0),
		.tgid = read_number(event, "tgid", rec->data, 0),
		.flags = read_number(event, "flags", rec->data, 0),
	});
}

static void read_args(struct event *ev, struct tep_event *event, struct tep_record *rec)
{
	struct tep_format_field *field = tep_find_field(event, "args");
	uint64_t arg = 0;

	ev->nr = read_number(event, "id", rec->data, -1);
	if (field && field->offset + 40 <= rec->size)
		memcpy(&arg, (char *)rec->data + field->offset + 4 * 8, 8);
	ev->seq = arg;
}

static int on_record(struct tracecmd_input *handle, struct tep_record *rec, int cpu, void *data)
{
	struct tep_event *event = tep_find_event_by_record(tep, rec);
	unsigned int tid = tep_data_pid(tep, rec);
	struct event *ev;
	int *own;

	(void)handle;
	(void)data;
	if (rec->missed_events)
		trace->dropped = 1;
	if (!event || cpu < 0 || cpu >= MAX_CPUS)
		return 0;
	if (rec->missed_events)
		memset(owner[cpu], -1, sizeof(owner[cpu]));
	own = &owner[cpu][get_context(read_number(event, "common_flags", rec->data, 0))];
	if (!strcmp(event->system, "ftrace") && strcmp(event->name, "function")) {
		if (!strcmp(event->name, "user_unwind_stack"))
			read_stack(event, rec, tid, cpu);
		if (!strcmp(event->name, "user_unwind_again"))
			join_add_again(&(struct event){
				.tid = tid, .ts = rec->ts, .cpu = cpu,
				.cookie = read_number(event, "cookie", rec->data, 0),
			}, read_number(event, "first", rec->data, 0));
		if (!strcmp(event->name, "user_unwind_cookie") && *own >= 0 &&
		    trace->event[*own].tid == tid) {
			join_add_cookie(&trace->event[*own],
					read_number(event, "cookie", rec->data, 0));
			*own = -1;
		} else if (!strcmp(event->name, "user_unwind_cookie")) {
			/* The event before it was lost, or does not exist, which is an error */
			if (!rec->missed_events)
				trace->broken++;
		}
		return 0;
	}
	ev = trace_add(trace);
	ev->ts = rec->ts;
	ev->cpu = cpu;
	ev->stack_cpu = -1;
	ev->tid = tid;
	ev->name = event->name;
	if (!strcmp(event->name, "sys_enter")) {
		ev->kind = EV_ENTER;
		read_args(ev, event, rec);
	} else if (!strcmp(event->name, "sys_exit")) {
		ev->kind = EV_EXIT;
	} else if (!strcmp(event->name, "sched_process_fork")) {
		ev->kind = EV_FORK;
		ev->other = read_number(event, "child_pid", rec->data, 0);
	} else if (!strcmp(event->name, "sched_process_exec")) {
		ev->kind = EV_EXEC;
		ev->other = read_number(event, "old_pid", rec->data, 0);
	} else if (!strcmp(event->name, "sched_process_exit")) {
		ev->kind = EV_DEAD;
	}
	*own = trace->nr - 1;
	return 0;
}

int read_dat(struct trace *into, const char *path)
{
	struct tracecmd_input *handle = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);

	if (!handle) {
		fprintf(stderr,
			"%s: cannot open it as a trace.dat file; record one with trace-cmd\n",
			path);
		return -EINVAL;
	}
	trace = into;
	tep = tracecmd_get_tep(handle);
	memset(owner, -1, sizeof(owner));
	if (!tep_find_event_by_name(tep, "ftrace", "user_unwind_cookie")) {
		fprintf(stderr, "%s: was made by a kernel without ftrace:user_unwind_cookie\n",
			path);
		return -ENOTSUP;
	}
	tracecmd_iterate_events(handle, NULL, 0, on_record, NULL);
	join_all(trace);
	/* The handle stays open: event names point into it */
	return 0;
}
