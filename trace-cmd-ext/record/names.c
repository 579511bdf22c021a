// SPDX-License-Identifier: GPL-2.0
/* names.c - names of tasks for the trace.dat file */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "bytes.h"

static void add_comm(struct text *b, const char *tid)
{
	char path[64], line[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		text_bytes(b, line, snprintf(line, sizeof(line), "%.16s %s\n", tid, comm));
	}
	fclose(f);
}

static void add_threads(struct text *b, const char *pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_comm(b, d->d_name);
	if (dir)
		closedir(dir);
}

char *dat_read_comms(void)
{
	DIR *dir = rt_has_other_pids() ? NULL : opendir("/proc");
	struct text b = {};
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_threads(&b, d->d_name);
	if (dir)
		closedir(dir);
	text_bytes(&b, "", 1);
	if (!b.failed)
		return b.v;
	free(b.v);
	return NULL;
}

struct comm_line {
	long tid;
	size_t order;			/* where it stood: the later, the better */
	const char *name;
	size_t len;
};

static int by_tid(const void *a, const void *b)
{
	const struct comm_line *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

/*
 * The kernel remembers the names of the tasks that recorded something, of the last few hundred or
 * thousand. Those that run at the beginning or the end have theirs in /proc. Of several names of
 * a task the kernel's wins.
 */
void dat_add_comms(struct text *b, const struct rec *r)
{
	char *now = dat_read_comms(), *saved = rt_read(NULL, "saved_cmdlines", NULL), *line, *end;
	char *text[] = { r->comms, now, saved };
	struct comm_line *comm = NULL, *bigger;
	size_t i, nr = 0, room = 0, at = b->nr, len;

	for (i = 0; i < 3; i++) {
		for (line = text[i]; line && *line; line = *end ? end + 1 : end) {
			end = line + strcspn(line, "\n");
			if (nr == room) {
				room = room ? 2 * room : 256;
				bigger = realloc(comm, room * sizeof(*comm));
				if (!bigger)
					goto out;
				comm = bigger;
			}
			comm[nr].tid = strtol(line, &line, 10);
			comm[nr].order = nr;
			comm[nr].name = line;
			comm[nr].len = end - line;
			nr += *line == ' ' && end - line > 1 && memcmp(line, " <...>", 6);
		}
	}
out:
	qsort(comm, nr, sizeof(*comm), by_tid);
	add8(b, 0);
	for (i = 0; i < nr; i++) {
		char number[24];

		if (i && comm[i].tid == comm[i - 1].tid)
			continue;
		text_bytes(b, number, sprintf(number, "%ld", comm[i].tid));
		text_bytes(b, comm[i].name, comm[i].len);
		text_bytes(b, "\n", 1);
	}
	len = b->nr - at - 8;
	if (!b->failed)
		memcpy(b->v + at, &len, 8);
	free(comm);
	free(now);
	free(saved);
}
