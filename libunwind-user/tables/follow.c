// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * follow.c - registers the programs and libraries that start and load from now on
 *
 * The session needs to know when any process maps a file executable. Three sources report that:
 *
 * - ftrace: sched_process_exec reports programs but not the libraries that they load, and a system
 *   call event for mmap() slows all system calls down. user_unwind_map reports both. But once an
 *   instance asks for that event, it no longer goes to the buffer that the user records, and the
 *   user needs it there.
 * - reading /proc again and again: 20 to 50 ms each time, and always late.
 * - perf: a software event that counts nothing (PERF_COUNT_SW_DUMMY) with `mmap2` set gets a record
 *   for each executable mapping of a file, made by exec, dlopen() or mprotect(). The record has
 *   process, range, inode and path. It costs nothing where nothing is mapped.
 *
 * So this file uses perf, with an event and a small buffer for each CPU. Where perf is not allowed,
 * it reads /proc once a second. After lost records it scans /proc.
 *
 * scan.c opens the files. A file that was checked within the last second is not checked again: a
 * shell script executes the same few files thousands of times. Each wakeup of this thread costs two
 * task switches, and a user who traces task switches has both in the recording. So after records
 * of known files this thread sleeps for a moment, and longer each time. Then it reads all new
 * records at once.
 *
 * While nothing happens, this thread registers the files that recall.c hands over.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "impl.h"

#define RING_PAGES	32		/* of data, per CPU: 6,000 programs a second */
#define RESCAN_MS	1000		/* without perf */
#define CHECK_EVERY	1000000000ull	/* ns between two checks of one file */
#define NAP_MS		5		/* after records of known files; doubled each time */
#define NAP_MAX_MS	40

struct ring {
	struct perf_event_mmap_page *head;
	size_t size;			/* of the data */
};

struct tables_follow {
	struct tables_session *t;
	pthread_t thread;
	int stop;			/* eventfd */
	int hand_over;			/* eventfd: there is a list to go through */
	struct tables_recall *recall;	/* the list; after the hand-over it belongs to the thread */
	bool scan;			/* the caller wants a scan */
	bool scanned;			/* t->lock protects this and result */
	int result;
	pthread_cond_t done;
	struct tables_seen seen;
	unsigned int nr;
	struct ring *ring;
	struct pollfd *poll;		/* of the rings, and @stop and @hand_over after them */
};

/* The start of a PERF_RECORD_MMAP2; the path follows. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char path[];
};

/* --------------------------------- perf ---------------------------------- */

static int open_ring(struct tables_follow *f, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .mmap = 1, .mmap2 = 1, .exclude_kernel = 1,
		.watermark = 1, .wakeup_watermark = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	void *mem;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	mem = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		close(fd);
		return -ENOMEM;
	}
	f->ring[f->nr] = (struct ring) { .head = mem, .size = RING_PAGES * page };
	f->poll[f->nr] = (struct pollfd) { .fd = fd, .events = POLLIN };
	f->nr++;
	return 0;
}

static void close_rings(struct tables_follow *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		munmap(f->ring[i].head, f->ring[i].size + sysconf(_SC_PAGESIZE));
		close(f->poll[i].fd);
	}
	f->nr = 0;
}

/*
 * Open a ring on each CPU or on none: a scan every second is better than missing half of the CPUs.
 */
static int open_rings(struct tables_follow *f)
{
	long cpu, nr = sysconf(_SC_NPROCESSORS_CONF);
	int ret;

	if (nr < 1)
		nr = 1;
	f->ring = calloc(nr, sizeof(*f->ring));
	f->poll = calloc(nr + 2, sizeof(*f->poll));
	if (!f->ring || !f->poll)
		return -ENOMEM;
	for (cpu = 0; cpu < nr; cpu++) {
		ret = open_ring(f, cpu);
		/* ENODEV: the CPU is offline */
		if (ret && ret != -ENODEV) {
			close_rings(f);
			break;
		}
	}
	f->poll[f->nr] = (struct pollfd) { .fd = f->stop, .events = POLLIN };
	f->poll[f->nr + 1] = (struct pollfd) { .fd = f->hand_over, .events = POLLIN };
	return 0;
}

