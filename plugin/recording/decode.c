// SPDX-License-Identifier: LGPL-2.1-or-later
/* decode.c - find the fields of a record by the file's format, and read them. See decode.h. */
#include <string.h>

#include "decode.h"

void decode_set_field(struct decode_field *f, const struct tep_format_field *field)
{
	memset(f, 0, sizeof(*f));
	/* the limits are far below those at which offset + size overflows */
	if (!field || field->offset < 0 || field->size < 0 || field->offset > 1 << 24 ||
	    field->size > 1 << 24)
		return;
	f->present = true;
	f->offset = field->offset;
	f->size = field->size;
	f->number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	f->dynamic = field->flags & TEP_FIELD_IS_DYNAMIC;
	f->relative = field->flags & TEP_FIELD_IS_RELATIVE;
	f->is_signed = field->flags & TEP_FIELD_IS_SIGNED;
}

static void find_field(struct decode_field *f, struct tep_event *event, const char *name)
{
	decode_set_field(f, event ? tep_find_field(event, name) : NULL);
}

static void find_common_field(struct decode_field *f, struct tep_event *event, const char *name)
{
	if (event && !f->present)
		decode_set_field(f, tep_find_common_field(event, name));
}

static void find_common_fields(struct decode *d, struct tep_event *event)
{
	find_common_field(&d->common_type, event, "common_type");
	find_common_field(&d->common_pid, event, "common_pid");
	find_common_field(&d->common_flags, event, "common_flags");
	find_common_field(&d->common_preempt, event, "common_preempt_count");
}

static bool is_at(const struct decode_field *f, int offset, int size)
{
	return f->number && f->offset == offset && f->size == size;
}

void decode_set_plain(struct decode *d)
{
	const uint16_t one = 1;

	d->plain = !d->swap && *(const uint8_t *)&one && is_at(&d->common_type, 0, 2) &&
		   is_at(&d->common_flags, 2, 1) && is_at(&d->common_preempt, 3, 1) &&
		   is_at(&d->common_pid, 4, 4);
}

void decode_read_common_slow(const struct decode *d, const struct tep_record *rec,
			     struct decode_common *c)
{
	uint64_t type = 0, tid = 0, flags = 0, preempt = 0;

	c->has_type = decode_read_number(d, rec, &d->common_type, &type) && type <= INT32_MAX;
	c->has_tid = decode_read_number(d, rec, &d->common_pid, &tid);
	c->has_flags = decode_read_number(d, rec, &d->common_flags, &flags);
	decode_read_number(d, rec, &d->common_preempt, &preempt);
	c->type = type;
	c->tid = tid;
	c->flags = nest_make_flags(flags, preempt);
}

bool decode_init(struct decode *d, struct tep_handle *tep)
{
	static const char sys[] = "ftrace";
	const uint16_t one = 1;
	struct tep_event *kstack = tep_find_event_by_name(tep, sys, "kernel_stack");
	struct tep_event *cookie = tep_find_event_by_name(tep, sys, "user_unwind_cookie");
	struct tep_event *stack = tep_find_event_by_name(tep, sys, "user_unwind_stack");
	struct tep_event *map = tep_find_event_by_name(tep, sys, "user_unwind_map");
	struct tep_event *again = tep_find_event_by_name(tep, sys, "user_unwind_again");

	memset(d, 0, sizeof(*d));
	d->tep = tep;
	d->swap = tep_read_number(tep, &one, sizeof(one)) != 1;
	d->long_size = tep_get_long_size(tep) == 4 ? 4 : 8;
	d->id_kernel_stack = kstack ? kstack->id : -1;
	d->id_cookie = cookie ? cookie->id : -1;
	d->id_stack = stack ? stack->id : -1;
	d->id_map = map ? map->id : -1;
	d->id_again = again ? again->id : -1;

	find_common_fields(d, cookie);
	find_common_fields(d, stack);
	find_common_fields(d, kstack);
	decode_set_plain(d);

	find_field(&d->kstack_caller, kstack, "caller");
	find_field(&d->cookie, cookie, "cookie");
	find_field(&d->stack_cookie, stack, "cookie");
	find_field(&d->stack_tgid, stack, "tgid");
	find_field(&d->stack_flags, stack, "flags");
	find_field(&d->stack_stack, stack, "stack");
	find_field(&d->again_cookie, again, "cookie");
	find_field(&d->again_first, again, "first");
	find_field(&d->map_start, map, "start");
	find_field(&d->map_end, map, "end");
	find_field(&d->map_pgoff, map, "pgoff");
	find_field(&d->map_ino, map, "ino");
	find_field(&d->map_tgid, map, "tgid");
	find_field(&d->map_major, map, "dev_major");
	find_field(&d->map_minor, map, "dev_minor");
	find_field(&d->map_id_size, map, "build_id_size");
	find_field(&d->map_id, map, "build_id");
	find_field(&d->map_path, map, "path");
	return cookie || stack;
}

