// SPDX-License-Identifier: GPL-2.0
/* model_counts - how many events there are of each kind, task, kernel stack and user stack */
#include <errno.h>
#include <string.h>

#include "model_int.h"

static int count(void *data, const struct model_event *ev)
{
	struct model *m = data;
	struct model_count *c;
	uint64_t hash;
	uint32_t i;
	size_t pos;

	hash = hash64(((uint64_t)ev->kstack << 32 | ev->ustack) ^
		      hash64((uint64_t)ev->type << 32 | ev->tid));
	for_each_hidx(&m->count_idx, hash, pos, i) {
		c = &m->counts.v[i];
		if (c->kstack == ev->kstack && c->ustack == ev->ustack && c->type == ev->type &&
		    c->tid == ev->tid) {
			c->nr++;
			return 0;
		}
	}
	c = vec_add(&m->counts);
	if (!c || hidx_add(&m->count_idx, hash, m->counts.nr - 1))
		return -ENOMEM;
	c->type = ev->type;
	c->tid = ev->tid;
	c->kstack = ev->kstack;
	c->ustack = ev->ustack;
	c->nr = 1;
	return 0;
}

int model_counts(struct model *m, const struct model_count **v, size_t *nr)
{
	int ret = m->counted ? 0 : model_each(m, MODEL_BY_CPU, count, m);

	m->counted |= !ret;
	*v = m->counts.v;
	*nr = m->counts.nr;
	return ret;
}
