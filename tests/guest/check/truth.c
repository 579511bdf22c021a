// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../../libunwind-user/base/vec.h"
#include "truth.h"

/* Below CP_FIRST_SEQ the number is a descriptor, which is unique only in its task */
static uint64_t make_key(unsigned int tid, unsigned int seq)
{
	return seq < CP_FIRST_SEQ ? ((uint64_t)tid << 32) | seq : seq;
}

static unsigned int get_slot(const struct truth *tr, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 40 & tr->mask;
}

static const struct cp_record **find_slot(const struct truth *tr, unsigned int tid,
					  unsigned int seq)
{
	uint64_t key = make_key(tid, seq);
	unsigned int i = get_slot(tr, key);

	while (tr->table[i] && make_key(tr->table[i]->tid, tr->table[i]->seq) != key)
		i = (i + 1) & tr->mask;
	return &tr->table[i];
}

int truth_load(struct truth *tr, const char *path)
{
	struct stat st;
	void *map;
	int fd, err;

	memset(tr, 0, sizeof(*tr));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		fprintf(stderr, "%s: cannot open the record: %s; run callpath -o %s first\n",
			path, strerror(errno), path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (st.st_size < (off_t)sizeof(struct cp_header)) {
		close(fd);
		fprintf(stderr, "%s: not a callpath record: it is too short\n", path);
		return -EINVAL;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED) {
		err = -errno;
		fprintf(stderr, "%s: cannot map the record: %s\n", path, strerror(errno));
		return err;
	}
	tr->head = map;
	if (tr->head->magic != CP_MAGIC || tr->head->version != CP_VERSION ||
	    tr->head->size != st.st_size) {
		fprintf(stderr, "%s: not a callpath record of version %u\n", path, CP_VERSION);
		munmap(map, st.st_size);
		tr->head = NULL;
		return -EINVAL;
	}
	truth_index(tr);
	return 0;
}

void truth_free(struct truth *tr)
{
	if (tr->head)
		munmap((void *)tr->head, tr->head->size);
	free(tr->table);
	free(tr->sorted);
	memset(tr, 0, sizeof(*tr));
}

/* The first entry at or after @at; @next gets the start of the entry after it */
static const struct cp_record *find_entry(const struct truth *tr, unsigned int at,
					  unsigned int *next)
{
	unsigned int end = __atomic_load_n(&tr->head->cursor, __ATOMIC_ACQUIRE);
	const struct cp_record *rec;

	if (end > tr->head->size)
		end = tr->head->size;
	for (; at < end && end - at >= sizeof(*rec); at += 8) {
		rec = (const struct cp_record *)((const char *)tr->head + at);
		if (rec->magic != CP_MAGIC || rec->bytes > end - at || rec->depth > CP_MAX_DEPTH ||
		    rec->bytes != sizeof(*rec) + rec->depth * 8)
			continue;
		*next = at + rec->bytes;
		return rec;
	}
	return NULL;
}

void truth_index(struct truth *tr)
{
	unsigned int at, count = 0;
	const struct cp_record *rec;

	for (at = sizeof(*tr->head); (rec = find_entry(tr, at, &at)); )
		count++;
	if (!tr->table || count * 2 > tr->mask) {
		free(tr->table);
		for (tr->mask = 1023; tr->mask < count * 3; )
			tr->mask = tr->mask * 2 + 1;
		tr->table = calloc(tr->mask + 1, sizeof(*tr->table));
		if (!tr->table) {
			fprintf(stderr, "no memory for %u entries of the record\n", count);
			exit(2);
		}
	}
	tr->entries = 0;
	tr->unused = 0;
	for (at = sizeof(*tr->head); count && (rec = find_entry(tr, at, &at)); count--) {
		if (!rec->ip) {
			tr->unused++;
			continue;
		}
		*find_slot(tr, rec->tid, rec->seq) = rec;
		tr->entries++;
	}
}

const struct cp_record *truth_find(const struct truth *tr, unsigned int tid,
				   unsigned int seq, int nr)
{
	const struct cp_record *rec = *find_slot(tr, tid, seq);

	if (!rec || (rec->tid && rec->tid != tid))
		return NULL;
	if (nr < 0 || rec->nr == (unsigned int)nr)
		return rec;
	/* The number is that of restart_syscall, not of the system call that it restarts */
	if (rec->flags & CP_RESTART && nr == (rec->flags & CP_COMPAT ? 0 : NR_RESTART_SYSCALL))
		return rec;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct cp_record *x = *(void **)a, *y = *(void **)b;

	RETURN_IF_DIFFERENT(x->tid, y->tid);
	return cmp_int(x->seq, y->seq);
}

const struct cp_record *const *truth_from(struct truth *tr, unsigned int tid, unsigned int seq)
{
	unsigned int i, nr = 0;
	const struct cp_record *rec;

	if (!tr->sorted) {
		tr->sorted = calloc(tr->entries + 1, sizeof(*tr->sorted));
		if (!tr->sorted)
			return NULL;
		for (i = 0; i <= tr->mask; i++) {
			if (tr->table[i] && nr < tr->entries)
				tr->sorted[nr++] = tr->table[i];
		}
		qsort(tr->sorted, nr, sizeof(*tr->sorted), compare);
	}
	/* a record that was there twice leaves no record at the end */
	bisect(i, tr->entries, !(rec = tr->sorted[i]) || rec->tid > tid ||
	       (rec->tid == tid && rec->seq >= seq));
	rec = tr->sorted[i];
	return rec && rec->tid == tid ? (const struct cp_record *const *)&tr->sorted[i] : NULL;
}

static int is_frame(uint64_t addr, uint64_t want)
{
	return addr == want || (addr == ADDR_VDSO && want >> 32);
}

int truth_same(const struct cp_record *rec, const uint64_t *addr, unsigned int nr,
	       unsigned int flags, int tables, char why[WHY_SIZE])
{
	unsigned int i, n = 1, want = 1;

	for (i = 0; i < rec->depth; i++)
		want += tables || !(rec->frame[i] & CP_INTERRUPTED);

	if (!nr) {
		snprintf(why, WHY_SIZE, "no frames, flags 0x%x", flags);
		return 0;
	}
	if (!is_frame(addr[0], rec->ip) &&
	    !(rec->flags & CP_RESTART && addr[0] == rec->ip - SYSCALL_BYTES)) {
		snprintf(why, WHY_SIZE, "frame 0 is %" PRIx64 ", not %llx", addr[0], rec->ip);
		return 0;
	}
	for (i = 0; i < rec->depth && n < nr; i++) {
		if (rec->frame[i] & CP_INTERRUPTED && !tables)
			continue;
		if (!is_frame(addr[n], rec->frame[i] & ~CP_INTERRUPTED)) {
			snprintf(why, WHY_SIZE, "frame %u of %u is %" PRIx64 ", not %llx", n, nr,
				 addr[n], rec->frame[i] & ~CP_INTERRUPTED);
			return 0;
		}
		n++;
	}
	if (nr > want) {
		snprintf(why, WHY_SIZE, "%u frames, %" PRIx64 " is beyond the outermost of %u", nr,
			 addr[want], want);
		return 0;
	}
	if (nr < want && (!(flags & STACK_TRUNCATED) || nr < STACK_LIMIT)) {
		snprintf(why, WHY_SIZE, "%u frames of %u, flags 0x%x", nr, want, flags);
		return 0;
	}
	if (nr == want && flags & (STACK_TRUNCATED | STACK_INCOMPLETE)) {
		snprintf(why, WHY_SIZE, "all %u frames, but flags 0x%x", nr, flags);
		return 0;
	}
	if (!(flags & STACK_COMPAT) != !(rec->flags & CP_COMPAT)) {
		snprintf(why, WHY_SIZE, "flags 0x%x for %u-bit code", flags,
			 rec->flags & CP_COMPAT ? 32 : 64);
		return 0;
	}
	return 1;
}

int truth_starts(const struct cp_record *rec, const uint64_t *addr, unsigned int nr, int tables)
{
	unsigned int i, n = 1;

	if (!nr || !is_frame(addr[0], rec->ip))
		return 0;
	for (i = 0; i < rec->depth && n < nr; i++) {
		if (rec->frame[i] & CP_INTERRUPTED && !tables)
			continue;
		if (!is_frame(addr[n], rec->frame[i] & ~CP_INTERRUPTED))
			return 0;
		n++;
	}
	return n == nr;
}

void truth_print(const struct cp_record *rec)
{
	unsigned int i;

	printf("  entry %u: tid %u system call %u flags 0x%x\n    %llx\n", rec->seq, rec->tid,
	       rec->nr, rec->flags, rec->ip);
	for (i = 0; i < rec->depth; i++)
		printf("    %llx%s\n", rec->frame[i] & ~CP_INTERRUPTED,
		       rec->frame[i] & CP_INTERRUPTED ? " (interrupted)" : "");
}