/* Register the mapped file. Returns false if the file was checked just before. */
static bool register_mapping(struct tables_follow *f, const struct mmap2 *m)
{
	uint64_t *when, now = clock_get_ns(CLOCK_MONOTONIC);
	struct tables_session *t = f->t;
	int fd;

	pthread_mutex_lock(&t->lock);
	t->sum.events++;
	pthread_mutex_unlock(&t->lock);
	if (!m->ino)
		return false;
	when = tables_seen_get_time(&f->seen, makedev(m->maj, m->min), m->ino);
	if (when && *when && now - *when < CHECK_EVERY)
		return false;
	fd = tables_open_mapping(t, m->pid, m->addr, m->addr + m->len, m->path);
	if (fd < 0) {
		tables_note_failure(t, makedev(m->maj, m->min), m->ino, m->path, fd);
		return true;
	}
	if (when)
		*when = now;
	tables_add_fd(t, fd, m->path);
	close(fd);
	return true;
}

/* Copy a part of a record out of the ring. The part can continue at the ring's start. */
static void copy_out(const struct ring *r, uint64_t at, void *to, size_t len)
{
	const char *data = (const char *)r->head + sysconf(_SC_PAGESIZE);
	size_t off = at & (r->size - 1), first = r->size - off;

	if (first > len)
		first = len;
	memcpy(to, data + off, first);
	memcpy((char *)to + first, data, len - first);
}

/*
 * Returns true if records were lost. Sets @any if there was a record, and @fresh if a record was
 * of a file that was not checked just before.
 */
static bool read_ring(struct tables_follow *f, struct ring *r, bool *any, bool *fresh)
{
	union {
		struct perf_event_header header;
		struct mmap2 mmap2;
		struct {
			struct perf_event_header header;
			uint64_t id, lost;
		} lost;
		char bytes[UINT16_MAX + 1];
	} rec;
	uint64_t tail = r->head->data_tail;
	uint64_t head = __atomic_load_n(&r->head->data_head, __ATOMIC_ACQUIRE);
	bool lost = false;

	while (head - tail >= sizeof(rec.header)) {
		copy_out(r, tail, &rec, sizeof(rec.header));
		if (rec.header.size < sizeof(rec.header) || rec.header.size > head - tail) {
			tail = head;
			lost = true;
			break;
		}
		copy_out(r, tail, &rec, rec.header.size);
		rec.bytes[rec.header.size] = '\0';
		tail += rec.header.size;
		__atomic_store_n(&r->head->data_tail, tail, __ATOMIC_RELEASE);
		if (rec.header.type == PERF_RECORD_MMAP2 &&
		    rec.header.size > sizeof(struct mmap2)) {
			*any = true;
			*fresh |= register_mapping(f, &rec.mmap2);
		} else if (rec.header.type == PERF_RECORD_LOST) {
			pthread_mutex_lock(&f->t->lock);
			f->t->sum.lost += rec.lost.lost;
			pthread_mutex_unlock(&f->t->lock);
			lost = true;
		}
	}
	__atomic_store_n(&r->head->data_tail, tail, __ATOMIC_RELEASE);
	return lost;
}

/* ------------------------------- the thread ------------------------------ */

/* Wait up to @ms milliseconds for the request to stop. */
static bool wait_for_stop(const struct tables_follow *f, int ms)
{
	struct pollfd stop = { .fd = f->stop, .events = POLLIN };

	return poll(&stop, 1, ms) > 0;
}

/*
 * Returns how many ms to sleep after records of known files. The last sleep was @ms long, and ended
 * @since ns ago.
 */
static int get_next_nap(int ms, uint64_t since)
{
	if (!ms || since > 2 * NAP_MAX_MS * 1000000ull)
		return NAP_MS;
	return 2 * ms < NAP_MAX_MS ? 2 * ms : NAP_MAX_MS;
}

