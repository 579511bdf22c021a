/* SPDX-License-Identifier: GPL-2.0 */
/*
 * find_rule.bpf.h - which rule holds for an address?
 */
#ifndef TRACE_USTACK_RECORD_BPF_FIND_RULE_H
#define TRACE_USTACK_RECORD_BPF_FIND_RULE_H

#include "state.bpf.h"

#define NO_TABLE	(~0u)		/* in place of a rule */

/* Find part number @nr of the file's rows, and put it into m->part. 0: the file has this part */
static __always_inline int find_part(const struct walk *w, struct mapping *m, u32 nr)
{
	struct part_key key = { .ino = m->ino, .dev = m->dev, .nr = nr };
	struct part *p;

	if (m->part_known && m->part_nr == nr)
		return 0;
	p = bpf_map_lookup_elem(&parts, &key);
	if (!p)
		return -1;
	if (m->kind == MAP_FILE &&
	    (p->state.size != m->state.size || p->state.mtime != m->state.mtime ||
	     p->state.mtime_nsec != m->state.mtime_nsec))
		return -1;
	m->part.chunk = p->chunk;
	m->part.index = p->index;
	m->part.rows = p->rows;
	m->part.nr_rows = p->nr_rows;
	m->part.shift = p->shift;
	m->part.abi = p->abi;
	m->part.python = p->python;
	if (p->abi != (w->flags & UNWIND_STACK_COMPAT ? ABI_32 : ABI_64) && p->abi != ABI_ANY) {
		m->part.abi = ABI_OTHER;
		m->part.nr_rows = 0;
	}
	m->part_nr = nr;
	m->part_known = 1;
	return 0;
}

#define WORD_AT(c, i)	((c)->word[(i) & (CHUNK_WORDS - 1)])

/* The rule for @addr in mapping number @i, or NO_TABLE */
__noinline u32 find_rule(struct walk *w, u32 i, u64 addr)
{
	struct chunk *c;
	struct mapping *m;
	void *inner;
	u64 off;
	u32 at, low, n, half, rows, step;

	if (!w)
		return NO_TABLE;
	m = &w->map[i & (NR_MAPPINGS - 1)];
	if (m->kind == MAP_NO_FILE)
		return rule_make_special(RULE_UNKNOWN);
	off = addr - m->start;
	if (m->kind == MAP_FILE)
		off += m->pgoff;
	if (off >> PART_SHIFT > 0xffffffff || find_part(w, m, off >> PART_SHIFT))
		return NO_TABLE;
	if (!m->part.nr_rows)
		return rule_make_special(m->part.abi == ABI_OTHER ? RULE_OTHER_ABI : RULE_UNKNOWN);
	/* 6.1 wants keys on the stack */
	at = m->part.chunk;
	inner = bpf_map_lookup_elem(&chunks, &at);
	if (!inner)
		return NO_TABLE;
	c = bpf_map_lookup_elem(inner, (void *)&zero);
	if (!c)
		return NO_TABLE;
	at = off & (PART_SIZE - 1);
	rows = m->part.rows;
	half = m->part.index + (at >> (m->part.shift & 31));
	low = WORD_AT(c, half);
	n = WORD_AT(c, half + 1) - low + 1;
	for (step = 0; step < 20 && n > 1; step++) {
		half = n / 2;
		if (WORD_AT(c, rows + 2 * (low + half)) <= at)
			low += half;
		n -= half;
	}
	return WORD_AT(c, rows + 2 * low + 1);
}

#endif
