// SPDX-License-Identifier: GPL-2.0
/*
 * own_tasks.c - the recorder's own tasks in a recording of the whole system
 *
 * set_event_notrace_pid drops the events that happen while one of these tasks runs. The kernel
 * drops a sched_switch only if both of its tasks are on that list. The idle task cannot be on the
 * list: all interrupts of an idle CPU would be dropped with it. So filters of events do the rest:
 *
 *  - A sched_switch between the recorder and the idle task, or between two tasks of the recorder,
 *    is about no other task. The filter drops it.
 *  - If another task makes way for the recorder, or follows it, the switch is a fact about that
 *    task. The event stays, and the summary counts these events.
 *  - If another task does something to a task of the recorder (wakes it, moves it to another CPU),
 *    the filter drops the event.
 *
 * This applies only to recordings of the whole system: in others, the list of tasks does not
 * contain the recorder.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

/* The longest filter that the kernel accepts: less than a page. */
#define MAX_FILTER	4000

/* Events of the system sched about a task that need not be the running task. */
static const char *const about_other_task[] = {
	"sched_waking", "sched_wakeup", "sched_migrate_task", "sched_stat_wait",
	"sched_stat_sleep", "sched_stat_iowait", "sched_stat_blocked",
};

static void add_own_task(struct rec *r, pid_t tid)
{
	pid_t *own = array_add(r->own, r->nr_own);

	if (own)
		*own = tid;
}

void own_tasks_find(struct rec *r)
{
	DIR *dir;
	struct dirent *d;

	/* the tasks have other PIDs in the recording */
	if (rec_tracefs_in_other_pid_namespace())
		return;
	dir = opendir("/proc/self/task");
	while (dir && (d = readdir(dir)))
		if (*d->d_name != '.')
			add_own_task(r, atoi(d->d_name));
	if (dir)
		closedir(dir);
	if (r->guard > 0)
		add_own_task(r, r->guard);
	if (rec_gate_get_pid(r) > 0)
		add_own_task(r, rec_gate_get_pid(r));
}

bool own_tasks_has(const struct rec *r, pid_t tid)
{
	size_t i;

	for (i = 0; i < r->nr_own; i++)
		if (r->own[i] == tid)
			return true;
	return false;
}

/* "FIELD != 12 && FIELD != 13" */
static void add_exclusions(struct text *b, const struct rec *r, const char *field)
{
	size_t i;

	for (i = 0; i < r->nr_own; i++)
		text_addf(b, "%s%s != %d", i ? " && " : "", field, (int)r->own[i]);
}

bool rec_event_names_two_tasks(const struct rec_event *ev)
{
	size_t i;

	if (strcmp(ev->system, "sched"))
		return false;
	for (i = 0; i < ARRAY_SIZE(about_other_task); i++)
		if (!strcmp(ev->name, about_other_task[i]))
			return true;
	return !strcmp(ev->name, "sched_switch");
}

/* The condition for events about other tasks; false if @ev needs no condition. */
static bool add_condition(struct text *b, const struct rec *r, const struct rec_event *ev)
{
	if (!rec_event_names_two_tasks(ev))
		return false;
	if (!strcmp(ev->name, "sched_switch")) {
		text_add(b, "(prev_pid != 0 && ");
		add_exclusions(b, r, "prev_pid");
		text_add(b, ") || (next_pid != 0 && ");
		add_exclusions(b, r, "next_pid");
		text_add(b, ")");
		return true;
	}
	add_exclusions(b, r, "pid");
	return true;
}

int own_tasks_leave_out(struct rec *r)
{
	const struct rec_event *ev;
	struct text b = {};
	size_t i;
	int ret;

	if (!r->nr_own)
		return 0;
	for (i = 0; i < r->nr_own; i++)
		text_addf(&b, "%d ", (int)r->own[i]);
	ret = b.failed ? -ENOMEM :
			 rec_tracefs_write(r->buf[BUF_EVENTS].instance,
					   "set_event_notrace_pid", b.v);
	/* older kernels have no such file: the recording then has the recorder's events */
	if (ret == -ENOENT)
		ret = 0;
	for (ev = r->event; !ret && ev < r->event + r->nr_events; ev++) {
		b.nr = 0;
		/* hundreds of threads make a filter too long: their events are recorded then */
		if (add_condition(&b, r, ev) && b.nr < MAX_FILTER)
			ret = b.failed ? -ENOMEM : rec_restrict_event(r, ev, b.v);
	}
	free(b.v);
	return ret;
}
