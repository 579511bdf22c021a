// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * maps.c - the mappings of each process. maps.h has the rules.
 *
 * A process keeps each mapping once, with all times at which it was recorded, because the kernel
 * repeats itself. The mappings are sorted by start, and each one also stores the largest end so
 * far. A lookup starts at the last mapping that starts at or before the address and goes down from
 * there. A mapping that overlaps another one is contested. Only a sighting of a contested mapping
 * can change the meaning of an address, so the number of these sightings up to a time is the epoch
 * of that time.
 */
#include <errno.h>

#include "maps.h"
#include "libunwind-user/base/base.h"

/* How far the clocks of two CPUs are trusted to agree, in ns. */
#define CLOCK_SLACK	10000000ull

/* USER_MAPS_NEW of the kernel: if a stack touches more, a later stack records the rest. */
#define MAPS_PER_STACK	16

/* A stack of the kernel has at most 510 frames. Rule 5 is not applied to longer lists. */
#define FRAMES_MAX	4096

struct sighting {
	uint64_t ts;
	uint32_t proc;
	uint32_t cpu;
	uint32_t map;			/* index in m->maps */
};

struct map {
	uint64_t start, end, pgoff;
	uint64_t max_end;		/* of all mappings of the process up to this */
	uint32_t proc, file;
	uint32_t seen, nr_seen;		/* the mapping's sightings, by time, in m->seen */
	uint32_t id;			/* before sorting: sighting.map has this number */
	bool contested;			/* another mapping of the process overlaps it */
};

struct proc {
	uint32_t tgid;
	uint32_t map, nr_maps;
	uint32_t seen, nr_seen;		/* its contested sightings, by time, in m->contested */
};

struct maps {
	VEC(struct maps_file) files;
	VEC(struct map) maps;
	VEC(struct sighting) seen;
	VEC(struct sighting) contested;
	VEC(struct proc) procs;
	struct hidx file_idx, map_idx, proc_idx;
	const struct map *last;		/* the mapping found last, if it is not contested */
	bool incomplete;
};

struct maps *maps_new(void)
{
	return calloc(1, sizeof(struct maps));
}

static void free_file(struct maps_file *f)
{
	/* the memory of @python also holds the path, see split_python() */
	free(f->python ? f->python : f->path);
}

void maps_free(struct maps *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->files.nr; i++)
		free_file(&m->files.v[i]);
	vec_free(&m->files);
	vec_free(&m->maps);
	vec_free(&m->seen);
	vec_free(&m->contested);
	vec_free(&m->procs);
	hidx_free(&m->file_idx);
	hidx_free(&m->map_idx);
	hidx_free(&m->proc_idx);
	free(m);
}

/*
 * Split "NAME (FILE)", the path of a Python function. If the name has " (" in it, the file gets
 * a part of the name, and both together are still right.
 */
static void split_python(struct maps_file *f)
{
	char *name = f->path + strlen(MAPS_PYTHON), *file, *end;

	/* the only pointer to the text is that of its start */
	f->python = memmove(f->path, name, strlen(name) + 1);
	file = strstr(f->python, " (");
	end = f->python + strlen(f->python);
	f->path = end;
	if (!file || end[-1] != ')')
		return;
	end[-1] = *file = '\0';
	f->path = file + 2;
}

/* Is @path the path of this file? A Python function has its path in two parts. */
static bool has_path(const struct maps_file *f, const char *path)
{
	size_t len;

	if (!f->python)
		return !strcmp(f->path, path);
	if (strncmp(path, MAPS_PYTHON, strlen(MAPS_PYTHON)))
		return false;
	path += strlen(MAPS_PYTHON);
	len = strlen(f->python);
	if (strncmp(path, f->python, len))
		return false;
	path += len;
	if (f->path == f->python + len)
		return !*path;
	len = strlen(f->path);
	return !strncmp(path, " (", 2) && !strncmp(path + 2, f->path, len) &&
	       !strcmp(path + 2 + len, ")");
}

