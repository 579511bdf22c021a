// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * parts.c - put together the records of one stack
 *
 * The kernel splits a stack that is too deep for one record. The parts come in order on one stream,
 * and all but the last have the flag MORE. Only an unbroken sequence becomes a whole stack. The
 * sequence breaks when events are dropped between two parts, when the task records a stack under
 * another cookie, or when the recording ends. The parts before the break are then stored as CUT,
 * and the parts after it are dropped, because nobody knows how many are missing between them.
 *
 * Equal address lists are stored once.
 */
#include <errno.h>

#include "impl.h"

/* A kernel writes the parts of a stack in one go; a hostile file does not. */
#define MAX_OPEN 64

static int intern_list(struct join *j, const uint64_t *addrs, uint32_t nr, uint32_t *id)
{
	uint64_t hash = hash_words(addrs, nr, 0);
	struct list *l;
	uint32_t i;
	size_t pos;

	for_each_hidx(&j->list_idx, hash, pos, i) {
		l = &j->lists.v[i];
		if (l->hash == hash && l->nr == nr &&
		    (!nr || !memcmp(j->addrs.v + l->off, addrs, nr * sizeof(*addrs)))) {
			*id = i;
			return 0;
		}
	}
	if (vec_reserve(&j->addrs, nr))
		return -ENOMEM;
	l = vec_add_hashed(&j->lists, &j->list_idx, hash);
	if (!l)
		return -ENOMEM;
	l->hash = hash;
	l->off = j->addrs.nr;
	l->nr = nr;
	if (nr)
		memcpy(j->addrs.v + j->addrs.nr, addrs, nr * sizeof(*addrs));
	j->addrs.nr += nr;
	*id = j->lists.nr - 1;
	return 0;
}

static int store_stack(struct join *j, const struct join_stack *s, const uint64_t *addrs,
		       uint32_t nr, uint32_t flags)
{
	struct stack *st;
	uint32_t id;
	int ret;

	ret = intern_list(j, addrs, nr, &id);
	if (ret)
		return ret;
	st = vec_add(&j->stacks);
	if (!st)
		return -ENOMEM;
	st->cookie = s->cookie;
	st->pos = s->pos;
	st->ts = s->ts;
	st->tid = s->tid;
	st->tgid = s->tgid;
	st->flags = flags & ~STACK_MORE;
	st->stream = s->stream;
	st->list = id;
	return 0;
}

static int part_store(struct join *j, struct part *p, uint32_t add_flags)
{
	if (p->closed)
		return 0;
	p->closed = true;
	return store_stack(j, &p->head, p->addrs.v, p->addrs.nr, p->head.flags | add_flags);
}

static void part_remove(struct stream *st, size_t i)
{
	vec_free(&st->parts.v[i].addrs);
	memmove(&st->parts.v[i], &st->parts.v[i + 1],
		(--st->parts.nr - i) * sizeof(st->parts.v[0]));
}

static int part_append(struct part *p, const struct join_stack *s)
{
	if (s->nr && vec_reserve(&p->addrs, s->nr))
		return -ENOMEM;
	if (s->nr)
		memcpy(p->addrs.v + p->addrs.nr, s->addrs, s->nr * sizeof(*s->addrs));
	p->addrs.nr += s->nr;
	p->head.flags |= s->flags;
	return 0;
}

static int part_open(struct join *j, struct stream *st, const struct join_stack *s, uint32_t flags)
{
	struct part *p;
	int ret;

	if (st->parts.nr >= MAX_OPEN) {
		ret = part_store(j, &st->parts.v[0], STACK_CUT_OUTER);
		if (ret)
			return ret;
		part_remove(st, 0);
	}
	p = vec_add(&st->parts);
	if (!p)
		return -ENOMEM;
	p->head = *s;
	p->head.flags = flags;
	return part_append(p, s);
}

int parts_add(struct join *j, const struct join_stack *s)
{
	struct stream *st = &j->streams.v[s->stream];
	uint32_t flags = s->flags;
	struct part *p;
	size_t i;
	int ret;

	for (i = 0; i < st->parts.nr; i++)
		if (st->parts.v[i].head.tid == s->tid)
			break;
	if (i < st->parts.nr) {
		p = &st->parts.v[i];
		if (p->head.cookie == s->cookie) {
			if (p->closed)
				j->cut++;
			ret = p->closed ? 0 : part_append(p, s);
			if (ret || s->flags & STACK_MORE)
				return ret;
			ret = part_store(j, p, 0);
			part_remove(st, i);
			return ret;
		}
		ret = part_store(j, p, STACK_CUT_OUTER);
		part_remove(st, i);
		if (ret)
			return ret;
	}
	if (s->after_loss)
		flags |= STACK_NO_INNER;
	if (s->flags & STACK_MORE)
		return part_open(j, st, s, flags);
	return store_stack(j, s, s->addrs, s->nr, flags);
}

int parts_loss(struct join *j, struct stream *st)
{
	size_t i;
	int ret;

	for (i = 0; i < st->parts.nr; i++) {
		ret = part_store(j, &st->parts.v[i], STACK_CUT_OUTER);
		if (ret)
			return ret;
	}
	return 0;
}

int parts_finish(struct join *j)
{
	size_t i;
	int ret;

	for (i = 0; i < j->streams.nr; i++) {
		ret = parts_loss(j, &j->streams.v[i]);
		if (ret)
			return ret;
		parts_free(&j->streams.v[i]);
	}
	return 0;
}

void parts_free(struct stream *st)
{
	size_t i;

	for (i = 0; i < st->parts.nr; i++)
		vec_free(&st->parts.v[i].addrs);
	vec_free(&st->parts);
}
