// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * wire.c - write and read the messages of the pipe. See wire.h. Both ends are the same program, so
 * structs are sent as they are.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "wire.h"

enum {
	MSG_STREAM = 1, MSG_RANGE, MSG_RUN, MSG_STACK, MSG_LOSS, MSG_DROPPED, MSG_POSITION, MSG_MAP,
	MSG_END,
};

struct msg {
	uint32_t type;
	uint32_t len;		/* of the data after it */
};

/* The arguments of a function of the sink, in their order. MSG_END: 1, or 0 and the errno. */
struct msg_numbers {
	uint64_t a, b, c;
};

/* A record fits into a sub-buffer, and its 16 bit lengths allow 64 KiB at most. */
#define MAX_MSG (1u << 20)
/* More instances than a file can hold */
#define MAX_BUFFER	65535

static int write_bytes(struct wire *w, const void *data, size_t len)
{
	int ret;

	if (!len)
		return 0;
	if (len > sizeof(w->buf) - w->used) {
		ret = fd_write_all(w->fd, w->buf, w->used);
		w->used = 0;
		if (ret)
			return ret;
		if (len > sizeof(w->buf))
			return fd_write_all(w->fd, data, len);
	}
	memcpy(w->buf + w->used, data, len);
	w->used += len;
	return 0;
}

static int write_msg(struct wire *w, uint32_t type, const void *a, size_t a_len, const void *b,
		     size_t b_len)
{
	struct msg m = { type, a_len + b_len };
	int ret;

	ret = write_bytes(w, &m, sizeof(m));
	if (!ret)
		ret = write_bytes(w, a, a_len);
	return ret ? ret : write_bytes(w, b, b_len);
}

static int write_stream(void *data, uint32_t buffer, uint32_t cpu)
{
	struct msg_numbers n = { buffer, cpu, 0 };

	return write_msg(data, MSG_STREAM, &n, sizeof(n), NULL, 0);
}

static int write_range(void *data, uint32_t stream, uint64_t first, uint64_t last)
{
	struct msg_numbers n = { stream, first, last };

	return write_msg(data, MSG_RANGE, &n, sizeof(n), NULL, 0);
}

static int write_run(void *data, const struct join_run *run)
{
	return write_msg(data, MSG_RUN, run, sizeof(*run), NULL, 0);
}

static int write_stack(void *data, const struct join_stack *stack)
{
	return write_msg(data, MSG_STACK, stack, sizeof(*stack), stack->addrs,
			 stack->nr * sizeof(*stack->addrs));
}

static int write_loss(void *data, uint32_t stream, uint64_t events)
{
	struct msg_numbers n = { stream, events, 0 };

	return write_msg(data, MSG_LOSS, &n, sizeof(n), NULL, 0);
}

static int write_dropped(void *data, uint32_t buffer)
{
	struct msg_numbers n = { buffer, 0, 0 };

	return write_msg(data, MSG_DROPPED, &n, sizeof(n), NULL, 0);
}

static int write_position(void *data, uint32_t stream, uint64_t pos, uint64_t ts)
{
	struct msg_numbers n = { stream, pos, ts };

	return write_msg(data, MSG_POSITION, &n, sizeof(n), NULL, 0);
}

static int write_map(void *data, const struct maps_rec *rec)
{
	return write_msg(data, MSG_MAP, rec, sizeof(*rec), rec->path, strlen(rec->path));
}

void wire_make_sink(struct sink *sink, struct wire *w, int fd)
{
	w->fd = fd;
	w->used = 0;
	*sink = (struct sink){
		write_stream, write_range, write_run, write_stack, write_loss, write_dropped,
		write_position, write_map, w
	};
}

int wire_write_end(struct wire *w, int err)
{
	struct msg_numbers n = { !err, -err, 0 };
	int ret;

	ret = write_msg(w, MSG_END, &n, sizeof(n), NULL, 0);
	return ret ? ret : fd_write_all(w->fd, w->buf, w->used);
}

