/* SPDX-License-Identifier: GPL-2.0 */
/*
 * same.bpf.h - is the stack still the one of an earlier walk?
 *
 * A walk depends on the registers of the task, on its mappings, and on the words that it reads from
 * the stack. If all of these are as they were at an earlier walk of the task, the result is the
 * same. Most tasks wait at one place again and again. A look at the words is much cheaper than a
 * walk: most of the cost of a read is in the call of the helper, so one call reads words that are
 * close together.
 *
 * Words of Python's frames and names are not in the trail: they are read again, and must give the
 * same functions with the same markers (python.bpf.h). Only the C frames are not walked.
 *
 * Mappings are the same if the kernel's count of changes is. Kernels before 6.4 have no such count,
 * so the programs walk each stack there. Only complete stacks are cached: a table that comes
 * later cannot improve them.
 */
#ifndef TRACE_USTACK_RECORD_BPF_SAME_H
#define TRACE_USTACK_RECORD_BPF_SAME_H

#include "runtimes.bpf.h"
#include "state.bpf.h"

/* The count of changes of the task's mappings; 0: not known, or a change is under way */
static __always_inline u64 count_changes(struct mm_struct *mm)
{
	struct mm_struct___613 *mm_613 = (void *)mm;
	struct mm_struct___64 *mm_64 = (void *)mm;
	u32 count;

	if (bpf_core_field_exists(mm_613->mm_lock_seq.sequence)) {
		count = mm_613->mm_lock_seq.sequence;
		return count & 1 ? 0 : 1ull << 32 | count;
	}
	if (bpf_core_field_exists(mm_64->mm_lock_seq) &&
	    bpf_core_field_exists(mm_64->mmap_lock.count.counter)) {
		/* The count changes when the lock is released: is it held for writing? */
		if (mm_64->mmap_lock.count.counter & 1)
			return 0;
		barrier();
		return 1ull << 32 | (u32)mm_64->mm_lock_seq;
	}
	return 0;
}

/* Does the user stack still have all words that the cached walk read? */
__noinline int is_trail_same(struct cached_walk *c, struct walk *w)
{
	u32 i, at, window = ~0u;

	if (!c || !w)
		return 0;
	for (i = 0; i < MAX_WORDS; i++) {
		if (i >= c->trail.nr)
			return 1;
		at = c->trail.at[i];
		if (at / WINDOW != window) {
			window = at / WINDOW;
			if (bpf_probe_read_user(w->window, WINDOW_SIZE,
						(void *)c->trail.window[window % MAX_WINDOWS]))
				return 0;
		}
		if (w->window[at % WINDOW] != c->trail.value[i])
			return 0;
	}
	return c->trail.nr == MAX_WORDS;
}

static __always_inline bool is_like(const struct cached_walk *c, const struct walk *w)
{
	return c->key.task == w->key.task && c->key.ip == w->key.ip && c->key.sp == w->key.sp;
}

/*
 * The place for this walk in the cache, or NULL. The caller releases the place by setting busy to
 * 0. There are two places for each walk. So two tasks whose walks have the same first place do not
 * replace each other's walk each time.
 */
static __always_inline struct cached_walk *claim_cached_walk(const struct walk *w)
{
	u64 hash = (w->key.task ^ w->key.ip << 20 ^ w->key.sp << 3) * 0x9e3779b97f4a7c15ull;
	u32 i = hash >> 54 & (NR_CACHED_WALKS - 1), j = hash >> 44 & (NR_CACHED_WALKS - 1);
	struct cached_walk *c, *other;

	if (!w->key.changes)
		return NULL;
	c = bpf_map_lookup_elem(&walk_cache, &i);
	other = bpf_map_lookup_elem(&walk_cache, &j);
	if (!c || !other)
		return NULL;
	if (!is_like(c, w) && (is_like(other, w) || other->time < c->time))
		c = other;
	return !c->busy && !__sync_val_compare_and_swap(&c->busy, 0, 1) ? c : NULL;
}

/* Are the functions of Python as they were? */
static __always_inline bool has_same_python(const struct cached_walk *c, struct walk *w)
{
	if (!c->python)
		return true;
	if (!get_spans(w, c->python, c->python_base) && w->python.chain[0] == c->python_chain[0] &&
	    w->python.chain[1] == c->python_chain[1])
		return true;
	/* the walk has not met it yet */
	w->python.file = 0;
	return false;
}

/* The id of the stack if it is the same as at the cached walk, else 0 */
static __always_inline u64 find_same(struct cached_walk *c, struct walk *w)
{
	const u64 *a = (const u64 *)&c->key, *b = (const u64 *)&w->key;
	u64 differ = 0;
	u32 i;

#pragma clang loop unroll(full)
	for (i = 0; i < sizeof(c->key) / 8; i++)
		differ |= a[i] ^ b[i];
	if (differ || !is_trail_same(c, w) || !has_same_python(c, w))
		return 0;
	c->time = w->time;
	return c->stack;
}

static __always_inline void cache_walk(struct cached_walk *c, struct walk *w, struct mm_struct *mm,
				       u64 id)
{
	c->stack = 0;
	c->time = 0;
	c->key.task = 0;
	if (!id || w->reason != MSG_OK || w->trail.nr > MAX_WORDS || w->python.failed ||
	    count_changes(mm) != w->key.changes ||
	    bpf_probe_read_kernel(&c->trail, sizeof(c->trail), &w->trail))
		return;
	c->python = w->python.file;
	c->python_base = w->python.base;
	c->python_chain[0] = w->python.chain[0];
	c->python_chain[1] = w->python.chain[1];
	c->key = w->key;
	c->time = w->time;
	c->stack = id;
}

#endif
