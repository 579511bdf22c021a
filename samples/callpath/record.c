// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - writes the record; see record.h for its layout
 *
 * Until the file is mapped, entries go to a small array in memory; then they are copied into the
 * file. Only cp_open() makes system calls.
 */
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "sys.h"

/* Take the arguments from memory: the sixth has the register of the frame pointer, or none */
#if defined(__i386__) || defined(__s390x__)
#define MMAP_BY_MEMORY
#endif

static struct cp_header *hdr;
static unsigned int base = CP_FIRST_SEQ;

static union {
	struct cp_header head;
	unsigned long long words[1024];
} early = {
	.head = { .cursor = sizeof(struct cp_header), .size = sizeof(early) },
};

/* The ip of a refused entry goes here */
static unsigned long long nowhere;

void cp_set_base(unsigned int seq)
{
	base = seq;
}

unsigned int cp_seq(void)
{
	if (!hdr)
		return base++;
	return __atomic_fetch_add(&hdr->seq, 1, __ATOMIC_RELAXED);
}

/* Numbers for the calls of an image before it has mapped the record */
unsigned int cp_reserve_base(void)
{
	return __atomic_fetch_add(&hdr->seq, 64, __ATOMIC_RELAXED);
}

unsigned int cp_refused(void)
{
	return hdr->refused;
}

static void *reserve_bytes(struct cp_header *h, unsigned int bytes)
{
	unsigned int at = __atomic_fetch_add(&h->cursor, bytes, __ATOMIC_RELAXED);

	if (at > h->size || bytes > h->size - at) {
		/* Give the space back, so that readers find the right end */
		__atomic_fetch_sub(&h->cursor, bytes, __ATOMIC_RELAXED);
		__atomic_fetch_add(&h->refused, 1, __ATOMIC_RELAXED);
		return (void *)0;
	}
	return (char *)h + at;
}

unsigned long long *cp_begin(struct task *t, unsigned int nr, unsigned int seq,
			     unsigned int flags)
{
	unsigned int i, bytes = sizeof(struct cp_record) + t->depth * 8;
	struct cp_record *rec = reserve_bytes(hdr ? hdr : &early.head, bytes);

	if (!rec)
		return &nowhere;

	rec->seq = seq;
	rec->tid = t->tid;
	rec->tgid = t->tgid;
	rec->nr = nr;
	rec->flags = flags;
	rec->depth = t->depth;
	rec->magic = CP_MAGIC;
	for (i = 0; i < t->depth; i++)
		rec->frame[i] = t->ra[t->depth - 1 - i];
	/* The size lets a reader skip the entry: write it before the ip */
	__atomic_store_n(&rec->bytes, bytes, __ATOMIC_RELEASE);
	return &rec->ip;
}

static void move_early(struct cp_header *to)
{
	unsigned int i, bytes = early.head.cursor - sizeof(early.head);
	unsigned long long *dst = reserve_bytes(to, bytes);
	unsigned long long *src = &early.words[sizeof(early.head) / 8];

	for (i = 0; dst && i < bytes / 8; i++)
		dst[i] = src[i];
}

PATH int cp_open(struct task *t, const char *path, unsigned int size, int create)
{
#ifdef MMAP_BY_MEMORY
	unsigned long args[6] = { 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0 };
#endif
	struct cp_header *h;
	long fd, ret;

	ENTER(t);
	fd = SYS(t, 0, __NR_openat, AT_FDCWD, path,
		 O_RDWR | (create ? O_CREAT | O_TRUNC : 0), 0644);
	ret = fd;
	if (fd < 0)
		goto out;
	if (create) {
		ret = SYS2(t, __NR_ftruncate, fd, size);
		if (ret < 0)
			goto out;
	}
#ifdef MMAP_BY_MEMORY
	args[1] = size;
	args[4] = fd;
	ret = SYS1(t, __NR_mmap, args);
#else
	ret = SYS_SEQ(t, 0, fd, __NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED);
#endif
	/* Addresses of a 32-bit program can look negative: only the last page are errors */
	if ((unsigned long)ret > -4096ul)
		goto out;
	h = (struct cp_header *)ret;
	ret = 0;

	if (create) {
		h->version = CP_VERSION;
		h->cursor = sizeof(*h);
		h->size = size;
		h->seq = base + 64;
		h->magic = CP_MAGIC;
	}
	if (h->magic != CP_MAGIC) {
		ret = -22;
		goto out;
	}
	move_early(h);
	hdr = h;
	SYS1(t, __NR_close, fd);
out:
	LEAVE(t);
	return ret;
}
