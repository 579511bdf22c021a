// SPDX-License-Identifier: GPL-2.0
/* waits.c - pair each switch out with the switch in and the wake-up after it. See waits.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "plugin/recording/recording.h"
#include "plugin/join/join.h"
#include "libunwind-user/base/base.h"
#include "waits.h"

/* prev_state: EXIT_DEAD and EXIT_ZOMBIE, include/linux/sched.h */
#define STATE_ENDED	0x30

const char *waits_events[3] = { "sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup" };

/* The state of a task, as the switches so far show it */
enum known_state {
	KNOWN_NOTHING,
	KNOWN_ON,
	KNOWN_OFF,
	KNOWN_ENDED,
};

struct waits_task {
	struct wait out;		/* with KNOWN_OFF */
	uint32_t tid;
	enum known_state known;
	bool woken;
};

struct gap {
	uint64_t from, to;
};

struct cpu {
	bool any_event, any_switch;
	uint64_t last_event;		/* time stamp, with any_event */
	uint64_t last_switch;		/* time stamp, with any_switch */
	uint32_t running;		/* the task that the last switch switched to */
};

struct waits_scan {
	struct model *m;
	const struct waits_opts *o;
	struct waits_stats *st;
	uint32_t type_switch, type_wake;
	struct decode_field prev_pid, prev_state, next_pid, wake_pid, flags;
	bool has_buffer;		/* a buffer with switches was found: st->buffer */
	uint32_t cpus_buffer;		/* without has_buffer: the buffer of @cpus and @gaps */
	bool *other_buffer;		/* by buffer: has switches, which do not count */
	uint64_t last_ts;		/* of all records */
	VEC(struct cpu) cpus;
	VEC(struct gap) gaps;
	VEC(struct gap) breaks;		/* a task leaves a CPU on which another task ran */
	VEC(struct waits_task) tasks;
	struct hidx idx;
};

/* ---- gaps ---- */

/* If the task that leaves a CPU is not the task that came to the CPU last, events are missing. */
static int note_break(struct waits_scan *r, struct cpu *c, const struct model_event *ev)
{
	uint64_t prev, next;
	struct gap *g;

	if (!model_read_number(r->m, ev, &r->prev_pid, &prev) ||
	    !model_read_number(r->m, ev, &r->next_pid, &next))
		return 0;
	if (c->any_switch && c->running != (uint32_t)prev) {
		g = vec_add(&r->breaks);
		if (!g)
			return -ENOMEM;
		g->from = c->last_switch;
		g->to = ev->ts;
	}
	c->any_switch = true;
	c->last_switch = ev->ts;
	c->running = next;
	return 0;
}

/*
 * Find the buffer that counts: the first one with switches. Forget the gaps of the buffers before
 * it. Returns false for an event of a buffer that does not count.
 */
static bool choose_buffer(struct waits_scan *r, const struct model_event *ev)
{
	if (ev->type == r->type_switch && !r->has_buffer) {
		r->has_buffer = true;
		r->st->buffer = ev->buffer;
		r->cpus.nr = r->cpus_buffer == ev->buffer ? r->cpus.nr : 0;
		r->gaps.nr = r->cpus_buffer == ev->buffer ? r->gaps.nr : 0;
	}
	if (!r->has_buffer && ev->buffer != r->cpus_buffer) {
		r->cpus_buffer = ev->buffer;
		r->cpus.nr = r->gaps.nr = r->breaks.nr = 0;
	}
	if (r->has_buffer && ev->buffer != r->st->buffer) {
		if (ev->type == r->type_switch && !r->other_buffer[ev->buffer]) {
			r->other_buffer[ev->buffer] = true;
			r->st->other_buffers++;
		}
		return false;
	}
	return true;
}

/*
 * The first walk, CPU by CPU, finds the times between which events were dropped. A gap of any CPU
 * concerns every task, because the task may have run there.
 */
static int note_gaps(void *data, const struct model_event *ev)
{
	struct waits_scan *r = data;
	struct cpu *c;
	struct gap *g;

	if (!choose_buffer(r, ev))
		return 0;
	while (r->cpus.nr <= ev->cpu)
		if (!vec_add(&r->cpus))
			return -ENOMEM;
	c = &r->cpus.v[ev->cpu];
	if (ev->missed) {
		g = vec_add(&r->gaps);
		if (!g)
			return -ENOMEM;
		g->from = c->any_event ? c->last_event : 0;
		g->to = ev->ts;
	}
	c->any_event = true;
	c->last_event = ev->ts;
	return ev->type == r->type_switch ? note_break(r, c, ev) : 0;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return cmp_int(x->from, y->from);
}

