/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_env.h - what sframe_read.c and step.c need around them, for user space
 *
 * The kernel has another file of this name. Both files define u8 to u64, s8 to s64, bool, NULL, the
 * numbers of errno, likely(), unlikely(), __always_inline, sframe_noinline, SFRAME_NATIVE_BIG. Both
 * define sframe_index_nospec(index, size): an index below the size, even where the CPU only guesses
 * that the index is below the size. They may also define
 *
 *	SFRAME_V1_V2	versions 1 and 2 are read too
 *	SFRAME_SWAP	and sections in the other byte order
 *	SFRAME_AMD64, SFRAME_I386, SFRAME_ARM64, SFRAME_S390X
 *			architectures whose sections are read
 *	sframe_env_read(table, off, to, size), ustep_env_read(addr, words, nr, word)
 *			optional: in place of the callbacks, see sframe_read.h and step.h.
 *			A table in plain memory (t->mem) is read directly. @word: bytes of a word
 *
 * SFRAME_AS_KERNEL is for tests: the reader then reads only the tables that the kernel reads.
 */
#ifndef SFRAME_ENV_H
#define SFRAME_ENV_H

#include <errno.h>		/* numbers only */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif

/* No macro noinline, which would spoil the attribute of that name */
#define sframe_noinline	__attribute__((noinline))

/* A program reads nothing here that it must not see */
#define sframe_index_nospec(index, size)	(index)

#define SFRAME_NATIVE_BIG	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

#define SFRAME_AMD64
#define SFRAME_I386
#ifndef SFRAME_AS_KERNEL
#define SFRAME_V1_V2
#define SFRAME_SWAP
#define SFRAME_ARM64
#define SFRAME_S390X
#endif

#endif
