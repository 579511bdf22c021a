// SPDX-License-Identifier: GPL-2.0
/* fold.c - intern names and segments, sort and add up samples. See fold.h. */
#include <errno.h>
#include <stdbool.h>

#include "fold.h"
#include "strtab.h"

/* With more samples than this, equal ones are added up before more memory is allocated. */
#define SQUEEZE		(1u << 20)

struct name {
	struct fold_name pub;
	uint64_t hash;
};

struct fold_seg {
	uint64_t hash;
	uint64_t off;			/* in fold.list */
	uint32_t nr;
};

struct fold {
	VEC(struct name) names;
	VEC(struct fold_seg) segs;
	VEC(uint32_t) list;
	struct strtab files;
	VEC(struct fold_sample) samples;
	struct hidx name_idx, seg_idx;
	size_t squeeze;
	/* while sorting: the place of each name and segment in the order */
	uint32_t *name_rank, *seg_rank;
	bool sorted;
};

struct fold *fold_new(void)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->squeeze = SQUEEZE;
	/* number 0 of segments and files is FOLD_NONE */
	if (!vec_add(&f->segs) || strtab_add(&f->files, "", 0)) {
		fold_free(f);
		return NULL;
	}
	return f;
}

void fold_free(struct fold *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->names.nr; i++)
		free((char *)f->names.v[i].pub.text);
	vec_free(&f->names);
	vec_free(&f->segs);
	vec_free(&f->list);
	vec_free(&f->samples);
	hidx_free(&f->name_idx);
	hidx_free(&f->seg_idx);
	strtab_free(&f->files);
	free(f->name_rank);
	free(f->seg_rank);
	free(f);
}

uint32_t fold_add_file(struct fold *f, const char *path)
{
	return strtab_add(&f->files, path, strlen(path));
}

uint32_t fold_add_name(struct fold *f, enum fold_kind kind, const char *text, uint32_t file)
{
	uint64_t hash = hash_bytes(text, strlen(text), (uint64_t)file << 8 | kind);
	struct name *n;
	uint32_t i;
	size_t pos;

	if (file == UINT32_MAX)
		return UINT32_MAX;
	for_each_hidx(&f->name_idx, hash, pos, i) {
		n = &f->names.v[i];
		if (n->hash == hash && n->pub.kind == kind && n->pub.file == file &&
		    !strcmp(n->pub.text, text))
			return i;
	}
	n = vec_add(&f->names);
	if (!n)
		return UINT32_MAX;
	n->hash = hash;
	n->pub.kind = kind;
	n->pub.file = file;
	n->pub.text = strdup(text);
	if (!n->pub.text || hidx_add(&f->name_idx, hash, f->names.nr - 1)) {
		free((char *)n->pub.text);
		f->names.nr--;
		return UINT32_MAX;
	}
	return f->names.nr - 1;
}

uint32_t fold_add_seg(struct fold *f, const uint32_t *names, uint32_t nr)
{
	uint64_t hash = hash_bytes(names, nr * sizeof(*names), nr);
	struct fold_seg *s;
	uint32_t i;
	size_t pos;

	if (!nr)
		return FOLD_NONE;
	for (i = 0; i < nr; i++)
		if (names[i] == UINT32_MAX)
			return UINT32_MAX;
	for_each_hidx(&f->seg_idx, hash, pos, i) {
		s = &f->segs.v[i];
		if (s->hash == hash && s->nr == nr &&
		    !memcmp(f->list.v + s->off, names, nr * sizeof(*names)))
			return i;
	}
	if (vec_reserve(&f->list, nr))
		return UINT32_MAX;
	s = vec_add_hashed(&f->segs, &f->seg_idx, hash);
	if (!s)
		return UINT32_MAX;
	s->hash = hash;
	s->off = f->list.nr;
	s->nr = nr;
	memcpy(f->list.v + s->off, names, nr * sizeof(*names));
	f->list.nr += nr;
	return f->segs.nr - 1;
}

int fold_add(struct fold *f, const uint32_t seg[FOLD_SEGS], const uint64_t value[2])
{
	struct fold_sample *s;
	int i, ret;

	for (i = 0; i < FOLD_SEGS; i++)
		if (seg[i] == UINT32_MAX)
			return -ENOMEM;
	if (f->samples.nr >= f->squeeze) {
		ret = fold_finish(f);
		if (ret)
			return ret;
		f->squeeze = f->samples.nr > SQUEEZE / 2 ? f->samples.nr * 2 : SQUEEZE;
	}
	s = vec_add(&f->samples);
	if (!s)
		return -ENOMEM;
	memcpy(s->seg, seg, sizeof(s->seg));
	s->value[0] = value[0];
	s->value[1] = value[1];
	f->sorted = false;
	return 0;
}

/* ---- the order ---- */

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct fold *f = arg;
	const struct fold_name *x = &f->names.v[*(const uint32_t *)a].pub;
	const struct fold_name *y = &f->names.v[*(const uint32_t *)b].pub;
	int c = strcmp(x->text, y->text);

	if (c)
		return c;
	RETURN_IF_DIFFERENT(x->kind, y->kind);
	return strcmp(fold_get_path(f, x->file), fold_get_path(f, y->file));
}