static const void *get_bytes(const struct tep_record *rec, uint64_t offset, uint64_t size)
{
	if (!rec->data || rec->size < 0 || offset > (uint64_t)rec->size ||
	    size > (uint64_t)rec->size - offset)
		return NULL;
	return (const char *)rec->data + offset;
}

enum decode_kind decode_get_kind(const struct decode *d, const struct decode_common *c)
{
	int type = c->type;

	if (!c->has_type)
		return DECODE_NONE;
	if (type == d->id_kernel_stack)
		return DECODE_KERNEL_STACK;
	if (type == d->id_cookie)
		return DECODE_COOKIE;
	if (type == d->id_stack)
		return DECODE_STACK;
	if (type == d->id_again)
		return DECODE_AGAIN;
	return type == d->id_map ? DECODE_MAP : DECODE_NONE;
}

bool decode_find_bytes(const struct decode *d, const struct tep_record *rec,
		       const struct decode_field *f, const void **p, uint32_t *len)
{
	uint64_t loc, offset;

	if (!f->present)
		return false;
	if (!f->dynamic) {
		if (rec->size < f->offset)
			return false;
		*len = f->size ? f->size : rec->size - f->offset;
		*p = get_bytes(rec, f->offset, *len);
		return *p;
	}
	if (f->size != 4 || !decode_read_number(d, rec, f, &loc))
		return false;
	offset = loc & 0xffff;
	if (f->relative)
		offset += f->offset + f->size;
	*len = loc >> 16 & 0xffff;
	*p = get_bytes(rec, offset, *len);
	return *p;
}

static uint64_t read_number_or(const struct decode *d, const struct tep_record *rec,
			       const struct decode_field *f, uint64_t val)
{
	decode_read_number(d, rec, f, &val);
	return val;
}

bool decode_read_tid(const struct decode *d, const struct tep_record *rec, uint32_t *tid)
{
	uint64_t val;

	if (!decode_read_number(d, rec, &d->common_pid, &val))
		return false;
	*tid = val;
	return true;
}

bool decode_read_cookie(const struct decode *d, const struct tep_record *rec, uint64_t *cookie)
{
	return decode_read_number(d, rec, &d->cookie, cookie);
}

bool decode_read_stack(const struct decode *d, const struct tep_record *rec, struct decode_stack *s)
{
	uint32_t len;

	memset(s, 0, sizeof(*s));
	if (!decode_read_number(d, rec, &d->stack_cookie, &s->cookie) ||
	    !decode_find_bytes(d, rec, &d->stack_stack, &s->addrs, &len))
		return false;
	s->nr = len / d->long_size;
	s->tgid = read_number_or(d, rec, &d->stack_tgid, 0);
	s->flags = read_number_or(d, rec, &d->stack_flags, 0) & 0xffff;
	while (s->nr && !decode_read_addr(d, s->addrs, s->nr - 1))
		s->nr--;
	return true;
}

bool decode_read_again(const struct decode *d, const struct tep_record *rec, uint64_t *cookie,
		       uint64_t *first)
{
	return decode_read_number(d, rec, &d->again_cookie, cookie) &&
	       decode_read_number(d, rec, &d->again_first, first);
}

bool decode_read_map(const struct decode *d, const struct tep_record *rec, struct decode_map *m)
{
	const void *id = NULL, *path = NULL;
	uint32_t id_len = 0, path_len = 0;
	uint64_t id_size;

	memset(m, 0, sizeof(*m));
	if (!decode_read_number(d, rec, &d->map_start, &m->start) ||
	    !decode_read_number(d, rec, &d->map_end, &m->end) ||
	    !decode_read_number(d, rec, &d->map_pgoff, &m->pgoff) || m->end <= m->start)
		return false;
	m->ino = read_number_or(d, rec, &d->map_ino, 0);
	m->tgid = read_number_or(d, rec, &d->map_tgid, 0);
	m->major = read_number_or(d, rec, &d->map_major, 0);
	m->minor = read_number_or(d, rec, &d->map_minor, 0);
	id_size = read_number_or(d, rec, &d->map_id_size, 0);
	if (id_size && decode_find_bytes(d, rec, &d->map_id, &id, &id_len) &&
	    id_size <= id_len && id_size <= 20) {
		m->build_id = id;
		m->build_id_size = id_size;
	}
	if (decode_find_bytes(d, rec, &d->map_path, &path, &path_len)) {
		m->path = path;
		m->path_len = strnlen(path, path_len);
	}
	return true;
}
