// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * runs.c - collect the records of a stream into runs. See runs.h.
 *
 * Each level has at most one kernel stack that waits for its cookie, as an open group of nest.h.
 * Each task has at most one open run; a record that continues the run only adds to its count. A
 * kernel stack is settled only after the records of an interrupt that may follow it. So runs can
 * come out of order, and the join sorts them.
 */
#include <errno.h>

#include "runs.h"
#include "libunwind-user/base/base.h"

/* A kernel stack whose group is open. */
struct waiting {
	bool after_cookie;		/* the cookie came first: this stack adds nothing */
	bool several_passed;		/* different cookies passed it */
	uint64_t passed;		/* a cookie that passed it, or 0 */
	uint64_t pos, ts;
};

/* A task's run so far. */
struct started_run {
	struct join_run run;
	uint64_t last_ts;		/* of its latest request */
	uint64_t top;			/* the highest position of a run that was emitted */
	bool over;			/* the task's stack came */
};

struct runs {
	int (*emit)(void *data, const struct join_run *run);
	void *data;
	uint32_t stream;
	bool after_loss;
	bool seen_after_loss;		/* there was a record since the loss, of @loss_tid */
	uint32_t loss_tid;
	struct nest nest;		/* of kernel stacks that wait for their cookies */
	struct waiting waiting[NEST_LEVELS];
	/* levels whose last record was a cookie of this task without a kernel stack */
	uint32_t cookie_last;
	uint32_t cookie_tid[NEST_LEVELS];
	VEC(struct started_run) open;		/* one per task */
	uint32_t last;			/* index of the run that was found last */
	struct hidx idx;
};

struct runs *runs_new(int (*emit)(void *data, const struct join_run *run), void *data)
{
	struct runs *r = calloc(1, sizeof(*r));

	if (r) {
		r->emit = emit;
		r->data = data;
	}
	return r;
}

void runs_free(struct runs *r)
{
	if (!r)
		return;
	vec_free(&r->open);
	hidx_free(&r->idx);
	free(r);
}

static struct started_run *get_run(struct runs *r, uint32_t tid)
{
	struct started_run *o;

	if (r->last < r->open.nr && r->open.v[r->last].run.tid == tid)
		return &r->open.v[r->last];
	o = vec_get(&r->open, &r->idx, run.tid, tid);
	if (o)
		r->last = o - r->open.v;
	return o;
}

static int emit_run(struct runs *r, struct started_run *o)
{
	if (o->run.pos > o->top)
		o->top = o->run.pos;
	return r->emit(r->data, &o->run);
}

/* Requests of one task: @events of them, whose records start at @pos */
struct request {
	uint32_t tid, events;
	enum join_form form;
	uint64_t cookie, pos;
	uint64_t ts, last_ts;		/* of the first and of the last record */
};

/* Add requests to the run of their task. */
static int add_request(struct runs *r, const struct request *q)
{
	struct started_run *o = get_run(r, q->tid);
	struct join_run *run;
	int ret = 0;

	if (!o)
		return -ENOMEM;
	run = &o->run;
	/* another kernel entry may have the same cookie: the join decides by the time */
	if (run->pos && (o->over || (q->ts > o->last_ts && q->ts - o->last_ts >= JOIN_PERIOD))) {
		ret = emit_run(r, o);
		run->part++;
		run->pos = 0;
	}
	o->over = false;
	/* a kernel stack without a cookie comes late */
	if (q->last_ts > o->last_ts)
		o->last_ts = q->last_ts;
	/* no other run starts between this one and @pos, even if this one came late */
	if (run->pos > o->top && run->pos <= q->pos && run->cookie == q->cookie &&
	    run->form == q->form) {
		run->events += q->events;
		return 0;
	}
	if (run->pos)
		ret = emit_run(r, o);
	run->stream = r->stream;
	run->pos = q->pos;
	run->ts = q->ts;
	run->cookie = q->cookie;
	run->form = q->form;
	run->events = q->events;
	return ret;
}

/* The task recorded its stack: its later requests may be of another kernel entry. */
static void end_entry(struct runs *r, uint32_t tid)
{
	struct started_run *o = vec_find(&r->open, &r->idx, run.tid, tid);

	if (o)
		o->over = true;
}

/* No cookie came for the kernel stack that waited at this level. */
static int settle_level(struct runs *r, int level, bool lost)
{
	struct waiting *w = &r->waiting[level];

	nest_close(&r->nest, level);
	if (w->after_cookie)
		return 0;
	return add_request(r, &(struct request){
		.tid = r->nest.v[level].tid, .events = lost,
		.form = lost ? JOIN_FORM_LOST_COOKIE : JOIN_FORM_NO_COOKIE,
		.pos = w->pos, .ts = w->ts, .last_ts = w->ts });
}

static int settle_levels(struct runs *r, uint32_t levels, bool lost)
{
	int level, ret = 0;

	for (level = 0; levels && !ret; level++, levels >>= 1)
		if (levels & 1)
			ret = settle_level(r, level, lost);
	return ret;
}

