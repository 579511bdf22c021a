// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * find.c - answer a request by its stack, or by the reason why it has no stack. requests.h has the
 * rules.
 */
#include "impl.h"

static struct task *find_task(struct join *j, uint32_t tid)
{
	return vec_find(&j->tasks, &j->task_idx, tid, tid);
}

static int compare_times(const void *a, const void *b)
{
	const struct time_entry *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->ts, y->ts);
	return cmp_int(x->cookie, y->cookie);
}

static void index_task(struct join *j, struct task *t)
{
	struct time_entry *v = t->times;
	uint32_t i, nr = 0;

	if (t->nr_times)
		return;
	for (i = 0; i < t->nr_runs; i++)
		if (j->runs.v[t->run + i].pub.cookie)
			v[nr++] = (struct time_entry){ j->runs.v[t->run + i].pub.ts,
						       j->runs.v[t->run + i].pub.cookie, 0 };
	for (i = 0; i < t->nr_stacks; i++)
		v[nr++] = (struct time_entry){ j->stacks.v[t->stack + i].ts,
					       j->stacks.v[t->stack + i].cookie, 0 };
	qsort(v, nr, sizeof(*v), compare_times);
	for (i = nr; i-- > 0; )
		v[i].next_other = i + 1 < nr && v[i].cookie == v[i + 1].cookie ?
				  v[i + 1].next_other : i + 1;
	t->nr_times = nr;
}

/* The index of the task's first record after the time @ts. */
static uint32_t find_first_after(const struct task *t, uint64_t ts)
{
	uint32_t i;

	bisect(i, t->nr_times, t->times[i].ts > ts);
	return i;
}

/* Does the task have a run or a stack under another cookie between these times? */
static bool has_other_between(struct join *j, struct task *t, uint64_t cookie, uint64_t a,
			      uint64_t b)
{
	uint64_t from = a < b ? a : b, to = a < b ? b : a;
	uint32_t i;

	index_task(j, t);
	i = find_first_after(t, from);
	if (i < t->nr_times && t->times[i].cookie == cookie)
		i = t->times[i].next_other;
	return i < t->nr_times && t->times[i].ts < to;
}

/* Can records of this cookie at these times be of one kernel entry? */
static bool is_one_entry(struct join *j, struct task *t, uint64_t cookie, uint64_t a, uint64_t b)
{
	return get_distance(a, b) < j->period || !has_other_between(j, t, cookie, a, b);
}

static bool may_answer(struct join *j, struct task *t, const struct run *run, const struct stack *s)
{
	if (s->stream == run->pub.stream && (s->pos <= run->lo || s->pos >= run->hi))
		return false;
	return is_one_entry(j, t, s->cookie, run->pub.ts, s->ts);
}

static bool is_whole(const struct stack *s)
{
	return !(s->flags & (STACK_CUT_OUTER | STACK_NO_INNER));
}

/* Can @cut be a piece of the stack @whole? */
static bool is_piece_of(struct join *j, const struct stack *cut, const struct stack *whole)
{
	const struct list *c = &j->lists.v[cut->list], *w = &j->lists.v[whole->list];
	uint64_t off = w->off;

	if (c->nr > w->nr || (cut->flags & STACK_CUT_OUTER && cut->flags & STACK_NO_INNER))
		return false;
	if (cut->flags & STACK_NO_INNER)
		off += w->nr - c->nr;
	return !c->nr || !memcmp(j->addrs.v + c->off, j->addrs.v + off, c->nr * sizeof(uint64_t));
}

/* Stacks of a task, as indexes in join.stacks */
struct candidates {
	uint32_t stack[MAX_TRIES];
	uint32_t nr;
	bool lost;		/* the nearest one has come again, and the first one is lost */
};

/* Find the stacks that may answer @run: with its cookie, the nearest ones first. */
static void find_candidates(struct join *j, struct task *t, const struct run *run,
			    struct candidates *c)
{
	uint64_t cookie = run->pub.cookie, ts = run->pub.ts;
	uint32_t first = t->stack, end = first + t->nr_stacks, lo, hi, i, tries = 0;
	uint32_t nearest = NO_STACK;
	struct stack *s = j->stacks.v;

