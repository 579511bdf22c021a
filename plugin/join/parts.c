// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * parts.c - put together the records of one stack
 *
 * The kernel splits a stack that is too deep for one record. The parts come in order on one stream,
 * and all but the last have the flag STACK_MORE. Only an unbroken sequence becomes a whole stack.
 * It breaks when events are dropped between two parts, when the task records a stack under another
 * cookie, or when the recording ends. The parts before the break are then stored with
 * STACK_CUT_OUTER. The parts after it are dropped, because nobody knows how many are missing.
 *
 * Equal address lists are stored once.
 */
#include <errno.h>

#include "impl.h"

/* The kernel writes the parts of a stack one after the other; a hostile file does not. */
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

static int add_first(struct join *j, const uint64_t *cookie, uint32_t *id)
{
	uint64_t *first = vec_add(&j->firsts);

	if (!first)
		return -ENOMEM;
	*first = *cookie;
	*id = j->firsts.nr - 1;
	return 0;
}

static int store_stack(struct join *j, const struct join_stack *s, const uint64_t *addrs,
		       uint32_t nr, uint32_t flags)
{
	struct stack *stack;
	uint32_t id;
	int ret;

	ret = flags & STACK_AGAIN ? add_first(j, addrs, &id) : intern_list(j, addrs, nr, &id);
	if (ret)
		return ret;
	stack = vec_add(&j->stacks);
	if (!stack)
		return -ENOMEM;
	stack->cookie = s->cookie;
	stack->pos = s->pos;
	stack->ts = s->ts;
	stack->tid = s->tid;
	stack->tgid = s->tgid;
	stack->flags = flags & ~STACK_MORE;
	stack->stream = s->stream;
	stack->list = id;
	stack->came_again = !!(flags & STACK_AGAIN);
	return 0;
}

static int store_partial(struct join *j, struct partial_stack *p, uint32_t add_flags)
{
	if (p->closed)
		return 0;
	p->closed = true;
	return store_stack(j, &p->head, p->addrs.v, p->addrs.nr, p->head.flags | add_flags);
}

static void remove_partial(struct stream *stream, size_t i)
{
	vec_free(&stream->partials.v[i].addrs);
	memmove(&stream->partials.v[i], &stream->partials.v[i + 1],
		(--stream->partials.nr - i) * sizeof(stream->partials.v[0]));
}

static int append_part(struct partial_stack *p, const struct join_stack *s)
{
	if (s->nr && vec_reserve(&p->addrs, s->nr))
		return -ENOMEM;
	if (s->nr)
		memcpy(p->addrs.v + p->addrs.nr, s->addrs, s->nr * sizeof(*s->addrs));
	p->addrs.nr += s->nr;
	p->head.flags |= s->flags;
	return 0;
}

static int start_partial(struct join *j, struct stream *stream, const struct join_stack *s,
			 uint32_t flags)
{
	struct partial_stack *p;
	int ret;

	if (stream->partials.nr >= MAX_OPEN) {
		ret = store_partial(j, &stream->partials.v[0], STACK_CUT_OUTER);
		if (ret)
			return ret;
		remove_partial(stream, 0);
	}
	p = vec_add(&stream->partials);
	if (!p)
		return -ENOMEM;
	p->head = *s;
	p->head.flags = flags;
	return append_part(p, s);
}

int parts_add(struct join *j, const struct join_stack *s)
{
	struct stream *stream = &j->streams.v[s->stream];
	uint32_t flags = s->flags;
	struct partial_stack *p;
	size_t i;
	int ret;

	for (i = 0; i < stream->partials.nr; i++)
		if (stream->partials.v[i].head.tid == s->tid)
			break;
	if (i < stream->partials.nr) {
		p = &stream->partials.v[i];
		if (p->head.cookie == s->cookie && !(s->flags & STACK_AGAIN)) {
			if (p->closed)
				j->cut++;
			ret = p->closed ? 0 : append_part(p, s);
			if (ret || s->flags & STACK_MORE)
				return ret;
			ret = store_partial(j, p, 0);
			remove_partial(stream, i);
			return ret;
		}
		ret = store_partial(j, p, STACK_CUT_OUTER);
		remove_partial(stream, i);
		if (ret)
			return ret;
	}
	if (s->after_loss)
		flags |= STACK_NO_INNER;
	if (s->flags & STACK_MORE)
		return start_partial(j, stream, s, flags);
	return store_stack(j, s, s->addrs, s->nr, flags);
}

int parts_add_loss(struct join *j, struct stream *stream)
{
	size_t i;
	int ret;

	for (i = 0; i < stream->partials.nr; i++) {
		ret = store_partial(j, &stream->partials.v[i], STACK_CUT_OUTER);
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
		ret = parts_add_loss(j, &j->streams.v[i]);
		if (ret)
			return ret;
		parts_free(&j->streams.v[i]);
	}
	return 0;
}

void parts_free(struct stream *stream)
{
	size_t i;

	for (i = 0; i < stream->partials.nr; i++)
		vec_free(&stream->partials.v[i].addrs);
	vec_free(&stream->partials);
}
