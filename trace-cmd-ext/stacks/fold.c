// SPDX-License-Identifier: GPL-2.0
/* fold.c - intern names and segments, sort and add up samples. See fold.h. */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "fold.h"
#include "libunwind-user/base/base.h"

#define HUGE_PAGE	(2u << 20)
/* Samples beyond which equal ones are added up before more memory is asked for. */
#define SQUEEZE		(1u << 20)
#define RADIX_BITS	11
/* Samples that are read at random are fetched so many before. */
#define AHEAD		16

struct name {
	struct fold_name pub;
	uint64_t hash;
};

struct seg {
	uint64_t hash;
	uint64_t off;			/* in fold.list */
	uint32_t nr;
};

struct fold_file {
	char *path;
	uint64_t hash;
};

struct fold {
	VEC(struct name) names;
	VEC(struct seg) segs;
	VEC(uint32_t) list;
	VEC(struct fold_file) files;
	VEC(struct fold_sample) samples;
	struct hidx name_idx, seg_idx, file_idx;
	size_t squeeze;
	/* while sorting: the place of each name and segment in the order */
	uint32_t *name_rank, *seg_rank;
	uint32_t nr_ranks;
	bool sorted;
};

/* For large arrays, most of whose cost are page faults. */
static void *big_alloc(size_t size)
{
	void *p;

	if (size < 2 * HUGE_PAGE)
		return malloc(size);
	size = (size + HUGE_PAGE - 1) & -(size_t)HUGE_PAGE;
	p = aligned_alloc(HUGE_PAGE, size);
	if (p)
		madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static uint64_t hash_bytes(const void *p, size_t len, uint64_t h)
{
	const unsigned char *s = p;
	uint64_t word;

	for (; len >= sizeof(word); s += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	for (; len; len--)
		h = (h ^ *s++) * 0x100000001b3ull;
	return hash64(h);
}

struct fold *fold_new(void)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->squeeze = SQUEEZE;
	/* number 0 of each is none */
	if (!vec_add(&f->segs) || !vec_add(&f->files)) {
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
	for (i = 0; i < f->files.nr; i++)
		free(f->files.v[i].path);
	vec_free(&f->names);
	vec_free(&f->segs);
	vec_free(&f->list);
	vec_free(&f->files);
	vec_free(&f->samples);
	hidx_free(&f->name_idx);
	hidx_free(&f->seg_idx);
	hidx_free(&f->file_idx);
	free(f->name_rank);
	free(f->seg_rank);
	free(f);
}

uint32_t fold_file(struct fold *f, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path), 1);
	struct fold_file *file;
	uint32_t i;
	size_t pos;

	for_each_hidx(&f->file_idx, hash, pos, i)
		if (f->files.v[i].hash == hash && !strcmp(f->files.v[i].path, path))
			return i;
	file = vec_add(&f->files);
	if (!file)
		return UINT32_MAX;
	file->hash = hash;
	file->path = strdup(path);
	if (!file->path || hidx_add(&f->file_idx, hash, f->files.nr - 1)) {
		free(file->path);
		f->files.nr--;
		return UINT32_MAX;
	}
	return f->files.nr - 1;
}

uint32_t fold_name(struct fold *f, enum fold_kind kind, const char *text, uint32_t file)
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

uint32_t fold_seg(struct fold *f, const uint32_t *names, uint32_t nr)
{
	uint64_t hash = hash_bytes(names, nr * sizeof(*names), nr);
	struct seg *s;
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
	s = vec_add(&f->segs);
	if (!s)
		return UINT32_MAX;
	if (hidx_add(&f->seg_idx, hash, f->segs.nr - 1)) {
		f->segs.nr--;
		return UINT32_MAX;
	}
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

	if (!c)
		c = (x->kind > y->kind) - (x->kind < y->kind);
	if (!c)
		c = strcmp(fold_path(f, x->file), fold_path(f, y->file));
	return c;
}

