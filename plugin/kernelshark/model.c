// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * model.c - find the stack of each request among KernelShark's rows
 *
 * KernelShark announces records while it loads a file, but the join needs the whole file. So the
 * model only collects records, and answers when the first plot is drawn: it scans the file once
 * (recording/scan.h), and asks the join for each request by CPU, position and time of its record.
 * The join's answer names task, cookie, CPU and time of a stack; these find the stack's row.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <libkshark.h>

#include "kernelshark.h"
#include "plugin/join/join.h"
#include "plugin/recording/recording.h"
#include "libunwind-user/base/base.h"

/* One CPU of one stream while it is loaded. */
struct loading {
	int sd;
	uint32_t cpu;
	uint64_t last;			/* position of the latest record */
	/* for each level, the latest kernel stack that waits for a cookie; .entry NULL: none */
	struct shark_request kstack[NEST_LEVELS];
	/* of the latest stack record */
	bool more;
	uint32_t tid;
	uint64_t cookie;
};

/* The indices of one CPU or task. */
struct range {
	int sd, val;
	size_t first, nr;
	int64_t longest;
};

struct index {
	VEC(uint32_t) v;
	VEC(struct range) ranges;
};

enum { REQUESTS_BY_CPU, REQUESTS_BY_TASK, STACKS_BY_CPU, STACKS_BY_TASK, NR_INDICES };

struct shark_model {
	struct shark_model *next;
	unsigned int users;
	char *path;
	VEC(struct shark_request) requests;
	VEC(struct shark_stack) stacks;
	VEC(struct loading) loading;
	VEC(uint32_t) by_stack;		/* requests by stack, then time */
	struct index index[NR_INDICES];
	struct hidx stack_idx;
	struct scan scan;
	bool scanned, ready;
	char *problem;
};

static struct shark_model *all;

struct shark_model *shark_get(const char *path)
{
	struct shark_model *m;

	for (m = all; m; m = m->next) {
		if (!strcmp(m->path, path)) {
			m->users++;
			return m;
		}
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->path = strdup(path);
	if (!m->path) {
		free(m);
		return NULL;
	}
	m->users = 1;
	m->next = all;
	all = m;
	return m;
}

static void drop_answers(struct shark_model *m)
{
	size_t i;

	m->ready = false;
	vec_free(&m->by_stack);
	for (i = 0; i < NR_INDICES; i++) {
		vec_free(&m->index[i].v);
		vec_free(&m->index[i].ranges);
	}
	hidx_free(&m->stack_idx);
}

void shark_put(struct shark_model *m)
{
	struct shark_model **p;

	if (!m || --m->users)
		return;
	for (p = &all; *p; p = &(*p)->next) {
		if (*p == m) {
			*p = m->next;
			break;
		}
	}
	drop_answers(m);
	vec_free(&m->requests);
	vec_free(&m->stacks);
	vec_free(&m->loading);
	scan_free(&m->scan);
	free(m->problem);
	free(m->path);
	free(m);
}

/* Remove the elements of stream @sd from a vector. */
#define FORGET(vec, sd_)							\
	do {									\
		size_t in_, out_ = 0;						\
										\
		for (in_ = 0; in_ < (vec)->nr; in_++)				\
			if ((vec)->v[in_].sd != (sd_))				\
				(vec)->v[out_++] = (vec)->v[in_];		\
		(vec)->nr = out_;						\
	} while (0)

void shark_forget_stream(struct shark_model *m, int sd)
{
	drop_answers(m);
	FORGET(&m->requests, sd);
	FORGET(&m->stacks, sd);
	FORGET(&m->loading, sd);
}

static struct loading *get_loading(struct shark_model *m, int sd, const struct shark_record *rec)
{
	struct loading *l;
	size_t i;

