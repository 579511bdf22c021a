// SPDX-License-Identifier: GPL-2.0
/* tree.c - walk sorted samples twice and keep the heaviest frames. See tree.h. */
#include <errno.h>

#include "tree.h"
#include "libunwind-user/base/base.h"

/* Buckets of weights by their leading bits: 8 steps for each power of two, and one for 0. */
#define STEPS		8
#define BUCKETS		(64 * STEPS)

struct open_node {
	uint32_t name;
	uint64_t start, value[2];
};

struct tree_walk {
	const struct fold *f;
	int by;
	uint64_t at;			/* the weight of all samples so far */
	VEC(struct open_node) path;
	VEC(uint32_t) names;		/* of the next path */
	uint64_t bucket[BUCKETS];	/* first walk: number of frames */
	struct tree *tree;		/* second walk */
	VEC(struct tree_node) nodes;
};

static unsigned int get_bucket(uint64_t v)
{
	int msb;

	if (v < STEPS)
		return v;
	msb = 63 - __builtin_clzll(v);
	return (msb - 2) * STEPS + (v >> (msb - 3) & (STEPS - 1));
}

/* The least weight in a bucket. */
static uint64_t get_bucket_min(unsigned int b)
{
	return b < STEPS ? b : (uint64_t)(STEPS + b % STEPS) << (b / STEPS - 1);
}

static int finish_node(struct tree_walk *w)
{
	struct open_node *o = &w->path.v[--w->path.nr];
	struct tree_node *n;

	if (w->path.nr) {
		o[-1].value[0] += o->value[0];
		o[-1].value[1] += o->value[1];
	}
	if (!w->tree) {
		w->bucket[get_bucket(o->value[w->by])]++;
		return 0;
	}
	if (o->value[w->by] < w->tree->least) {
		w->tree->hidden++;
		return 0;
	}
	n = vec_add(&w->nodes);
	if (!n)
		return -ENOMEM;
	n->name = o->name;
	n->depth = w->path.nr;
	n->start = o->start;
	n->value[0] = o->value[0];
	n->value[1] = o->value[1];
	if (n->depth >= w->tree->depth)
		w->tree->depth = n->depth + 1;
	return 0;
}

/* Add the names of a sample from segment @seg on. Before them, the first @nr_names names stay. */
static int spell_seg(struct tree_walk *w, const struct fold_sample *s, int seg,
		     uint32_t nr_names)
{
	const uint32_t *names;
	uint32_t nr;

	w->names.nr = nr_names;
	for (; seg < FOLD_SEGS; seg++) {
		names = fold_get_names(w->f, s->seg[seg], &nr);
		if (!nr)
			continue;
		if (vec_reserve(&w->names, nr))
			return -ENOMEM;
		memcpy(w->names.v + w->names.nr, names, nr * sizeof(*names));
		w->names.nr += nr;
	}
	return 0;
}

static int walk_sample(struct tree_walk *w, const struct fold_sample *prev,
		       const struct fold_sample *s)
{
	struct open_node *o;
	uint32_t same = 0, nr;
	int seg, ret;

	for (seg = 0; prev && seg < FOLD_SEGS && prev->seg[seg] == s->seg[seg]; seg++) {
		fold_get_names(w->f, s->seg[seg], &nr);
		same += nr;
	}
	ret = spell_seg(w, s, seg, same);
	while (same < w->path.nr && same < w->names.nr && w->path.v[same].name == w->names.v[same])
		same++;
	while (!ret && w->path.nr > same)
		ret = finish_node(w);
	while (!ret && w->path.nr < w->names.nr) {
		o = vec_add(&w->path);
		if (!o)
			return -ENOMEM;
		o->name = w->names.v[w->path.nr - 1];
		o->start = w->at;
	}
	if (!ret && w->path.nr) {
		w->path.v[w->path.nr - 1].value[0] += s->value[0];
		w->path.v[w->path.nr - 1].value[1] += s->value[1];
	}
	w->at += s->value[w->by];
	return ret;
}

static int walk_samples(struct tree_walk *w)
{
	const struct fold_sample *prev = NULL;
	size_t i, nr = fold_get_nr_samples(w->f);
	int ret = 0;

	w->at = 0;
	w->path.nr = w->names.nr = 0;
	for (i = 0; i < nr && !ret; i++) {
		ret = walk_sample(w, prev, fold_get_sample(w->f, i));
		prev = fold_get_sample(w->f, i);
	}
	while (w->path.nr && !ret)
		ret = finish_node(w);
	return ret;
}

static uint64_t find_least_weight(const struct tree_walk *w, size_t max_nodes)
{
	uint64_t nr = 0;
	int i;

	for (i = BUCKETS - 1; i > 0; i--) {
		nr += w->bucket[i];
		if (nr > max_nodes)
			return get_bucket_min(i + 1 < BUCKETS ? i + 1 : i);
	}
	return 1;
}

static int compare_places(const void *a, const void *b)
{
	const struct tree_node *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->depth, y->depth);
	return cmp_int(x->start, y->start);
}

int tree_make(struct tree *t, const struct fold *f, int by, size_t max_nodes, double share)
{
	struct tree_walk w = { .f = f, .by = by };
	size_t i;
	int ret;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < fold_get_nr_samples(f); i++) {
		t->total[0] += fold_get_sample(f, i)->value[0];
		t->total[1] += fold_get_sample(f, i)->value[1];
	}
	ret = walk_samples(&w);
	if (!ret) {
		t->least = find_least_weight(&w, max_nodes);
		if (t->least < share * t->total[by])
			t->least = share * t->total[by];
		w.tree = t;
		ret = walk_samples(&w);
	}
	vec_free(&w.path);
	vec_free(&w.names);
	if (ret) {
		vec_free(&w.nodes);
		return ret;
	}
	t->nodes = w.nodes.v;
	t->nr = w.nodes.nr;
	if (t->nr)
		qsort(t->nodes, t->nr, sizeof(*t->nodes), compare_places);
	return 0;
}
