// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sort.c - sort runs and stacks by task, and within each task by their order
 *
 * The caller adds them stream by stream, and those of one task in one stream in order, with few
 * exceptions. So a first pass moves each element once, to the group of its task, and keeps the
 * order within the group. After that, only the groups that are not in order are sorted.
 */
#include <errno.h>

#include "impl.h"

struct group {
	uint32_t tid;
	uint32_t nr;			/* first its elements, then its placed elements */
	uint32_t first;
};

struct groups {
	VEC(struct group) v;
	struct hidx idx;		/* by tid */
	uint32_t *to;			/* by element: its group, then its place */
	uint32_t *order;		/* groups by tid */
};

static uint32_t get_group(struct groups *g, uint32_t tid)
{
	struct group *found = vec_get(&g->v, &g->idx, tid, tid);

	return found ? found - g->v.v : UINT32_MAX;
}

static int compare_tids(const void *a, const void *b, void *arg)
{
	const struct group *v = arg;

	return cmp_int(v[*(const uint32_t *)a].tid, v[*(const uint32_t *)b].tid);
}

/* Sort the groups by tid and compute the first place of each from the sizes. */
static int place_groups(struct groups *g)
{
	struct group *p;
	uint32_t at = 0;
	size_t i;

	g->order = malloc(g->v.nr * sizeof(*g->order));
	if (!g->order)
		return -ENOMEM;
	for (i = 0; i < g->v.nr; i++)
		g->order[i] = i;
	qsort_r(g->order, g->v.nr, sizeof(*g->order), compare_tids, g->v.v);
	for (i = 0; i < g->v.nr; i++) {
		p = &g->v.v[g->order[i]];
		p->first = at;
		at += p->nr;
		p->nr = 0;
	}
	return 0;
}

/*
 * Move each element @i to @to[i], and set that to i. Inlined, so that the size is a constant and an
 * element moves by a few instructions.
 */
static inline __attribute__((always_inline))
void move_to_places(char *v, size_t nr, size_t size, uint32_t *to)
{
	char held[64], other[64];
	uint32_t at, next;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (to[i] == i)
			continue;
		/* in a cycle: put the held element into its place, and hold the one there */
		memcpy(held, v + i * size, size);
		for (at = to[i]; at != i; at = next) {
			memcpy(other, v + at * size, size);
			memcpy(v + at * size, held, size);
			memcpy(held, other, size);
			next = to[at];
			to[at] = at;
		}
		memcpy(v + i * size, held, size);
		to[i] = i;
	}
}

/* Inlined for the same reason */
static inline __attribute__((always_inline))
int sort_by_task(char *v, size_t nr, size_t size, size_t tid_at,
		 int (*cmp)(const void *a, const void *b))
{
	struct groups g = { .to = malloc((nr + 1) * sizeof(*g.to)) };
	uint32_t last = UINT32_MAX, last_tid = 0, tid;
	struct group *p;
	int ret = -ENOMEM;
	size_t i, k;

	for (i = 0; g.to && i < nr; i++) {
		memcpy(&tid, v + i * size + tid_at, sizeof(tid));
		if (last == UINT32_MAX || tid != last_tid)
			last = get_group(&g, tid);
		if (last == UINT32_MAX)
			goto out;
		last_tid = tid;
		g.to[i] = last;
		g.v.v[last].nr++;
	}
	if (!g.to || place_groups(&g))
		goto out;
	for (i = 0; i < nr; i++) {
		p = &g.v.v[g.to[i]];
		g.to[i] = p->first + p->nr++;
	}
	move_to_places(v, nr, size, g.to);
	for (i = 0; i < g.v.nr; i++) {
		p = &g.v.v[i];
		for (k = p->first + 1; k < (size_t)p->first + p->nr; k++)
			if (cmp(v + (k - 1) * size, v + k * size) > 0)
				break;
		if (k < (size_t)p->first + p->nr)
			qsort(v + p->first * size, p->nr, size, cmp);
	}
	ret = 0;
out:
	free(g.to);
	free(g.order);
	vec_free(&g.v);
	hidx_free(&g.idx);
	return ret;
}

/* Both runs are of one task. */
static int compare_runs(const void *a, const void *b)
{
	const struct join_run *x = &((const struct run *)a)->pub;
	const struct join_run *y = &((const struct run *)b)->pub;

	RETURN_IF_DIFFERENT(x->stream, y->stream);
	return cmp_int(x->pos, y->pos);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->cookie, y->cookie);
	RETURN_IF_DIFFERENT(x->ts, y->ts);
	RETURN_IF_DIFFERENT(x->stream, y->stream);
	return cmp_int(x->pos, y->pos);
}

int sort_runs(struct join *j)
{
	_Static_assert(sizeof(struct run) <= 64 && sizeof(struct stack) <= 64, "held[]");
	return j->runs.nr ? sort_by_task((char *)j->runs.v, j->runs.nr, sizeof(struct run),
					 offsetof(struct run, pub.tid), compare_runs) : 0;
}

int sort_stacks(struct join *j)
{
	return j->stacks.nr ? sort_by_task((char *)j->stacks.v, j->stacks.nr, sizeof(struct stack),
					   offsetof(struct stack, tid), compare_stacks) : 0;
}
