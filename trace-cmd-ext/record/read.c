// SPDX-License-Identifier: GPL-2.0
/*
 * read.c - from the ring buffers to files
 *
 * Each CPU of each instance is a stream: trace_pipe_raw, spliced through a pipe to a file next to
 * the recording. A thread reads the streams of a few CPUs. It sleeps until one of their buffers is
 * half full (buffer_percent), or for a second, and then reads all of them. So a crash of the
 * machine loses little, and the recorder wakes up seldom, which keeps it out of its own recording.
 * At the end, with tracing off, the rest is read, including the filled part of each CPU's last
 * page. The guard does the same without threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define WAKE_MS		1000
#define PAUSE_MS	50		/* poll() says half full, but there is no full page */
#define PIPE_BYTES	(1 << 20)
#define CPUS_PER_THREAD	4

struct rec_stream {
	struct rec *r;
	int raw, out;
	int pipe[2];
	int cpu;
	bool opened;
	int error;			/* errno of what ended the stream */
};

/* A thread, and the streams that it reads. */
struct rec_reader {
	struct rec *r;
	pthread_t thread;
	bool running;
	int nr;
	struct rec_stream *stream[CPUS_PER_THREAD * NR_BUFS];
};

void rec_get_raw_path(const struct rec *r, int buffer, int cpu, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s.%s%d", r->part, buffer == BUF_MAPS ? "maps" : "cpu",
		     cpu) >= PATH_MAX)
		path[0] = '\0';
}

static void fail_stream(struct rec_stream *s, int error)
{
	uint64_t one = 1;

	s->error = error;
	if (write(s->r->reader_failed, &one, sizeof(one)) < 0)
		return;
}

/* Write all that is in the pipe to the file. */
static int empty_pipe(struct rec_stream *s, size_t len)
{
	ssize_t n;

	while (len) {
		n = splice(s->pipe[0], NULL, s->out, NULL, len, SPLICE_F_MOVE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail_stream(s, n ? errno : EIO);
			return -1;
		}
		len -= n;
	}
	return 0;
}

/* Read all full pages: 1; 0 if there was no full page; -1 if the stream cannot go on. */
static int read_pages(struct rec_stream *s)
{
	ssize_t n;
	int any = 0;

	for (;;) {
		n = splice(s->raw, NULL, s->pipe[1], NULL, PIPE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			fail_stream(s, errno);
			return -1;
		}
		if (n <= 0)
			return any;
		if (empty_pipe(s, n))
			return -1;
		any = 1;
	}
}

