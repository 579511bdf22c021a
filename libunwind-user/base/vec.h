/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vec.h - growing arrays, a hash of integers, and binary search
 *
 * VEC(type) declares a vector. vec_add() returns a pointer to a new zeroed element, or NULL when
 * memory runs out. The pointer is valid until the next vec_add(). array_add() does the same for
 * arrays that stay short.
 */
#ifndef UU_VEC_H
#define UU_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number of elements of an array; not for a pointer. libiberty.h defines the same. */
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#define VEC(type) struct { type *v; size_t nr, room; }

/*
 * Make room for @add more elements in an array with *@room elements, @nr in use; 0, or -1. @array
 * is the address of the pointer. For arrays that need no @room once they are complete.
 */
static inline int vec_grow(void *array, size_t *room, size_t nr, size_t add, size_t size)
{
	size_t want = *room ? *room : 16;
	void **v = array, *p;

	if (add > SIZE_MAX / size / 2 - nr)
		return -1;
	while (want < nr + add)
		want += want / 2 + 1;
	if (want == *room)
		return 0;
	p = realloc(*v, want * size);
	if (!p)
		return -1;
	*v = p;
	*room = want;
	return 0;
}

/*
 * vec_grow() for one more element, in an array that is not a vector: it counts in 32 bits, or
 * shares its count with other arrays. -1 also for more than 4 G elements.
 */
static inline int vec_grow32(void *array, uint32_t *room, uint32_t nr, size_t size)
{
	size_t want = *room;

	if (nr < *room)
		return 0;
	if (nr == UINT32_MAX || vec_grow(array, &want, nr, 1, size))
		return -1;
	*room = want < UINT32_MAX ? want : UINT32_MAX;
	return 0;
}

static inline void *vec_add_one(void **v, size_t *nr, size_t size)
{
	char *bigger = realloc(*v, (*nr + 1) * size);

	if (!bigger)
		return NULL;
	*v = bigger;
	return memset(bigger + (*nr)++ * size, 0, size);
}

/*
 * A new zeroed element of the array @v with @nr elements (size_t); NULL if there is not enough
 * memory.
 */
#define array_add(v, nr)	((__typeof__(v))vec_add_one((void **)&(v), &(nr), sizeof(*(v))))

/* Make room for @add more elements; 0, or -1 if there is not enough memory. */
#define vec_reserve(vec, add)							\
	((vec)->nr + (add) <= (vec)->room ? 0 :					\
	 vec_grow(&(vec)->v, &(vec)->room, (vec)->nr, (add), sizeof(*(vec)->v)))

#define vec_add(vec)								\
	(vec_reserve(vec, 1) ? NULL :						\
	 (__typeof__((vec)->v))memset(&(vec)->v[(vec)->nr++], 0, sizeof(*(vec)->v)))

#define vec_free(vec)								\
	do {									\
		free((vec)->v);							\
		(vec)->v = NULL;						\
		(vec)->nr = (vec)->room = 0;					\
	} while (0)

/* For comparisons, as qsort() wants them: the smaller value comes first. */
#define cmp_int(a, b)	(((a) > (b)) - ((a) < (b)))
#define RETURN_IF_DIFFERENT(a, b) do { if ((a) != (b)) return cmp_int(a, b); } while (0)

/*
 * Set @i to the smallest index below @nr for which @cond is true, or to @nr. @cond, an expression
 * with @i, must be true for all larger indices, too. bsearch() finds only equal elements.
 */
#define bisect(i, nr, cond) do {				\
	__typeof__(i) lo_ = 0, hi_ = (nr);			\
								\
	while (lo_ < hi_) {					\
		i = lo_ + (hi_ - lo_) / 2;			\
		if (cond)					\
			hi_ = i;				\
		else						\
			lo_ = i + 1;				\
	}							\
	i = lo_;						\
} while (0)

/* The finalizer of splitmix64: every input bit reaches every output bit. */
static inline uint64_t hash64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	const uint64_t k = 0x9e3779b97f4a7c15ull;
	const uint8_t *p = bytes;
	uint64_t h = seed ^ len, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * k;
		h ^= h >> 32;	/* a product's upper bits are the good ones */
	}
	for (v = 0; len; len--)
		v = v << 8 | *p++;
	h = (h ^ v) * k;
	return h ^ h >> 32;
}

static inline uint64_t hash_str(const char *s)
{
	return hash_bytes(s, strlen(s), 0);
}

/*
 * A hash of @nr words, for lists that are hashed by the million: the processor computes the four
 * sums in parallel.
 */
static inline uint64_t hash_words(const uint64_t *v, size_t nr, uint64_t seed)
{
	const uint64_t k = 0x9e3779b97f4a7c15ull;
	uint64_t a = seed ^ nr, b = k, c = ~k, d = ~seed;
	size_t i;

	for (i = 0; i + 4 <= nr; i += 4) {
		a = (a ^ v[i]) * k;
		b = (b ^ v[i + 1]) * k;
		c = (c ^ v[i + 2]) * k;
		d = (d ^ v[i + 3]) * k;
		/* a product's upper bits are the good ones */
		a ^= a >> 32;
		b ^= b >> 32;
		c ^= c >> 32;
		d ^= d >> 32;
	}
	for (; i < nr; i++)
		a = hash64(a ^ v[i]);
	return hash64(a + hash64(b + hash64(c + hash64(d))));
}

