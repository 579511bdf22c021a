// SPDX-License-Identifier: GPL-2.0
/* messages.c - the message file. See messages.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "libunwind-user/base/base.h"

/*
 * Another program can interrupt a program between its sequence number and its message. So messages
 * come slightly out of order. A number is missing if it has not come before this many later ones.
 */
#define WINDOW		64
#define BATCH		512		/* messages that are read or written at once */
#define READ_SIZE	(1u << 20)
#define MAX_SIZE	(sizeof(struct msg_stack) + MSG_MAX_CODE * sizeof(struct msg_code) + \
			 MSG_MAX_FRAMES * sizeof(uint64_t))
#define PYTHON_SIZE	(sizeof(struct msg_python) + MSG_MAX_NAME + MSG_MAX_FILE)

struct numbered {
	uint32_t seq;
	struct messages_event ev;
};

struct messages_stream {
	int fd;				/* -1: no message */
	struct messages_event *batch;
	unsigned int nr, pos;
	/* while the message file is read */
	struct numbered *window;	/* by seq, rising */
	unsigned int waiting;
	bool ended;
	bool gap;			/* before the next message that is written */
	uint32_t next;			/* number; the first one is 0 */
};

/* ------------------------- a file for each CPU ------------------------- */

static int open_temporary(const char *near, int cpu)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s.cpu%d", near, cpu) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int write_batch(struct messages_stream *stream)
{
	int ret = fd_write_all(stream->fd, stream->batch, stream->nr * sizeof(*stream->batch));

	if (!ret)
		stream->nr = 0;
	return ret;
}

static int put_event(struct messages *m, struct messages_stream *stream,
		     const struct messages_event *ev)
{
	/* the other stream: a gap before @ev is noted at the next message of this stream */
	if (ev->since) {
		stream += m->nr_cpus;
		stream->batch[stream->nr++] = *ev;
		return stream->nr == BATCH ? write_batch(stream) : 0;
	}
	stream->batch[stream->nr] = *ev;
	stream->batch[stream->nr++].gap = stream->gap;
	m->gaps += stream->gap;
	stream->gap = false;
	return stream->nr == BATCH ? write_batch(stream) : 0;
}

/* Write the waiting message with the lowest sequence number. */
static int put_first(struct messages *m, struct messages_stream *stream)
{
	struct numbered first = stream->window[0];

	memmove(stream->window, stream->window + 1, --stream->waiting * sizeof(*stream->window));
	if (first.seq != stream->next)
		stream->gap = true;
	stream->next = first.seq + 1;
	return put_event(m, stream, &first.ev);
}

/* Messages whose numbers follow without a gap need not wait. */
static int put_ready(struct messages *m, struct messages_stream *stream)
{
	int ret = 0;

	while (!ret && stream->waiting && stream->window[0].seq == stream->next)
		ret = put_first(m, stream);
	return ret;
}

static int prepare_stream(struct messages_stream *stream, const char *path, int cpu)
{
	if (stream->fd >= 0)
		return 0;
	stream->fd = open_temporary(path, cpu);
	if (stream->fd < 0)
		return stream->fd;
	stream->batch = malloc(BATCH * sizeof(*stream->batch));
	stream->window = malloc(WINDOW * sizeof(*stream->window));
	return stream->batch && stream->window ? 0 : -ENOMEM;
}

