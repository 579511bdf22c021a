// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * tables_make - the table of a file, kept or made now
 *
 * A file can be written to while its table is made. The result is then thrown away and made once
 * more: a table that is half of one content and half of another would have wrong rows.
 */
#include <errno.h>
#include <string.h>

#include "tables.h"

#define TRIES	3

static bool same_content(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int make_once(struct tables_cache *cache, int fd, struct tables_id *id,
		     struct gen_table *table, bool *cached)
{
	struct stat st;
	int ret;

	*cached = false;
	ret = tables_identify(fd, id);
	if (ret)
		return ret;
	if (cache) {
		ret = tables_cache_get(cache, id, table);
		if (ret == -ENOMEM)
			return ret;
		*cached = !ret;
	}
	if (!*cached) {
		ret = gen_from_fd(fd, table);
		if (ret)
			return ret;
	}
	if (fstat(fd, &st) || !same_content(&st, &id->st)) {
		gen_free(table);
		return -ESTALE;
	}
	/* A cache that takes no more is no reason to have no table */
	if (cache && !*cached)
		tables_cache_put(cache, id, table);
	return 0;
}

int tables_make(struct tables_cache *cache, int fd, struct tables_id *id,
		struct gen_table *table, bool *cached)
{
	int ret = -ESTALE, i;
	bool c;

	for (i = 0; i < TRIES && ret == -ESTALE; i++)
		ret = make_once(cache, fd, id, table, &c);
	if (ret)
		memset(table, 0, sizeof(*table));
	if (cached)
		*cached = !ret && c;
	return ret;
}