	*c = (struct candidates){};
	/* the first of this cookie at or after ts; outwards from there */
	bisect(i, t->nr_stacks, s[first + i].cookie > cookie ||
				(s[first + i].cookie == cookie && s[first + i].ts >= ts));
	lo = hi = first + i;
	while (tries++ < MAX_TRIES) {
		bool down = lo > first && s[lo - 1].cookie == cookie;
		bool up = hi < end && s[hi].cookie == cookie;

		if (!down && !up)
			break;
		if (down && (!up || get_distance(ts, s[lo - 1].ts) <= get_distance(ts, s[hi].ts)))
			i = --lo;
		else
			i = hi++;
		if (!may_answer(j, t, run, &s[i]))
			continue;
		/* a stack that is not a copy of the nearest one belongs to another kernel entry */
		if (nearest == NO_STACK)
			nearest = i;
		else if (!is_one_entry(j, t, cookie, s[nearest].ts, s[i].ts))
			continue;
		if (s[i].flags & STACK_AGAIN)
			s[i].claimed = 1;
		else
			c->stack[c->nr++] = i;
	}
	c->lost = nearest != NO_STACK && !c->nr;
}

/* The index in join.stacks, NO_STACK, or LOST_STACK */
static uint32_t choose_stack(struct join *j, struct task *t, const struct run *run)
{
	const struct stack *s = j->stacks.v;
	struct candidates c;
	uint32_t chosen, i;

	find_candidates(j, t, run, &c);
	if (!c.nr)
		return c.lost ? LOST_STACK : NO_STACK;
	for (i = 0; i < c.nr && j->streams.v[s[c.stack[i]].stream].buffer !=
				j->streams.v[run->pub.stream].buffer; i++)
		;
	chosen = c.stack[i < c.nr ? i : 0];
	for (i = 0; i < c.nr && !is_whole(&s[chosen]); i++)
		if (is_whole(&s[c.stack[i]]) && is_piece_of(j, &s[chosen], &s[c.stack[i]]))
			chosen = c.stack[i];
	return chosen;
}

static enum join_state get_missing_state(struct join *j, struct task *t, const struct run *run)
{
	bool later;

	if (j->damaged)
		return JOIN_LOST;
	later = t->last_cookie != run->pub.cookie ? t->has_last && t->last_ts > run->pub.ts
						: t->has_second && t->second_ts > run->pub.ts;
	if (!later)
		return JOIN_PENDING;
	return j->dropped.v[j->streams.v[run->pub.stream].buffer] ? JOIN_LOST : JOIN_UNRECORDED;
}

static void fill_answer(struct join *j, uint32_t stack, struct join_answer *ans)
{
	const struct stack *s = &j->stacks.v[stack];
	const struct list *l = &j->lists.v[s->list];

	ans->state = JOIN_STACK;
	ans->flags = s->flags;
	ans->tgid = s->tgid;
	ans->tid = s->tid;
	ans->cpu = j->streams.v[s->stream].cpu;
	ans->ts = s->ts;
	ans->id = s->list;
	ans->nr = l->nr;
	ans->addrs = l->nr ? j->addrs.v + l->off : NULL;
}

static void resolve_run(struct join *j, struct task *t, struct run *run)
{
	if (run->stack != NOT_ASKED)
		return;
	run->stack = NO_STACK;
	if (run->pub.form == JOIN_FORM_NO_COOKIE || !run->pub.cookie) {
		run->state = run->pub.form == JOIN_FORM_LOST_COOKIE && t->has_cookie ? JOIN_LOST
									      : JOIN_NONE;
		return;
	}
	run->stack = choose_stack(j, t, run);
	if (run->stack >= LOST_STACK) {
		run->state = run->stack == LOST_STACK ? JOIN_LOST : get_missing_state(j, t, run);
		return;
	}
	run->state = JOIN_STACK;
	j->stacks.v[run->stack].claimed = 1;
}

/* The run of @stream that covers @pos, or NULL. */
static struct run *find_run(struct join *j, struct task *t, uint32_t stream, uint64_t pos)
{
	struct run *r = &j->runs.v[t->run];
	uint32_t i;

	bisect(i, t->nr_runs, r[i].pub.stream > stream ||
			      (r[i].pub.stream == stream && r[i].pub.pos > pos));
	return i && r[i - 1].pub.stream == stream ? &r[i - 1] : NULL;
}

/* Can the stream's record at @pos, if it has one, have been made at @ts? */
static bool covers_record(const struct stream *stream, uint64_t pos, uint64_t ts)
{
	const struct position *p = stream->positions.v;
	size_t i;

	bisect(i, stream->positions.nr, p[i].pos > pos);
	if (i && (p[i - 1].pos == pos ? ts != p[i - 1].ts : ts < p[i - 1].ts))
		return false;
	return i == stream->positions.nr || ts <= p[i].ts;
}

static bool is_same_request(const struct run *a, const struct run *b)
{
	return a->pub.cookie == b->pub.cookie && a->pub.form == b->pub.form;
}

