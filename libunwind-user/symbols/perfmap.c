// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perfmap.c - functions that a JIT compiler wrote
 *
 * The compiler writes /tmp/perf-PID.map (Linux: tools/perf/Documentation/jit-interface.txt). It has
 * a line for each function, "START SIZE NAME", appended as code is made. Directory and PID are
 * those that the process itself sees. The compiler does not remove the line of code that it drops,
 * so later lines win where lines overlap.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "impl.h"

#define MAX_TEXT	(128u << 20)
#define READ_SIZE	65536
#define MAX_NAME	65536

struct perfmap_entry {
	uint64_t start;
	char *name;		/* in text */
	char *demangled;	/* NULL: not asked for yet */
};

struct perfmap {
	struct perfmap *next;
	int pid;
	int error;
	char *text;
	struct perfmap_entry *v;
	size_t nr;
	struct cover cover;
	struct cover other;	/* of saved text: see make_both_covers() */
};

static void clear_map(struct perfmap *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		if (m->v[i].demangled != m->v[i].name)
			free(m->v[i].demangled);
	free(m->v);
	free(m->text);
	free(m->cover.v);
	free(m->other.v);
	m->v = NULL;
	m->text = NULL;
	m->cover.v = m->other.v = NULL;
	m->nr = m->cover.nr = m->other.nr = 0;
}

void perfmap_free_all(struct uu_symbols *syms)
{
	struct perfmap *m, *next;

	for (m = syms->maps; m; m = next) {
		next = m->next;
		clear_map(m);
		free(m);
	}
	syms->maps = NULL;
}

static bool read_hex(char **p, uint64_t *v)
{
	char *s = *p;
	int n = 0, d;

	*v = 0;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (;; s++, n++) {
		if (*s >= '0' && *s <= '9')
			d = *s - '0';
		else if (*s >= 'a' && *s <= 'f')
			d = *s - 'a' + 10;
		else if (*s >= 'A' && *s <= 'F')
			d = *s - 'A' + 10;
		else
			break;
		if (*v >> 60)
			return false;
		*v = *v << 4 | d;
	}
	*p = s;
	return n > 0;
}

/* Parse one line, which ends with 0; false: it is not valid. */
static bool parse_line(char *s, uint64_t *start, uint64_t *size, char **name)
{
	char *p;

	if (!read_hex(&s, start) || *s++ != ' ' || !read_hex(&s, size) || *s++ != ' ')
		return false;
	while (*s == ' ')
		s++;
	for (p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	*name = s;
	return *size && *start + *size > *start && *s && p - s <= MAX_NAME;
}

static int compare_entries(const void *a, const void *b, void *arg)
{
	const struct perfmap_entry *v = arg;
	const struct perfmap_entry *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];
	int c = strcmp(x->name, y->name);

	return c ? c : cmp_int(x->start, y->start);
}

static bool is_same_entry(const struct perfmap_entry *a, const struct perfmap_entry *b)
{
	return a == b || (a->start == b->start && !strcmp(a->name, b->name));
}

/*
 * Make two covers: where entries overlap, one has the first of them by name and start, the other
 * has the last. Where both agree, all entries agree.
 */
static int make_both_covers(struct perfmap *m, struct cover_in *in)
{
	uint32_t *order = malloc((m->nr + 1) * sizeof(*order));
	uint64_t *rank = malloc((m->nr + 1) * sizeof(*rank));
	int ret = -ENOMEM;
	size_t i;

	if (order && rank) {
		for (i = 0; i < m->nr; i++)
			order[i] = i;
		qsort_r(order, m->nr, sizeof(*order), compare_entries, m->v);
		for (i = 0; i < m->nr; i++)
			rank[order[i]] = i;
		for (i = 0; i < m->nr; i++)
			in[i].rank = rank[in[i].owner];
		ret = cover_make(&m->cover, in, m->nr);
		/* cover_make() has sorted them */
		for (i = 0; i < m->nr; i++)
			in[i].rank = m->nr - in[i].rank;
		if (!ret)
			ret = cover_make(&m->other, in, m->nr);
	}
	free(order);
	free(rank);
	return ret;
}

/* Parse @text, which has room for one byte more than @len. The map takes the text over. */
static int parse_map(struct perfmap *m, char *text, size_t len, bool saved)
{
	struct cover_in *in = NULL;
	size_t lines = 1, i;
	char *line, *end;
	int ret = -ENOMEM;

	m->text = text;
	/* the copy may end within a line, and a cut name would be wrong */
	while (saved && len && text[len - 1] != '\n')
		len--;
	text[len] = '\n';
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	/* the shortest valid line is "0 1 f" */
	if (lines > len / 6 + 2)
		lines = len / 6 + 2;
	m->v = malloc(lines * sizeof(*m->v));
	in = malloc(lines * sizeof(*in));
	if (!m->v || !in)
		goto out;
	for (line = text; line <= text + len; line = end + 1) {
		struct perfmap_entry *e = &m->v[m->nr];
		uint64_t size;

		end = memchr(line, '\n', text + len + 1 - line);
		*end = '\0';
		if (!parse_line(line, &e->start, &size, &e->name))
			continue;
		e->demangled = NULL;
		in[m->nr].lo = e->start;
		in[m->nr].hi = e->start + size;
		in[m->nr].rank = m->nr;
		in[m->nr].owner = m->nr;
		m->nr++;
	}
	ret = saved ? make_both_covers(m, in) : cover_make(&m->cover, in, m->nr);
out:
	free(in);
	return ret;
}

