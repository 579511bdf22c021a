// SPDX-License-Identifier: GPL-2.0
/* Which table is right? Make it again from the mapped file, and compare. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "observe.h"
#include "libunwind-user/sframe/sframe.h"
#include "libunwind-user/tables/tables.h"

const char *cache_dir;

void errx_full(void)
{
	fputs("observe: too many processes\n", stderr);
	exit(98);
}

unsigned int read_maps(pid_t pid, struct mapping *map)
{
	char path[64], line[4096], perm[8];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && n < MAX_MAPPINGS && fgets(line, sizeof(line), f)) {
		struct mapping *m = &map[n];

		*m->path = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255[^\n]",
			   &m->start, &m->end, perm, &m->offset, m->path) < 4)
			continue;
		m->read = perm[0] == 'r';
		m->write = perm[1] == 'w';
		m->exec = perm[2] == 'x';
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

bool is_cached(const struct mapping *m)
{
	return cache_dir && !strncmp(m->path, cache_dir, strlen(cache_dir)) &&
	       m->path[strlen(cache_dir)] == '/';
}

static const struct mapping *at(const struct mapping *map, unsigned int nr, uint64_t start,
				uint64_t size)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (map[i].start <= start && start + size <= map[i].end)
			return &map[i];
	}
	return NULL;
}

/* Make the expected table, of a file or of the vDSO; and find the segment of its code. */
static int make(const struct mapping *text, uint64_t start, struct gen_table *table,
		struct tables_seg *seg)
{
	uint64_t offset = start - text->start + text->offset;
	struct tables_id id;
	uint32_t i;
	int fd, ret;

	if (!strcmp(text->path, "[vdso]")) {
		ret = tables_get_vdso_table(NULL, &id, table, NULL);
		*seg = (struct tables_seg) { .vaddr = start - text->start };
		return ret;
	}
	fd = open(text->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = tables_get_table(NULL, fd, &id, table, NULL);
	close(fd);
	for (i = 0; !ret && i < id.nr_segs; i++) {
		if (id.seg[i].offset == offset) {
			*seg = id.seg[i];
			return 0;
		}
	}
	return ret ? ret : -ENOENT;
}

static bool same_bytes(pid_t pid, const struct unwind_table_user *arg,
		       const struct gen_table *table)
{
	uint8_t *copy = malloc(table->size + 1);
	struct iovec here = { copy, table->size }, there = { (void *)arg->table, table->size };
	bool same = process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)table->size &&
		    !memcmp(copy, table->data, table->size);

	free(copy);
	return same;
}

/* The kernel looks at the header only. */
static bool can_be_read(pid_t pid, const struct unwind_table_user *arg)
{
	uint8_t *copy = malloc(arg->table_size);
	struct iovec here = { copy, arg->table_size };
	struct iovec there = { (void *)arg->table, arg->table_size };
	struct sframe_table t = {
		.mem = copy, .size = arg->table_size, .base = arg->table,
		.text_start = arg->text_start, .text_size = arg->text_size,
	};
	bool can = process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)arg->table_size &&
		   !sframe_open(&t) && t.version == SFRAME_VERSION_3;

	free(copy);
	return can;
}

bool table_is_right(const struct process *p, const struct unwind_table_user *arg)
{
	static struct mapping map[MAX_MAPPINGS];
	unsigned int nr = read_maps(p->tgid, map);
	const struct mapping *text = at(map, nr, arg->text_start, arg->text_size);
	const struct mapping *mem = at(map, nr, arg->table, arg->table_size);
	struct gen_table table = { .data = NULL };
	struct tables_seg seg = { .vaddr = 0 };
	/* Read it with the base that the kernel gets */
	uint64_t bias, base = arg->table_base ? arg->table_base : arg->table;
	int ret;

	if (!text || !text->exec) {
		wrong(p, "a table for %#" PRIx64 "+%#" PRIx64 ", where no code is", arg->text_start,
		      arg->text_size);
		return false;
	}
	if (!mem || !mem->read || mem->write || !(is_cached(mem) || !strcmp(mem->path,
									    text->path))) {
		wrong(p, "%s: a table that can change, or neither in it nor in the cache",
		      text->path);
		return false;
	}
	/* A table with base 0 comes from a linker. All other tables are ours, wherever they are. */
	if (!is_cached(mem) && base == arg->table)
		return can_be_read(p->tgid, arg);
	ret = make(text, arg->text_start, &table, &seg);
	if (ret) {
		wrong(p, "%s: a table for code that can have none: %s", text->path, strerror(-ret));
		return false;
	}
	bias = arg->text_start - seg.vaddr;
	ret = -EINVAL;
	if (seg.size && arg->text_size != seg.size)
		wrong(p, "%s: a table for a part of a segment", text->path);
	else if (base != bias + table.base || arg->table_size != table.size)
		wrong(p, "%s: table of %" PRIu64 " bytes with the base %#" PRIx64 ", which are %zu"
		      " and %#" PRIx64, text->path, arg->table_size, base, table.size,
		      bias + table.base);
	else if (!same_bytes(p->tgid, arg, &table))
		wrong(p, "%s: not the table that is made of it", text->path);
	else
		ret = 0;
	gen_free(&table);
	return !ret;
}
