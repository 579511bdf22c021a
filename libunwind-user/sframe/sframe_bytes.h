/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_bytes.h - the bytes of an SFrame section; only for sframe_read.c
 *
 * Every read goes through fetch(), which knows the section's size. It costs a call where a section
 * is not plain memory (in the kernel: user memory, which may fault). So it is asked for few and
 * large pieces: 8 bytes for each step of the search, 16 for the function found, and from there on a
 * window that holds the attribute and the first rows.
 */
#ifndef SFRAME_BYTES_H
#define SFRAME_BYTES_H

#include "sframe_read.h"

/* Read once what decides how much else is read: in plain memory it may change. */
static inline u8 get8(const u8 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline u16 get16(const struct sframe_table *t, const u8 *p)
{
	u16 v;

	__builtin_memcpy(&v, p, sizeof(v));
#ifdef SFRAME_SWAP
	if (unlikely(t->swap))
		v = __builtin_bswap16(v);
#endif
	return v;
}

static inline u32 get32(const struct sframe_table *t, const u8 *p)
{
	u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
#ifdef SFRAME_SWAP
	if (unlikely(t->swap))
		v = __builtin_bswap32(v);
#endif
	return v;
}

static inline u64 get64(const struct sframe_table *t, const u8 *p)
{
	u64 v;

	__builtin_memcpy(&v, p, sizeof(v));
#ifdef SFRAME_SWAP
	if (unlikely(t->swap))
		v = __builtin_bswap64(v);
#endif
	return v;
}

/*
 * Make @p point to @size bytes of the section at @off, in @buf if need be, which holds as many.
 * Where those who write the section and this disagree on its size: -EBADMSG.
 */
static inline int fetch(const struct sframe_table *t, u64 off, u32 size, u8 *buf, const u8 **p)
{
	if (unlikely(off > t->size || size > t->size - off))
		return -EBADMSG;
	if (likely(t->mem)) {
		*p = (const u8 *)t->mem + off;
		return 0;
	}
	*p = buf;
#ifdef sframe_env_read
	return sframe_env_read(t, off, buf, size);
#else
	return t->read(t->ctx, t->addr + off, buf, size);
#endif
}

static inline bool is_v3(const struct sframe_table *t)
{
#ifdef SFRAME_V1_V2
	return likely(t->version == SFRAME_VERSION_3);
#else
	return true;
#endif
}

/* A piece of the rows */
struct window {
	const u8	*p;
	u32		off;	/* of @p, in the rows */
	u32		len;	/* bytes there */
	u8		buf[SFRAME_READ_MAX];
};

/* Have the bytes at @off of the rows: all in plain memory, else as many as buf holds. */
static inline int window_at(const struct sframe_table *t, struct window *w, u32 off)
{
	if (unlikely(off >= t->fre_len))
		return -EBADMSG;
	w->off = off;
	w->len = t->fre_len - off;
	if (!t->mem && w->len > sizeof(w->buf))
		w->len = sizeof(w->buf);
	return fetch(t, t->fre_off + off, w->len, w->buf, &w->p);
}

/* Go on behind @size bytes, which are there. */
static inline void skip(struct window *w, u32 size)
{
	w->p += size;
	w->off += size;
	w->len -= size;
}

#endif
