// SPDX-License-Identifier: GPL-2.0
/*
 * tally.c - count events in the same pass that fills the join
 *
 * During the scan nobody knows yet which stack a request gets. So the tally notes an event by the
 * record that asked for its stack, and finds the meaning of the notes when the join is finished.
 * The notes of a stream are in the order of its records, so the runs of each task come in their
 * order too. Events that follow one another and differ in nothing share a note. The filter is asked
 * about tasks and functions at the end, because the answers need the stacks.
 *
 * Notes grow with the events. If there are too many, the tally drops all of them, and
 * model_counts() reads the file once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/* 128 MB */
#define MAX_NOTES	(1u << 22)
/* Counts that come again within about so many are added up. */
#define RECENT		8192

struct note {
	uint32_t type, tid;
	uint32_t kstack;
	uint32_t nr;
	uint64_t asked, cookie;		/* see struct pending */
};

/* Where a stream's notes begin. */
struct tally_part {
	uint32_t stream;
	size_t first;
};

struct tally {
	VEC(struct note) notes;
	VEC(struct tally_part) parts;
	struct lane lane;
	size_t max_notes;
	size_t next;			/* number of the record right after the last note's */
	bool has_kstack;		/* the last note's event */
	uint64_t ts;
	bool failed;
	struct {
		uint32_t hash, at;	/* a count's hash and its index + 1 */
	} recent[RECENT];
};

int tally_start(struct model *m)
{
	m->tally = calloc(1, sizeof(*m->tally));
	if (!m->tally)
		return -ENOMEM;
	m->tally->max_notes = m->opts.notes ? m->opts.notes : MAX_NOTES;
	return 0;
}

void tally_give_up(struct model *m)
{
	if (!m->tally)
		return;
	vec_free(&m->tally->notes);
	vec_free(&m->tally->parts);
	lane_free(&m->tally->lane);
	free(m->tally);
	m->tally = NULL;
}

void tally_stream(struct model *m, uint32_t stream)
{
	struct tally *t = m->tally;
	struct tally_part *p = vec_add(&t->parts);

	t->next = 0;
	t->failed |= !p || lane_start(m, &t->lane, stream);
	if (t->failed)
		return;
	p->stream = stream;
	p->first = t->notes.nr;
}

static void add_note(struct tally *t, const struct pending *p)
{
	const struct model_event *ev = &p->ev;
	struct note *n;

	n = t->next ? &t->notes.v[t->notes.nr - 1] : NULL;
	/* nothing between them: their requests are in one run, see plugin/join/runs.h */
	if (!n || p->seq != t->next || ev->ts - t->ts >= JOIN_PERIOD / 2 ||
	    ev->rec->missed_events || p->cut || n->type != ev->type ||
	    n->tid != ev->tid || n->kstack != ev->kstack || n->cookie != p->cookie ||
	    t->has_kstack != p->has_kstack || n->nr == UINT32_MAX) {
		n = t->notes.nr < t->max_notes ? vec_add(&t->notes) : NULL;
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
	/* an event that lost records has another run than the next event */
	t->next = p->cut ? 0 : p->seq + 1 + p->has_kstack + !!ev->cookie_rec;
}

static void take_ready(struct tally *t)
{
	struct pending *p;

	while ((p = lane_ready(&t->lane))) {
		if (p->wanted && !t->failed)
			add_note(t, p);
		lane_drop(&t->lane);
	}
}

void tally_record(struct model *m, struct tep_record *rec, const struct decode_common *c)
{
	struct tally *t = m->tally;

	if (t->failed || !t->lane.wanted)
		return;
	lane_add(m, &t->lane, rec, c);
	take_ready(t);
}

void tally_stream_end(struct model *m)
{
	if (m->tally->failed)
		return;
	lane_end(&m->tally->lane);
	take_ready(m->tally);
}

/* ---- from notes to counts ---- */

static bool is_wanted(struct model *m, const struct model_task *t, const struct model_count *c)
{
	const struct model_filter *f = &m->opts.filter;
	struct model_event ev = { .kstack = c->kstack, .ustack = c->ustack };

	if ((f->nr_pids || f->nr_comms) && !(t && t->wanted))
		return false;
	return !f->nr_symbols || filter_symbols(m, &ev);
}

/* If it is one of the latest counts, add it there. */
static bool add_up(struct tally *t, struct model_count *counts, size_t nr,
		   const struct model_count *c)
{
	uint64_t hash = count_hash(c);
	uint32_t slot = hash % RECENT;
	struct model_count *old;

	if (t->recent[slot].at && t->recent[slot].hash == hash >> 32) {
		old = &counts[t->recent[slot].at - 1];
		if (count_same(old, c)) {
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
	struct tally *t = m->tally;
	struct model_task *task = NULL;
	struct lasts lasts = {};
	struct model_count c;
	struct note n;

	for (; from < to; from++) {
		/* counts are smaller, and lie where notes were */
		memcpy(&n, (char *)counts + from * sizeof(n), sizeof(n));
		if (!task || task->tid != n.tid)
			task = model_task(m, n.tid);
		c = (struct model_count){ n.type, n.tid, n.kstack, MODEL_NONE, n.nr };
		if (n.asked)
			c.ustack = model_run_ustack(m, join_run_at(m->join, stream, n.tid, n.asked,
								   n.cookie,
								   last_of(&lasts, n.tid)));
		if (is_wanted(m, task, &c) && !add_up(t, counts, nr, &c))
			memcpy((char *)counts + nr++ * sizeof(c), &c, sizeof(c));
	}
	return nr;
}

bool tally_counts(struct model *m)
{
	struct tally *t = m->tally;
	size_t i, nr = 0, end;
	void *v;

	_Static_assert(sizeof(struct model_count) <= sizeof(struct note), "counts replace notes");
	if (!t || t->failed) {
		tally_give_up(m);
		return false;
	}
	model_all_ustacks(m, t->notes.nr);
	for (i = 0; i < t->parts.nr; i++) {
		end = i + 1 < t->parts.nr ? t->parts.v[i + 1].first : t->notes.nr;
		nr = count_part(m, t->parts.v[i].stream, t->parts.v[i].first, end, t->notes.v, nr);
	}
	v = realloc(t->notes.v, (nr + 1) * sizeof(*m->counts.v));
	m->counts.v = v ? v : (void *)t->notes.v;
	m->counts.nr = m->counts.room = nr;
	t->notes.v = NULL;
	tally_give_up(m);
	return true;
}
