/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decode.h - the fields of the user_unwind_* records
 *
 * The layout comes from the format in the file, never from a C struct: the same code reads 32 and
 * 64 bit, both byte orders, and the layout of the series posted upstream in August 2025, which has
 * neither tgid nor flags. Every offset and length is checked against the record.
 */
#ifndef USTACK_DECODE_H
#define USTACK_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "plugin/join/join.h"
#include "weak.h"

/* A field: a number, a dynamic array, or an array at the end of the record. */
struct decode_field {
	int offset, size;
	bool present, dynamic, relative, is_signed;
	bool number;			/* decode_read_number() can read it */
};

enum decode_kind {
	DECODE_NONE,
	DECODE_KERNEL_STACK,
	DECODE_COOKIE,
	DECODE_STACK,
	DECODE_MAP,
	DECODE_AGAIN,
};

/* The common fields at the start of every record; 0 if the record is too short. */
struct decode_common {
	uint32_t type, tid;
	uint32_t flags;			/* common_flags and common_preempt_count, see nest.h */
	bool has_type, has_tid, has_flags;
};

struct decode {
	struct tep_handle *tep;
	int long_size;
	bool plain;			/* the common fields are where every kernel has them */
	bool swap;			/* the file's byte order is not this machine's */
	struct decode_field common_type, common_pid, common_flags, common_preempt;
	/* -1: not in this file */
	int id_kernel_stack, id_cookie, id_stack, id_map, id_again;
	struct decode_field kstack_caller;
	struct decode_field cookie;
	struct decode_field stack_cookie, stack_tgid, stack_flags, stack_stack;
	struct decode_field again_cookie, again_first;
	struct decode_field map_start, map_end, map_pgoff, map_ino, map_tgid;
	struct decode_field map_major, map_minor, map_id_size, map_id, map_path;
};

struct decode_stack {
	uint64_t cookie;
	uint32_t tgid, flags;
	const void *addrs;		/* in the record, decode_read_addr() reads them */
	uint32_t nr;
};

struct decode_map {
	uint64_t start, end, pgoff, ino;
	uint32_t tgid, major, minor;
	uint32_t build_id_size;		/* 0 to 20 */
	const uint8_t *build_id;
	const char *path;		/* not terminated */
	uint32_t path_len;
};

/* Take the place of a field from the format in the file; @field may be NULL. */
void decode_set_field(struct decode_field *f, const struct tep_format_field *field);
/* Find the bytes of a field: in place, where __data_loc points, or up to the end of the record. */
bool decode_find_bytes(const struct decode *d, const struct tep_record *rec,
		       const struct decode_field *f, const void **p, uint32_t *len);
/* Look up the user_unwind_* events in @tep; false if it has no cookie and no stack event. */
bool decode_init(struct decode *d, struct tep_handle *tep);
enum decode_kind decode_get_kind(const struct decode *d, const struct decode_common *c);
/* Compute @plain from the common fields. Call it again after a change of these. */
void decode_set_plain(struct decode *d);
void decode_read_common_slow(const struct decode *d, const struct tep_record *rec,
			     struct decode_common *c);

/* Read a number of 1, 2, 4 or 8 bytes at @p. */
static inline uint64_t decode_read_int(const struct decode *d, const void *p, int size)
{
	uint16_t x2;
	uint32_t x4;
	uint64_t x8;

	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&x2, p, 2);
		return d->swap ? __builtin_bswap16(x2) : x2;
	case 4:
		memcpy(&x4, p, 4);
		return d->swap ? __builtin_bswap32(x4) : x4;
	default:
		memcpy(&x8, p, 8);
		return d->swap ? __builtin_bswap64(x8) : x8;
	}
}

/* Each returns false when the record does not hold what its format promises. */
static inline bool decode_read_number(const struct decode *d, const struct tep_record *rec,
				      const struct decode_field *f, uint64_t *val)
{
	if (!f->number || !rec->data || rec->size < f->offset + f->size)
		return false;
	*val = decode_read_int(d, (const char *)rec->data + f->offset, f->size);
	return true;
}

/* include/linux/trace_events.h: struct trace_entry */
static inline void decode_read_common(const struct decode *d, const struct tep_record *rec,
				      struct decode_common *c)
{
	uint64_t x;

	if (!d->plain || rec->size < (int)sizeof(x) || !rec->data) {
		decode_read_common_slow(d, rec, c);
		return;
	}
	memcpy(&x, rec->data, sizeof(x));
	*c = (struct decode_common){
		.type = x & 0xffff, .tid = x >> 32, .flags = nest_make_flags(x >> 16, x >> 24),
		.has_type = true, .has_tid = true, .has_flags = true,
	};
}

static inline enum decode_kind decode_read_kind(const struct decode *d,
						const struct tep_record *rec)
{
	struct decode_common c;

	decode_read_common(d, rec, &c);
	return decode_get_kind(d, &c);
}

bool decode_read_tid(const struct decode *d, const struct tep_record *rec, uint32_t *tid);
bool decode_read_cookie(const struct decode *d, const struct tep_record *rec, uint64_t *cookie);
bool decode_read_stack(const struct decode *d, const struct tep_record *rec,
		       struct decode_stack *s);
/* @first: the cookie that the same task recorded the stack under. */
bool decode_read_again(const struct decode *d, const struct tep_record *rec, uint64_t *cookie,
		       uint64_t *first);
bool decode_read_map(const struct decode *d, const struct tep_record *rec, struct decode_map *m);

static inline uint64_t decode_read_addr(const struct decode *d, const void *addrs, uint32_t i)
{
	return decode_read_int(d, (const char *)addrs + (size_t)i * d->long_size, d->long_size);
}

#endif