	for (i = 0; i < m->loading.nr; i++) {
		l = &m->loading.v[i];
		if (l->sd != sd || l->cpu != rec->cpu)
			continue;
		if (rec->pos > l->last)
			return l;
		shark_forget_stream(m, sd);	/* KernelShark starts again */
		break;
	}
	l = vec_add(&m->loading);
	if (!l)
		return NULL;
	l->sd = sd;
	l->cpu = rec->cpu;
	return l;
}

/* A kernel stack without a cookie is a request if the cookie was lost. The join says so later. */
static int add_kstack_request(struct shark_model *m, struct shark_request *k)
{
	struct shark_request *r;

	if (!k->entry)
		return 0;
	r = vec_add(&m->requests);
	if (!r)
		return -ENOMEM;
	*r = *k;
	k->entry = NULL;
	return 0;
}

static int add_stack(struct shark_model *m, struct loading *l, int sd,
		     const struct shark_record *rec)
{
	bool continues = l->more && l->tid == rec->tid && l->cookie == rec->cookie;
	struct shark_stack *s;

	l->more = rec->more;
	l->tid = rec->tid;
	l->cookie = rec->cookie;
	if (continues)
		return 0;
	s = vec_add(&m->stacks);
	if (!s)
		return -ENOMEM;
	s->entry = rec->entry;
	s->cookie = rec->cookie;
	s->ts = rec->ts;
	s->sd = sd;
	s->tid = rec->tid;
	s->cpu = rec->cpu;
	return 0;
}

int shark_add_record(struct shark_model *m, int sd, const struct shark_record *rec)
{
	struct shark_request r = {
		.entry = rec->entry, .shown = rec->entry, .cookie = rec->cookie, .pos = rec->pos,
		.ts = rec->ts, .sd = sd, .tid = rec->tid, .cpu = rec->cpu, .stack = SHARK_NONE,
	};
	struct loading *l = get_loading(m, sd, rec);
	struct shark_request *slot, *k;
	int ret;

	if (!l)
		return -ENOMEM;
	if (m->ready)
		drop_answers(m);
	l->last = rec->pos;
	if (rec->kind == SHARK_STACK)
		return add_stack(m, l, sd, rec);
	k = &l->kstack[nest_get_level(rec->flags)];
	if (rec->kind == SHARK_KERNEL_STACK) {
		r.cookie = 0;
		ret = add_kstack_request(m, k);
		*k = r;
		return ret;
	}
	if (k->entry && k->tid == r.tid) {
		r.kstack = k->entry;
		r.kstack_pos = k->pos;
		r.kstack_ts = k->ts;
		k->entry = NULL;
	}
	slot = vec_add(&m->requests);
	if (!slot)
		return -ENOMEM;
	*slot = r;
	return 0;
}

static uint64_t hash_stack(uint32_t tid, uint32_t cpu, uint64_t cookie, uint64_t ts)
{
	return hash64(hash64(cookie ^ (uint64_t)tid << 32) + ts + cpu);
}

/* Find the row of the stack in @ans. Of two rows, the one in the request's own stream counts. */
static uint32_t find_stack(struct shark_model *m, const struct shark_request *r,
			   const struct join_answer *ans)
{
	uint64_t hash = hash_stack(ans->tid, ans->cpu, r->cookie, ans->ts);
	uint32_t i, found = SHARK_NONE;
	struct shark_stack *s;
	size_t at;

	for_each_hidx(&m->stack_idx, hash, at, i) {
		s = &m->stacks.v[i];
		if (s->tid == ans->tid && s->cpu == ans->cpu && s->cookie == r->cookie &&
		    s->ts == ans->ts && (found == SHARK_NONE || s->sd == r->sd))
			found = i;
	}
	return found;
}

#define NOT_WHOLE \
	(STACK_TRUNCATED | STACK_INCOMPLETE | STACK_CUT_OUTER | STACK_NO_INNER | STACK_OUTSIDE)

/* SHARK_NR_OUTCOMES: the record is not a request. */
static enum shark_outcome answer_request(struct shark_model *m, struct shark_request *r)
{
	const struct join_question q = { r->cpu, r->tid, r->pos, r->ts, r->cookie };
	struct join_answer ans;