static int compare_segs(const void *a, const void *b, void *arg)
{
	const struct fold *f = arg;
	const struct fold_seg *x = &f->segs.v[*(const uint32_t *)a];
	const struct fold_seg *y = &f->segs.v[*(const uint32_t *)b];
	uint32_t i, p, q;

	for (i = 0; i < x->nr && i < y->nr; i++) {
		p = f->name_rank[f->list.v[x->off + i]];
		q = f->name_rank[f->list.v[y->off + i]];
		RETURN_IF_DIFFERENT(p, q);
	}
	return cmp_int(x->nr, y->nr);
}

/* The rank of each of @nr elements when sorted by @compare. NULL if there is not enough memory. */
static uint32_t *rank_elements(struct fold *f, uint32_t nr,
			       int (*compare)(const void *a, const void *b, void *arg))
{
	uint32_t *order = calloc((size_t)nr + 1, sizeof(*order));
	uint32_t *rank = calloc((size_t)nr + 1, sizeof(*rank)), i;

	if (order && rank) {
		for (i = 0; i < nr; i++)
			order[i] = i;
		qsort_r(order, nr, sizeof(*order), compare, f);
		for (i = 0; i < nr; i++)
			rank[order[i]] = i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(order);
	return rank;
}

static int make_ranks(struct fold *f)
{
	free(f->name_rank);
	free(f->seg_rank);
	f->seg_rank = NULL;
	f->name_rank = rank_elements(f, f->names.nr, compare_names);
	if (!f->name_rank)
		return -ENOMEM;
	f->seg_rank = rank_elements(f, f->segs.nr, compare_segs);
	return f->seg_rank ? 0 : -ENOMEM;
}

/*
 * One pass of a stable sort: copy @from to @to in the order of the segments @at. Returns false, and
 * copies nothing, if all have the same segment. @first has room for a number for each segment.
 */
static bool sort_by(const struct fold *f, int at, const struct fold_sample *from,
		    struct fold_sample *to, uint32_t *first)
{
	const size_t nr = f->samples.nr;
	uint32_t sum = 0, n;
	size_t i;

	memset(first, 0, f->segs.nr * sizeof(*first));
	for (i = 0; i < nr; i++)
		first[f->seg_rank[from[i].seg[at]]]++;
	if (first[f->seg_rank[from[0].seg[at]]] == nr)
		return false;
	for (i = 0; i < f->segs.nr; i++) {
		n = first[i];
		first[i] = sum;
		sum += n;
	}
	for (i = 0; i < nr; i++)
		to[first[f->seg_rank[from[i].seg[at]]]++] = from[i];
	return true;
}

static void add_up_equal(struct fold *f)
{
	struct fold_sample *v = f->samples.v;
	size_t i, last = 0;

	for (i = 1; i < f->samples.nr; i++) {
		if (!memcmp(v[last].seg, v[i].seg, sizeof(v[i].seg))) {
			v[last].value[0] += v[i].value[0];
			v[last].value[1] += v[i].value[1];
		} else {
			v[++last] = v[i];
		}
	}
	f->samples.nr = last + 1;
}

int fold_finish(struct fold *f)
{
	struct fold_sample *from = f->samples.v, *to, *swap;
	size_t nr = f->samples.nr;
	uint32_t *first;
	int at;

	if (f->sorted || !nr)
		return 0;
	if (nr > UINT32_MAX || make_ranks(f))
		return -ENOMEM;
	to = calloc(nr, sizeof(*to));
	first = calloc(f->segs.nr, sizeof(*first));
	if (!to || !first) {
		free(to);
		free(first);
		return -ENOMEM;
	}
	/* from the last segment to the first */
	for (at = FOLD_SEGS; at--; ) {
		if (!sort_by(f, at, from, to, first))
			continue;
		swap = from;
		from = to;
		to = swap;
	}
	if (from != f->samples.v)
		f->samples.room = nr;
	f->samples.v = from;
	free(to);
	free(first);
	add_up_equal(f);
	f->sorted = true;
	return 0;
}

int fold_reserve(struct fold *f, size_t nr)
{
	if (nr > SQUEEZE)
		f->squeeze = nr + SQUEEZE > f->squeeze ? nr + SQUEEZE : f->squeeze;
	return vec_reserve(&f->samples, nr) ? -ENOMEM : 0;
}

/* ---- reading ---- */

size_t fold_get_nr_samples(const struct fold *f)
{
	return f->samples.nr;
}

const struct fold_sample *fold_get_sample(const struct fold *f, size_t i)
{
	return &f->samples.v[i];
}

const uint32_t *fold_get_names(const struct fold *f, uint32_t seg, uint32_t *nr)
{
	*nr = f->segs.v[seg].nr;
	return f->list.v + f->segs.v[seg].off;
}

const struct fold_name *fold_get_name(const struct fold *f, uint32_t name)
{
	return &f->names.v[name].pub;
}

uint32_t fold_get_nr_segs(const struct fold *f)
{
	return f->segs.nr;
}

const char *fold_get_path(const struct fold *f, uint32_t file)
{
	size_t len;

	return strtab_get(&f->files, file, &len);
}

uint32_t fold_get_nr_files(const struct fold *f)
{
	return f->files.v.nr;
}