/* Sort the gaps, and merge those that overlap. */
static void order_gaps(struct waits_scan *r)
{
	struct gap *v = r->gaps.v;
	size_t i, to = 0;

	r->st->gaps = r->gaps.nr;
	if (!r->gaps.nr)
		return;
	qsort(v, r->gaps.nr, sizeof(*v), compare_gaps);
	for (i = 1; i < r->gaps.nr; i++) {
		if (v[i].from > v[to].to)
			v[++to] = v[i];
		else if (v[i].to > v[to].to)
			v[to].to = v[i].to;
	}
	r->gaps.nr = to + 1;
}

static bool has_gap(const struct waits_scan *r, uint64_t from, uint64_t to)
{
	size_t i;

	bisect(i, r->gaps.nr, r->gaps.v[i].to > from);
	return i < r->gaps.nr && r->gaps.v[i].from < to;
}

/* The statistics count drops of @buffer. Some of these left no mark in its stream. */
static int note_refused(void *data, const char *buffer)
{
	struct waits_scan *r = data;

	if (!r->st->gaps && !strcmp(buffer, model_get_buffer_name(r->m, r->st->buffer)))
		r->st->refused = true;
	return 0;
}

static int read_drops(struct waits_scan *r)
{
	int fd = r->o->file ? open(r->o->file, O_RDONLY | O_CLOEXEC) : -1, ret;

	if (fd < 0)
		return 0;
	r->st->gaps = r->gaps.nr;
	ret = sections_read_drops(fd, note_refused, r);
	close(fd);
	return ret == -ENOMEM ? ret : 0;
}

/* Without drops, a break comes from a filter that left out switches. With drops, it is a gap. */
static int add_breaks(struct waits_scan *r)
{
	struct gap *g;
	size_t i;

	for (i = 0; r->st->refused && i < r->breaks.nr; i++) {
		g = vec_add(&r->gaps);
		if (!g)
			return -ENOMEM;
		*g = r->breaks.v[i];
	}
	return 0;
}

/* ---- pairs ---- */

static struct waits_task *get_task(struct waits_scan *r, uint32_t tid)
{
	return vec_get(&r->tasks, &r->idx, tid, tid);
}

/* Count a wait that does not end with its switch in. */
static void count_bad_wait(struct waits_scan *r, const struct wait *w, uint64_t until)
{
	if (has_gap(r, w->from, until)) {
		r->st->uncertain++;
		r->st->uncertain_ns += until - w->from;
	} else {
		r->st->disordered++;
	}
}

static int note_switch_out(struct waits_scan *r, const struct model_event *ev, uint32_t tid)
{
	struct waits_task *t = get_task(r, tid);

	if (!t)
		return -ENOMEM;
	if (t->known == KNOWN_OFF)
		count_bad_wait(r, &t->out, ev->ts);
	t->out = (struct wait){ .from = ev->ts, .tid = tid, .cpu = ev->cpu, .kstack = ev->kstack,
				.ustack = ev->ustack };
	model_read_number(r->m, ev, &r->prev_state, &t->out.state);
	t->woken = false;
	t->known = KNOWN_OFF;
	if (t->out.state & STATE_ENDED) {
		t->known = KNOWN_ENDED;
		r->st->ended++;
	}
	return 0;
}

static int note_switch_in(struct waits_scan *r, const struct model_event *ev, uint32_t tid)
{
	struct waits_task *t = get_task(r, tid);
	enum known_state was;

	if (!t)
		return -ENOMEM;
	was = t->known;
	t->known = KNOWN_ON;
	/* after the end of a task, another task can have its number */
	if (was == KNOWN_NOTHING || was == KNOWN_ENDED) {
		r->st->started_before++;
		return 0;
	}
	if (was == KNOWN_ON) {
		r->st->disordered++;
		return 0;
	}
	if (has_gap(r, t->out.from, ev->ts)) {
		r->st->uncertain++;
		r->st->uncertain_ns += ev->ts - t->out.from;
		return 0;
	}
	t->out.ns = ev->ts - t->out.from;
	r->st->nr++;
	r->st->ns += t->out.ns;
	return r->o->wait ? r->o->wait(r->o->data, &t->out) : 0;
}

static enum waker_context get_context(uint64_t flags)
{
	if (flags & TRACE_FL_NMI)
		return WAKER_NMI;
	if (flags & TRACE_FL_HARDIRQ)
		return WAKER_HARDIRQ;
	return flags & TRACE_FL_SOFTIRQ ? WAKER_SOFTIRQ : WAKER_TASK;
}