static int get_file(struct maps *m, const struct maps_rec *rec, uint32_t *id)
{
	uint64_t hash = hash_str(rec->path) ^ hash64(rec->ino);
	struct maps_file *f;
	uint32_t i;
	size_t pos;

	for_each_hidx(&m->file_idx, hash, pos, i) {
		f = &m->files.v[i];
		if (f->ino == rec->ino && f->major == rec->major && f->minor == rec->minor &&
		    f->build_id_size == rec->build_id_size &&
		    !memcmp(f->build_id, rec->build_id, f->build_id_size) &&
		    has_path(f, rec->path)) {
			*id = i;
			return 0;
		}
	}
	f = vec_add(&m->files);
	if (!f)
		return -ENOMEM;
	f->id = m->files.nr - 1;
	f->ino = rec->ino;
	f->major = rec->major;
	f->minor = rec->minor;
	f->build_id_size = rec->build_id_size;
	memcpy(f->build_id, rec->build_id, sizeof(f->build_id));
	f->path = strdup(rec->path);
	if (f->path && !strncmp(f->path, MAPS_PYTHON, strlen(MAPS_PYTHON)))
		split_python(f);
	*id = f->id;
	return !f->path || hidx_add(&m->file_idx, hash, f->id) ? -ENOMEM : 0;
}

static struct proc *find_proc(struct maps *m, uint32_t tgid)
{
	return vec_find(&m->procs, &m->proc_idx, tgid, tgid);
}

static int get_map(struct maps *m, const struct maps_rec *rec, uint32_t proc, uint32_t file,
		   uint32_t *id)
{
	uint64_t hash = hash64(rec->start ^ hash64(rec->pgoff + proc)) ^ file;
	struct map *map;
	uint32_t i;
	size_t pos;

	for_each_hidx(&m->map_idx, hash, pos, i) {
		map = &m->maps.v[i];
		if (map->proc == proc && map->start == rec->start && map->end == rec->end &&
		    map->pgoff == rec->pgoff && map->file == file) {
			*id = i;
			return 0;
		}
	}
	map = vec_add_hashed(&m->maps, &m->map_idx, hash);
	if (!map)
		return -ENOMEM;
	map->start = rec->start;
	map->end = rec->end;
	map->pgoff = rec->pgoff;
	map->proc = proc;
	map->file = file;
	map->id = *id = m->maps.nr - 1;
	return 0;
}

int maps_add(struct maps *m, const struct maps_rec *rec)
{
	struct proc *p = vec_get(&m->procs, &m->proc_idx, tgid, rec->tgid);
	uint32_t file, map;
	struct sighting *s;
	int ret;

	if (!p)
		return -ENOMEM;
	ret = get_file(m, rec, &file);
	if (ret)
		return ret;
	ret = get_map(m, rec, p - m->procs.v, file, &map);
	if (ret)
		return ret;
	s = vec_add(&m->seen);
	if (!s)
		return -ENOMEM;
	s->ts = rec->ts;
	s->cpu = rec->cpu;
	s->proc = p - m->procs.v;
	s->map = map;
	return 0;
}

static int compare_maps(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->proc, y->proc);
	RETURN_IF_DIFFERENT(x->start, y->start);
	RETURN_IF_DIFFERENT(x->end, y->end);
	return cmp_int(x->id, y->id);
}

static int compare_sightings(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->map, y->map);
	RETURN_IF_DIFFERENT(x->ts, y->ts);
	return cmp_int(x->cpu, y->cpu);
}

static int compare_contested(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->proc, y->proc);
	return cmp_int(x->ts, y->ts);
}

/* Mark the mappings of a process that overlap another one. They are sorted by start. */
static void mark_contested(struct maps *m, const struct proc *p)
{
	struct map *map = &m->maps.v[p->map], *top = map;
	uint32_t i;

	for (i = 0; i < p->nr_maps; i++) {
		if (i && map[i].start < top->end)
			map[i].contested = top->contested = true;
		if (!i || map[i].end > top->end)
			top = &map[i];
		map[i].max_end = top->end;
	}
}

