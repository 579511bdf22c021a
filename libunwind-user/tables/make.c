// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * make.c - the table of a file, from the cache or made now
 *
 * A program can write to a file while its table is made. The result is then thrown away and made
 * once more: a table that is half from one content and half from another would have wrong rows.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "libunwind-user/sframe/sframe.h"
#include "tables.h"
#include "libunwind-user/abi/abi.h"

#define TRIES	3

/*
 * The generator makes tables for address 0 of the file. A process cannot register such a table for
 * a program that is not relocated: to the kernel, base 0 says that a section is where it was made
 * for. So the table gets the start of the code as its base before it is used.
 */
static void rebase_table(struct gen_table *t)
{
	uint64_t shift = t->base - t->text_start, start;
	uint32_t nr, off;
	uint8_t *p;

	if (t->size < SFRAME_HDR_SIZE)
		return;
	memcpy(&nr, t->data + SFRAME_HDR_NUM_FDES_OFF, sizeof(nr));
	memcpy(&off, t->data + SFRAME_HDR_FDEOFF_OFF, sizeof(off));
	p = t->data + SFRAME_HDR_SIZE + t->data[SFRAME_HDR_AUXHDR_LEN_OFF] + off;
	for (; nr--; p += SFRAME_V3_FDE_SIZE) {
		memcpy(&start, p + SFRAME_V3_FDE_START_OFF, sizeof(start));
		start += shift;
		memcpy(p + SFRAME_V3_FDE_START_OFF, &start, sizeof(start));
	}
	t->base -= shift;
}

/* Get the table from the cache. With @make, make it if the cache has none. */
static int get_table_once(struct tables_cache *cache, int fd, struct tables_id *id,
			  struct gen_table *table, bool make, bool *cached)
{
	struct stat st;
	int ret;

	*cached = false;
	ret = tables_identify(fd, id);
	if (ret)
		return ret;
	if (cache) {
		ret = tables_cache_load(cache, id, table);
		if (ret == -ENOMEM)
			return ret;
		*cached = !ret;
	}
	if (!*cached) {
		if (!make)
			return -ENOENT;
		ret = gen_from_fd(fd, table);
		if (ret)
			return ret;
		rebase_table(table);
	}
	if (fstat(fd, &st) || !is_same_stamp(get_stamp(&st), get_stamp(&id->st))) {
		gen_free(table);
		return -ESTALE;
	}
	/* Ignore the error: the table is good even if the cache cannot store it */
	if (cache && !*cached)
		tables_cache_store(cache, id, table);
	return 0;
}

int tables_get_table(struct tables_cache *cache, int fd, struct tables_id *id,
		     struct gen_table *table, bool *cached)
{
	int ret = -ESTALE, i;
	bool was_cached;

	for (i = 0; i < TRIES && ret == -ESTALE; i++)
		ret = get_table_once(cache, fd, id, table, true, &was_cached);
	if (ret)
		memset(table, 0, sizeof(*table));
	if (cached)
		*cached = !ret && was_cached;
	return ret;
}

int tables_get_cached_table(struct tables_cache *cache, int fd, struct tables_id *id,
			    struct gen_table *table)
{
	bool cached;
	int ret = get_table_once(cache, fd, id, table, false, &cached);

	if (ret)
		memset(table, 0, sizeof(*table));
	return ret;
}

/* The kernel has mapped the vDSO like a file, so its headers can be trusted. */
static void identify_vdso(uintptr_t vdso, struct tables_id *id)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)vdso;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(vdso + eh->e_phoff);
	const uint8_t *build_id = NULL;
	unsigned int i;

	memset(id, 0, sizeof(*id));
	id->is_vdso = true;
	id->layout = tables_hash_layout(eh, ph, eh->e_phnum);
	for (i = 0; i < eh->e_phnum && !id->build_id_size; i++) {
		if (ph[i].p_type == PT_NOTE)
			id->build_id_size = tables_find_build_id(
				(const uint8_t *)vdso + ph[i].p_offset, ph[i].p_filesz,
				ph[i].p_align, &build_id);
	}
	if (id->build_id_size)
		memcpy(id->build_id, build_id, id->build_id_size);
}

int tables_get_vdso_table(struct tables_cache *cache, struct tables_id *id, struct gen_table *table,
			  bool *cached)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	bool was_cached = false;
	int ret;

	memset(table, 0, sizeof(*table));
	if (!vdso)
		return -ENOENT;
	identify_vdso(vdso, id);
	if (cache)
		was_cached = !tables_cache_load(cache, id, table);
	if (!was_cached) {
		ret = gen_from_own_memory(vdso, table, NULL);
		if (ret)
			return ret;
		if (cache)
			tables_cache_store(cache, id, table);
	}
	if (cached)
		*cached = was_cached;
	return 0;
}
