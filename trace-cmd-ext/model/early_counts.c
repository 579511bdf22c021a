// SPDX-License-Identifier: GPL-2.0
/*
 * early_counts.c - count events in the same pass over the file that fills the join
 *
 * During the scan the stack of a request is not known yet. So an early count names an event by the
 * record that asked for its stack, and gets its meaning when the join is finished. The early counts
 * of a stream are in the order of its records, so the runs of each task come in their order too.
 * Consecutive events that are equal share an early count. The filter is applied to tasks and
 * functions at the end, because that needs the stacks.
 *
 * The memory for early counts grows with the events. If there are too many, all of them are
 * dropped, and model_get_counts() reads the file once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define MAX_EARLY_COUNTS	(1u << 22)	/* 128 MB */
/* Equal counts are added up if there are fewer than about so many others between them. */
#define RECENT		8192

struct early_count {
	uint32_t type, tid;
	uint32_t kstack;
	uint32_t nr;
	uint64_t asked, cookie;		/* see struct pending */
};

/* The first early count of a stream. */
struct early_part {
	uint32_t stream;
	size_t first;
};

struct early_counts {
	VEC(struct early_count) v;
	VEC(struct early_part) parts;
	struct event_queue queue;
	size_t max;
	size_t next;			/* number of the record after the last event */
	bool has_kstack;		/* of the last event */
	uint64_t ts;
	bool failed;
	struct {
		uint32_t hash, at;	/* a count's hash and its index + 1 */
	} recent[RECENT];
};

int early_start(struct model *m)
{
	m->early_counts = calloc(1, sizeof(*m->early_counts));
	if (!m->early_counts)
		return -ENOMEM;
	m->early_counts->max = m->opts.max_early_counts ? m->opts.max_early_counts :
							  MAX_EARLY_COUNTS;
	return 0;
}

void early_give_up(struct model *m)
{
	if (!m->early_counts)
		return;
	vec_free(&m->early_counts->v);
	vec_free(&m->early_counts->parts);
	event_queue_free(&m->early_counts->queue);
	free(m->early_counts);
	m->early_counts = NULL;
}

void early_start_stream(struct model *m, uint32_t stream)
{
	struct early_counts *t = m->early_counts;
	struct early_part *p = vec_add(&t->parts);

	t->next = 0;
	t->failed |= !p || event_queue_start(m, &t->queue, stream);
	if (t->failed)
		return;
	p->stream = stream;
	p->first = t->v.nr;
}

static void add_early_count(struct early_counts *t, const struct pending *p)
{
	const struct model_event *ev = &p->ev;
	struct early_count *n;

	n = t->next ? &t->v.v[t->v.nr - 1] : NULL;
	/* without a record between two events, their requests are in one run: join/runs.h */
	if (!n || p->seq != t->next || ev->ts - t->ts >= JOIN_PERIOD / 2 ||
	    ev->rec->missed_events || p->cut || n->type != ev->type ||
	    n->tid != ev->tid || n->kstack != ev->kstack || n->cookie != p->cookie ||
	    t->has_kstack != p->has_kstack || n->nr == UINT32_MAX) {
		n = t->v.nr < t->max ? vec_add(&t->v) : NULL;
		if (!n) {
			t->failed = true;
			return;
		}
		n->type = ev->type;
		n->tid = ev->tid;
		n->kstack = ev->kstack;
		n->asked = p->asked;
		n->cookie = p->cookie;
		t->has_kstack = p->has_kstack;
	}
	n->nr++;
	t->ts = ev->ts;
	/* the run of an event that lost records differs from that of the next event */
	t->next = p->cut ? 0 : p->seq + 1 + p->has_kstack + !!ev->cookie_rec;
}

static void add_ready_events(struct early_counts *t)
{
	struct pending *p;

	while ((p = event_queue_peek(&t->queue))) {
		if (p->wanted && !t->failed)
			add_early_count(t, p);
		event_queue_drop(&t->queue);
	}
}

void early_add_record(struct model *m, struct tep_record *rec, const struct decode_common *c)
{
	struct early_counts *t = m->early_counts;

	if (t->failed || !t->queue.wanted)
		return;
	event_queue_add(m, &t->queue, rec, c);
	add_ready_events(t);
}

void early_end_stream(struct model *m)
{
	if (m->early_counts->failed)
		return;
	event_queue_end(&m->early_counts->queue);
	add_ready_events(m->early_counts);
}

/* ---- from early counts to counts ---- */

static bool is_wanted(struct model *m, const struct model_task *t, const struct model_count *c)
{
	const struct model_filter *f = &m->opts.filter;
	struct model_event ev = { .kstack = c->kstack, .ustack = c->ustack };

	if ((f->nr_pids || f->nr_comms) && !(t && t->wanted))
		return false;
	return !f->nr_symbols || filter_wants_symbols(m, &ev);
}

/* Add @c to an equal count among the latest ones; false if there is none. */
static bool add_to_equal(struct early_counts *t, struct model_count *counts, size_t nr,
			 const struct model_count *c)
{
	uint64_t hash = count_hash(c);
	uint32_t slot = hash % RECENT;
	struct model_count *old;

	if (t->recent[slot].at && t->recent[slot].hash == hash >> 32) {
		old = &counts[t->recent[slot].at - 1];
		if (count_has_same_key(old, c)) {
			old->nr += c->nr;
			return true;
		}
	}
	t->recent[slot].hash = hash >> 32;
	t->recent[slot].at = nr + 1;
	return false;
}

/* Turn early counts @from to @to into counts, after the first @nr; returns their number. */
static size_t count_part(struct model *m, uint32_t stream, size_t from, size_t to, void *counts,
			 size_t nr)
{
	struct early_counts *t = m->early_counts;
	struct model_task *task = NULL;
	struct cursors cursors = {};
	struct model_count c;
	struct early_count n;

	for (; from < to; from++) {
		/* a count is no larger than an early count and takes its place */
		memcpy(&n, (char *)counts + from * sizeof(n), sizeof(n));
		if (!task || task->tid != n.tid)
			task = model_get_task(m, n.tid);
		c = (struct model_count){ n.type, n.tid, n.kstack, MODEL_NONE, n.nr };
		if (n.asked)
			c.ustack = model_get_run_ustack(
				m, join_find_run(m->join, stream, n.tid, n.asked, n.cookie,
						 get_task_cursor(&cursors, n.tid)));
		if (is_wanted(m, task, &c) && !add_to_equal(t, counts, nr, &c))
			memcpy((char *)counts + nr++ * sizeof(c), &c, sizeof(c));
	}
	return nr;
}

bool early_make_counts(struct model *m)
{
	struct early_counts *t = m->early_counts;
	size_t i, nr = 0, end;
	void *v;

	_Static_assert(sizeof(struct model_count) <= sizeof(struct early_count),
		       "counts replace early counts");
	if (!t || t->failed) {
		early_give_up(m);
		return false;
	}
	model_make_ustacks(m, t->v.nr);
	for (i = 0; i < t->parts.nr; i++) {
		end = i + 1 < t->parts.nr ? t->parts.v[i + 1].first : t->v.nr;
		nr = count_part(m, t->parts.v[i].stream, t->parts.v[i].first, end, t->v.v, nr);
	}
	v = realloc(t->v.v, (nr + 1) * sizeof(*m->counts.v));
	m->counts.v = v ? v : (void *)t->v.v;
	m->counts.nr = m->counts.room = nr;
	t->v.v = NULL;
	early_give_up(m);
	return true;
}
