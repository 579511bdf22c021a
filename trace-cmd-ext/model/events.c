// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - from records to events with their stacks
 *
 * The kernel writes an event, its kernel stack and its cookie one after the other on one CPU, and
 * only an interrupt can write something between them (plugin/join/nest.h). So an event waits for
 * its stacks until a later record or dropped events show that no more stacks will come. Events
 * leave a queue in the order of their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define PROGRESS_EVERY	(1 << 16)
#define FIRST_QUEUE	32

/* The queue's room is checked once for so many records. A power of two. */
#define LOOK_EVERY	16
/* Records that stay valid with an event: its own record, and those of its stacks. */
#define GROUP		4

int event_queue_start(struct model *m, struct event_queue *q, uint32_t stream)
{
	const struct reader_stream *s = reader_get_stream(m->reader, stream);
	struct pending *queue = q->queue;
	uint32_t room = q->room;

	if (!queue) {
		room = FIRST_QUEUE;
		queue = malloc(room * sizeof(*queue));
		if (!queue)
			return -ENOMEM;
	}
	memset(q, 0, sizeof(*q));
	q->queue = queue;
	q->room = room;
	q->stream = stream;
	q->buffer = s->buffer;
	q->cpu = s->cpu;
	q->held = READER_HELD;
	q->wanted = filter_wants_cpu(m, s->cpu) &&
		    (!m->wanted_streams || m->wanted_streams[stream]);
	return 0;
}

void event_queue_free(struct event_queue *q)
{
	free(q->queue);
	q->queue = NULL;
}

static struct pending *get_slot(struct event_queue *q, uint32_t nr)
{
	return &q->queue[nr & (q->room - 1)];
}

static struct pending *get_waiting_event(struct event_queue *q, int level)
{
	return q->nest.open >> level & 1 ? get_slot(q, q->waiting[level]) : NULL;
}

/* The event gets no more stacks than it has now. */
static void settle_level(struct event_queue *q, int level)
{
	struct pending *p = get_slot(q, q->waiting[level]);

	nest_close(&q->nest, level);
	p->settled = true;
	/* only a kernel stack can show that the cookie was lost */
	if (p->has_kstack)
		p->asked = p->kpos;
}

static void settle_all(struct event_queue *q, uint32_t levels)
{
	int level;

	for (level = 0; levels; level++, levels >>= 1)
		if (levels & 1)
			settle_level(q, level);
}

/* Make room for one more event and its records, so that no waiting event must leave early. */
static int make_room(struct model *m, struct event_queue *q)
{
	struct pending *p = get_slot(q, q->head), *queue;
	uint32_t room = 2 * q->room, i;

	if (!q->nr)
		return 0;
	if (q->seq - p->seq > q->held - GROUP - LOOK_EVERY) {
		if (q->held >= GROUP * MAX_QUEUE ||
		    reader_hold_records(m->reader, q->stream, 2 * q->held))
			return -ENOMEM;
		q->held *= 2;
	}
	if (q->nr < q->room)
		return 0;
	queue = q->room < MAX_QUEUE ? malloc(room * sizeof(*queue)) : NULL;
	if (!queue)
		return -ENOMEM;
	for (i = 0; i < q->nr; i++)
		queue[(q->head + i) & (room - 1)] = *get_slot(q, q->head + i);
	free(q->queue);
	q->queue = queue;
	q->room = room;
	return 0;
}

static void add_event(struct model *m, struct event_queue *q, struct tep_record *rec, uint32_t type,
		      const struct decode_common *c, int level)
{
	uint32_t nr = q->head + q->nr++;
	struct pending *p = get_slot(q, nr);
	struct model_task *t;

	p->ev.ts = rec->ts;
	p->ev.type = type;
	p->ev.tid = c->tid;
	p->ev.cpu = q->cpu;
	p->ev.buffer = q->buffer;
	p->ev.kstack = p->ev.ustack = MODEL_NONE;
	p->ev.missed = 0;
	p->ev.rec = rec;
	p->ev.kstack_rec = p->ev.cookie_rec = NULL;
	p->seq = q->seq;
	p->level = level;
	p->settled = p->has_kstack = p->cut = false;
	p->asked = p->cookie = 0;
	p->wanted = q->wanted && m->types.v[type].wanted && filter_wants_time(m, rec->ts);
	/* the processes are not known before the end of the scan */
	if (p->wanted && m->read && (m->opts.filter.nr_pids || m->opts.filter.nr_comms)) {
		t = model_get_task(m, c->tid);
		p->wanted = t && t->wanted;
	}
	if (p->wanted) {
		p->ev.missed = q->missed;
		q->missed = 0;
	}
	nest_open(&q->nest, level, c->tid, nest_get_context(c->flags));
	q->waiting[level] = nr;
}