static int compare_segs(const void *a, const void *b, void *arg)
{
	const struct fold *f = arg;
	const struct seg *x = &f->segs.v[*(const uint32_t *)a];
	const struct seg *y = &f->segs.v[*(const uint32_t *)b];
	uint32_t i, p, q;

	for (i = 0; i < x->nr && i < y->nr; i++) {
		p = f->name_rank[f->list.v[x->off + i]];
		q = f->name_rank[f->list.v[y->off + i]];
		if (p != q)
			return p < q ? -1 : 1;
	}
	return (x->nr > y->nr) - (x->nr < y->nr);
}

/* The place of each of @nr things in the order that @compare makes. NULL without memory. */
static uint32_t *ranks(struct fold *f, uint32_t nr,
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
	f->name_rank = ranks(f, f->names.nr, compare_names);
	if (!f->name_rank)
		return -ENOMEM;
	f->seg_rank = ranks(f, f->segs.nr, compare_segs);
	return f->seg_rank ? 0 : -ENOMEM;
}

/*
 * Samples are sorted by keys: the upper bits are its place in the order of some segments, the lower
 * ones, as many as it takes, its index.
 */
static int index_bits(size_t nr)
{
	return nr > 1 ? 64 - __builtin_clzll(nr - 1) : 0;
}

/* One stable pass by RADIX_BITS of the keys. */
static void radix_pass(const uint64_t *from, uint64_t *to, size_t nr, int shift)
{
	uint32_t count[1 << RADIX_BITS] = { 0 }, sum = 0, n;
	const uint32_t mask = (1 << RADIX_BITS) - 1;
	size_t i;

	for (i = 0; i < nr; i++)
		count[from[i] >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		n = count[i];
		count[i] = sum;
		sum += n;
	}
	for (i = 0; i < nr; i++)
		to[count[from[i] >> shift & mask]++] = from[i];
}

/*
 * For each place in a path, ranks among the segments that samples have there, as few and as small
 * as can be, and how many bits they take. @dense has room for as many segments at each place.
 */
static void dense_ranks(const struct fold *f, uint32_t *dense[FOLD_SEGS], int bits[FOLD_SEGS],
			uint32_t *by_rank)
{
	uint32_t i, next;
	int at;

	for (i = 0; i < f->samples.nr; i++)
		for (at = 0; at < FOLD_SEGS; at++)
			dense[at][f->samples.v[i].seg[at]] = 1;
	for (at = 0; at < FOLD_SEGS; at++) {
		for (i = 0; i < f->segs.nr; i++)
			by_rank[f->seg_rank[i]] = i;
		for (i = 0, next = 0; i < f->segs.nr; i++)
			if (dense[at][by_rank[i]])
				dense[at][by_rank[i]] = next++;
		bits[at] = next > 1 ? 32 - __builtin_clz(next - 1) : 0;
	}
}

/* Sort @v by the keys from @bit up to @end; returns where they are then, @v or @tmp. */
static uint64_t *sort_keys(uint64_t *v, uint64_t *tmp, size_t nr, int bit, int end)
{
	uint64_t *swap;

	for (; bit < end; bit += RADIX_BITS) {
		radix_pass(v, tmp, nr, bit);
		swap = v;
		v = tmp;
		tmp = swap;
	}
	return v;
}

/* Keys of the segments from @from up to @to, in front of the indices that @v has. */
static void make_keys(const struct fold *f, uint64_t *v, uint32_t *const dense[FOLD_SEGS],
		      const int bits[FOLD_SEGS], int from, int to)
{
	const int low = index_bits(f->samples.nr);
	const struct fold_sample *s;
	uint64_t key, index;
	size_t i;
	int at;

	for (i = 0; i < f->samples.nr; i++) {
		index = v[i] & ((1ull << low) - 1);
		s = &f->samples.v[index];
		for (at = from, key = 0; at < to; at++)
			if (bits[at])
				key = key << bits[at] | dense[at][s->seg[at]];
		v[i] = key << low | index;
	}
}

