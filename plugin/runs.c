// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * runs - see runs.h
 *
 * Each level has at most one kernel stack that waits for its cookie. A record
 * of the same level settles it, and so does one of a lower level: the
 * interrupt is over. Per task the run that is open is kept; a record that says
 * the same only counts. A kernel stack is settled after records of an
 * interrupt, which lie behind it, may have been: runs can come out of order,
 * and the join sorts them.
 */
#include <errno.h>

#include "runs.h"
#include "vec.h"

#define NR_LEVELS 4

struct waiting {
	bool valid;
	bool bare;		/* the cookie came first: this stack adds nothing */
	uint32_t tid;
	uint64_t pos, ts;
};

struct runs {
	int (*emit)(void *data, const struct join_run *run);
	void *data;
	uint32_t stream;
	bool after_loss;
	struct waiting waiting[NR_LEVELS];
	/* the last record of each level was a cookie of this task, 0: was not */
	uint32_t cookie_tid[NR_LEVELS];
	bool cookie_last[NR_LEVELS];
	uint32_t used;			/* a bit for each level that has either */
	VEC(struct join_run) open;	/* one a task */
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

static int level_of(uint32_t flags)
{
	if (flags & TRACE_FL_NMI)
		return 3;
	if (flags & TRACE_FL_HARDIRQ)
		return 2;
	return flags & TRACE_FL_SOFTIRQ ? 1 : 0;
}

static struct join_run *open_run(struct runs *r, uint32_t tid)
{
	struct join_run *run;
	uint32_t i;
	size_t pos;

	for_each_hidx(&r->idx, hash64(tid), pos, i)
		if (r->open.v[i].tid == tid)
			return &r->open.v[i];
	run = vec_add(&r->open);
	if (!run || hidx_add(&r->idx, hash64(tid), r->open.nr - 1))
		return NULL;
	run->tid = tid;
	return run;
}

/* The record at @pos says (form, cookie) for its task; @events requests with it. */
static int say(struct runs *r, uint32_t tid, uint64_t pos, uint64_t ts, uint64_t cookie,
	       enum join_form form, uint32_t events)
{
	struct join_run *run = open_run(r, tid);
	int ret = 0;

	if (!run)
		return -ENOMEM;
	if (run->pos && run->pos <= pos && run->cookie == cookie && run->form == form) {
		run->events += events;
		return 0;
	}
	if (run->pos)
		ret = r->emit(r->data, run);
	run->stream = r->stream;
	run->pos = pos;
	run->ts = ts;
	run->cookie = cookie;
	run->form = form;
	run->events = events;
	return ret;
}

/* No cookie came for the kernel stack that waits at this level. */
static int settle(struct runs *r, int level, bool lost)
{
	struct waiting *w = &r->waiting[level];

	if (!w->valid)
		return 0;
	w->valid = false;
	if (w->bare)
		return 0;
	return say(r, w->tid, w->pos, w->ts, 0, lost ? FORM_LOST_COOKIE : FORM_NO_COOKIE,
		   lost ? 1 : 0);
}

static int settle_from(struct runs *r, int level, bool lost)
{
	int ret = 0;

	/* mostly there is nothing above the level of a task */
	if (!(r->used >> level))
		return 0;
	for (; level < NR_LEVELS && !ret; level++) {
		ret = settle(r, level, lost);
		r->cookie_last[level] = false;
		if (!ret)
			r->used &= ~(1u << level);
	}
	return ret;
}

static int cookie_record(struct runs *r, const struct runs_rec *rec, int level)
{
	struct waiting *w = &r->waiting[level];
	enum join_form form = FORM_BARE;
	int ret;

	if (w->valid && !w->bare && w->tid == rec->tid) {
		form = FORM_KSTACK;
		w->valid = false;
		ret = say(r, rec->tid, w->pos, w->ts, rec->cookie, form, 0);
	} else {
		ret = settle(r, level, false);
	}
	if (!ret)
		ret = say(r, rec->tid, rec->pos, rec->ts, rec->cookie, form, 1);
	r->cookie_last[level] = form == FORM_BARE;
	r->cookie_tid[level] = rec->tid;
	return ret;
}

int runs_record(struct runs *r, const struct runs_rec *rec)
{
	int level = level_of(rec->flags), ret;
	struct waiting *w = &r->waiting[level];
	bool bare;

	if (level == 0)
		r->after_loss = false;
	r->used |= 1u << level;
	ret = settle_from(r, level + 1, false);
	if (ret)
		return ret;
	if (rec->kind == REC_COOKIE && rec->cookie)
		return cookie_record(r, rec, level);

	bare = r->cookie_last[level] && r->cookie_tid[level] == rec->tid;
	r->cookie_last[level] = false;
	ret = settle(r, level, false);
	if (rec->kind == REC_KERNEL_STACK) {
		w->valid = true;
		w->bare = bare;
		w->tid = rec->tid;
		w->pos = rec->pos;
		w->ts = rec->ts;
	}
	return ret;
}

int runs_loss(struct runs *r)
{
	r->after_loss = true;
	return settle_from(r, 0, true);
}

bool runs_after_loss(const struct runs *r)
{
	return r->after_loss;
}

int runs_end(struct runs *r)
{
	int ret = settle_from(r, 0, false);
	size_t i;

	for (i = 0; i < r->open.nr && !ret; i++)
		if (r->open.v[i].pos)
			ret = r->emit(r->data, &r->open.v[i]);
	r->open.nr = 0;
	hidx_clear(&r->idx);
	r->after_loss = false;
	return ret;
}

int runs_stream(struct runs *r, uint32_t stream)
{
	int ret = runs_end(r);

	r->stream = stream;
	return ret;
}