static int add_event(struct messages *m, const char *path, const struct msg_event *ev,
		     const struct msg_sample *sample, uint64_t at)
{
	struct messages_stream *stream = &m->stream[ev->cpu];
	unsigned int i;
	int ret;

	ret = prepare_stream(stream, path, ev->cpu);
	if (!ret && ev->since)
		ret = prepare_stream(stream + m->nr_cpus, path, m->nr_cpus + ev->cpu);
	if (ret)
		return ret;
	/* a sample of a kernel thread has neither a stack nor a reason */
	if ((ev->stack || ev->reason) && !vec_get(&m->tasks, &m->task_idx, id, ev->tid))
		return -ENOMEM;
	m->events++;
	/* the message was already counted as missing, so it stays missing */
	if ((int32_t)(ev->seq - stream->next) < 0)
		return 0;
	if (stream->waiting == WINDOW) {
		ret = put_first(m, stream);
		if (ret)
			return ret;
		if ((int32_t)(ev->seq - stream->next) < 0)
			return 0;
	}
	for (i = stream->waiting; i && (int32_t)(ev->seq - stream->window[i - 1].seq) < 0; i--)
		stream->window[i] = stream->window[i - 1];
	stream->window[i].seq = ev->seq;
	stream->window[i].ev = (struct messages_event){
		.time = ev->time, .stack = ev->stack, .tid = ev->tid, .tgid = ev->tgid,
		.cpu = ev->cpu, .event = ev->event, .reason = ev->reason, .ran = ev->ran,
		.nr_kernel = sample ? sample->nr : 0, .flags = sample ? sample->flags : 0,
		.offset = at, .since = ev->since, .counter = ev->counter,
	};
	stream->waiting++;
	return put_ready(m, stream);
}

static int write_waiting(struct messages *m, struct messages_stream *stream,
			 const struct msg_end *end)
{
	int ret = 0;

	while (!ret && stream->waiting)
		ret = put_first(m, stream);
	/* only an end that fits proves that nothing is missing */
	if (!ret && (stream->gap || !end || end->seq != stream->next)) {
		stream->gap = true;
		ret = put_event(m, stream, &(struct messages_event){ .time = UINT64_MAX });
	}
	if (!ret)
		ret = write_batch(stream);
	free(stream->window);
	stream->window = NULL;
	return ret;
}

