// SPDX-License-Identifier: LGPL-2.1-or-later
/* join.c - fill the join. requests.h has the rules, find.c gives the answers. */
#include <errno.h>

#include "impl.h"

const struct join_words join_words[JOIN_NR_STATES] = {
	[JOIN_NONE] = { "none", "", NULL, NULL },
	[JOIN_STACK] = { "joined", "", NULL, NULL },
	[JOIN_PENDING] = { "pending", "  still in the kernel when recording stopped",
			   "still in the kernel at the end", "[still in the kernel]" },
	[JOIN_LOST] = { "lost", "  events were dropped", "lost", "[lost]" },
	[JOIN_UNRECORDED] = { "not-recorded", "  though nothing was dropped",
			      "not recorded", "[not recorded]" },
	[JOIN_UNSURE] = { "unsure", "  two buffers say different things",
			  "not recorded: two buffers of the file say different things here",
			  "[not recorded: two buffers disagree]" },
};

struct join *join_new(void)
{
	struct join *j = calloc(1, sizeof(*j));

	if (j)
		j->period = JOIN_PERIOD;
	return j;
}

void join_free(struct join *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->streams.nr; i++) {
		parts_free(&j->streams.v[i]);
		vec_free(&j->streams.v[i].positions);
	}
	free(j->times);
	vec_free(&j->streams);
	vec_free(&j->dropped);
	vec_free(&j->runs);
	vec_free(&j->stacks);
	vec_free(&j->lists);
	vec_free(&j->firsts);
	vec_free(&j->addrs);
	vec_free(&j->tasks);
	hidx_free(&j->list_idx);
	hidx_free(&j->task_idx);
	free(j);
}

static int add_buffer(struct join *j, uint32_t buffer)
{
	while (j->dropped.nr <= buffer)
		if (!vec_add(&j->dropped))
			return -ENOMEM;
	return 0;
}

int join_add_stream(struct join *j, uint32_t buffer, uint32_t cpu, uint32_t *stream)
{
	struct stream *st;

	if (add_buffer(j, buffer))
		return -ENOMEM;
	st = vec_add(&j->streams);
	if (!st)
		return -ENOMEM;
	st->buffer = buffer;
	st->cpu = cpu;
	st->last = UINT64_MAX;
	*stream = j->streams.nr - 1;
	return 0;
}

int join_set_range(struct join *j, uint32_t stream, uint64_t first, uint64_t last)
{
	if (stream >= j->streams.nr)
		return -EINVAL;
	j->streams.v[stream].first = first;
	j->streams.v[stream].last = last;
	return 0;
}

int join_add_run(struct join *j, const struct join_run *run)
{
	struct run *r;

	if (run->stream >= j->streams.nr)
		return -EINVAL;
	if (j->runs.nr >= NO_STACK)
		return -ENOMEM;
	r = vec_add(&j->runs);
	if (!r)
		return -ENOMEM;
	r->pub = *run;
	r->stack = NOT_ASKED;
	return 0;
}

int join_add_stack(struct join *j, const struct join_stack *stack)
{
	if (stack->stream >= j->streams.nr)
		return -EINVAL;
	if (stack->flags & STACK_AGAIN && (stack->nr != 1 || stack->flags & STACK_MORE))
		return -EINVAL;
	if (j->stacks.nr >= LOST_STACK)
		return -ENOMEM;
	return parts_add(j, stack);
}

int join_add_loss(struct join *j, uint32_t stream, uint64_t events)
{
	if (stream >= j->streams.nr)
		return -EINVAL;
	j->losses += events ? events : 1;
	j->dropped.v[j->streams.v[stream].buffer] = true;
	return parts_add_loss(j, &j->streams.v[stream]);
}

int join_add_position(struct join *j, uint32_t stream, uint64_t pos, uint64_t ts)
{
	struct stream *st;
	struct position *p;

	if (stream >= j->streams.nr)
		return -EINVAL;
	st = &j->streams.v[stream];
	if (st->positions.nr && st->positions.v[st->positions.nr - 1].pos >= pos)
		return -EINVAL;
	p = vec_add(&st->positions);
	if (!p)
		return -ENOMEM;
	p->pos = pos;
	p->ts = ts;
	return 0;
}

int join_set_dropped(struct join *j, uint32_t buffer)
{
	if (add_buffer(j, buffer))
		return -ENOMEM;
	j->dropped.v[buffer] = true;
	return 0;
}

void join_set_damaged(struct join *j)
{
	j->damaged = true;
}

void join_set_slow_clock(struct join *j)
{
	j->period = 0;
}

/* Merge neighbouring runs with the same task, stream, cookie, form and part. */
static void merge_runs(struct join *j)
{
	struct run *r, *out = NULL;
	size_t i, nr = 0;

	for (i = 0; i < j->runs.nr; i++) {
		r = &j->runs.v[i];
		if (out && out->pub.tid == r->pub.tid && out->pub.stream == r->pub.stream &&
		    out->pub.cookie == r->pub.cookie && out->pub.form == r->pub.form &&
		    out->pub.part == r->pub.part) {
			out->pub.events += r->pub.events;
			continue;
		}
		out = &j->runs.v[nr++];
		if (out != r)
			*out = *r;
	}
	j->runs.nr = nr;
}

/*
 * Set the positions between which a stack of the same stream may belong to a run. There is one pass
 * in each direction. It remembers the last run with a cookie, and the last run with another cookie.
 */