/*
 * A hash index: open addressing with a power of two of slots, from a hash to the index of an
 * element that the caller keeps in a vector. Elements are never removed.
 */
struct hidx {
	struct {
		uint32_t at;	/* index + 1, 0: free */
		uint32_t tag;	/* the hash's low 32 bits, to skip most compares */
	} *slot;
	size_t mask;
	size_t nr;
};

static inline void hidx_free(struct hidx *h)
{
	free(h->slot);
	memset(h, 0, sizeof(*h));
}

static inline void hidx_clear(struct hidx *h)
{
	if (h->slot)
		memset(h->slot, 0, (h->mask + 1) * sizeof(*h->slot));
	h->nr = 0;
}

/* Use a free slot, or overwrite the last of the @probes slots that are searched. */
static inline void hidx_put_slot(struct hidx *h, uint32_t hash, uint32_t val, size_t probes)
{
	size_t i = hash & h->mask;

	while (h->slot[i].at && --probes)
		i = (i + 1) & h->mask;
	h->slot[i].at = val;
	h->slot[i].tag = hash;
}

static inline int hidx_put(struct hidx *h, uint64_t hash, uint32_t index, size_t probes)
{
	if (!h->slot || h->nr * 2 >= h->mask) {
		struct hidx big = { .mask = h->slot ? h->mask * 2 + 1 : 63 };
		size_t i;

		big.slot = calloc(big.mask + 1, sizeof(*big.slot));
		if (!big.slot)
			return -1;
		for (i = 0; h->slot && i <= h->mask; i++)
			if (h->slot[i].at)
				hidx_put_slot(&big, h->slot[i].tag, h->slot[i].at, probes);
		big.nr = h->nr;
		hidx_free(h);
		*h = big;
	}
	hidx_put_slot(h, hash, index + 1, probes);
	h->nr++;
	return 0;
}

static inline int hidx_add(struct hidx *h, uint64_t hash, uint32_t index)
{
	return hidx_put(h, hash, index, SIZE_MAX);
}

/*
 * for_each_hidx(h, hash, pos, index): the candidates for this hash; the caller compares. @pos is a
 * size_t for the macro's own use.
 */
#define for_each_hidx(h, hash, pos, index)					\
	for ((pos) = (uint32_t)(hash) & (h)->mask;				\
	     (h)->slot && (h)->slot[pos].at && ((index) = (h)->slot[pos].at - 1, 1);	\
	     (pos) = ((pos) + 1) & (h)->mask)					\
		if ((h)->slot[pos].tag == (uint32_t)(hash))

/*
 * vec_add() of an element that @idx finds by @hash; NULL if there is not enough memory for one of
 * the two.
 */
#define vec_add_hashed(vec, idx, hash) ({					\
	__typeof__(&*(vec)->v) new_ = vec_add(vec);				\
										\
	if (new_ && hidx_add(idx, hash, (vec)->nr - 1)) {			\
		(vec)->nr--;							\
		new_ = NULL;							\
	}									\
	new_; })

/*
 * Find elements of @vec by a number, their member @id; @idx is the hash of the elements. vec_find()
 * returns NULL for an unknown number. vec_get() adds an element for an unknown number, zeroed
 * except for the number. It returns NULL if there is not enough memory.
 */
#define vec_find(vec, idx, id, n) ({						\
	__typeof__(&*(vec)->v) found_ = NULL;					\
	uint64_t want_ = (n);							\
	uint32_t at_;								\
	size_t pos_;								\
										\
	for_each_hidx(idx, hash64(want_), pos_, at_) {				\
		if ((vec)->v[at_].id == want_) {				\
			found_ = &(vec)->v[at_];				\
			break;							\
		}								\
	}									\
	found_; })

#define vec_get(vec, idx, id, n) ({						\
	uint64_t number_ = (n);							\
	__typeof__(&*(vec)->v) got_ = vec_find(vec, idx, id, number_);		\
										\
	if (!got_) {								\
		got_ = vec_add_hashed(vec, idx, hash64(number_));		\
		if (got_)							\
			got_->id = number_;					\
	}									\
	got_; })

/*
 * for_each_hidx() for input that can make hashes collide. It searches HIDX_PROBES slots, so the
 * work has a limit. Then the index can forget an element: the caller takes the element for new when
 * it comes again.
 */
#define HIDX_PROBES	64

static inline int hidx_add_bounded(struct hidx *h, uint64_t hash, uint32_t index)
{
	return hidx_put(h, hash, index, HIDX_PROBES);
}

#define for_each_hidx_bounded(h, hash, pos, index)					\
	for ((pos) = 0; (pos) < HIDX_PROBES && (h)->slot &&			\
	     (h)->slot[((uint32_t)(hash) + (pos)) & (h)->mask].at &&		\
	     ((index) = (h)->slot[((uint32_t)(hash) + (pos)) & (h)->mask].at - 1, 1); (pos)++)	\
		if ((h)->slot[((uint32_t)(hash) + (pos)) & (h)->mask].tag == (uint32_t)(hash))

#endif