/* As in plugin/join/runs.c: an interrupt has the cookies of the entry that it interrupted. */
static bool may_have_cookie(struct event_queue *q, const struct pending *p, uint64_t cookie)
{
	const struct pending *inner;
	uint32_t nr = q->waiting[p->level] + 1;

	for (; q->nest.v[p->level].passed && nr != q->head + q->nr; nr++) {
		inner = get_slot(q, nr);
		if (inner->level == p->level + 1 && inner->cookie && inner->cookie != cookie)
			return false;
	}
	return true;
}

/* Events were dropped, maybe the cookies of waiting events: such an event has a run of its own. */
static void add_loss(struct event_queue *q, int missed)
{
	struct pending *p;
	int level;

	for (level = 0; level < NEST_LEVELS; level++) {
		p = get_waiting_event(q, level);
		if (p)
			p->cut = true;
	}
	settle_all(q, q->nest.open);
	q->missed = q->missed < 0 || missed < 0 ? -1 : q->missed + missed;
}

static void add_record(struct model *m, struct event_queue *q, struct tep_record *rec,
		       const struct decode_common *c)
{
	struct pending *p = NULL;
	uint32_t type, ended;
	uint64_t cookie;
	int level;
	bool belongs;

	if (rec->missed_events)
		add_loss(q, rec->missed_events);
	type = model_find_type_of(m, c);
	if (type == NO_TYPE || !c->has_tid)
		return;
	level = nest_get_level(c->flags);
	/* usually an event's records are complete, or the next record belongs to it */
	if (q->nest.open) {
		ended = nest_close_ended(&q->nest, level, c->tid);
		if (ended)
			settle_all(q, ended);
		p = get_waiting_event(q, level);
	}
	belongs = nest_belongs(&q->nest, level, c->tid, nest_get_context(c->flags));
	switch (m->types.v[type].kind) {
	case RECORD_KSTACK:
		if (!belongs || p->has_kstack)
			break;
		p->has_kstack = true;
		p->kpos = rec->offset;
		p->ev.kstack_rec = rec;
		if (p->wanted && !m->no_stacks)
			p->ev.kstack = model_intern_kstack(m, rec);
		return;
	case RECORD_COOKIE:
		if (!belongs || !decode_read_cookie(&m->dec, rec, &cookie) || !cookie ||
		    !may_have_cookie(q, p, cookie))
			break;
		p->asked = rec->offset;
		p->cookie = cookie;
		p->ev.cookie_rec = rec;
		p->settled = true;
		nest_close(&q->nest, level);
		return;
	case RECORD_EVENT:
		if (p)
			settle_level(q, level);
		add_event(m, q, rec, type, c, level);
		return;
	default:
		break;
	}
	if (p)
		settle_level(q, level);
}

void event_queue_add(struct model *m, struct event_queue *q, struct tep_record *rec,
		     const struct decode_common *c)
{
	q->seq++;
	add_record(m, q, rec, c);
	/* with the records of a real kernel, there is always room */
	if ((q->nr == q->room || !(q->seq % LOOK_EVERY)) && make_room(m, q))
		settle_all(q, q->nest.open);
}

void event_queue_end(struct event_queue *q)
{
	q->ended = true;
	settle_all(q, q->nest.open);
}

struct pending *event_queue_peek(struct event_queue *q)
{
	struct pending *p = q->nr ? get_slot(q, q->head) : NULL;

	return p && p->settled ? p : NULL;
}

/* Returns as event_queue_peek(), but reads records until an event is ready or the queue ends. */
static struct pending *event_queue_next(struct model *m, struct event_queue *q)
{
	struct decode_common c;
	struct tep_record *rec;
	struct pending *p;

	while (!(p = event_queue_peek(q)) && !q->ended) {
		rec = reader_next(m->reader, q->stream);
		if (!rec) {
			event_queue_end(q);
			continue;
		}
		decode_read_common(&m->dec, rec, &c);
		event_queue_add(m, q, rec, &c);
	}
	return p;
}