static int pass_stack(const struct sink *sink, const char *p, uint32_t len, void *tmp)
{
	struct join_stack s;

	if (len < sizeof(s))
		return -EPROTO;
	memcpy(&s, p, sizeof(s));
	if (s.nr != (len - sizeof(s)) / sizeof(*s.addrs) ||
	    s.nr * sizeof(*s.addrs) != len - sizeof(s))
		return -EPROTO;
	memcpy(tmp, p + sizeof(s), len - sizeof(s));
	s.addrs = tmp;
	return sink->stack(sink->data, &s);
}

static int pass_map(const struct sink *sink, const char *p, uint32_t len, char *tmp)
{
	struct maps_rec m;

	if (len < sizeof(m))
		return -EPROTO;
	memcpy(&m, p, sizeof(m));
	if (m.build_id_size > sizeof(m.build_id) || m.end <= m.start)
		return -EPROTO;
	memcpy(tmp, p + sizeof(m), len - sizeof(m));
	tmp[len - sizeof(m)] = '\0';
	m.path = tmp;
	return sink->map(sink->data, &m);
}

static int pass_run(const struct sink *sink, const char *p, uint32_t len)
{
	struct join_run r;

	if (len != sizeof(r))
		return -EPROTO;
	memcpy(&r, p, sizeof(r));
	return r.form > JOIN_FORM_LOST_COOKIE ? -EPROTO : sink->run(sink->data, &r);
}

/* Pass a message to the sink. @tmp has room for a message and a byte. Returns 1 for MSG_END. */
static int pass_msg(const struct sink *sink, uint32_t type, const char *p, uint32_t len, void *tmp)
{
	struct msg_numbers n;

	switch (type) {
	case MSG_STACK:
		return pass_stack(sink, p, len, tmp);
	case MSG_MAP:
		return pass_map(sink, p, len, tmp);
	case MSG_RUN:
		return pass_run(sink, p, len);
	}
	if (len != sizeof(n))
		return -EPROTO;
	memcpy(&n, p, sizeof(n));
	switch (type) {
	case MSG_STREAM:
		if (n.a > MAX_BUFFER || n.b > UINT32_MAX)
			return -EPROTO;
		return sink->stream(sink->data, n.a, n.b);
	case MSG_RANGE:
		return sink->range(sink->data, n.a, n.b, n.c);
	case MSG_LOSS:
		return sink->loss(sink->data, n.a, n.b);
	case MSG_POSITION:
		return sink->position(sink->data, n.a, n.b, n.c);
	case MSG_DROPPED:
		return n.a > MAX_BUFFER ? -EPROTO : sink->dropped(sink->data, n.a);
	case MSG_END:
		if (n.a)
			return 1;
		return n.b == ENOMEM ? -ENOMEM : -EPIPE;
	}
	return -EPROTO;
}

int wire_wait(int fd, int64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left;
	int ret;

	do {
		left = until - clock_get_ms();
		if (left < 0)
			left = 0;
		ret = poll(&p, 1, left > INT_MAX ? INT_MAX : left);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return -errno;
	return ret ? 0 : -ETIMEDOUT;
}

int wire_read_all(int fd, const struct sink *sink, int64_t until)
{
	const size_t room = MAX_MSG + sizeof(struct msg);
	char *buf = malloc(room), *tmp = malloc(MAX_MSG + 1);
	size_t used = 0, pos;
	struct msg m;
	int ret = 0;
	ssize_t n;

	if (!buf || !tmp)
		ret = -ENOMEM;
	while (!ret) {
		ret = wire_wait(fd, until);
		if (ret)
			break;
		n = read(fd, buf + used, room - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n < 0 ? -errno : -EPIPE;
			break;
		}
		used += n;
		for (pos = 0; !ret && used - pos >= sizeof(m); pos += sizeof(m) + m.len) {
			memcpy(&m, buf + pos, sizeof(m));
			if (m.len > MAX_MSG)
				ret = -EPROTO;
			if (ret || used - pos - sizeof(m) < m.len)
				break;
			ret = pass_msg(sink, m.type, buf + pos + sizeof(m), m.len, tmp);
		}
		memmove(buf, buf + pos, used - pos);
		used -= pos;
	}
	free(buf);
	free(tmp);
	return ret > 0 ? 0 : ret;
}