int maps_finish(struct maps *m)
{
	uint32_t *place;
	struct sighting *s;
	size_t i;

	if (!m->maps.nr)
		return 0;
	qsort(m->maps.v, m->maps.nr, sizeof(*m->maps.v), compare_maps);
	place = malloc(m->maps.nr * sizeof(*place));
	if (!place)
		return -ENOMEM;
	for (i = 0; i < m->maps.nr; i++) {
		struct proc *p = &m->procs.v[m->maps.v[i].proc];

		place[m->maps.v[i].id] = i;
		if (!p->nr_maps++)
			p->map = i;
	}
	for (i = 0; i < m->seen.nr; i++)
		m->seen.v[i].map = place[m->seen.v[i].map];
	free(place);
	qsort(m->seen.v, m->seen.nr, sizeof(*m->seen.v), compare_sightings);
	for (i = 0; i < m->seen.nr; i++) {
		struct map *map = &m->maps.v[m->seen.v[i].map];

		if (!map->nr_seen++)
			map->seen = i;
	}
	for (i = 0; i < m->procs.nr; i++)
		mark_contested(m, &m->procs.v[i]);

	for (i = 0; i < m->seen.nr; i++) {
		if (!m->maps.v[m->seen.v[i].map].contested)
			continue;
		s = vec_add(&m->contested);
		if (!s)
			return -ENOMEM;
		*s = m->seen.v[i];
	}
	if (m->contested.nr)
		qsort(m->contested.v, m->contested.nr, sizeof(*m->contested.v), compare_contested);
	for (i = 0; i < m->contested.nr; i++) {
		struct proc *p = &m->procs.v[m->contested.v[i].proc];

		if (!p->nr_seen++)
			p->seen = i;
	}
	return 0;
}

/* The number of sightings at or before @ts, of @nr sightings sorted by time. */
static uint32_t count_seen_until(const struct sighting *s, uint32_t nr, uint64_t ts)
{
	uint32_t i;

	bisect(i, nr, s[i].ts > ts);
	return i;
}

static uint64_t subtract_to_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint32_t maps_get_epoch(struct maps *m, uint32_t tgid, uint64_t ts, bool *near)
{
	const struct proc *p = find_proc(m, tgid);
	const struct sighting *s;
	uint32_t n;

	*near = false;
	if (!p || !p->nr_seen)
		return 0;
	s = &m->contested.v[p->seen];
	n = count_seen_until(s, p->nr_seen, ts);
	*near = (n && subtract_to_zero(ts, s[n - 1].ts) <= CLOCK_SLACK) ||
		(n < p->nr_seen && subtract_to_zero(s[n].ts, ts) <= CLOCK_SLACK);
	return n;
}

/*
 * The last sighting of @map at or before @ts. The clocks of the other CPUs are assumed to be ahead
 * of the clock of @cpu (@skew > 0), or late (@skew < 0).
 */
static const struct sighting *find_last_seen(struct maps *m, const struct map *map, uint64_t ts,
					     uint32_t cpu, int skew)
{
	const struct sighting *s = &m->seen.v[map->seen];
	uint64_t others = skew > 0 ? ts + CLOCK_SLACK :
			  skew < 0 ? subtract_to_zero(ts, CLOCK_SLACK) :
				     ts;
	uint32_t i = count_seen_until(s, map->nr_seen, others > ts ? others : ts);

	while (i-- > 0)
		if (s[i].ts <= (s[i].cpu == cpu ? ts : others))
			return &s[i];
	return NULL;
}

/* Apply rules 1 and 2 to the mappings before index @last that hold the address. */
static const struct map *choose_map(struct maps *m, const struct map *map, uint32_t last,
				    const struct maps_place *place, int skew, bool *contested)
{
	const struct map *before = NULL, *after = NULL;
	uint64_t before_ts = 0, after_ts = 0;
	const struct sighting *s;

	for (; last-- > 0 && map[last].max_end > place->addr; ) {
		if (map[last].end <= place->addr)
			continue;
		*contested |= map[last].contested;
		s = find_last_seen(m, &map[last], place->ts, place->cpu, skew);
		if (s && (!before || s->ts > before_ts)) {
			before = &map[last];
			before_ts = s->ts;
		}
		s = &m->seen.v[map[last].seen];
		if (!after || s->ts < after_ts) {
			after = &map[last];
			after_ts = s->ts;
		}
	}
	return before ? before : after;
}

