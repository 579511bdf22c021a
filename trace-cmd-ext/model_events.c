// SPDX-License-Identifier: GPL-2.0
/*
 * model_events - from records to events with their stacks
 *
 * The kernel writes an event, its kernel stack and its cookie one after the other on one CPU, and
 * only an interrupt can write something between them. So an event waits until its stacks have come,
 * or until something shows that they will not: another record of the same level (task, softirq,
 * hardirq, NMI), one of a lower level (the interrupt is over), dropped events. Events leave a lane
 * in the order of their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

#define PROGRESS_EVERY	(1 << 16)

void lane_start(struct model *m, struct lane *l, uint32_t stream)
{
	const struct reader_stream *s = reader_stream(m->reader, stream);

	memset(l, 0, sizeof(*l));
	l->stream = stream;
	l->buffer = s->buffer;
	l->cpu = s->cpu;
	l->wanted = filter_cpu(m, s->cpu) && (!m->mine || m->mine[stream]);
}

/* What the event has now is all that it gets. */
static void settle(struct lane *l, int level)
{
	struct pending *p = l->waiting[level];

	l->waiting[level] = NULL;
	l->waits &= ~(1u << level);
	if (!p)
		return;
	p->settled = true;
	/* a kernel stack alone can tell that the cookie was lost */
	if (p->has_kstack)
		p->asked = p->kpos;
}

static void settle_from(struct lane *l, int level)
{
	/* mostly nothing waits above the level of a task */
	if (!(l->waits >> level))
		return;
	for (; level < RUNS_LEVELS; level++)
		settle(l, level);
}

static void add_event(struct model *m, struct lane *l, struct tep_record *rec, uint32_t type,
		      uint32_t tid, int level)
{
	struct pending *p = &l->queue[(l->head + l->nr++) % QUEUE];
	struct task *t;

	p->ev.ts = rec->ts;
	p->ev.type = type;
	p->ev.tid = tid;
	p->ev.cpu = l->cpu;
	p->ev.buffer = l->buffer;
	p->ev.kstack = p->ev.ustack = MODEL_NONE;
	p->ev.missed = 0;
	p->ev.rec = rec;
	p->ev.kstack_rec = p->ev.cookie_rec = NULL;
	p->seq = l->seq;
	p->settled = p->has_kstack = p->cut = false;
	p->asked = p->cookie = 0;
	p->wanted = l->wanted && m->types.v[type].wanted && filter_time(m, rec->ts);
	/* during the scan nobody knows the processes yet */
	if (p->wanted && m->read && (m->opts.filter.nr_pids || m->opts.filter.nr_comms)) {
		t = model_task(m, tid);
		p->wanted = t && t->wanted;
	}
	if (p->wanted) {
		p->ev.missed = l->missed;
		l->missed = 0;
	}
	l->waiting[level] = p;
	l->waits |= 1u << level;
}

static void add_record(struct model *m, struct lane *l, struct tep_record *rec,
		       const struct decode_common *c)
{
	uint32_t tid = c->tid, type;
	struct pending *p;
	uint64_t cookie;
	int level;

	if (rec->missed_events) {
		/* their cookies may be among what was dropped: their runs are others */
		for (level = 0; level < RUNS_LEVELS; level++)
			if (l->waiting[level])
				l->waiting[level]->cut = true;
		settle_from(l, 0);
		l->missed = l->missed < 0 || rec->missed_events < 0 ? -1 :
			    l->missed + rec->missed_events;
	}
	type = model_type_of(m, c);
	if (type == NO_TYPE || !c->has_tid)
		return;
	level = runs_level(c->flags);
	settle_from(l, level + 1);
	p = l->waiting[level];
	switch (m->types.v[type].kind) {
	case RECORD_KSTACK:
		if (!p || p->ev.tid != tid || p->has_kstack)
			break;
		p->has_kstack = true;
		p->kpos = rec->offset;
		p->ev.kstack_rec = rec;
		if (p->wanted && !m->bare)
			p->ev.kstack = model_intern_kstack(m, rec);
		return;
	case RECORD_COOKIE:
		if (!p || p->ev.tid != tid || !decode_cookie(&m->dec, rec, &cookie) || !cookie)
			break;
		p->asked = rec->offset;
		p->cookie = cookie;
		p->ev.cookie_rec = rec;
		p->settled = true;
		l->waiting[level] = NULL;
		l->waits &= ~(1u << level);
		return;
	case RECORD_EVENT:
		settle(l, level);
		add_event(m, l, rec, type, tid, level);
		return;
	default:
		break;
	}
	settle(l, level);
}

void lane_add(struct model *m, struct lane *l, struct tep_record *rec,
	      const struct decode_common *c)
{
	l->seq++;
	add_record(m, l, rec, c);
}

void lane_end(struct lane *l)
{
	l->ended = true;
	settle_from(l, 0);
}

struct pending *lane_ready(struct lane *l)
{
	struct pending *p = l->nr ? &l->queue[l->head] : NULL;

	/* no room, or its record goes: never with what a kernel writes */
	if (p && !p->settled && (l->nr == QUEUE || l->seq - p->seq > READER_KEEP - 4))
		settle_from(l, 0);
	return p && p->settled ? p : NULL;
}

