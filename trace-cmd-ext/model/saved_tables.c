// SPDX-License-Identifier: GPL-2.0
/* saved_tables.c - write FILE.tables while recording, read it afterwards. See saved_tables.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "saved_tables.h"

#define HEAD	"trace-ustack-tables 1 "
#define NR_COLUMNS	7
#define MAX_BYTES	(64 << 20)

static char *make_path(const char *dat)
{
	char *path;

	return asprintf(&path, "%s.tables", dat) < 0 ? NULL : path;
}

/* ---- writing ---- */

static void write_one(void *ctx, const struct tables_file *f)
{
	const struct stats *s = &f->stats;
	FILE *out = ctx;
	const char *p;
	uint32_t i;

	fprintf(out, "%s\t", tables_get_cause_name(f->cause));
	for (i = 0; i < f->build_id_size; i++)
		fprintf(out, "%02x", f->build_id[i]);
	fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t", f->build_id_size ? "" : "-",
		s->text_bytes, s->covered_bytes, stats_get_nr_holes(s),
		f->cause == TABLES_ERROR ? -f->error : 0);
	for (p = f->path; *p; p++)
		if (*p == '\n')
			fputs("\\012", out);
		else
			fputc(*p, out);
	fputc('\n', out);
}

int saved_tables_write(const char *dat, uint64_t id, struct tables_session *t)
{
	char *path = make_path(dat);
	int fd, ret;
	FILE *f;

	if (!path)
		return -ENOMEM;
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	ret = f ? 0 : -errno;
	if (f) {
		fprintf(f, HEAD "%016" PRIx64 "\n", id);
		tables_for_each(t, write_one, f);
		ret = ferror(f) ? -EIO : 0;
		if (fclose(f) && !ret)
			ret = -errno;
	} else if (fd >= 0) {
		close(fd);
	}
	if (ret && fd >= 0)
		unlink(path);
	free(path);
	return ret;
}

void saved_tables_remove(const char *dat)
{
	char *path = make_path(dat);

	if (path)
		unlink(path);
	free(path);
}

/* ---- reading ---- */

static int parse_cause(const char *name)
{
	int i;

	for (i = 0; i < TABLES_NR_CAUSES; i++)
		if (!strcmp(name, tables_get_cause_name(i)))
			return i;
	return -1;
}

static bool parse_build_id(const char *hex, struct saved_table *t)
{
	size_t len = strlen(hex), i;
	unsigned int byte;

	if (!strcmp(hex, "-"))
		return true;
	if (len % 2 || len > 2 * sizeof(t->build_id) ||
	    strspn(hex, "0123456789abcdef") != len)
		return false;
	for (i = 0; i < len / 2; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		t->build_id[i] = byte;
	}
	t->build_id_size = len / 2;
	return true;
}

static bool parse_number(const char *s, uint64_t *n)
{
	char *end;

	*n = strtoull(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end;
}

/* Parse a line without its line feed: 0, -EINVAL, -ENOMEM. */
static int parse_line(struct saved_tables *s, char *line)
{
	struct saved_table t = { .cause = TABLES_ERROR }, *to;
	char *col[NR_COLUMNS];
	uint64_t error;
	int i, cause;

	for (i = 0; i < NR_COLUMNS; i++) {
		col[i] = line;
		/* the last column, the path, is the rest of the line */
		if (i == NR_COLUMNS - 1)
			break;
		line = strchr(line, '\t');
		if (!line)
			return -EINVAL;
		*line++ = '\0';
	}
	cause = parse_cause(col[0]);
	/* no file has more covered code than code */
	if (cause < 0 || !parse_build_id(col[1], &t) || !parse_number(col[2], &t.text_bytes) ||
	    !parse_number(col[3], &t.covered_bytes) || !parse_number(col[4], &t.holes) ||
	    !parse_number(col[5], &error) || error > INT_MAX || t.covered_bytes > t.text_bytes)
		return -EINVAL;
	t.cause = cause;
	t.error = error;
	t.path = strdup(col[6]);
	to = t.path ? vec_add(&s->v) : NULL;
	if (!to) {
		free(t.path);
		return -ENOMEM;
	}
	*to = t;
	return 0;
}

static int read_lines(struct saved_tables *s, FILE *f, uint64_t id)
{
	char *line = NULL, want[64];
	size_t room = 0;
	int ret = -EINVAL;
	ssize_t n;

	snprintf(want, sizeof(want), HEAD "%016" PRIx64 "\n", id);
	n = getline(&line, &room, f);
	if (n > 0 && !strncmp(line, HEAD, strlen(HEAD)))
		ret = id && !strcmp(line, want) ? 0 : -ESTALE;
	while (!ret && (n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] != '\n' || strlen(line) != (size_t)n) {
			ret = -EINVAL;		/* the line is cut */
			break;
		}
		line[n - 1] = '\0';
		ret = parse_line(s, line);
	}
	free(line);
	return ret;
}

int saved_tables_read(struct saved_tables *s, const char *dat, uint64_t id)
{
	char *path = make_path(dat);
	struct stat st;
	int fd, ret;
	FILE *f;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	if (fd < 0)
		return -ENOENT;
	f = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES ? fdopen(fd, "r") :
	    NULL;
	ret = f ? read_lines(s, f, id) : -EINVAL;
	if (f)
		fclose(f);
	else
		close(fd);
	if (ret)
		saved_tables_free(s);
	return ret;
}

void saved_tables_free(struct saved_tables *s)
{
	size_t i;

	for (i = 0; i < s->v.nr; i++)
		free(s->v.v[i].path);
	vec_free(&s->v);
}

const struct saved_table *saved_tables_find(const struct saved_tables *s,
					    const struct maps_file *file)
{
	const struct saved_table *t, *by_path = NULL;
	size_t i;

	for (i = 0; i < s->v.nr; i++) {
		t = &s->v.v[i];
		if (t->build_id_size && file->build_id_size) {
			if (t->build_id_size == file->build_id_size &&
			    !memcmp(t->build_id, file->build_id, t->build_id_size))
				return t;
		} else if (!by_path && !strcmp(t->path, file->path)) {
			/* another container may have another file there */
			by_path = t;
		}
	}
	return by_path;
}