/* From the last segment to the first; as many at once as fit into a key. */
static uint64_t *sort_all(const struct fold *f, uint64_t *v, uint64_t *tmp,
			  uint32_t *const dense[FOLD_SEGS], const int bits[FOLD_SEGS])
{
	const int low = index_bits(f->samples.nr);
	int from, to, sum;
	uint64_t *sorted;

	for (to = FOLD_SEGS; to; to = from) {
		for (from = to, sum = low; from && sum + bits[from - 1] <= 64; from--)
			sum += bits[from - 1];
		make_keys(f, v, dense, bits, from, to);
		sorted = sort_keys(v, tmp, f->samples.nr, low, sum);
		tmp = sorted == v ? tmp : v;
		v = sorted;
	}
	return v;
}

/* Make a new array in this order, and add up equal samples: far faster than to sort in place. */
static int gather(struct fold *f, const uint64_t *order)
{
	const uint64_t mask = (1ull << index_bits(f->samples.nr)) - 1;
	struct fold_sample *v = big_alloc(f->samples.nr * sizeof(*v));
	const struct fold_sample *s;
	size_t i, to = 0;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < f->samples.nr; i++) {
		if (i + AHEAD < f->samples.nr)
			__builtin_prefetch(&f->samples.v[order[i + AHEAD] & mask]);
		s = &f->samples.v[order[i] & mask];
		if (i && !memcmp(v[to - 1].seg, s->seg, sizeof(s->seg))) {
			v[to - 1].value[0] += s->value[0];
			v[to - 1].value[1] += s->value[1];
		} else {
			v[to++] = *s;
		}
	}
	free(f->samples.v);
	f->samples.v = v;
	f->samples.room = f->samples.nr;
	f->samples.nr = to;
	return 0;
}

int fold_finish(struct fold *f)
{
	uint32_t *ranks, *dense[FOLD_SEGS];
	size_t nr = f->samples.nr, i;
	int bits[FOLD_SEGS], ret = -ENOMEM;
	uint64_t *keys;

	if (f->sorted || !nr)
		return 0;
	if (nr > UINT32_MAX || make_ranks(f))
		return -ENOMEM;
	keys = big_alloc(2 * nr * sizeof(*keys));
	ranks = calloc((FOLD_SEGS + 1) * f->segs.nr, sizeof(*ranks));
	if (keys && ranks) {
		for (i = 0; i < FOLD_SEGS; i++)
			dense[i] = ranks + i * f->segs.nr;
		dense_ranks(f, dense, bits, ranks + FOLD_SEGS * f->segs.nr);
		for (i = 0; i < nr; i++)
			keys[i] = i;
		ret = gather(f, sort_all(f, keys, keys + nr, dense, bits));
	}
	free(keys);
	free(ranks);
	f->sorted = !ret;
	return ret;
}

int fold_reserve(struct fold *f, size_t nr)
{
	struct fold_sample *v;

	if (nr > SQUEEZE)
		f->squeeze = nr + SQUEEZE > f->squeeze ? nr + SQUEEZE : f->squeeze;
	if (f->samples.nr + nr <= f->samples.room)
		return 0;
	v = big_alloc((f->samples.nr + nr) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (f->samples.nr)
		memcpy(v, f->samples.v, f->samples.nr * sizeof(*v));
	free(f->samples.v);
	f->samples.v = v;
	f->samples.room = f->samples.nr + nr;
	return 0;
}

/* ---- reading ---- */

size_t fold_nr(const struct fold *f)
{
	return f->samples.nr;
}

const struct fold_sample *fold_sample(const struct fold *f, size_t i)
{
	return &f->samples.v[i];
}

const uint32_t *fold_names(const struct fold *f, uint32_t seg, uint32_t *nr)
{
	*nr = f->segs.v[seg].nr;
	return f->list.v + f->segs.v[seg].off;
}

const struct fold_name *fold_name_of(const struct fold *f, uint32_t name)
{
	return &f->names.v[name].pub;
}

uint32_t fold_nr_names(const struct fold *f)
{
	return f->names.nr;
}

uint32_t fold_nr_segs(const struct fold *f)
{
	return f->segs.nr;
}

const char *fold_path(const struct fold *f, uint32_t file)
{
	return file ? f->files.v[file].path : "";
}

uint32_t fold_nr_files(const struct fold *f)
{
	return f->files.nr;
}
