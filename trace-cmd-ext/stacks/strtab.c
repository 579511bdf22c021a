// SPDX-License-Identifier: GPL-2.0
/* strtab.c - store each string once and give it a number. See strtab.h. */
#include "strtab.h"

uint32_t strtab_add(struct strtab *t, const char *s, size_t len)
{
	uint64_t hash = hash_bytes(s, len, 0);
	struct strtab_entry *e;
	uint32_t i;
	size_t pos;

	for_each_hidx(&t->idx, hash, pos, i) {
		e = &t->v.v[i];
		if (e->hash == hash && e->len == len && !memcmp(t->pool.v + e->off, s, len))
			return i;
	}
	e = vec_add(&t->v);
	if (!e)
		return UINT32_MAX;
	e->hash = hash;
	e->off = t->pool.nr;
	e->len = len;
	text_add_bytes(&t->pool, s, len);
	text_add_bytes(&t->pool, "", 1);
	if (t->pool.failed || hidx_add(&t->idx, hash, t->v.nr - 1)) {
		t->v.nr--;
		return UINT32_MAX;
	}
	return t->v.nr - 1;
}

const char *strtab_get(const struct strtab *t, uint32_t nr, size_t *len)
{
	*len = t->v.v[nr].len;
	return t->pool.v + t->v.v[nr].off;
}

void strtab_clear(struct strtab *t)
{
	text_clear(&t->pool);
	t->v.nr = 0;
	hidx_clear(&t->idx);
}

void strtab_free(struct strtab *t)
{
	vec_free(&t->pool);
	vec_free(&t->v);
	hidx_free(&t->idx);
}