static const struct map *find_mapping(struct maps *m, const struct maps_place *place)
{
	const struct map *map, *best = m->last;
	uint64_t addr = place->addr;
	const struct proc *p;
	bool contested = false;
	uint32_t i;

	/* most frames of a stack are in few files */
	if (best && best->start <= addr && addr < best->end &&
	    m->procs.v[best->proc].tgid == place->tgid)
		return best;
	p = find_proc(m, place->tgid);
	if (!p || !p->nr_maps)
		return NULL;
	map = &m->maps.v[p->map];
	bisect(i, p->nr_maps, map[i].start > addr);
	best = choose_map(m, map, i, place, 0, &contested);
	if (!best)
		return NULL;
	if (contested && (choose_map(m, map, i, place, 1, &contested) != best ||
			  choose_map(m, map, i, place, -1, &contested) != best))
		return NULL;
	if (!contested)
		m->last = best;
	return best;
}

void maps_set_incomplete(struct maps *m)
{
	m->incomplete = true;
}

/* No program has code in the first page or beyond 56 bits, whatever its mappings say. */
static bool is_impossible(uint64_t addr)
{
	return addr <= 4096 || addr >> 56;
}

/* A mapping of the process, of any time, that holds @addr or the call before it. */
static const struct map *find_any_map(const struct maps *m, const struct proc *p, uint64_t addr)
{
	const struct map *map = &m->maps.v[p->map];
	uint32_t i;

	bisect(i, p->nr_maps, map[i].start > addr);
	while (i-- > 0 && map[i].max_end >= addr)
		if (map[i].end >= addr)
			return &map[i];
	return NULL;
}

/*
 * Did the kernel record all mappings that the stack touches, with this stack or before it? The task
 * was at the first address, so that address is code. If its mapping was not recorded, the mappings
 * of its callers may be missing too: for the stack of an execve() the kernel records no mapping,
 * because the process already has the mappings of the new program.
 */
static bool has_all_maps(const struct maps *m, const struct proc *p, const uint64_t *addrs,
			 uint32_t nr)
{
	const struct map *known[MAPS_PER_STACK], *map;
	uint32_t i, k, nr_known = 0;

	if (m->incomplete || nr > FRAMES_MAX || !find_any_map(m, p, addrs[0]))
		return false;
	for (i = 0; i < nr; i++) {
		/* the recorder writes all mappings of such functions */
		if (maps_is_python(addrs[i]))
			continue;
		map = find_any_map(m, p, addrs[i]);
		for (k = 0; k < nr_known && known[k] != map; k++)
			;
		if (!map || k < nr_known)
			continue;
		if (nr_known == MAPS_PER_STACK - 1)
			return false;
		known[nr_known++] = map;
	}
	return true;
}

uint32_t maps_find_outside(struct maps *m, uint32_t tgid, const uint64_t *addrs, uint32_t from,
			   uint32_t nr)
{
	const struct map *map = m->last;
	const struct proc *p = NULL;
	bool asked = false;
	uint32_t i;

	for (i = from; i < nr; i++) {
		if (maps_is_python(addrs[i]))
			continue;
		/* no rule applies to such an address */
		if (map && addrs[i] > map->start && addrs[i] <= map->end &&
		    m->procs.v[map->proc].tgid == tgid)
			continue;
		if (!asked)
			p = find_proc(m, tgid);
		asked = true;
		map = p && p->nr_maps ? find_any_map(m, p, addrs[i]) : NULL;
		if (map)
			continue;
		if (is_impossible(addrs[i]))
			break;
		if (p && p->nr_maps && has_all_maps(m, p, addrs, nr))
			break;
	}
	return i;
}

const struct maps_file *maps_find_file(struct maps *m, uint32_t tgid, uint64_t ts, uint32_t cpu,
				       uint64_t addr, uint64_t *offset)
{
	struct maps_place place = { .tgid = tgid, .cpu = cpu, .ts = ts, .addr = addr };
	uint64_t from, to;

	return maps_find_file_range(m, &place, offset, &from, &to);
}

const struct maps_file *maps_find_file_range(struct maps *m, const struct maps_place *place,
					     uint64_t *offset, uint64_t *from, uint64_t *to)
{
	const struct map *map = find_mapping(m, place);

	*from = place->addr;
	*to = place->addr + 1;
	if (!map)
		return NULL;
	if (!map->contested) {
		*from = map->start;
		*to = map->end;
	}
	*offset = place->addr - map->start + map->pgoff;
	return &m->files.v[map->file];
}