/* Read the stream to its end; an error is in @s->error. */
static void read_rest(struct rec_stream *s)
{
	size_t size = s->r->page_size;
	char *page;
	ssize_t n;

	if (read_pages(s) < 0)
		return;
	page = malloc(size);
	if (!page)
		s->error = ENOMEM;
	while (!s->error) {
		n = read(s->raw, page, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			s->error = errno;
		if (n <= 0)
			break;
		/* after the filled part of a page come old bytes */
		if (n < (ssize_t)size)
			memset(page + n, 0, size - n);
		s->error = -fd_write_all(s->out, page, size);
	}
	free(page);
}

static void *read_streams(void *arg)
{
	struct rec_reader *t = arg;
	struct pollfd fds[1 + CPUS_PER_THREAD * NR_BUFS] = {
		{ .fd = t->r->stop, .events = POLLIN },
	};
	int ret, i, any, wait = WAKE_MS;

	for (i = 0; i < t->nr; i++)
		fds[1 + i] = (struct pollfd){ .fd = t->stream[i]->raw, .events = POLLIN };
	for (;;) {
		ret = poll(fds, 1 + t->nr, wait);
		if (ret < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		wait = WAKE_MS;
		for (i = 0; i < t->nr; i++) {
			struct rec_stream *s = t->stream[i];
			bool ready = ret > 0 && fds[1 + i].revents;

			if (s->error)
				continue;
			any = read_pages(s);
			/* poll() says half full, but no page is full: leave the CPU for a moment */
			fds[1 + i].fd = any < 0 || (ready && !any) ? -1 : s->raw;
			if (ready && !any)
				wait = PAUSE_MS;
		}
	}
	return NULL;
}

static int open_stream(struct rec_stream *s, int buffer)
{
	struct rec *r = s->r;
	char file[64], path[PATH_MAX];
	off_t at;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", s->cpu);
	s->raw = tracefs_instance_file_open(r->buf[buffer].instance, file, O_RDONLY | O_NONBLOCK);
	/* possible CPUs that were never online */
	if (s->raw < 0 && errno == ENOENT)
		return 0;
	if (s->raw < 0) {
		tool_error("instances/%s/%s: %s", r->buf[buffer].name, file, strerror(errno));
		return TOOL_FAIL;
	}
	fcntl(s->raw, F_SETFD, FD_CLOEXEC);
	rec_get_raw_path(r, buffer, s->cpu, path);
	/* Not O_APPEND, which splice() refuses. The guard goes on after the last whole page. */
	s->out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	at = s->out < 0 ? -1 : lseek(s->out, 0, SEEK_END) / r->page_size * r->page_size;
	if (at < 0 || ftruncate(s->out, at) || lseek(s->out, at, SEEK_SET) < 0) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_OUTPUT;
	}
	if (pipe2(s->pipe, O_CLOEXEC)) {
		tool_error("no pipe for CPU %d: %s; ulimit -n allows more descriptors", s->cpu,
			   strerror(errno));
		return TOOL_FAIL;
	}
	fcntl(s->pipe[0], F_SETPIPE_SZ, PIPE_BYTES);
	s->opened = true;
	return 0;
}

static void close_stream(struct rec_stream *s)
{
	int *fd[] = { &s->raw, &s->out, &s->pipe[0], &s->pipe[1] };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
	s->opened = false;
}

static int start_readers(struct rec *r)
{
	int i, n, cpu, err = 0;

	r->nr_readers = (r->nr_cpus + CPUS_PER_THREAD - 1) / CPUS_PER_THREAD;
	r->reader = calloc(r->nr_readers, sizeof(*r->reader));
	if (!r->reader)
		return tool_report_no_memory();
	for (n = 0; n < r->nr_readers && !err; n++) {
		struct rec_reader *t = &r->reader[n];

		t->r = r;
		for (i = 0; i < NR_BUFS; i++)
			for (cpu = n * CPUS_PER_THREAD; r->buf[i].stream && cpu < r->nr_cpus &&
			     cpu < (n + 1) * CPUS_PER_THREAD; cpu++)
				if (r->buf[i].stream[cpu].opened)
					t->stream[t->nr++] = &r->buf[i].stream[cpu];
		if (!t->nr)
			continue;
		err = -thread_start(&t->thread, read_streams, t);
		t->running = !err;
	}
	if (!err)
		return 0;
	tool_error("the threads that read the buffers cannot be started: %s", strerror(err));
	return TOOL_FAIL;
}

int rec_read_start(struct rec *r, bool threads)
{
	int i, cpu, ret = 0;

	if (threads) {
		r->stop = eventfd(0, EFD_CLOEXEC);
		r->reader_failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (r->stop < 0 || r->reader_failed < 0) {
			tool_error("the threads that read the buffers cannot be stopped later "
				   "(eventfd): %s; see ulimit -n", strerror(errno));
			return TOOL_FAIL;
		}
	}
	for (i = 0; i < NR_BUFS; i++) {
		struct rec_buffer *b = &r->buf[i];

		if (!b->instance)
			continue;
		b->stream = calloc(r->nr_cpus, sizeof(*b->stream));
		if (!b->stream)
			return tool_report_no_memory();
		for (cpu = 0; cpu < r->nr_cpus; cpu++)
			b->stream[cpu] = (struct rec_stream){
				.r = r, .cpu = cpu, .raw = -1, .out = -1, .pipe = { -1, -1 },
			};
		for (cpu = 0; cpu < r->nr_cpus && !ret; cpu++)
			ret = open_stream(&b->stream[cpu], i);
		if (ret)
			return ret;
		b->recorded = true;
	}
	if (!threads)
		return 0;
	return start_readers(r);
}

int rec_read_stop(struct rec *r)
{
	uint64_t one = 1;
	int i, cpu, error = 0;
	char path[PATH_MAX];

	if (r->stop >= 0 && write(r->stop, &one, sizeof(one)) < 0)
		return TOOL_FAIL;
	for (i = 0; i < r->nr_readers; i++)
		if (r->reader[i].running)
			pthread_join(r->reader[i].thread, NULL);
	free(r->reader);
	r->reader = NULL;
	r->nr_readers = 0;
	for (i = 0; i < NR_BUFS; i++) {
		for (cpu = 0; r->buf[i].stream && cpu < r->nr_cpus; cpu++) {
			struct rec_stream *s = &r->buf[i].stream[cpu];

			if (s->opened && !s->error)
				read_rest(s);
			if (s->error && !error) {
				error = s->error;
				rec_get_raw_path(r, i, cpu, path);
			}
			close_stream(s);
		}
	}
	if (!error)
		return 0;
	r->cut = true;
	r->disk_full = error == ENOSPC || error == EDQUOT;
	tool_error("%s: %s; the recording ends there%s", path, strerror(error), r->disk_full ?
		   ": make room, or put the file elsewhere with -o" : "");
	return TOOL_OUTPUT;
}