	r->stack = SHARK_NONE;
	if (!m->scan.join)
		return SHARK_NR_OUTCOMES;	/* without a join, guess nothing */
	join_find_answer(m->scan.join, &q, &ans);
	if (!r->cookie)
		return ans.form == JOIN_FORM_LOST_COOKIE && ans.state == JOIN_LOST ?
		       SHARK_LOST : SHARK_NR_OUTCOMES;
	switch (ans.state) {
	case JOIN_STACK:
		if (maps_find_outside(m->scan.maps, join_get_pid(ans.tgid, ans.tid), ans.addrs,
				      join_find_unproved(&ans), ans.nr) < ans.nr)
			ans.flags |= STACK_OUTSIDE;
		r->stack = find_stack(m, r, &ans);
		if (r->stack != SHARK_NONE)
			m->stacks.v[r->stack].whole = !(ans.flags & NOT_WHOLE) && ans.nr;
		return SHARK_JOINED;
	case JOIN_PENDING:
		return SHARK_PENDING;
	case JOIN_LOST:
		return SHARK_LOST;
	default:
		return SHARK_UNRECORDED;
	}
}

/* If the kernel stack before a cookie is of another event, ask the join for that event too. */
static int answer_kstack(struct shark_model *m, struct shark_request *r)
{
	const struct join_question q = { r->cpu, r->tid, r->kstack_pos, r->kstack_ts, 0 };
	struct shark_request k = *r;
	struct join_answer ans;

	r->shown = r->entry;
	if (!r->kstack || !m->scan.join)
		return 0;
	join_find_answer(m->scan.join, &q, &ans);
	if (ans.form == JOIN_FORM_KSTACK) {
		r->shown = r->kstack;
		return 0;
	}
	k.entry = k.shown = r->kstack;
	k.pos = r->kstack_pos;
	k.ts = r->kstack_ts;
	k.cookie = 0;
	r->kstack = k.kstack = NULL;
	return add_kstack_request(m, &k);
}

static int answer_all(struct shark_model *m)
{
	size_t i, nr, out = 0;
	int k;

	for (i = 0; i < m->loading.nr; i++)
		for (k = 0; k < NEST_LEVELS; k++)
			if (add_kstack_request(m, &m->loading.v[i].kstack[k]))
				return -ENOMEM;
	for (i = 0; i < m->stacks.nr; i++) {
		struct shark_stack *s = &m->stacks.v[i];

		s->whole = false;
		s->nr_requests = 0;
		if (hidx_add(&m->stack_idx, hash_stack(s->tid, s->cpu, s->cookie, s->ts), i))
			return -ENOMEM;
	}
	nr = m->requests.nr;
	for (i = 0; i < nr; i++)
		if (answer_kstack(m, &m->requests.v[i]))
			return -ENOMEM;
	for (i = 0; i < m->requests.nr; i++) {
		struct shark_request *r = &m->requests.v[i];

		r->outcome = answer_request(m, r);
		if (r->outcome == SHARK_NR_OUTCOMES)
			continue;
		m->requests.v[out++] = *r;
	}
	m->requests.nr = out;
	return 0;
}

static int compare_stacks(const void *a, const void *b, void *data)
{
	const struct shark_request *r = data;
	const struct shark_request *x = &r[*(const uint32_t *)a], *y = &r[*(const uint32_t *)b];

	RETURN_IF_DIFFERENT(x->stack, y->stack);
	RETURN_IF_DIFFERENT(x->entry->ts, y->entry->ts);
	return cmp_int(x->pos, y->pos);
}

static int sort_by_stack(struct shark_model *m)
{
	uint32_t *slot;
	size_t i;

	for (i = 0; i < m->requests.nr; i++) {
		if (m->requests.v[i].stack == SHARK_NONE)
			continue;
		slot = vec_add(&m->by_stack);
		if (!slot)
			return -ENOMEM;
		*slot = i;
	}
	if (m->by_stack.nr)
		qsort_r(m->by_stack.v, m->by_stack.nr, sizeof(*m->by_stack.v), compare_stacks,
			m->requests.v);
	for (i = 0; i < m->by_stack.nr; i++) {
		struct shark_stack *s = &m->stacks.v[m->requests.v[m->by_stack.v[i]].stack];

		if (!s->nr_requests++)
			s->first = i;
	}
	return 0;
}

struct index_key {
	const struct shark_model *m;
	bool stacks, task;
};

static const struct kshark_entry *get_key(const struct index_key *key, uint32_t i, int *sd,
					  int *val)
{
	const struct kshark_entry *e;

	*sd = key->stacks ? key->m->stacks.v[i].sd : key->m->requests.v[i].sd;
	e = key->stacks ? key->m->stacks.v[i].entry : key->m->requests.v[i].entry;
	*val = key->task ? e->pid : e->cpu;
	return e;
}

static int compare_keys(const void *a, const void *b, void *data)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct kshark_entry *x, *y;
	int sd_x, sd_y, val_x, val_y;

	x = get_key(data, i, &sd_x, &val_x);
	y = get_key(data, j, &sd_y, &val_y);
	RETURN_IF_DIFFERENT(sd_x, sd_y);
	RETURN_IF_DIFFERENT(val_x, val_y);
	RETURN_IF_DIFFERENT(x->ts, y->ts);
	return cmp_int(i, j);
}

