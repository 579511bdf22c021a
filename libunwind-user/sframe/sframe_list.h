/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sframe_list.h - all functions of an SFrame section, and an index for many lookups
 *
 * No file of the kernel has this: the kernel looks up one address at a time, and keeps the rows
 * that it has found. The rules of sframe_read.h hold: hostile bytes give an error, never a wrong
 * read.
 */
#ifndef SFRAME_LIST_H
#define SFRAME_LIST_H

#include "sframe_read.h"

/* The number of rows, as the header says; nothing checks it. Returns 0, or as sframe_get_func(). */
int sframe_get_nr_rows(const struct sframe_table *t, u32 *nr);

/*
 * Function number @index, 0 to nr_fdes - 1 in the order of their addresses. Returns 0, -ENOENT for
 * a number beyond the last, -EBADMSG, or what the read callback returned.
 */
int sframe_get_func(const struct sframe_table *t, u32 index, struct sframe_func *func);

/* The row of @func for @pc: sframe_find() without the search. -ESRCH: @pc is not in @func. */
int sframe_find_row(const struct sframe_table *t, const struct sframe_func *func, u64 pc,
		    struct sframe_row *row);

/* Where the search for an address starts. The caller owns the memory. */
struct sframe_index {
	const u32	*parts;		/* NULL: the search starts with all functions */
	u32		shift;		/* a part has 1 << shift bytes of text */
};

/*
 * Make @index, an index of the text of @t, so that a lookup need not search all functions. This
 * reads all functions once, so it pays for tables that serve many lookups.
 *
 * The caller provides @mem, with room for @nr numbers, and keeps it as long as it uses @index. The
 * index divides the text into equal parts, with one number each. With @nr = t->nr_fdes a lookup
 * reads one to three functions, with a quarter of that two to four. With @nr < 3 the index is
 * empty.
 *
 * Returns 0. If the read callback returns an error, returns this error, and @index is empty.
 */
int sframe_make_index(const struct sframe_table *t, struct sframe_index *index, u32 *mem, u32 nr);

/*
 * As sframe_find(), with an index of @t. The rows are the same, except in a table that is not
 * sorted.
 */
int sframe_find_indexed(const struct sframe_table *t, const struct sframe_index *index, u64 pc,
			struct sframe_row *row);

#endif