static int read_fd(struct perfmap *m, int fd)
{
	size_t len = 0, room = 0;
	char *text = NULL;
	ssize_t n;

	for (;;) {
		if (len + 1 >= room && vec_grow(&text, &room, len, READ_SIZE, 1)) {
			free(text);
			return -ENOMEM;
		}
		n = read(fd, text + len, room - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || len > MAX_TEXT)
			break;
		len += n;
	}
	return parse_map(m, text, len, false);
}

/* The number by which the process knows itself: the last one of NSpid in its status. */
static int read_inner_pid(int pid)
{
	char path[64], line[256], *last;
	int found = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return pid;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		found = last ? atoi(last + 1) : pid;
		break;
	}
	fclose(f);
	return found > 0 ? found : pid;
}

static int read_map(struct uu_symbols *syms, struct perfmap *m)
{
	char root[64], path[64];
	struct stat st, proc;
	bool lives;
	int fd, ret;

	snprintf(root, sizeof(root), "/proc/%d", m->pid);
	lives = !stat(root, &proc);
	snprintf(root, sizeof(root), "/proc/%d/root", m->pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", lives ? read_inner_pid(m->pid) : m->pid);
	fd = lives && !*syms->sysroot ? symbols_open(root, path, O_NOFOLLOW) : -1;
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", m->pid);
		fd = symbols_open(syms->sysroot, path, O_NOFOLLOW);
	}
	if (fd < 0)
		return -ENODEV;
	if (fstat(fd, &st))
		ret = -ENODEV;
	else if (!*syms->sysroot && st.st_uid && st.st_uid != geteuid() &&
		 !(lives && st.st_uid == proc.st_uid))
		ret = -EACCES;
	else
		ret = read_fd(m, fd);
	close(fd);
	return ret;
}

/* Find the newest map of a process, and move it to the front: the next question mostly needs it. */
static struct perfmap *find_map(struct uu_symbols *syms, int pid)
{
	struct perfmap **at, *m;

	for (at = &syms->maps; *at; at = &(*at)->next) {
		m = *at;
		if (m->pid != pid)
			continue;
		*at = m->next;
		m->next = syms->maps;
		syms->maps = m;
		return m;
	}
	return NULL;
}

static struct perfmap *add_map(struct uu_symbols *syms, int pid)
{
	struct perfmap *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->pid = pid;
	m->next = syms->maps;
	syms->maps = m;
	return m;
}

int uu_symbols_find_jit(struct uu_symbols *syms, int pid, uint64_t addr, struct uu_symbol *sym)
{
	struct perfmap *m;
	struct perfmap_entry *e;
	uint32_t i;

	memset(sym, 0, sizeof(*sym));
	m = find_map(syms, pid);
	if (!m) {
		m = add_map(syms, pid);
		if (!m)
			return -ENOMEM;
		m->error = read_map(syms, m);
		if (m->error)
			clear_map(m);
	}
	if (m->error)
		return m->error;
	i = cover_find(&m->cover, addr);
	if (i == COVER_NONE)
		return -ENOENT;
	e = &m->v[i];
	if (m->other.v) {
		i = cover_find(&m->other, addr);
		if (i == COVER_NONE || !is_same_entry(e, &m->v[i]))
			return -ENOENT;
	}
	if (!e->demangled && !syms->no_demangle)
		e->demangled = symbols_demangle(e->name);
	if (!e->demangled)
		e->demangled = e->name;
	sym->name = e->demangled;
	sym->start = e->start;
	return 0;
}

static int add_text(struct uu_symbols *syms, int pid, const char *text, size_t len, bool saved)
{
	struct perfmap *m;
	char *copy;

	if (len > MAX_TEXT)
		len = MAX_TEXT;
	copy = malloc(len + 1);
	/* callers still use names of an older map, which stays after this one */
	m = copy ? add_map(syms, pid) : NULL;
	if (!m) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	m->error = parse_map(m, copy, len, saved);
	if (m->error)
		clear_map(m);
	return m->error;
}

int uu_symbols_add_jit(struct uu_symbols *syms, int pid, const char *text, size_t len)
{
	return add_text(syms, pid, text, len, false);
}

int uu_symbols_add_jit_saved(struct uu_symbols *syms, int pid, const char *text, size_t len)
{
	return add_text(syms, pid, text, len, true);
}
