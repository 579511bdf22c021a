// SPDX-License-Identifier: LGPL-2.1-or-later
/* jit.c - read FILE.jit/. See jit.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit.h"
#include "libunwind-user/base/base.h"

#define HEAD	"trace-ustack-jit 1 "
#define MAX_BYTES	(128 << 20)	/* the recorder copies no larger map */

struct jit_map {
	uint32_t tgid;
	uint64_t from;
	enum { NOT_READ, READ, UNREADABLE } state;
};

struct jit {
	char *dir;
	VEC(struct jit_map) maps;
	struct hidx idx;
};

static struct jit_map *find_map(const struct jit *j, uint32_t tgid)
{
	return j ? vec_find(&j->maps, &j->idx, tgid, tgid) : NULL;
}

static int open_regular(const char *dir, const char *name, struct stat *st)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	free(path);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Read the list of maps up to a malformed line: the lines after it may be wrong, too. */
static void read_index(struct jit *j, FILE *f, uint64_t id)
{
	char line[128], want[64], end;
	struct jit_map m = { .state = NOT_READ }, *to;

	snprintf(want, sizeof(want), HEAD "%016" PRIx64 "\n", id);
	if (!id || !fgets(line, sizeof(line), f) || strcmp(line, want))
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNu32 " %" SCNu64 "%c", &m.tgid, &m.from, &end) != 3 ||
		    end != '\n' || find_map(j, m.tgid))
			return;
		to = vec_get(&j->maps, &j->idx, tgid, m.tgid);
		if (!to)
			return;
		*to = m;
	}
}

struct jit *jit_open(const char *dat, uint64_t id)
{
	struct jit *j = calloc(1, sizeof(*j));
	struct stat st;
	FILE *f;
	int fd;

	if (!j)
		return NULL;
	if (asprintf(&j->dir, "%s.jit", dat) < 0)
		j->dir = NULL;
	fd = j->dir ? open_regular(j->dir, "index", &st) : -1;
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (f) {
		read_index(j, f, id);
		fclose(f);
	} else if (fd >= 0) {
		close(fd);
	}
	if (j->maps.nr)
		return j;
	jit_free(j);
	return NULL;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	free(j->dir);
	vec_free(&j->maps);
	hidx_free(&j->idx);
	free(j);
}

bool jit_knows(const struct jit *j, uint32_t tgid, uint64_t ts)
{
	const struct jit_map *m = find_map(j, tgid);

	return m && ts >= m->from;
}

static void read_map(const struct jit *j, struct jit_map *m, struct uu_symbols *syms)
{
	char name[32], *text;
	struct stat st;
	ssize_t n = 0;
	size_t len, size;
	int fd;

	m->state = UNREADABLE;
	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", m->tgid);
	fd = open_regular(j->dir, name, &st);
	if (fd < 0)
		return;
	size = st.st_size < MAX_BYTES ? st.st_size : MAX_BYTES;
	/* read, not mapped: another process may shorten the file meanwhile */
	text = malloc(size + 1);
	for (len = 0; text && len < size; len += n) {
		n = read(fd, text + len, size - len);
		if (n <= 0)
			break;
	}
	close(fd);
	if (text && n >= 0 && !uu_symbols_add_jit_saved(syms, m->tgid, text, len))
		m->state = READ;
	free(text);
}

bool jit_find_symbol(struct jit *j, struct uu_symbols *syms, uint32_t tgid, uint64_t addr,
		     struct uu_symbol *sym)
{
	struct jit_map *m = find_map(j, tgid);

	if (!m)
		return false;
	if (m->state == NOT_READ)
		read_map(j, m, syms);
	return m->state == READ && !uu_symbols_find_jit(syms, tgid, addr, sym);
}

bool jit_may_hold(const struct maps_file *file)
{
	/* the same names as in perf: tools/perf/util/map.c, is_anon_memory() */
	static const char *const names[] = { "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV",
					     "/dev/shm/" };
	size_t i;

	if (file && file->python)
		return false;
	if (!file || *file->path != '/')
		return !file || (strcmp(file->path, "[vdso]") && strcmp(file->path, "(too long)"));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(file->path, names[i], strlen(names[i])))
			return true;
	return false;
}
