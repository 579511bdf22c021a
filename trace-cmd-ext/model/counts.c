// SPDX-License-Identifier: GPL-2.0
/*
 * counts.c - how many events there are of each kind, task, kernel stack and user stack
 *
 * Usually the scan has counted them (early_counts.c). Otherwise several processes read the file
 * once more, at most one for each CPU of this machine. They share the streams. Each process starts
 * with a copy of the model (fork) and counts in it. It returns its counts with the meaning of their
 * numbers: the addresses of a kernel stack, a run that has a user stack. The model gives these its
 * own numbers. It appends the counts of one process after the other without adding up equal ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define MAX_WORKERS	64

/* Equal counts are added up once there are more than this. */
#define COUNT_LIMIT	(1u << 20)

struct head {
	uint32_t kstacks, ustacks;	/* number of new ones */
	uint64_t counts;
};

struct worker {
	pid_t pid;
	int fd;				/* a file in memory with its results */
	uint64_t bytes;			/* of its streams */
};

/* Add up all equal counts, by a hash index. */
static int sum_up_counts(struct model *m)
{
	struct model_count *v = m->counts.v, *c;
	size_t nr = 0, k, pos;
	uint64_t hash;
	uint32_t i;

	hidx_clear(&m->count_idx);
	for (k = 0; k < m->counts.nr; k++) {
		hash = count_hash(&v[k]);
		for_each_hidx(&m->count_idx, hash, pos, i) {
			c = &v[i];
			if (count_has_same_key(c, &v[k])) {
				c->nr += v[k].nr;
				goto next;
			}
		}
		v[nr] = v[k];
		if (hidx_add(&m->count_idx, hash, nr++))
			return -ENOMEM;
next:;
	}
	m->counts.nr = nr;
	hidx_free(&m->count_idx);
	return 0;
}

/*
 * The same count may come several times. A small cache finds those that come again soon. Looking
 * for all of them pays only if there are very many counts.
 */
static int count_event(void *data, const struct model_event *ev)
{
	struct model_count want = { ev->type, ev->tid, ev->kstack, ev->ustack, 1 }, *c;
	struct model *m = data;
	uint32_t *slot = &m->count_cache[count_hash(&want) % COUNT_CACHE];

	if (*slot < m->counts.nr && count_has_same_key(&m->counts.v[*slot], &want)) {
		m->counts.v[*slot].nr++;
		return 0;
	}
	if (m->counts.nr >= m->count_limit) {
		if (m->count_limit && sum_up_counts(m))
			return -ENOMEM;
		m->count_limit = m->counts.nr > COUNT_LIMIT / 2 ? 2 * m->counts.nr : COUNT_LIMIT;
	}
	c = vec_add(&m->counts);
	if (!c)
		return -ENOMEM;
	*c = want;
	*slot = m->counts.nr - 1;
	return 0;
}

/* ---- the counting process ---- */

static int write_counts(struct model *m, int fd, uint32_t kstacks, uint32_t ustacks)
{
	struct head h = { m->kstacks.nr - kstacks, m->ustacks.nr - ustacks, m->counts.nr };
	uint32_t *v = malloc(((size_t)h.kstacks + h.ustacks + 1) * sizeof(*v)), i;
	uint64_t addrs = m->kaddrs.nr;
	int ret;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < h.kstacks; i++)
		v[i] = m->kstacks.v[kstacks + i].nr;
	for (i = 0; i < h.ustacks; i++)
		v[h.kstacks + i] = m->ustacks.v[ustacks + i].run;
	if (h.kstacks)
		addrs = m->kstacks.v[kstacks].off;
	ret = fd_write_all(fd, &h, sizeof(h));
	if (!ret)
		ret = fd_write_all(fd, v, ((size_t)h.kstacks + h.ustacks) * sizeof(*v));
	if (!ret)
		ret = fd_write_all(fd, m->kaddrs.v + addrs,
				   (m->kaddrs.nr - addrs) * sizeof(uint64_t));
	if (!ret)
		ret = fd_write_all(fd, m->counts.v, h.counts * sizeof(*m->counts.v));
	free(v);
	return ret;
}

static void __attribute__((noreturn)) run_worker(struct model *m, pid_t parent,
						 const bool *wanted_streams, int fd)
{
	uint32_t kstacks = m->kstacks.nr, ustacks = m->ustacks.nr;
	int ret;

	limit_to_parent(parent);
	m->opts.progress = NULL;
	m->wanted_streams = wanted_streams;
	ret = model_for_each(m, MODEL_BY_CPU, count_event, m);
	if (!ret)
		ret = write_counts(m, fd, kstacks, ustacks);
	_exit(ret == -ENOMEM ? 2 : ret ? 1 : 0);
}

/* ---- the process of the model ---- */

/* The model's number of stack @i of a process, whose stacks from @first on have the numbers @v. */
static uint32_t translate_stack(const uint32_t *v, uint32_t nr, uint32_t first, uint32_t i)
{
	return i == MODEL_NONE || i < first || i - first >= nr ? i : v[i - first];
}

