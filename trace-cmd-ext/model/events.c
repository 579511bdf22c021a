// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - from records to events with their stacks
 *
 * The kernel writes an event, its kernel stack and its cookie one after the other on one CPU, and
 * only an interrupt can write something between them (plugin/join/nest.h). So an event waits for
 * its stacks until a later record or dropped events show that no more stacks will come. Events
 * leave a lane in the order of their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define PROGRESS_EVERY	(1 << 16)
#define FIRST_QUEUE	32

/* The queue's room is checked once for so many records. A power of two. */
#define LOOK_EVERY	16
/* Records kept with an event: its own record, and those of its stacks. */
#define GROUP		4

int event_queue_start(struct model *m, struct event_queue *l, uint32_t stream)
{
	const struct reader_stream *s = reader_get_stream(m->reader, stream);
	struct pending *queue = l->queue;
	uint32_t room = l->room;

	if (!queue) {
		room = FIRST_QUEUE;
		queue = malloc(room * sizeof(*queue));
		if (!queue)
			return -ENOMEM;
	}
	memset(l, 0, sizeof(*l));
	l->queue = queue;
	l->room = room;
	l->stream = stream;
	l->buffer = s->buffer;
	l->cpu = s->cpu;
	l->kept = READER_KEEP;
	l->wanted = filter_wants_cpu(m, s->cpu) && (!m->mine || m->mine[stream]);
	return 0;
}

void event_queue_free(struct event_queue *l)
{
	free(l->queue);
	l->queue = NULL;
}

static struct pending *queue_slot(struct event_queue *l, uint32_t nr)
{
	return &l->queue[nr & (l->room - 1)];
}

static struct pending *waiting_event(struct event_queue *l, int level)
{
	return l->nest.open >> level & 1 ? queue_slot(l, l->waiting[level]) : NULL;
}

/* The event gets no more stacks than it has now. */
static void settle_level(struct event_queue *l, int level)
{
	struct pending *p = queue_slot(l, l->waiting[level]);

	nest_close(&l->nest, level);
	p->settled = true;
	/* only a kernel stack can show that the cookie was lost */
	if (p->has_kstack)
		p->asked = p->kpos;
}

static void settle_all(struct event_queue *l, uint32_t levels)
{
	int level;

	for (level = 0; levels; level++, levels >>= 1)
		if (levels & 1)
			settle_level(l, level);
}

/* Make room for one more event and its records, so that no waiting event must leave early. */
static int make_room(struct model *m, struct event_queue *l)
{
	struct pending *p = queue_slot(l, l->head), *queue;
	uint32_t room = 2 * l->room, i;

	if (!l->nr)
		return 0;
	if (l->seq - p->seq > l->kept - GROUP - LOOK_EVERY) {
		if (l->kept >= GROUP * MAX_QUEUE || reader_keep(m->reader, l->stream, 2 * l->kept))
			return -ENOMEM;
		l->kept *= 2;
	}
	if (l->nr < l->room)
		return 0;
	queue = l->room < MAX_QUEUE ? malloc(room * sizeof(*queue)) : NULL;
	if (!queue)
		return -ENOMEM;
	for (i = 0; i < l->nr; i++)
		queue[(l->head + i) & (room - 1)] = *queue_slot(l, l->head + i);
	free(l->queue);
	l->queue = queue;
	l->room = room;
	return 0;
}

static void add_event(struct model *m, struct event_queue *l, struct tep_record *rec, uint32_t type,
		      const struct decode_common *c, int level)
{
	uint32_t nr = l->head + l->nr++;
	struct pending *p = queue_slot(l, nr);
	struct model_task *t;

	p->ev.ts = rec->ts;
	p->ev.type = type;
	p->ev.tid = c->tid;
	p->ev.cpu = l->cpu;
	p->ev.buffer = l->buffer;
	p->ev.kstack = p->ev.ustack = MODEL_NONE;
	p->ev.missed = 0;
	p->ev.rec = rec;
	p->ev.kstack_rec = p->ev.cookie_rec = NULL;
	p->seq = l->seq;
	p->level = level;
	p->settled = p->has_kstack = p->cut = false;
	p->asked = p->cookie = 0;
	p->wanted = l->wanted && m->types.v[type].wanted && filter_wants_time(m, rec->ts);
	/* the processes are not known before the end of the scan */
	if (p->wanted && m->read && (m->opts.filter.nr_pids || m->opts.filter.nr_comms)) {
		t = model_get_task(m, c->tid);
		p->wanted = t && t->wanted;
	}
	if (p->wanted) {
		p->ev.missed = l->missed;
		l->missed = 0;
	}
	nest_open(&l->nest, level, c->tid, nest_context(c->flags));
	l->waiting[level] = nr;
}