/*
 * A position names one record of the file, except in a compressed file with several buffer
 * instances. There libtracecmd makes up the positions, and those of two instances coincide. Then
 * the time decides, and the cookie if the record has one. If these cannot decide, the answer is
 * JOIN_UNSURE.
 */
void join_find_answer(struct join *j, const struct join_question *q, struct join_answer *ans)
{
	struct task *t = j->finished ? find_task(j, q->tid) : NULL;
	struct run *r, *found = NULL;
	bool sure = true, covered = false, c;
	uint32_t i;

	memset(ans, 0, sizeof(*ans));
	for (i = 0; t && t->nr_runs && i < j->streams.nr; i++) {
		const struct stream *stream = &j->streams.v[i];

		if (stream->cpu != q->cpu || q->pos < stream->first || q->pos > stream->last)
			continue;
		r = find_run(j, t, i, q->pos);
		if (!r || (q->cookie && r->pub.cookie != q->cookie))
			continue;
		c = covers_record(stream, q->pos, q->ts);
		if (!found || (c && !covered)) {
			found = r;
			sure = true;
			covered = c;
		} else if (c == covered && !is_same_request(found, r)) {
			sure = false;
		}
	}
	if (!found)
		return;
	resolve_run(j, t, found);
	ans->form = found->pub.form;
	ans->state = sure ? found->state : JOIN_UNSURE;
	if (ans->state == JOIN_STACK)
		fill_answer(j, found->stack, ans);
}

static void answer_run(struct join *j, struct task *t, struct run *run, struct join_answer *ans)
{
	resolve_run(j, t, run);
	ans->form = run->pub.form;
	ans->state = run->state;
	if (run->stack < LOST_STACK)
		fill_answer(j, run->stack, ans);
}

uint32_t join_find_run(struct join *j, uint32_t stream, uint32_t tid, uint64_t pos,
		       uint64_t cookie, struct join_cursor *cursor)
{
	struct task *t;
	struct run *r, *end;
	int i;

	/* a caller that walks a stream mostly asks for the next run */
	for (i = 0; i < 4 && cursor->tid == tid && cursor->from < cursor->to && pos >= cursor->to &&
	     cursor->to != UINT64_MAX; i++) {
		r = &j->runs.v[++cursor->run];
		cursor->from = r->pub.pos;
		cursor->to = cursor->run + 1 < j->runs.nr && r[1].pub.tid == tid &&
			     r[1].pub.stream == stream ? r[1].pub.pos : UINT64_MAX;
	}
	if (cursor->tid != tid || pos < cursor->from || pos >= cursor->to) {
		t = j->finished ? find_task(j, tid) : NULL;
		r = t && t->nr_runs ? find_run(j, t, stream, pos) : NULL;
		cursor->tid = tid;
		cursor->from = cursor->to = 0;
		if (!r)
			return JOIN_NO_RUN;
		end = &j->runs.v[t->run + t->nr_runs];
		cursor->run = r - j->runs.v;
		cursor->from = r->pub.pos;
		cursor->to = r + 1 < end && r[1].pub.stream == stream ? r[1].pub.pos : UINT64_MAX;
	}
	if (cookie && j->runs.v[cursor->run].pub.cookie != cookie)
		return JOIN_NO_RUN;
	return cursor->run;
}

uint32_t join_get_nr_runs(struct join *j)
{
	return j->finished ? j->runs.nr : 0;
}

void join_get_run(struct join *j, uint32_t run, struct join_answer *ans, struct join_run *about)
{
	struct run *r = &j->runs.v[run];
	struct task *t = find_task(j, r->pub.tid);

	memset(ans, 0, sizeof(*ans));
	if (t)
		answer_run(j, t, r, ans);
	if (about)
		*about = r->pub;
}

void join_get_stats(struct join *j, struct join_stats *stats)
{
	struct task *t;
	struct run *r;
	size_t i, k;

	memset(stats, 0, sizeof(*stats));
	for (i = 0; i < j->tasks.nr; i++) {
		t = &j->tasks.v[i];
		for (k = 0; k < t->nr_runs; k++) {
			r = &j->runs.v[t->run + k];
			resolve_run(j, t, r);
			stats->requests[r->state] += r->pub.events;
		}
	}
	for (i = 0; i < j->stacks.nr; i++) {
		const struct stack *s = &j->stacks.v[i];

		stats->truncated += !!(s->flags & STACK_TRUNCATED);
		stats->incomplete += !!(s->flags & STACK_INCOMPLETE);
		stats->frame_pointer += !!(s->flags & STACK_FRAME_POINTER);
		stats->unclaimed += !s->claimed;
	}
	stats->stacks = j->stacks.nr;
	stats->distinct = j->lists.nr;
	stats->cut = j->cut;
	stats->losses = j->losses;
}
