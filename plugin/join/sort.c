// SPDX-License-Identifier: LGPL-2.1-or-later
/* sort.c - sort runs and stacks by task, and within each task by their order */
#include "impl.h"

#define CMP(a, b) do { if ((a) != (b)) return (a) < (b) ? -1 : 1; } while (0)

static int cmp_run(const void *a, const void *b)
{
	const struct join_run *x = &((const struct run *)a)->r;
	const struct join_run *y = &((const struct run *)b)->r;

	CMP(x->tid, y->tid);
	CMP(x->stream, y->stream);
	CMP(x->pos, y->pos);
	return 0;
}

static int cmp_stack(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	CMP(x->tid, y->tid);
	CMP(x->cookie, y->cookie);
	CMP(x->ts, y->ts);
	CMP(x->stream, y->stream);
	CMP(x->pos, y->pos);
	return 0;
}

void sort_runs_and_stacks(struct join *j)
{
	if (j->runs.nr)
		qsort(j->runs.v, j->runs.nr, sizeof(*j->runs.v), cmp_run);
	if (j->stacks.nr)
		qsort(j->stacks.v, j->stacks.nr, sizeof(*j->stacks.v), cmp_stack);
}
