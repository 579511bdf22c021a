// SPDX-License-Identifier: GPL-2.0
/*
 * requests.c - count requests and events, in all and for each process and event type
 *
 * Without a filter the scan is enough: the join has the number of requests of each run, and the
 * model the number of records of each type. With a filter the events are read again.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace-cmd-ext/model/model.h"
#include "stat.h"

static struct stat_process *get_process(struct stat_counts *s, struct model *m, uint32_t tid)
{
	uint32_t pid = join_get_pid(model_get_tgid(m, tid), tid);
	struct stat_process *p = vec_find(&s->processes, &s->process_idx, pid, pid);

	if (p)
		return p;
	p = vec_get(&s->processes, &s->process_idx, pid, pid);
	if (p)
		p->tid = tid;
	return p;
}

static void add_requests(struct stat_requests *r, const struct model_ustack *u, uint64_t nr)
{
	static const uint32_t flags[STAT_NR_MARKS] = {
		[STAT_TRUNCATED] = STACK_TRUNCATED,
		[STAT_INCOMPLETE] = STACK_INCOMPLETE,
		[STAT_FRAME_POINTER] = STACK_FRAME_POINTER,
		[STAT_OUTSIDE] = STACK_OUTSIDE,
		[STAT_CUT] = STACK_CUT_OUTER | STACK_NO_INNER,
	};
	int i;

	r->states[u->state] += nr;
	if (u->state != JOIN_STACK)
		return;
	/* most stacks are whole */
	for (i = 0; u->flags && i < STAT_NR_MARKS; i++)
		if (u->flags & flags[i])
			r->marks[i] += nr;
	if (!u->nr)
		r->marks[STAT_EMPTY] += nr;
}

static int add_stack(struct stat_counts *s, struct model *m, uint32_t tid, uint32_t ustack,
		     uint64_t events, uint64_t requests)
{
	struct stat_process *p = get_process(s, m, tid);

	if (!p)
		return -ENOMEM;
	p->events += events;
	if (ustack == MODEL_NONE)
		return 0;
	while (s->weights.nr <= ustack)
		if (!vec_add(&s->weights))
			return -ENOMEM;
	s->weights.v[ustack] += requests;
	add_requests(&p->r, model_get_ustack(m, ustack), requests);
	add_requests(&s->r, model_get_ustack(m, ustack), requests);
	return 0;
}

static int add_event(struct stat_counts *s, uint32_t type, uint64_t nr)
{
	struct stat_event *e;
	size_t i;

	s->events += nr;
	for (i = 0; i < s->by_event.nr; i++) {
		if (s->by_event.v[i].type == type) {
			s->by_event.v[i].nr += nr;
			return 0;
		}
	}
	e = vec_add(&s->by_event);
	if (!e)
		return -ENOMEM;
	e->type = type;
	e->nr = nr;
	return 0;
}

static int count_from_scan(struct stat_counts *s, struct model *m)
{
	struct join *join = model_get_parts(m).join;
	struct join_answer ans;
	struct join_run run;
	uint32_t i, ustack, tid;
	uint64_t events;
	int ret = 0;

	for (i = 0; i < model_get_nr_types(m) && !ret; i++)
		if (model_is_event(m, i))
			ret = add_event(s, i, model_get_type(m, i)->records);
	for (i = 0; i < model_get_nr_tasks(m) && !ret; i++) {
		events = model_get_task_events(m, i, &tid);
		if (events)
			ret = add_stack(s, m, tid, MODEL_NONE, events, 0);
	}
	for (i = 0; i < join_get_nr_runs(join) && !ret; i++) {
		ustack = model_get_run_ustack(m, i);
		if (ustack == MODEL_NONE)
			continue;
		join_get_run(join, i, &ans, &run);
		ret = add_stack(s, m, run.tid, ustack, 0, run.events);
	}
	return ret;
}

static int count_from_events(struct stat_counts *s, struct model *m)
{
	const struct model_count *c;
	size_t nr, i;
	int ret = model_get_counts(m, &c, &nr);

	for (i = 0; i < nr && !ret; i++) {
		ret = add_event(s, c[i].type, c[i].nr);
		if (!ret)
			ret = add_stack(s, m, c[i].tid, c[i].ustack, c[i].nr, c[i].nr);
	}
	return ret;
}

/* The request of a dropped event may be in the file, so there can be more requests than events. */
static void count_unasked(struct stat_counts *s)
{
	const struct stat_process *p;
	uint64_t asked;
	size_t i;

	for (i = 0; i < s->processes.nr; i++) {
		p = &s->processes.v[i];
		asked = stat_sum_requests(&p->r);
		if (!asked)
			s->never_asked += p->events;
		else if (p->events > asked)
			s->unasked += p->events - asked;
	}
}

static int compare_processes(const void *a, const void *b)
{
	const struct stat_process *x = a, *y = b;

	RETURN_IF_DIFFERENT(stat_sum_requests(&y->r), stat_sum_requests(&x->r));
	RETURN_IF_DIFFERENT(y->events, x->events);
	return cmp_int(x->pid, y->pid);
}

static int compare_events(const void *a, const void *b)
{
	const struct stat_event *x = a, *y = b;

	RETURN_IF_DIFFERENT(y->nr, x->nr);
	return cmp_int(x->type, y->type);
}

int stat_count(struct stat_counts *s, struct model *m, bool filtered)
{
	size_t i;
	int ret;

	s->filtered = filtered;
	for (i = 0; i < model_get_nr_types(m); i++) {
		s->bytes += model_get_type(m, i)->bytes;
		if (model_is_event(m, i))
			s->all_events += model_get_type(m, i)->records;
	}
	ret = filtered ? count_from_events(s, m) : count_from_scan(s, m);
	count_unasked(s);
	if (s->processes.nr)
		qsort(s->processes.v, s->processes.nr, sizeof(*s->processes.v), compare_processes);
	if (s->by_event.nr)
		qsort(s->by_event.v, s->by_event.nr, sizeof(*s->by_event.v), compare_events);
	return ret;
}

/* The name of the main thread if it is known. */
const char *stat_get_process_name(struct model *m, const struct stat_process *p)
{
	return model_get_comm(m, tep_is_pid_registered(model_get_tep(m), p->pid) ? p->pid : p->tid);
}

const char *stat_get_mark_name(enum stat_mark mark)
{
	static const char *const names[STAT_NR_MARKS] = {
		[STAT_TRUNCATED] = "truncated", [STAT_INCOMPLETE] = "incomplete",
		[STAT_FRAME_POINTER] = "frame-pointer", [STAT_OUTSIDE] = "outside",
		[STAT_CUT] = "cut", [STAT_EMPTY] = "empty",
	};

	return names[mark];
}

uint64_t stat_sum_requests(const struct stat_requests *r)
{
	uint64_t n = 0;
	int i;

	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++)
		n += r->states[i];
	return n;
}

void stat_free(struct stat_counts *s)
{
	size_t i;

	for (i = 0; i < s->files.nr; i++)
		stat_table_free(s->files.v[i].table);
	vec_free(&s->processes);
	vec_free(&s->by_event);
	vec_free(&s->files);
	vec_free(&s->weights);
	saved_tables_free(&s->saved);
	hidx_free(&s->process_idx);
}
