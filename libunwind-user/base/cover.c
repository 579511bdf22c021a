// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cover.c - the sweep over intervals, see cover.h
 *
 * The sweep sorts the intervals by their start and goes from the lowest address to the highest. A
 * heap holds the open intervals, the highest rank on top. An interval that has ended leaves the
 * heap when it comes to the top. So n intervals take n log n, however they are nested.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover.h"
#include "vec.h"

static int compare_inputs(const void *a, const void *b)
{
	const struct cover_in *x = a, *y = b;

	return cmp_int(x->lo, y->lo);
}

static void heap_push(const struct cover_in **heap, size_t *nr, const struct cover_in *in)
{
	size_t i = (*nr)++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (heap[up]->rank >= in->rank)
			break;
		heap[i] = heap[up];
	}
	heap[i] = in;
}

static void heap_pop(const struct cover_in **heap, size_t *nr)
{
	const struct cover_in *last = heap[--*nr];
	size_t i = 0, down;

	for (; (down = 2 * i + 1) < *nr; i = down) {
		if (down + 1 < *nr && heap[down + 1]->rank > heap[down]->rank)
			down++;
		if (heap[down]->rank <= last->rank)
			break;
		heap[i] = heap[down];
	}
	heap[i] = last;
}

static void add_piece(struct cover *c, uint64_t at, uint32_t owner)
{
	if (c->nr && c->v[c->nr - 1].start == at)
		c->nr--;
	if (c->nr ? c->v[c->nr - 1].owner == owner : owner == COVER_NONE)
		return;
	c->v[c->nr].start = at;
	c->v[c->nr++].owner = owner;
}

int cover_make(struct cover *c, struct cover_in *in, size_t nr)
{
	const struct cover_in **heap;
	size_t i, open = 0;
	uint64_t at = 0;

	c->nr = 0;
	c->v = malloc((2 * nr + 1) * sizeof(*c->v));
	heap = malloc((nr + 1) * sizeof(*heap));
	if (!c->v || !heap) {
		free(c->v);
		free(heap);
		c->v = NULL;
		return -ENOMEM;
	}
	for (i = 1; i < nr && in[i - 1].lo <= in[i].lo; i++)
		;
	if (i < nr)
		qsort(in, nr, sizeof(*in), compare_inputs);
	i = 0;
	for (;;) {
		while (open && heap[0]->hi <= at)
			heap_pop(heap, &open);
		if (!open) {
			while (i < nr && in[i].lo >= in[i].hi)
				i++;
			if (c->nr)
				add_piece(c, at, COVER_NONE);
			if (i == nr)
				break;
			if (in[i].lo > at || !c->nr)
				at = in[i].lo;
		}
		for (; i < nr && in[i].lo <= at; i++)
			if (in[i].lo < in[i].hi)
				heap_push(heap, &open, &in[i]);
		add_piece(c, at, heap[0]->owner);
		at = heap[0]->hi;
		if (i < nr && in[i].lo < at)
			at = in[i].lo;
	}
	free(heap);
	return 0;
}

uint32_t cover_find(const struct cover *c, uint64_t addr)
{
	size_t i;

	bisect(i, c->nr, c->v[i].start > addr);
	return i ? c->v[i - 1].owner : COVER_NONE;
}
