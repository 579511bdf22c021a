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
		text_add_bytes(b, line, snprintf(line, sizeof(line), "%.16s %s\n", tid, comm));
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

char *names_read(void)
{
	DIR *dir = rec_tracefs_in_other_pid_namespace() ? NULL : opendir("/proc");
	struct text b = {};
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_threads(&b, d->d_name);
	if (dir)
		closedir(dir);
	text_add_bytes(&b, "", 1);
	if (!b.failed)
		return b.v;
	free(b.v);
	return NULL;
}

struct comm_line {
	long tid;
	size_t order;			/* its position in the text: the last name wins */
	const char *name;
	size_t len;
};

static int compare_comms(const void *a, const void *b)
{
	const struct comm_line *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->tid, y->tid);
	return cmp_int(y->order, x->order);
}

/*
 * The kernel remembers the names of the last few hundred or thousand tasks that recorded something.
 * /proc has the names of the tasks that run at the start or the end. Samples have the names of
 * their tasks. If a task has several names, the name from the kernel wins. But without an event of
 * ftrace, the kernel has only names from before the recording.
 */
void names_add_section(struct text *b, const struct rec *r)
{
	bool old = (r->opts.freq || r->nr_functions) && !r->nr_events;
	char *saved = old ? NULL : rec_tracefs_read(NULL, "saved_cmdlines", NULL);
	char *now = names_read(), *line, *end;
	struct text sampled = {};
	VEC(struct comm_line) comms = {};
	size_t i, at = b->nr, len;
	struct comm_line *c;
	long tid;
	char *text[4];

	rec_bpf_add_comms(r, &sampled);
	text_add_bytes(&sampled, "", 1);
	text[0] = r->comms;
	text[1] = now;
	text[2] = sampled.failed ? NULL : sampled.v;
	text[3] = saved;
	for (i = 0; i < 4; i++) {
		for (line = text[i]; line && *line; line = *end ? end + 1 : end) {
			end = line + strcspn(line, "\n");
			tid = strtol(line, &line, 10);
			if (*line != ' ' || end - line < 2 || !memcmp(line, " <...>", 6))
				continue;
			c = vec_add(&comms);
			if (!c)
				goto out;
			*c = (struct comm_line){ tid, comms.nr, line, end - line };
		}
	}
out:
	if (comms.nr)			/* qsort() takes no NULL */
		qsort(comms.v, comms.nr, sizeof(*comms.v), compare_comms);
	add8(b, 0);
	for (c = comms.v; c < comms.v + comms.nr; c++) {
		if (c > comms.v && c->tid == c[-1].tid)
			continue;
		text_addf(b, "%ld", c->tid);
		text_add_bytes(b, c->name, c->len);
		text_add_bytes(b, "\n", 1);
	}
	len = b->nr - at - 8;
	if (!b->failed)
		memcpy(b->v + at, &len, 8);
	free(comms.v);
	free(now);
	free(saved);
	free(sampled.v);
}