static int make_index(struct shark_model *m, int which)
{
	struct index_key key = {
		.m = m, .stacks = which >= STACKS_BY_CPU,
		.task = which == REQUESTS_BY_TASK || which == STACKS_BY_TASK,
	};
	size_t i, nr = key.stacks ? m->stacks.nr : m->requests.nr;
	struct index *idx = &m->index[which];
	struct range *range = NULL;
	const struct kshark_entry *e;
	int64_t wait;
	int sd, val;

	if (vec_reserve(&idx->v, nr + 1))
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		idx->v.v[i] = i;
	idx->v.nr = nr;
	qsort_r(idx->v.v, nr, sizeof(*idx->v.v), compare_keys, &key);
	for (i = 0; i < nr; i++) {
		e = get_key(&key, idx->v.v[i], &sd, &val);
		if (!range || range->sd != sd || range->val != val) {
			range = vec_add(&idx->ranges);
			if (!range)
				return -ENOMEM;
			range->sd = sd;
			range->val = val;
			range->first = i;
		}
		range->nr++;
		if (key.stacks)
			continue;
		if (m->requests.v[idx->v.v[i]].outcome == SHARK_PENDING) {
			range->longest = INT64_MAX;
		} else if (m->requests.v[idx->v.v[i]].stack != SHARK_NONE) {
			wait = m->stacks.v[m->requests.v[idx->v.v[i]].stack].entry->ts - e->ts;
			if (wait > range->longest)
				range->longest = wait;
		}
	}
	return 0;
}

static void set_problem(struct shark_model *m, const char *what)
{
	free(m->problem);
	if (asprintf(&m->problem, "%s: %s", m->path, what) < 0)
		m->problem = NULL;
}

static void scan_file_of(struct shark_model *m)
{
	int fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	m->scanned = true;
	if (fd < 0) {
		set_problem(m, "it cannot be opened a second time, so user stacks are not joined; "
			    "check that the file still exists");
		return;
	}
	scan_file(&m->scan, fd);
	close(fd);
	if (m->scan.problem)
		set_problem(m, m->scan.problem);
}

int shark_prepare(struct shark_model *m)
{
	int i, ret;

	if (m->ready)
		return 0;
	if (!m->scanned)
		scan_file_of(m);
	drop_answers(m);
	ret = answer_all(m);
	if (!ret)
		ret = sort_by_stack(m);
	for (i = 0; i < NR_INDICES && !ret; i++)
		ret = make_index(m, i);
	if (ret) {
		drop_answers(m);
		set_problem(m, "there is not enough memory for its marks");
	}
	m->ready = true;
	return ret;
}

const char *shark_get_problem(const struct shark_model *m)
{
	return m->problem;
}

const struct shark_request *shark_get_request(const struct shark_model *m, uint32_t i)
{
	return i < m->requests.nr ? &m->requests.v[i] : NULL;
}

const struct shark_stack *shark_get_stack(const struct shark_model *m, uint32_t i)
{
	return i < m->stacks.nr ? &m->stacks.v[i] : NULL;
}

uint32_t shark_get_nth_request(const struct shark_model *m, uint32_t stack, uint32_t n)
{
	const struct shark_stack *s = shark_get_stack(m, stack);

	if (!s || n >= s->nr_requests || s->first + n >= m->by_stack.nr)
		return SHARK_NONE;
	return m->by_stack.v[s->first + n];
}

static void get_list(const struct index *idx, int sd, int val, struct shark_list *list)
{
	const struct range *r = idx->ranges.v;
	size_t i;

	memset(list, 0, sizeof(*list));
	bisect(i, idx->ranges.nr, r[i].sd > sd || (r[i].sd == sd && r[i].val >= val));
	if (i == idx->ranges.nr || r[i].sd != sd || r[i].val != val)
		return;
	list->v = idx->v.v + r[i].first;
	list->nr = r[i].nr;
	list->longest = r[i].longest;
}

void shark_get_requests(const struct shark_model *m, int sd, bool task, int val,
			struct shark_list *list)
{
	get_list(&m->index[task ? REQUESTS_BY_TASK : REQUESTS_BY_CPU], sd, val, list);
}

void shark_get_stacks(const struct shark_model *m, int sd, bool task, int val,
		      struct shark_list *list)
{
	get_list(&m->index[task ? STACKS_BY_TASK : STACKS_BY_CPU], sd, val, list);
}