/* Does this cookie, which has the right context, belong to the waiting kernel stack? */
static bool may_belong_to(const struct waiting *w, uint64_t cookie)
{
	return !w->after_cookie && !w->several_passed && (!w->passed || w->passed == cookie);
}

static int add_cookie(struct runs *r, const struct runs_rec *rec, int level)
{
	struct waiting *w = &r->waiting[level];
	struct request q = {
		.tid = rec->tid, .form = JOIN_FORM_COOKIE_ONLY, .cookie = rec->cookie,
		.pos = rec->pos, .ts = rec->ts,
	};
	int ret = 0;

	if (nest_belongs(&r->nest, level, rec->tid, nest_get_context(rec->flags)) &&
	    may_belong_to(w, rec->cookie)) {
		q.form = JOIN_FORM_KSTACK;
		q.pos = w->pos;
		q.ts = q.last_ts = w->ts;
		nest_close(&r->nest, level);
		if (rec->ts > w->ts && rec->ts - w->ts >= JOIN_PERIOD) {
			ret = add_request(r, &q);
			q.pos = rec->pos;
			q.ts = rec->ts;
		}
	} else if (r->nest.open >> level & 1) {
		ret = settle_level(r, level, false);
	}
	q.events = 1;
	q.last_ts = rec->ts > q.ts ? rec->ts : q.ts;
	if (!ret)
		ret = add_request(r, &q);
	/* a task that waits with interrupts on is one level below */
	if (level & 1 && r->nest.open >> (level - 1) & 1) {
		w--;
		w->several_passed |= w->passed && w->passed != rec->cookie;
		w->passed = rec->cookie;
	}
	if (q.form == JOIN_FORM_COOKIE_ONLY) {
		r->cookie_last |= 1u << level;
		r->cookie_tid[level] = rec->tid;
	} else {
		r->cookie_last &= ~(1u << level);
	}
	return ret;
}

/*
 * Only records of interrupts can lie between the parts of a stack. Records at the end of an
 * interrupt have the same task and interrupts off, so such a record decides nothing.
 */
static void update_after_loss(struct runs *r, uint32_t tid, int level)
{
	if (!level || !runs_is_after_loss(r, tid))
		r->after_loss = false;
	r->seen_after_loss = true;
	r->loss_tid = tid;
}

/* End the waiting groups of all levels but the record's own. */
static int end_other_groups(struct runs *r, const struct runs_rec *rec, int level)
{
	uint32_t ended = nest_close_ended(&r->nest, level, rec->tid);

	r->cookie_last &= (2u << level) - 1;
	return ended ? settle_levels(r, ended, false) : 0;
}

/*
 * End the waiting groups of all levels. Sets *@after_cookie if the last record of the record's own
 * level was a task's cookie.
 */
static int end_groups(struct runs *r, const struct runs_rec *rec, int level, bool *after_cookie)
{
	int ret = end_other_groups(r, rec, level);

	if (ret)
		return ret;
	*after_cookie = r->cookie_last >> level & 1 && r->cookie_tid[level] == rec->tid;
	r->cookie_last &= ~(1u << level);
	return r->nest.open >> level & 1 ? settle_level(r, level, false) : 0;
}

int runs_add_record(struct runs *r, const struct runs_rec *rec)
{
	int level = nest_get_level(rec->flags), ret = 0;
	bool waits = r->nest.open || r->cookie_last, after_cookie = false;

	if (r->after_loss)
		update_after_loss(r, rec->tid, level);
	if (rec->kind == RUNS_COOKIE && rec->cookie) {
		if (waits)
			ret = end_other_groups(r, rec, level);
		return ret ? ret : add_cookie(r, rec, level);
	}
	/* usually an event's records are complete */
	if (waits)
		ret = end_groups(r, rec, level, &after_cookie);
	if (ret)
		return ret;
	if (rec->kind == RUNS_STACK)
		end_entry(r, rec->tid);
	if (rec->kind == RUNS_KERNEL_STACK) {
		nest_open(&r->nest, level, rec->tid, nest_get_context(rec->flags));
		r->waiting[level] = (struct waiting){ .after_cookie = after_cookie, .pos = rec->pos,
						      .ts = rec->ts };
	}
	return 0;
}

int runs_add_loss(struct runs *r)
{
	r->after_loss = true;
	r->seen_after_loss = false;
	r->cookie_last = 0;
	return settle_levels(r, r->nest.open, true);
}

bool runs_is_after_loss(const struct runs *r, uint32_t tid)
{
	return r->after_loss && (!r->seen_after_loss || r->loss_tid == tid);
}

int runs_end(struct runs *r)
{
	int ret = settle_levels(r, r->nest.open, false);
	size_t i;

	for (i = 0; i < r->open.nr && !ret; i++)
		if (r->open.v[i].run.pos)
			ret = r->emit(r->data, &r->open.v[i].run);
	r->cookie_last = 0;
	r->open.nr = 0;
	hidx_clear(&r->idx);
	r->after_loss = false;
	return ret;
}

int runs_start_stream(struct runs *r, uint32_t stream)
{
	int ret = runs_end(r);

	r->stream = stream;
	return ret;
}