/* Has tables_follow_hand_over() given a list to this thread? It does so once at most. */
static bool is_list_handed_over(struct tables_follow *f)
{
	uint64_t one;

	return read(f->hand_over, &one, sizeof(one)) == sizeof(one);
}

static void *follow_mappings(void *arg)
{
	struct tables_follow *f = arg;
	struct tables_session *t = f->t;
	bool recalling = false, lost, any, fresh;
	uint64_t last = 0, now;
	unsigned int i;
	int ret, nap = 0;

	if (f->scan) {
		ret = tables_scan_processes(t, true);
		pthread_mutex_lock(&t->lock);
		f->scanned = true;
		f->result = ret;
		pthread_cond_broadcast(&f->done);
		pthread_mutex_unlock(&t->lock);
	}
	for (;;) {
		/* Without rings, new programs are not seen: register the whole list now */
		while (!f->nr && recalling && !wait_for_stop(f, 0))
			recalling = tables_recall_next(t, f->recall);
		ret = poll(f->poll, f->nr + 2, recalling ? 0 : f->nr ? -1 : RESCAN_MS);
		if (ret < 0 && errno != EINTR)
			break;
		if (f->poll[f->nr].revents)
			break;
		if (f->poll[f->nr + 1].revents)
			recalling |= is_list_handed_over(f);
		lost = !f->nr;
		any = fresh = false;
		for (i = 0; i < f->nr; i++)
			lost |= read_ring(f, &f->ring[i], &any, &fresh);
		if (lost)
			tables_scan_processes(t, false);
		else if (recalling)
			recalling = tables_recall_next(t, f->recall);
		if (!any)
			continue;
		now = clock_get_ns(CLOCK_MONOTONIC);
		nap = fresh || recalling ? 0 : get_next_nap(nap, now - last);
		last = now;
		if (nap && wait_for_stop(f, nap))
			break;
	}
	return NULL;
}

static void follow_free(struct tables_follow *f)
{
	close_rings(f);
	free(f->ring);
	free(f->poll);
	tables_seen_free(&f->seen);
	tables_recall_free(f->recall);
	pthread_cond_destroy(&f->done);
	if (f->hand_over >= 0)
		close(f->hand_over);
	if (f->stop >= 0)
		close(f->stop);
	free(f);
}

int tables_follow(struct tables_session *t, bool scan)
{
	struct tables_follow *f;
	int ret;

	if (t->follow)
		return -EBUSY;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->t = t;
	f->scan = scan;
	f->scanned = !scan;
	pthread_cond_init(&f->done, NULL);
	f->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->hand_over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = f->stop < 0 || f->hand_over < 0 ? -errno : open_rings(f);
	if (ret)
		goto fail;
	ret = thread_start(&f->thread, follow_mappings, f);
	if (ret)
		goto fail;
	t->follow = f;
	return 0;

fail:
	follow_free(f);
	return ret;
}

void tables_follow_stop(struct tables_session *t)
{
	struct tables_follow *f = t->follow;
	uint64_t one = 1;

	if (!f)
		return;
	if (write(f->stop, &one, sizeof(one)) < 0)
		return;
	pthread_join(f->thread, NULL);
	t->follow = NULL;
	follow_free(f);
}

int tables_follow_wait(struct tables_session *t)
{
	struct tables_follow *f = t->follow;
	int ret;

	if (!f)
		return -EINVAL;
	pthread_mutex_lock(&t->lock);
	while (!f->scanned)
		pthread_cond_wait(&f->done, &t->lock);
	ret = f->result;
	pthread_mutex_unlock(&t->lock);
	return ret;
}

bool tables_follow_hand_over(struct tables_session *t, struct tables_recall *r)
{
	struct tables_follow *f = t->follow;
	uint64_t one = 1;

	if (!f || f->recall)
		return false;
	/* The thread reads f->recall after it has read this number */
	f->recall = r;
	if (write(f->hand_over, &one, sizeof(one)) == sizeof(one))
		return true;
	f->recall = NULL;
	return false;
}