void event_queue_drop(struct event_queue *q)
{
	q->head++;
	q->nr--;
}

/* ---- all events ---- */

struct events_walk {
	struct model *m;
	model_event_fn event;
	void *data;
	uint64_t seen;
};

static uint32_t find_ustack(struct model *m, struct event_queue *q, const struct pending *p)
{
	return model_get_run_ustack(m, join_find_run(m->join, q->stream, p->ev.tid, p->asked,
						     p->cookie,
						     get_task_cursor(&q->cursors, p->ev.tid)));
}

/* Call the callback with the first event of the queue, if the filter wants it. */
static int pass_first_event(struct events_walk *w, struct event_queue *q)
{
	struct pending *p = get_slot(q, q->head);
	struct model *m = w->m;

	if (m->opts.progress && !(++w->seen % PROGRESS_EVERY))
		m->opts.progress("events", w->seen, 0);
	if (!p->wanted)
		return 0;
	if (p->asked && !m->no_stacks)
		p->ev.ustack = find_ustack(m, q, p);
	if (m->opts.filter.nr_symbols && !filter_wants_symbols(m, &p->ev))
		return 0;
	m->chosen++;
	return w->event(w->data, &p->ev);
}

static int walk_by_cpu(struct events_walk *w, struct event_queue *queues, uint32_t nr)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		/* events that the filter drops need no stacks */
		if (!queues[i].wanted)
			continue;
		while (!ret && event_queue_next(w->m, &queues[i])) {
			ret = pass_first_event(w, &queues[i]);
			event_queue_drop(&queues[i]);
		}
	}
	return ret;
}

/* The queues as a heap, ordered by the time stamp of the next event, then by the stream */
struct heap {
	struct {
		uint64_t ts;
		struct event_queue *queue;
	} *v;
	uint32_t nr;
};

static bool is_before(const struct heap *h, uint32_t a, uint32_t b)
{
	if (h->v[a].ts != h->v[b].ts)
		return h->v[a].ts < h->v[b].ts;
	return h->v[a].queue->stream < h->v[b].queue->stream;
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

static int walk_by_time(struct events_walk *w, struct event_queue *queues, uint32_t nr)
{
	struct heap h = { .v = calloc(nr + 1, sizeof(*h.v)) };
	struct pending *p;
	uint32_t i;
	int ret = 0;

	if (!h.v)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		p = queues[i].wanted ? event_queue_next(w->m, &queues[i]) : NULL;
		if (!p)
			continue;
		h.v[h.nr].ts = p->ev.ts;
		h.v[h.nr++].queue = &queues[i];
	}
	for (i = h.nr / 2; i-- > 0; )
		sift_down(&h, i);
	while (h.nr && !ret) {
		struct event_queue *q = h.v[0].queue;

		ret = pass_first_event(w, q);
		event_queue_drop(q);
		p = event_queue_next(w->m, q);
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
static uint64_t count_wanted(const struct model *m)
{
	const struct model_filter *f = &m->opts.filter;
	uint64_t nr = 0;
	size_t i;

	if (f->nr_pids || f->nr_comms || f->nr_cpus || f->from || f->to || m->wanted_streams)
		return 0;
	for (i = 0; i < m->types.nr; i++)
		if (m->types.v[i].wanted && m->types.v[i].kind == RECORD_EVENT)
			nr += m->types.v[i].pub.records;
	return nr;
}

int model_for_each(struct model *m, enum model_order order, model_event_fn event, void *data)
{
	struct events_walk w = { .m = m, .event = event, .data = data };
	uint32_t i, nr = reader_get_nr_streams(m->reader);
	struct event_queue *queues = calloc(nr + 1, sizeof(*queues));
	int ret = queues ? model_rewind(m) : -ENOMEM;

	/* a filter by functions needs the stacks even if the caller does not */
	m->no_stacks = order == MODEL_NO_STACKS && !m->opts.filter.nr_symbols;
	if (!m->no_stacks)
		model_make_ustacks(m, count_wanted(m));
	for (i = 0; i < nr && !ret; i++)
		ret = event_queue_start(m, &queues[i], i);
	if (!ret)
		ret = (order == MODEL_BY_TIME ? walk_by_time : walk_by_cpu)(&w, queues, nr);
	m->no_stacks = false;
	for (i = 0; queues && i < nr; i++)
		event_queue_free(&queues[i]);
	free(queues);
	return ret;
}