/* @kstacks, @ustacks: the numbers of stacks in the model at the fork. */
static int read_counts(struct model *m, int fd, uint32_t kstacks, uint32_t ustacks)
{
	uint32_t *v = NULL, i, *kmap, *umap;
	struct model_count *c;
	struct head h;
	int ret;

	if (lseek(fd, 0, SEEK_SET) || fd_read_all(fd, &h, sizeof(h)))
		return -EIO;
	v = malloc(((size_t)h.kstacks + h.ustacks + 1) * sizeof(*v));
	if (!v || vec_reserve(&m->counts, h.counts + 1)) {
		free(v);
		return -ENOMEM;
	}
	kmap = v;
	umap = v + h.kstacks;
	ret = fd_read_all(fd, v, ((size_t)h.kstacks + h.ustacks) * sizeof(*v));
	for (i = 0; i < h.kstacks && !ret; i++) {
		if (vec_reserve(&m->kaddrs, (size_t)kmap[i] + 1))
			ret = -ENOMEM;
		else
			ret = fd_read_all(fd, m->kaddrs.v + m->kaddrs.nr,
					  kmap[i] * sizeof(uint64_t));
		if (!ret)
			kmap[i] = model_add_kstack(m, kmap[i]);
	}
	for (i = 0; i < h.ustacks && !ret; i++)
		umap[i] = model_get_run_ustack(m, umap[i]);
	c = m->counts.v + m->counts.nr;
	if (!ret)
		ret = fd_read_all(fd, c, h.counts * sizeof(*c));
	if (!ret) {
		m->counts.nr += h.counts;
		for (; h.counts--; c++) {
			c->kstack = translate_stack(kmap, h.kstacks, kstacks, c->kstack);
			c->ustack = translate_stack(umap, h.ustacks, ustacks, c->ustack);
		}
	}
	free(v);
	return ret && ret != -ENOMEM ? -EIO : ret;
}

/* Give each stream, largest first, to the process with the least bytes so far. */
static void share_streams(struct model *m, struct worker *w, uint32_t nr, bool *wanted_streams,
			  uint32_t streams)
{
	uint32_t i, k, largest, idlest;
	uint64_t bytes, most;
	bool *given = wanted_streams + (size_t)nr * streams;

	for (k = 0; k < streams; k++) {
		most = 0;
		largest = MODEL_NONE;
		for (i = 0; i < streams; i++) {
			bytes = reader_get_stream(m->reader, i)->bytes + 1;
			if (!given[i] && bytes > most) {
				most = bytes;
				largest = i;
			}
		}
		given[largest] = true;
		for (i = 1, idlest = 0; i < nr; i++)
			if (w[i].bytes < w[idlest].bytes)
				idlest = i;
		w[idlest].bytes += most;
		wanted_streams[(size_t)idlest * streams + largest] = true;
	}
}

static int count_in_processes(struct model *m, uint32_t nr, uint32_t streams)
{
	uint32_t i, kstacks = m->kstacks.nr, ustacks = m->ustacks.nr;
	bool *wanted_streams = calloc((size_t)(nr + 1) * streams, sizeof(*wanted_streams));
	struct worker w[MAX_WORKERS] = {};
	int ret = wanted_streams ? 0 : -ENOMEM, status;
	pid_t parent = getpid();

	if (wanted_streams)
		share_streams(m, w, nr, wanted_streams, streams);
	for (i = 0; i < nr; i++)
		w[i].fd = -1;
	for (i = 0; i < nr && !ret; i++) {
		w[i].fd = memfd_create("counts", MFD_CLOEXEC);
		w[i].pid = w[i].fd < 0 ? -1 : fork();
		if (!w[i].pid)
			run_worker(m, parent, wanted_streams + (size_t)i * streams, w[i].fd);
		if (w[i].pid < 0)
			ret = -errno;
	}
	for (i = 0; i < nr; i++) {
		if (w[i].pid > 0) {
			while (waitpid(w[i].pid, &status, 0) < 0 && errno == EINTR)
				;
			if (!ret && status)
				ret = WIFEXITED(status) && WEXITSTATUS(status) == 2 ? -ENOMEM :
										      -EIO;
			if (!ret)
				ret = read_counts(m, w[i].fd, kstacks, ustacks);
		}
		if (w[i].fd >= 0)
			close(w[i].fd);
	}
	free(wanted_streams);
	return ret;
}

int model_get_counts(struct model *m, const struct model_count **v, size_t *nr)
{
	long cpus = m->opts.processes ? m->opts.processes : sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t streams = reader_get_nr_streams(m->reader);
	int ret = 0;

	if (cpus > MAX_WORKERS)
		cpus = MAX_WORKERS;
	if (cpus > streams)
		cpus = streams;
	if (!m->counted && !early_make_counts(m))
		ret = cpus > 1 ? count_in_processes(m, cpus, streams) :
				 model_for_each(m, MODEL_BY_CPU, count_event, m);
	m->counted |= !ret;
	*v = m->counts.v;
	*nr = m->counts.nr;
	m->chosen += m->counts.nr;
	return ret;
}