struct pending *lane_next(struct model *m, struct lane *l)
{
	struct decode_common c;
	struct tep_record *rec;
	struct pending *p;

	while (!(p = lane_ready(l)) && !l->ended) {
		rec = reader_next(m->reader, l->stream);
		if (!rec) {
			lane_end(l);
			continue;
		}
		decode_common(&m->dec, rec, &c);
		lane_add(m, l, rec, &c);
	}
	return p;
}

void lane_drop(struct lane *l)
{
	l->head = (l->head + 1) % QUEUE;
	l->nr--;
}

/* ---- all of them ---- */

struct walk {
	struct model *m;
	model_event_fn event;
	void *data;
	uint64_t seen;
};

static int pass_on(struct walk *w, struct lane *l)
{
	struct pending *p = &l->queue[l->head];
	struct model *m = w->m;

	if (m->opts.progress && !(++w->seen % PROGRESS_EVERY))
		m->opts.progress("events", w->seen, 0);
	if (!p->wanted)
		return 0;
	if (p->asked && !m->bare)
		p->ev.ustack = model_run_ustack(m, join_run_at(m->join, l->stream, p->ev.tid,
							       p->asked, p->cookie,
							       last_of(&l->lasts, p->ev.tid)));
	if (m->opts.filter.nr_symbols && !filter_symbols(m, &p->ev))
		return 0;
	m->chosen++;
	return w->event(w->data, &p->ev);
}

static int by_cpu(struct walk *w, struct lane *lanes, uint32_t nr)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		/* whether what is not wanted has stacks does not matter to anyone */
		if (!lanes[i].wanted)
			continue;
		while (!ret && lane_next(w->m, &lanes[i])) {
			ret = pass_on(w, &lanes[i]);
			lane_drop(&lanes[i]);
		}
	}
	return ret;
}

/* Lanes as a heap by (time stamp of the next event, stream). */
struct heap {
	struct {
		uint64_t ts;
		struct lane *lane;
	} *v;
	uint32_t nr;
};

static bool before(const struct heap *h, uint32_t a, uint32_t b)
{
	if (h->v[a].ts != h->v[b].ts)
		return h->v[a].ts < h->v[b].ts;
	return h->v[a].lane->stream < h->v[b].lane->stream;
}

static void sift(struct heap *h, uint32_t i)
{
	__typeof__(*h->v) tmp;
	uint32_t c;

	for (; (c = 2 * i + 1) < h->nr; i = c) {
		if (c + 1 < h->nr && before(h, c + 1, c))
			c++;
		if (before(h, i, c))
			return;
		tmp = h->v[i];
		h->v[i] = h->v[c];
		h->v[c] = tmp;
	}
}

static int by_time(struct walk *w, struct lane *lanes, uint32_t nr)
{
	struct heap h = { .v = calloc(nr + 1, sizeof(*h.v)) };
	struct pending *p;
	uint32_t i;
	int ret = 0;

	if (!h.v)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		p = lanes[i].wanted ? lane_next(w->m, &lanes[i]) : NULL;
		if (!p)
			continue;
		h.v[h.nr].ts = p->ev.ts;
		h.v[h.nr++].lane = &lanes[i];
	}
	for (i = h.nr / 2; i-- > 0; )
		sift(&h, i);
	while (h.nr && !ret) {
		struct lane *l = h.v[0].lane;

		ret = pass_on(w, l);
		lane_drop(l);
		p = lane_next(w->m, l);
		if (p)
			h.v[0].ts = p->ev.ts;
		else
			h.v[0] = h.v[--h.nr];
		sift(&h, 0);
	}
	free(h.v);
	return ret;
}

int model_rewind(struct model *m)
{
	int ret = m->read ? reader_rewind(m->reader) : 0;

	m->read = true;
	return ret;
}

/* At most: by their types alone, and 0 where the filter asks for more. */
static uint64_t nr_wanted(const struct model *m)
{
	const struct model_filter *f = &m->opts.filter;
	uint64_t nr = 0;
	size_t i;

	if (f->nr_pids || f->nr_comms || f->nr_cpus || f->from || f->to || m->mine)
		return 0;
	for (i = 0; i < m->types.nr; i++)
		if (m->types.v[i].wanted && m->types.v[i].kind == RECORD_EVENT)
			nr += m->types.v[i].pub.records;
	return nr;
}

int model_each(struct model *m, enum model_order order, model_event_fn event, void *data)
{
	struct walk w = { .m = m, .event = event, .data = data };
	uint32_t i, nr = reader_nr_streams(m->reader);
	struct lane *lanes = calloc(nr + 1, sizeof(*lanes));
	int ret = lanes ? model_rewind(m) : -ENOMEM;

	/* a filter by functions needs the stacks all the same */
	m->bare = order == MODEL_BARE && !m->opts.filter.nr_symbols;
	if (!m->bare)
		model_all_ustacks(m, nr_wanted(m));
	for (i = 0; i < nr && !ret; i++)
		lane_start(m, &lanes[i], i);
	if (!ret)
		ret = order == MODEL_BY_TIME ? by_time(&w, lanes, nr) : by_cpu(&w, lanes, nr);
	m->bare = false;
	free(lanes);
	return ret;
}
