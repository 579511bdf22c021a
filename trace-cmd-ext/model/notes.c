// SPDX-License-Identifier: GPL-2.0
/*
 * notes.c - count events in the same pass over the file that fills the join
 *
 * During the scan the stack of a request is not known yet. So a note names an event by the record
 * that asked for its stack, and gets its meaning when the join is finished. The notes of a stream
 * are in the order of its records, so the runs of each task come in their order too. Consecutive
 * events that are equal share a note. The filter is applied to tasks and functions at the end,
 * because that needs the stacks.
 *
 * The memory for notes grows with the events. If there are too many, all notes are dropped, and
 * model_get_counts() reads the file once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define MAX_NOTES	(1u << 22)	/* 128 MB */
/* Equal counts are added up if there are fewer than about so many others between them. */
#define RECENT		8192

struct note {
	uint32_t type, tid;
	uint32_t kstack;
	uint32_t nr;
	uint64_t asked, cookie;		/* see struct pending */
};

/* The first note of a stream. */
struct notes_part {
	uint32_t stream;
	size_t first;
};

struct notes {
	VEC(struct note) v;
	VEC(struct notes_part) parts;
	struct event_queue queue;
	size_t max_notes;
	size_t next;			/* number of the record after the last note's event */
	bool has_kstack;		/* of the last note's event */
	uint64_t ts;
	bool failed;
	struct {
		uint32_t hash, at;	/* a count's hash and its index + 1 */
	} recent[RECENT];
};

int notes_start(struct model *m)
{
	m->notes = calloc(1, sizeof(*m->notes));
	if (!m->notes)
		return -ENOMEM;
	m->notes->max_notes = m->opts.max_notes ? m->opts.max_notes : MAX_NOTES;
	return 0;
}

void notes_give_up(struct model *m)
{
	if (!m->notes)
		return;
	vec_free(&m->notes->v);
	vec_free(&m->notes->parts);
	event_queue_free(&m->notes->queue);
	free(m->notes);
	m->notes = NULL;
}

void notes_start_stream(struct model *m, uint32_t stream)
{
	struct notes *t = m->notes;
	struct notes_part *p = vec_add(&t->parts);

	t->next = 0;
	t->failed |= !p || event_queue_start(m, &t->queue, stream);
	if (t->failed)
		return;
	p->stream = stream;
	p->first = t->v.nr;
}

static void add_note(struct notes *t, const struct pending *p)
{
	const struct model_event *ev = &p->ev;
	struct note *n;

	n = t->next ? &t->v.v[t->v.nr - 1] : NULL;
	/* without a record between two events, their requests are in one run: join/runs.h */
	if (!n || p->seq != t->next || ev->ts - t->ts >= JOIN_PERIOD / 2 ||
	    ev->rec->missed_events || p->cut || n->type != ev->type ||
	    n->tid != ev->tid || n->kstack != ev->kstack || n->cookie != p->cookie ||
	    t->has_kstack != p->has_kstack || n->nr == UINT32_MAX) {
		n = t->v.nr < t->max_notes ? vec_add(&t->v) : NULL;
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

static void add_ready_events(struct notes *t)
{
	struct pending *p;

	while ((p = event_queue_peek(&t->queue))) {
		if (p->wanted && !t->failed)
			add_note(t, p);
		event_queue_drop(&t->queue);
	}
}

void notes_add_record(struct model *m, struct tep_record *rec, const struct decode_common *c)
{
	struct notes *t = m->notes;

	if (t->failed || !t->queue.wanted)
		return;
	event_queue_add(m, &t->queue, rec, c);
	add_ready_events(t);
}

void notes_end_stream(struct model *m)
{
	if (m->notes->failed)
		return;
	event_queue_end(&m->notes->queue);
	add_ready_events(m->notes);
}

/* ---- from notes to counts ---- */

static bool is_wanted(struct model *m, const struct model_task *t, const struct model_count *c)
{
	const struct model_filter *f = &m->opts.filter;
	struct model_event ev = { .kstack = c->kstack, .ustack = c->ustack };

	if ((f->nr_pids || f->nr_comms) && !(t && t->wanted))
		return false;
	return !f->nr_symbols || filter_wants_symbols(m, &ev);
}

/* Add @c to an equal count among the latest ones; false if there is none. */
static bool add_to_equal(struct notes *t, struct model_count *counts, size_t nr,
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

/* Turn the notes from @from to @to into counts, after the first @nr; returns their number. */
static size_t count_part(struct model *m, uint32_t stream, size_t from, size_t to, void *counts,
			 size_t nr)
{
	struct notes *t = m->notes;
	struct model_task *task = NULL;
	struct cursors cursors = {};
	struct model_count c;
	struct note n;

	for (; from < to; from++) {
		/* a count is no larger than a note and takes its place */
		memcpy(&n, (char *)counts + from * sizeof(n), sizeof(n));
		if (!task || task->tid != n.tid)
			task = model_get_task(m, n.tid);
		c = (struct model_count){ n.type, n.tid, n.kstack, MODEL_NONE, n.nr };
		if (n.asked)
			c.ustack = model_get_run_ustack(
				m, join_find_run(m->join, stream, n.tid, n.asked, n.cookie,
						 cursor_of(&cursors, n.tid)));
		if (is_wanted(m, task, &c) && !add_to_equal(t, counts, nr, &c))
			memcpy((char *)counts + nr++ * sizeof(c), &c, sizeof(c));
	}
	return nr;
}

bool notes_make_counts(struct model *m)
{
	struct notes *t = m->notes;
	size_t i, nr = 0, end;
	void *v;

	_Static_assert(sizeof(struct model_count) <= sizeof(struct note), "counts replace notes");
	if (!t || t->failed) {
		notes_give_up(m);
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
	notes_give_up(m);
	return true;
}
