// SPDX-License-Identifier: GPL-2.0
/*
 * The checker's own join: straightforward, in memory, by (tid, cookie). It reads the whole file
 * before it decides anything.
 *
 * A record user_unwind_again is a stack, too: that of an earlier cookie of the same task.
 *
 * A stack is a chain of records: after each record with MORE, the next record of the same task and
 * cookie continues the stack. Among complete stacks with the same key, the nearest in time belongs
 * to the request. One that lies beyond a request of the same task under another cookie belongs to
 * another kernel entry, and is taken only if there is no other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event.h"

struct stack {
	struct stack	*next;		/* of the same bucket, newest first */
	unsigned int	tid;
	uint64_t	cookie;
	uint64_t	ts;
	uint64_t	first;		/* not 0: the stack is that of this cookie */
	unsigned int	tgid;
	unsigned int	flags;		/* of the last record, MORE until it came */
	unsigned int	nr;
	unsigned int	used;
	int		cpu;
	uint64_t	*addr;
};

#define BUCKETS	65536

static struct stack *buckets[BUCKETS];

static struct stack **get_bucket(unsigned int tid, uint64_t cookie)
{
	uint64_t h = (cookie ^ (cookie >> 32) ^ ((uint64_t)tid << 20)) * 0x9e3779b97f4a7c15ull;

	return &buckets[h >> 48];
}

static void *check_memory(void *mem)
{
	if (!mem) {
		fprintf(stderr, "no memory for the stacks of this trace\n");
		exit(2);
	}
	return mem;
}

void join_add_cookie(struct event *ev, uint64_t cookie)
{
	ev->cookie = cookie;
	ev->status = JOIN_PENDING;
}

void join_add_stack(const struct event *part)
{
	struct stack **head = get_bucket(part->tid, part->cookie), *s;

	for (s = *head; s; s = s->next) {
		if (s->tid == part->tid && s->cookie == part->cookie)
			break;
	}
	if (!s || !(s->flags & STACK_MORE)) {
		s = check_memory(calloc(1, sizeof(*s)));
		s->next = *head;
		*head = s;
		s->tid = part->tid;
		s->cookie = part->cookie;
		s->tgid = part->tgid;
	}
	s->ts = part->ts;
	s->cpu = part->cpu;
	s->flags = part->flags;
	s->addr = check_memory(realloc(s->addr, (s->nr + part->nr_addr + 1) * sizeof(*s->addr)));
	memcpy(s->addr + s->nr, part->addr, part->nr_addr * sizeof(*s->addr));
	s->nr += part->nr_addr;
}

void join_add_again(const struct event *again, uint64_t first)
{
	struct stack **head = get_bucket(again->tid, again->cookie);
	struct stack *s = check_memory(calloc(1, sizeof(*s)));

	s->next = *head;
	*head = s;
	s->tid = again->tid;
	s->cookie = again->cookie;
	s->ts = again->ts;
	s->cpu = again->cpu;
	s->first = first;
}

/*
 * Copy the stack that was recorded last before @again under its first cookie. The clock must be one
 * for all CPUs.
 */
static void find_first(struct stack *again)
{
	struct stack *s, *best = NULL;

	for (s = *get_bucket(again->tid, again->first); s; s = s->next)
		if (s->tid == again->tid && s->cookie == again->first && !s->first &&
		    s->ts <= again->ts && (!best || s->ts > best->ts))
			best = s;
	if (!best) {
		/* nobody's: its request has no stack */
		again->cookie = 0;
		return;
	}
	again->addr = best->addr;
	again->nr = best->nr;
	again->flags = best->flags;
	again->tgid = best->tgid;
}

static struct stack *find_nearest(const struct event *ev, uint64_t since, uint64_t until)
{
	struct stack *s, *best = NULL;
	uint64_t d, best_d = 0;
	int beyond, best_beyond = 0;

	for (s = *get_bucket(ev->tid, ev->cookie); s; s = s->next) {
		if (s->tid != ev->tid || s->cookie != ev->cookie || s->flags & STACK_MORE)
			continue;
		beyond = s->ts < since || s->ts > until;
		d = s->ts > ev->ts ? s->ts - ev->ts : ev->ts - s->ts;
		if (!best || (beyond == best_beyond ? d < best_d : beyond < best_beyond)) {
			best = s;
			best_d = d;
			best_beyond = beyond;
		}
	}
	return best;
}

/* A task's requests as they were passed, in one direction */
struct last {
	uint64_t	cookie, ts;	/* of the last one */
	uint64_t	other;		/* when the last one under another cookie was, or @none */
};

static struct last *make_lasts(const struct trace *trace)
{
	unsigned int i, max_tid = 0;

	for (i = 0; i < trace->nr; i++)
		if (trace->event[i].tid > max_tid)
			max_tid = trace->event[i].tid;
	return check_memory(calloc(max_tid + 1, sizeof(struct last)));
}

/* The time of the last request under another cookie than that of @ev; @none if there is none */
static uint64_t pass_request(struct last *last, const struct event *ev, uint64_t none)
{
	struct last *l = &last[ev->tid];

	if (l->cookie != ev->cookie)
		l->other = l->cookie ? l->ts : none;
	l->cookie = ev->cookie;
	l->ts = ev->ts;
	return l->other;
}

void join_all(struct trace *trace)
{
	struct last *before = make_lasts(trace), *after = make_lasts(trace);
	uint64_t *since = check_memory(calloc(trace->nr + 1, sizeof(*since))), until;
	struct stack *s;
	struct event *ev;
	unsigned int i;

	for (i = 0; i < trace->nr; i++)
		if (trace->event[i].cookie)
			since[i] = pass_request(before, &trace->event[i], 0);
	for (i = 0; i < BUCKETS; i++)
		for (s = buckets[i]; s; s = s->next)
			if (s->first)
				find_first(s);
	for (i = trace->nr; i-- > 0; ) {
		ev = &trace->event[i];
		if (!ev->cookie)
			continue;
		until = pass_request(after, ev, UINT64_MAX);
		s = find_nearest(ev, since[i], until);
		if (s) {
			ev->status = JOIN_STACK;
			ev->addr = s->addr;
			ev->nr_addr = s->nr;
			ev->flags = s->flags;
			ev->tgid = s->tgid;
			ev->stack_cpu = s->cpu;
			s->used++;
		} else if (before[ev->tid].cookie == ev->cookie) {
			/* the task's last cookie: the task can still be in the kernel */
			ev->status = JOIN_PENDING;
		} else {
			ev->status = trace->dropped ? JOIN_LOST : JOIN_NOT_RECORDED;
		}
	}
	for (i = 0; i < BUCKETS; i++) {
		for (s = buckets[i]; s; s = s->next) {
			trace->stacks++;
			trace->stacks_unused += !s->used;
			trace->broken += !!(s->flags & STACK_MORE);
		}
	}
	free(since);
	free(after);
	free(before);
}