/*
 * The same rule as in plugin/join/runs.c: an interrupt has the cookies of the kernel entry that it
 * interrupted.
 */
static bool may_have(struct event_queue *l, const struct pending *p, uint64_t cookie)
{
	const struct pending *q;
	uint32_t nr = l->waiting[p->level] + 1;

	for (; l->nest.v[p->level].passed && nr != l->head + l->nr; nr++) {
		q = queue_slot(l, nr);
		if (q->level == p->level + 1 && q->cookie && q->cookie != cookie)
			return false;
	}
	return true;
}

/* Events were dropped, maybe the cookies of waiting events: such an event has a run of its own. */
static void add_loss(struct event_queue *l, int missed)
{
	struct pending *p;
	int level;

	for (level = 0; level < NEST_LEVELS; level++) {
		p = waiting_event(l, level);
		if (p)
			p->cut = true;
	}
	settle_all(l, l->nest.open);
	l->missed = l->missed < 0 || missed < 0 ? -1 : l->missed + missed;
}

static void add_record(struct model *m, struct event_queue *l, struct tep_record *rec,
		       const struct decode_common *c)
{
	struct pending *p = NULL;
	uint32_t type, ended;
	uint64_t cookie;
	int level;
	bool mine;

	if (rec->missed_events)
		add_loss(l, rec->missed_events);
	type = model_type_of(m, c);
	if (type == NO_TYPE || !c->has_tid)
		return;
	level = nest_level(c->flags);
	/* usually an event's records are complete, or the next record belongs to it */
	if (l->nest.open) {
		ended = nest_close_ended(&l->nest, level, c->tid);
		if (ended)
			settle_all(l, ended);
		p = waiting_event(l, level);
	}
	mine = nest_belongs(&l->nest, level, c->tid, nest_context(c->flags));
	switch (m->types.v[type].kind) {
	case RECORD_KSTACK:
		if (!mine || p->has_kstack)
			break;
		p->has_kstack = true;
		p->kpos = rec->offset;
		p->ev.kstack_rec = rec;
		if (p->wanted && !m->no_stacks)
			p->ev.kstack = model_intern_kstack(m, rec);
		return;
	case RECORD_COOKIE:
		if (!mine || !decode_cookie(&m->dec, rec, &cookie) || !cookie ||
		    !may_have(l, p, cookie))
			break;
		p->asked = rec->offset;
		p->cookie = cookie;
		p->ev.cookie_rec = rec;
		p->settled = true;
		nest_close(&l->nest, level);
		return;
	case RECORD_EVENT:
		if (p)
			settle_level(l, level);
		add_event(m, l, rec, type, c, level);
		return;
	default:
		break;
	}
	if (p)
		settle_level(l, level);
}

void event_queue_add(struct model *m, struct event_queue *l, struct tep_record *rec,
		     const struct decode_common *c)
{
	l->seq++;
	add_record(m, l, rec, c);
	/* with the records of a real kernel, there is always room */
	if ((l->nr == l->room || !(l->seq % LOOK_EVERY)) && make_room(m, l))
		settle_all(l, l->nest.open);
}

void event_queue_end(struct event_queue *l)
{
	l->ended = true;
	settle_all(l, l->nest.open);
}

struct pending *event_queue_peek(struct event_queue *l)
{
	struct pending *p = l->nr ? queue_slot(l, l->head) : NULL;

	return p && p->settled ? p : NULL;
}

/* Returns as event_queue_peek(), but reads records until an event is ready or the lane ends. */
static struct pending *event_queue_next(struct model *m, struct event_queue *l)
{
	struct decode_common c;
	struct tep_record *rec;
	struct pending *p;

	while (!(p = event_queue_peek(l)) && !l->ended) {
		rec = reader_next(m->reader, l->stream);
		if (!rec) {
			event_queue_end(l);
			continue;
		}
		decode_common(&m->dec, rec, &c);
		event_queue_add(m, l, rec, &c);
	}
	return p;
}