const struct messages_event *messages_peek(struct messages *m, int stream, int *error)
{
	struct messages_stream *s = &m->stream[stream];
	ssize_t n;

	if (s->pos < s->nr)
		return &s->batch[s->pos];
	if (s->fd < 0 || s->ended)
		return NULL;
	do {
		n = read(s->fd, s->batch, BATCH * sizeof(*s->batch));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		*error = -errno;
	s->pos = 0;
	s->nr = n < 0 ? 0 : n / sizeof(*s->batch);
	s->ended = !s->nr;
	return s->nr ? s->batch : NULL;
}

void messages_advance(struct messages *m, int stream)
{
	m->stream[stream].pos++;
}

/* --------------------------------- stacks -------------------------------- */

struct messages_stack *messages_find_stack(struct messages *m, uint64_t id)
{
	return vec_find(&m->stacks, &m->stack_idx, id, id);
}

struct messages_task *messages_find_task(struct messages *m, uint32_t tid)
{
	return vec_find(&m->tasks, &m->task_idx, id, tid);
}

static uint32_t get_stack_size(uint32_t nr, uint32_t nr_code)
{
	return sizeof(struct msg_stack) + nr_code * sizeof(struct msg_code) + nr * 8;
}

static int read_at(struct messages *m, void *data, size_t size, uint64_t at)
{
	int ret = fd_pread_all(m->fd, data, size, at);

	return ret == -ENODATA ? -EIO : ret;
}

const struct msg_stack *messages_read_stack(struct messages *m, const struct messages_stack *st,
					    int *error)
{
	int ret;

	if (m->body->id == st->id)
		return m->body;
	ret = read_at(m, m->body, get_stack_size(st->nr, st->nr_code), st->offset);
	if (!ret)
		return m->body;
	m->body->id = 0;
	*error = ret;
	return NULL;
}

const struct messages_sample *messages_read_sample(struct messages *m,
						   const struct messages_event *ev, int *error)
{
	int ret = read_at(m, &m->sample, sizeof(m->sample.head) +
			  ev->nr_kernel * sizeof(*m->sample.kernel), ev->offset);

	if (!ret)
		return &m->sample;
	*error = ret;
	return NULL;
}

static int add_stack(struct messages *m, const struct msg_stack *s, uint64_t at)
{
	struct messages_stack *new;

	/* sent twice: two CPUs found it at once */
	if (messages_find_stack(m, s->id))
		return 0;
	new = vec_get(&m->stacks, &m->stack_idx, id, s->id);
	if (!new)
		return -ENOMEM;
	*new = (struct messages_stack){
		.id = s->id, .tgid = s->tgid, .flags = s->flags, .nr = s->nr,
		.nr_code = s->nr_code, .offset = at,
	};
	return 0;
}

/* --------------------------- functions of Python ------------------------- */

static uint32_t get_python_size(uint32_t table)
{
	return PYTHON_SIZE + (table + 7) / 8 * 8;
}

static int add_python(struct messages *m, const struct msg_python *p, uint64_t at)
{
	/* no stack can have this number */
	if (p->number > MSG_MAX_PYTHON_FUNCTIONS)
		return 0;
	while (m->python.nr <= p->number)
		if (!vec_add(&m->python))
			return -ENOMEM;
	/* a message is never at 0: the number MSG_PYTHON_UNKNOWN has no message */
	m->python.v[p->number] = at + 1;
	return 0;
}

const struct msg_python *messages_read_python(struct messages *m, uint32_t number, int *error)
{
	struct msg_python *p = m->function;
	int ret;

	if (number >= m->python.nr || !m->python.v[number])
		return NULL;
	ret = read_at(m, p, PYTHON_SIZE, m->python.v[number] - 1);
	if (!ret)
		ret = read_at(m, (char *)p + PYTHON_SIZE, get_python_size(p->table) - PYTHON_SIZE,
			      m->python.v[number] - 1 + PYTHON_SIZE);
	if (ret)
		*error = ret;
	return ret ? NULL : p;
}

/* --------------------------------- reading ------------------------------- */

/* A program on a CPU: when it sent its last two messages, and the count in the last one */
struct counted {
	uint64_t key;			/* counter of the program, and CPU */
	uint64_t before, last;
	uint32_t skipped;
};

/* The message file while it is read */
struct message_file {
	struct messages *m;
	const char *path;
	FILE *f;
	uint64_t offset;		/* of the message that is read, in the file */
	struct msg_end *end;		/* one for each CPU, size 0: no end */
	VEC(struct counted) counted;
	struct hidx counted_idx;
	union {
		struct msg_head head;
		struct msg_event event;
		struct msg_sample sample;
		struct msg_stack stack;
		struct msg_end end;
		struct msg_skipped skipped;
		struct msg_python python;
		unsigned char bytes[MAX_SIZE];
		unsigned char function[PYTHON_SIZE + MSG_MAX_TABLE];
	} u;
};

static int add_skipped(struct messages *m, uint16_t counter, uint64_t from, uint64_t to)
{
	struct messages_skipped_executions *new = vec_add(&m->skipped);

	if (!new)
		return -ENOMEM;
	*new = (struct messages_skipped_executions){ from, to, counter };
	return 0;
}

/*
 * Runs of a program on one CPU do not overlap. A run first reads the count of skipped runs, then
 * the time of its message. Take three successive messages, of which the second and the third have
 * different counts. Then runs were skipped between the times of the first and of the third message.
 * @time: the time of a message; UINT64_MAX: @skipped is the count at the end
 */
static int add_count(struct message_file *s, uint16_t counter, uint32_t cpu, uint32_t skipped,
		     uint64_t time)
{
	uint64_t key = (uint64_t)counter << 32 | cpu;
	struct counted *c = vec_get(&s->counted, &s->counted_idx, key, key);
	int ret = 0;

	if (!c)
		return -ENOMEM;
	if (c->skipped != skipped)
		ret = add_skipped(s->m, counter, c->before, time);
	c->before = c->last;
	c->last = time;
	c->skipped = skipped;
	return ret;
}

static int compare_skipped_executions(const void *a, const void *b)
{
	const struct messages_skipped_executions *x = a, *y = b;

	RETURN_IF_DIFFERENT(x->counter, y->counter);
	return cmp_int(x->from, y->from);
}

/* All messages are read: sort, and join what overlaps. */
static void finish_skipped(struct message_file *s)
{
	struct messages *m = s->m;
	struct messages_skipped_executions *v, *to;
	size_t i;
	int cpu;

	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		m->skipped_unknown |= !s->end[cpu].head.size;
	v = m->skipped.v;
	if (!m->skipped.nr)
		return;
	qsort(v, m->skipped.nr, sizeof(*v), compare_skipped_executions);
	for (i = 1, to = v; i < m->skipped.nr; i++) {
		if (v[i].counter != to->counter || v[i].from > to->to)
			*++to = v[i];
		else if (v[i].to > to->to)
			to->to = v[i].to;
	}
	m->skipped.nr = to - v + 1;
}

bool messages_may_skip_execution(const struct messages *m, uint16_t counter, uint64_t from,
				 uint64_t to)
{
	const struct messages_skipped_executions *v = m->skipped.v;
	size_t i;

	if (!counter || m->skipped_unknown)
		return true;
	/* the first one that does not end before @from */
	bisect(i, m->skipped.nr,
	       v[i].counter > counter || (v[i].counter == counter && v[i].to >= from));
	return i < m->skipped.nr && v[i].counter == counter && v[i].from <= to;
}

static bool is_sound_event(const struct message_file *s)
{
	return s->u.event.cpu < (uint32_t)s->m->nr_cpus && s->u.event.reason < MSG_NR_REASONS;
}

static bool is_sound_text(const struct msg_text *t)
{
	return t->kind == 1 || t->kind == 2 || t->kind == 4;
}

static bool is_sound(const struct message_file *s)
{
	const struct msg_head *h = &s->u.head;
	const struct msg_stack *st = &s->u.stack;
	const struct msg_sample *sample = &s->u.sample;
	const struct msg_python *p = &s->u.python;
	int nr_cpus = s->m->nr_cpus;

	switch (h->type) {
	case MSG_EVENT:
		return h->size == sizeof(s->u.event) && is_sound_event(s);
	case MSG_SAMPLE:
		return h->size >= sizeof(*sample) && sample->nr <= MSG_MAX_KERNEL &&
		       h->size == sizeof(*sample) + sample->nr * sizeof(uint64_t) &&
		       is_sound_event(s);
	case MSG_STACK:
		return h->size >= sizeof(*st) && st->id && st->nr <= MSG_MAX_FRAMES &&
		       st->nr_code <= MSG_MAX_CODE &&
		       h->size == get_stack_size(st->nr, st->nr_code);
	case MSG_PYTHON:
		return h->size >= sizeof(*p) && p->table <= MSG_MAX_TABLE &&
		       h->size == get_python_size(p->table) && p->number >= MSG_PYTHON_FIRST &&
		       is_sound_text(&p->name) && is_sound_text(&p->file);
	case MSG_SKIPPED:
		return h->size == sizeof(s->u.skipped) && s->u.skipped.cpu < (uint32_t)nr_cpus &&
		       s->u.skipped.counter && s->u.skipped.counter <= UINT16_MAX;
	case MSG_END:
		return h->size == sizeof(s->u.end) && s->u.end.cpu < (uint32_t)nr_cpus;
	default:
		return false;
	}
}

static int add_message(struct message_file *s)
{
	const struct msg_event *ev = &s->u.event;
	const struct msg_skipped *skipped = &s->u.skipped;
	int ret;

	switch (s->u.head.type) {
	case MSG_EVENT:
		ret = ev->counter ? add_count(s, ev->counter, ev->cpu, ev->skipped, ev->time) : 0;
		return ret ? ret : add_event(s->m, s->path, ev, NULL, s->offset);
	case MSG_SAMPLE:
		return add_event(s->m, s->path, &s->u.event, &s->u.sample, s->offset);
	case MSG_STACK:
		return add_stack(s->m, &s->u.stack, s->offset);
	case MSG_PYTHON:
		return add_python(s->m, &s->u.python, s->offset);
	case MSG_SKIPPED:
		return add_count(s, skipped->counter, skipped->cpu, skipped->skipped, UINT64_MAX);
	default:
		s->end[s->u.end.cpu] = s->u.end;
		return 0;
	}
}

static int read_messages(struct message_file *s, char *why, size_t size)
{
	struct msg_head *h = &s->u.head;
	size_t n;
	int ret = 0;

	for (; !ret; s->offset += h->size) {
		n = fread(h, 1, sizeof(*h), s->f);
		if (!n && !ferror(s->f))
			return 0;
		if (n == sizeof(*h) && h->size > sizeof(*h) && h->size <= sizeof(s->u))
			n += fread(s->u.bytes + n, 1, h->size - n, s->f);
		if (ferror(s->f)) {
			snprintf(why, size, "%s: %s", s->path, strerror(errno));
			return errno ? -errno : -EIO;
		}
		if (n < sizeof(*h) || n != h->size || !is_sound(s)) {
			snprintf(why, size, "%s: the message file is damaged at byte %llu",
				 s->path, (unsigned long long)s->offset);
			return -EBADMSG;
		}
		ret = add_message(s);
	}
	snprintf(why, size, "%s: %s", s->path, strerror(-ret));
	return ret;
}

static int rewind_stream(struct messages_stream *stream)
{
	return lseek(stream->fd, 0, SEEK_SET) ? -errno : 0;
}

static int finish_event_stream(struct message_file *s, int cpu)
{
	const struct msg_end *end = s->end[cpu].head.size ? &s->end[cpu] : NULL;
	struct messages_stream *stream = &s->m->stream[cpu];
	int ret;

	/* this CPU had no event */
	if (stream->fd < 0 && end && !end->seq)
		return 0;
	ret = prepare_stream(stream, s->path, cpu);
	if (!ret)
		ret = write_waiting(s->m, stream, end);
	return ret ? ret : rewind_stream(stream);
}

static int finish_probe_stream(struct messages_stream *stream)
{
	int ret;

	if (stream->fd < 0)
		return 0;
	ret = write_batch(stream);
	return ret ? ret : rewind_stream(stream);
}

/* Write what still waits, and go to the start of the file of each stream. */
static int finish_streams(struct message_file *s)
{
	struct messages *m = s->m;
	int cpu, ret = 0;

	for (cpu = 0; cpu < m->nr_cpus && !ret; cpu++) {
		/* this may add events to the other stream of the CPU */
		ret = finish_event_stream(s, cpu);
		if (!ret)
			ret = finish_probe_stream(&m->stream[messages_probe_stream(m, cpu)]);
	}
	return ret;
}

int messages_read(struct messages *m, const char *path, int nr_cpus, char *why, size_t size)
{
	struct message_file *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM, stream;

	memset(m, 0, sizeof(*m));
	m->fd = -1;
	m->body = calloc(1, MAX_SIZE);
	m->function = calloc(1, PYTHON_SIZE + MSG_MAX_TABLE);
	m->nr_cpus = nr_cpus;
	m->stream = calloc(2 * nr_cpus, sizeof(*m->stream));
	for (stream = 0; m->stream && stream < 2 * nr_cpus; stream++)
		m->stream[stream].fd = -1;
	if (s)
		s->end = calloc(nr_cpus, sizeof(*s->end));
	if (!s || !s->end || !m->stream || !m->body || !m->function) {
		snprintf(why, size, "not enough memory");
		goto out;
	}
	s->m = m;
	s->path = path;
	s->f = fopen(path, "re");
	m->fd = s->f ? fcntl(fileno(s->f), F_DUPFD_CLOEXEC, 0) : -1;
	if (m->fd < 0) {
		ret = -errno;
		snprintf(why, size, "%s: %s", path, strerror(errno));
		goto out;
	}
	setvbuf(s->f, NULL, _IOFBF, READ_SIZE);
	ret = read_messages(s, why, size);
	finish_skipped(s);
	if (!ret) {
		ret = finish_streams(s);
		if (ret)
			snprintf(why, size, "%s: %s", path, strerror(-ret));
	}
out:
	if (s && s->f)
		fclose(s->f);
	if (s) {
		free(s->end);
		vec_free(&s->counted);
		hidx_free(&s->counted_idx);
	}
	free(s);
	return ret;
}

void messages_free(struct messages *m)
{
	int stream;

	for (stream = 0; m->stream && stream < 2 * m->nr_cpus; stream++) {
		if (m->stream[stream].fd >= 0)
			close(m->stream[stream].fd);
		free(m->stream[stream].batch);
		free(m->stream[stream].window);
	}
	free(m->stream);
	vec_free(&m->stacks);
	if (m->fd >= 0)
		close(m->fd);
	free(m->body);
	free(m->function);
	vec_free(&m->python);
	vec_free(&m->tasks);
	vec_free(&m->skipped);
	hidx_free(&m->stack_idx);
	hidx_free(&m->task_idx);
	memset(m, 0, sizeof(*m));
}
