/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_bytes.h - the bytes of an SFrame section; only for sframe_func.h
 *
 * Every read goes through fetch(), which checks the section's bounds. Where a section is not plain
 * memory (in the kernel it is user memory, which may fault), each fetch() costs a call. So the
 * reader asks for few and large pieces: 8 bytes for each step of the search, 16 for the function
 * found, and then a window with the attribute and the first rows.
 */
#ifndef SFRAME_BYTES_H
#define SFRAME_BYTES_H

#include "sframe_read.h"

/* For bytes that decide how much else is read: read once, because plain memory may change. */
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
 * Make @p point to @size bytes of the section at @off. Where the section is not plain memory, they
 * are read into @buf, which holds @size bytes. -EBADMSG: the bytes are not all in the section.
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
	u32		off;	/* of @p, from the start of all rows */
	u32		len;	/* bytes from @p on that may be read */
	u8		buf[SFRAME_READ_MAX];
};

/* Move the window to @off of the rows: to their end in plain memory, else as far as buf holds. */
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

/* Move past @size bytes, which the window must hold. */
static inline void skip_window(struct window *w, u32 size)
{
	w->p += size;
	w->off += size;
	w->len -= size;
}

#endif