void event_queue_drop(struct event_queue *l)
{
	l->head++;
	l->nr--;
}

/* ---- all events ---- */

struct events_walk {
	struct model *m;
	model_event_fn event;
	void *data;
	uint64_t seen;
};

static int pass_on(struct events_walk *w, struct event_queue *l)
{
	struct pending *p = queue_slot(l, l->head);
	struct model *m = w->m;

	if (m->opts.progress && !(++w->seen % PROGRESS_EVERY))
		m->opts.progress("events", w->seen, 0);
	if (!p->wanted)
		return 0;
	if (p->asked && !m->no_stacks)
		p->ev.ustack = model_run_ustack(m, join_run_at(m->join, l->stream, p->ev.tid,
							       p->asked, p->cookie,
							       last_of(&l->lasts, p->ev.tid)));
	if (m->opts.filter.nr_symbols && !filter_wants_symbols(m, &p->ev))
		return 0;
	m->chosen++;
	return w->event(w->data, &p->ev);
}

static int by_cpu(struct events_walk *w, struct event_queue *lanes, uint32_t nr)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		/* events that the filter drops need no stacks */
		if (!lanes[i].wanted)
			continue;
		while (!ret && event_queue_next(w->m, &lanes[i])) {
			ret = pass_on(w, &lanes[i]);
			event_queue_drop(&lanes[i]);
		}
	}
	return ret;
}

/* Lanes as a heap by (time stamp of the next event, stream). */
struct heap {
	struct {
		uint64_t ts;
		struct event_queue *lane;
	} *v;
	uint32_t nr;
};

static bool is_before(const struct heap *h, uint32_t a, uint32_t b)
{
	if (h->v[a].ts != h->v[b].ts)
		return h->v[a].ts < h->v[b].ts;
	return h->v[a].lane->stream < h->v[b].lane->stream;
}

static void sift_down(struct heap *h, uint32_t i)
{
	__typeof__(*h->v) tmp;
	uint32_t c;

	for (; (c = 2 * i + 1) < h->nr; i = c) {
		if (c + 1 < h->nr && is_before(h, c + 1, c))
			c++;
		if (is_before(h, i, c))
			return;
		tmp = h->v[i];
		h->v[i] = h->v[c];
		h->v[c] = tmp;
	}
}

static int by_time(struct events_walk *w, struct event_queue *lanes, uint32_t nr)
{
	struct heap h = { .v = calloc(nr + 1, sizeof(*h.v)) };
	struct pending *p;
	uint32_t i;
	int ret = 0;

	if (!h.v)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		p = lanes[i].wanted ? event_queue_next(w->m, &lanes[i]) : NULL;
		if (!p)
			continue;
		h.v[h.nr].ts = p->ev.ts;
		h.v[h.nr++].lane = &lanes[i];
	}
	for (i = h.nr / 2; i-- > 0; )
		sift_down(&h, i);
	while (h.nr && !ret) {
		struct event_queue *l = h.v[0].lane;

		ret = pass_on(w, l);
		event_queue_drop(l);
		p = event_queue_next(w->m, l);
		if (p)
			h.v[0].ts = p->ev.ts;
		else
			h.v[0] = h.v[--h.nr];
		sift_down(&h, 0);
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

int model_rewind_to_walk(struct model *m)
{
	int ret = model_rewind(m);

	m->read = false;
	return ret;
}

/* An upper bound from the types alone; 0 if the filter asks for more than types. */
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
	struct events_walk w = { .m = m, .event = event, .data = data };
	uint32_t i, nr = reader_nr_streams(m->reader);
	struct event_queue *lanes = calloc(nr + 1, sizeof(*lanes));
	int ret = lanes ? model_rewind(m) : -ENOMEM;

	/* a filter by functions needs the stacks even if the caller does not */
	m->no_stacks = order == MODEL_NO_STACKS && !m->opts.filter.nr_symbols;
	if (!m->no_stacks)
		model_all_ustacks(m, nr_wanted(m));
	for (i = 0; i < nr && !ret; i++)
		ret = event_queue_start(m, &lanes[i], i);
	if (!ret)
		ret = order == MODEL_BY_TIME ? by_time(&w, lanes, nr) : by_cpu(&w, lanes, nr);
	m->no_stacks = false;
	for (i = 0; lanes && i < nr; i++)
		event_queue_free(&lanes[i]);
	free(lanes);
	return ret;
}