static int note_wake_up(struct waits_scan *r, const struct model_event *ev, uint32_t tid)
{
	struct waits_task *t = get_task(r, tid);
	struct waker waker = { .ts = ev->ts, .tid = ev->tid, .cpu = ev->cpu, .kstack = ev->kstack,
			       .ustack = ev->ustack };
	uint64_t flags = 0;

	if (!t)
		return -ENOMEM;
	if (t->known != KNOWN_OFF) {
		r->st->wakeups_unknown++;
		return 0;
	}
	if (t->woken)
		return 0;
	t->woken = true;
	if (has_gap(r, t->out.from, ev->ts)) {
		r->st->wakeups_uncertain++;
		return 0;
	}
	model_read_number(r->m, ev, &r->flags, &flags);
	waker.context = get_context(flags);
	t->out.ns = ev->ts - t->out.from;
	r->st->wakeups++;
	r->st->wakeups_ns += t->out.ns;
	return r->o->wake ? r->o->wake(r->o->data, &t->out, &waker) : 0;
}

static int pair_event(void *data, const struct model_event *ev)
{
	struct waits_scan *r = data;
	uint64_t prev, next;
	int ret = 0;

	if (ev->buffer != r->st->buffer)
		return 0;
	if (ev->type == r->type_switch) {
		if (!model_read_number(r->m, ev, &r->prev_pid, &prev) ||
		    !model_read_number(r->m, ev, &r->next_pid, &next))
			return 0;
		if ((uint32_t)prev)
			ret = note_switch_out(r, ev, prev);
		if (!ret && (uint32_t)next)
			ret = note_switch_in(r, ev, next);
		return ret;
	}
	if (r->o->wakers && ev->type == r->type_wake &&
	    model_read_number(r->m, ev, &r->wake_pid, &next) && (uint32_t)next)
		return note_wake_up(r, ev, next);
	return 0;
}

/* Count the waits that are not over when the recording ends. */
static void count_open_waits(struct waits_scan *r)
{
	struct waits_task *t;
	size_t i;

	for (i = 0; i < r->tasks.nr; i++) {
		t = &r->tasks.v[i];
		if (t->known != KNOWN_OFF)
			continue;
		if (has_gap(r, t->out.from, r->last_ts)) {
			r->st->uncertain++;
			r->st->uncertain_ns += r->last_ts - t->out.from;
		} else {
			r->st->not_over++;
			r->st->not_over_ns += r->last_ts - t->out.from;
		}
	}
}

/* The type of a wake-up: sched_waking, if the file holds any. */
static uint32_t find_wake(struct model *m)
{
	uint32_t waking = model_find_type(m, "sched", "sched_waking");
	uint32_t wakeup = model_find_type(m, "sched", "sched_wakeup");

	if (waking != MODEL_NONE && model_get_type(m, waking)->records)
		return waking;
	return wakeup != MODEL_NONE && model_get_type(m, wakeup)->records ? wakeup : MODEL_NONE;
}

static bool find_fields(struct waits_scan *r)
{
	struct model *m = r->m;

	r->type_wake = MODEL_NONE;
	r->type_switch = model_find_type(m, "sched", "sched_switch");
	if (r->type_switch == MODEL_NONE || !model_get_type(m, r->type_switch)->records ||
	    !model_find_field(m, r->type_switch, "prev_pid", &r->prev_pid) ||
	    !model_find_field(m, r->type_switch, "next_pid", &r->next_pid))
		return false;
	model_find_field(m, r->type_switch, "prev_state", &r->prev_state);
	if (!r->o->wakers)
		return true;
	r->type_wake = find_wake(m);
	if (r->type_wake == MODEL_NONE || !model_find_field(m, r->type_wake, "pid", &r->wake_pid))
		return false;
	model_find_field(m, r->type_wake, "common_flags", &r->flags);
	return true;
}

int waits_for_each(struct model *m, const struct waits_opts *o, struct waits_stats *st)
{
	struct waits_scan r = { .m = m, .o = o, .st = st };
	int ret;

	memset(st, 0, sizeof(*st));
	if (!find_fields(&r))
		return -ENODATA;
	r.other_buffer = calloc(model_get_info(m)->buffers + 1, sizeof(*r.other_buffer));
	ret = r.other_buffer ? model_for_each(m, MODEL_NO_STACKS, note_gaps, &r) : -ENOMEM;
	if (!ret)
		ret = read_drops(&r);
	if (!ret)
		ret = add_breaks(&r);
	if (!ret) {
		order_gaps(&r);
		r.last_ts = model_get_info(m)->last_ts;
		ret = model_for_each(m, MODEL_BY_TIME, pair_event, &r);
	}
	if (!ret)
		count_open_waits(&r);
	free(r.other_buffer);
	vec_free(&r.cpus);
	vec_free(&r.gaps);
	vec_free(&r.breaks);
	vec_free(&r.tasks);
	hidx_free(&r.idx);
	return ret;
}