static void set_limits_of_runs(struct join *j)
{
	uint64_t cookie = 0, pos = 0, other = 0;
	struct run *r;
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		const uint64_t none = pass ? UINT64_MAX : 0;
		const struct run *before = NULL;

		for (i = 0; i < j->runs.nr; i++) {
			r = &j->runs.v[pass ? j->runs.nr - 1 - i : i];
			if (!before || before->pub.tid != r->pub.tid ||
			    before->pub.stream != r->pub.stream) {
				cookie = 0;
				pos = other = none;
			}
			before = r;
			if (r->pub.cookie) {
				if (cookie != r->pub.cookie) {
					other = cookie ? pos : none;
					cookie = r->pub.cookie;
				}
				pos = r->pub.pos;
			}
			if (pass)
				r->hi = other;
			else
				r->lo = other;
		}
	}
}

static struct task *get_task(struct join *j, uint32_t tid)
{
	return vec_get(&j->tasks, &j->task_idx, tid, tid);
}

static void note_record(struct task *t, uint64_t cookie, uint64_t ts)
{
	if (!cookie)
		return;
	if (!t->has_last || (cookie == t->last_cookie && ts > t->last_ts)) {
		t->has_last = true;
		t->last_cookie = cookie;
		t->last_ts = ts;
	} else if (cookie != t->last_cookie && ts >= t->last_ts) {
		t->has_second = true;
		t->second_ts = t->last_ts;
		t->last_cookie = cookie;
		t->last_ts = ts;
	} else if (cookie != t->last_cookie && (!t->has_second || ts > t->second_ts)) {
		t->has_second = true;
		t->second_ts = ts;
	}
}

/* Can the stack be the one that @again refers to? It was recorded a moment before. */
static bool may_be_first(struct join *j, const struct stack *s, const struct stack *again)
{
	/* without a period, the clock is one for all CPUs */
	if (j->period ? get_distance(s->ts, again->ts) >= j->period : s->ts > again->ts)
		return false;
	return !s->came_again && !(s->flags & STACK_CUT_OUTER);
}

/*
 * The stack that the task recorded under @cookie, or NULL: the last one up to the time of @again,
 * best from the same buffer. The clock of the CPU on which it was recorded can be ahead.
 */
static const struct stack *find_first(struct join *j, const struct task *t,
				      const struct stack *again, uint64_t cookie)
{
	const struct stack *s = &j->stacks.v[t->stack], *found = NULL;
	uint32_t buffer = j->streams.v[again->stream].buffer, after, i;

	bisect(after, t->nr_stacks, s[after].cookie > cookie ||
				    (s[after].cookie == cookie && s[after].ts > again->ts));
	for (i = after; i-- > 0 && s[i].cookie == cookie && after - i <= MAX_TRIES; ) {
		if (!may_be_first(j, &s[i], again))
			continue;
		if (j->streams.v[s[i].stream].buffer == buffer)
			return &s[i];
		if (!found)
			found = &s[i];
	}
	for (i = after; !found && i < t->nr_stacks && s[i].cookie == cookie &&
			i - after < MAX_TRIES; i++)
		if (may_be_first(j, &s[i], again))
			found = &s[i];
	return found;
}

/*
 * Give each reference the addresses of the stack that it refers to. That stack was one record, so
 * no part of it is missing.
 */
static void find_firsts(struct join *j, const struct task *t)
{
	const struct stack *first;
	struct stack *s;
	uint32_t i;

	for (i = 0; i < t->nr_stacks; i++) {
		s = &j->stacks.v[t->stack + i];
		first = s->came_again ? find_first(j, t, s, j->firsts.v[s->list]) : NULL;
		if (!first)
			continue;
		s->list = first->list;
		s->tgid = first->tgid;
		s->flags = first->flags & ~STACK_NO_INNER;
	}
}

/* No answer may fail for lack of memory, so this allocates the memory that index_task() needs. */
static int reserve_times(struct join *j)
{
	struct time_entry *times;
	size_t i;

	if (!j->tasks.nr)
		return 0;
	times = malloc((j->runs.nr + j->stacks.nr) * sizeof(*times));
	if (!times)
		return -ENOMEM;
	j->times = times;
	for (i = 0; i < j->tasks.nr; i++) {
		j->tasks.v[i].times = times;
		times += (size_t)j->tasks.v[i].nr_runs + j->tasks.v[i].nr_stacks;
	}
	return 0;
}

int join_finish(struct join *j)
{
	struct task *t = NULL;
	struct stack *s;
	struct run *r;
	size_t i;
	int ret;

	ret = parts_finish(j);
	if (!ret)
		ret = sort_runs(j);
	if (!ret)
		ret = sort_stacks(j);
	if (ret)
		return ret;
	merge_runs(j);
	set_limits_of_runs(j);

	for (i = 0; i < j->runs.nr; i++) {
		r = &j->runs.v[i];
		if (!t || t->tid != r->pub.tid) {
			t = get_task(j, r->pub.tid);
			if (!t)
				return -ENOMEM;
			t->run = i;
		}
		t->nr_runs++;
		t->has_cookie |= r->pub.cookie != 0;
		note_record(t, r->pub.cookie, r->pub.ts);
	}
	t = NULL;
	for (i = 0; i < j->stacks.nr; i++) {
		s = &j->stacks.v[i];
		if (!t || t->tid != s->tid) {
			t = get_task(j, s->tid);
			if (!t)
				return -ENOMEM;
			t->stack = i;
		}
		t->nr_stacks++;
		note_record(t, s->cookie, s->ts);
	}
	for (i = 0; i < j->tasks.nr && j->firsts.nr; i++)
		find_firsts(j, &j->tasks.v[i]);
	ret = reserve_times(j);
	j->finished = !ret;
	return ret;
}
