// SPDX-License-Identifier: LGPL-2.1-or-later
/* feed.c - decode records and pass them on. See feed.h. */
#include <errno.h>

#include "feed.h"
#include "plugin/join/join.h"
#include "libunwind-user/base/base.h"

/* One position for each 4 KiB, which is about one for each page */
#define POSITION_SHIFT	12

struct feed {
	struct decode dec;
	const struct sink *sink;
	struct runs *runs;
	bool wanted;			/* the file has user_unwind_* events */
	bool open;			/* a stream has started and not ended */
	bool has_record;		/* the stream had a record */
	uint32_t nr_streams;
	uint32_t buffer, cpu;		/* of the stream */
	uint64_t first, last;		/* positions of its first and last record, if any */
	uint64_t last_ts;		/* time of the last record, in ns */
	uint64_t position;		/* position that sink->position() got last */
	VEC(uint64_t) addrs;
	VEC(char) path;
};

static int emit_run(void *data, const struct join_run *run)
{
	struct feed *f = data;

	return f->sink->run(f->sink->data, run);
}

struct feed *feed_new(struct tep_handle *tep, const struct sink *sink)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->wanted = decode_init(&f->dec, tep);
	f->sink = sink;
	f->runs = runs_new(emit_run, f);
	if (!f->runs) {
		free(f);
		return NULL;
	}
	return f;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	runs_free(f->runs);
	vec_free(&f->addrs);
	vec_free(&f->path);
	free(f);
}

bool feed_has_events(const struct feed *f)
{
	return f->wanted;
}

int feed_start_stream(struct feed *f, uint32_t buffer, uint32_t cpu)
{
	int ret = feed_end_stream(f);

	if (!ret)
		ret = f->sink->stream(f->sink->data, buffer, cpu);
	if (!ret)
		ret = runs_start_stream(f->runs, f->nr_streams);
	if (ret)
		return ret;
	f->nr_streams++;
	f->open = true;
	f->has_record = false;
	f->buffer = buffer;
	f->cpu = cpu;
	return 0;
}

int feed_end_stream(struct feed *f)
{
	int ret;

	if (!f->open)
		return 0;
	f->open = false;
	ret = runs_end(f->runs);
	if (!ret && f->has_record && f->buffer && f->position != f->last)
		ret = f->sink->position(f->sink->data, f->nr_streams - 1, f->last, f->last_ts);
	if (!ret)
		ret = f->sink->range(f->sink->data, f->nr_streams - 1, f->has_record ? f->first : 1,
				     f->has_record ? f->last : 0);
	return ret;
}

static int feed_stack(struct feed *f, const struct tep_record *rec, uint32_t tid)
{
	struct join_stack s = { .pos = rec->offset, .ts = rec->ts, .tid = tid };
	struct decode_stack raw;
	uint32_t i;

	if (!decode_read_stack(&f->dec, rec, &raw))
		return 0;
	f->addrs.nr = 0;
	if (vec_reserve(&f->addrs, raw.nr + 1))
		return -ENOMEM;
	if (f->dec.long_size == sizeof(*f->addrs.v) && !f->dec.swap)
		memcpy(f->addrs.v, raw.addrs, raw.nr * sizeof(*f->addrs.v));
	else
		for (i = 0; i < raw.nr; i++)
			f->addrs.v[i] = decode_read_addr(&f->dec, raw.addrs, i);
	s.cookie = raw.cookie;
	s.tgid = raw.tgid;
	s.flags = raw.flags;
	s.addrs = f->addrs.v;
	s.nr = raw.nr;
	s.stream = f->nr_streams - 1;
	/* a layout without flags has no MORE, so a stack is one record */
	s.after_loss = f->dec.stack_flags.present && runs_is_after_loss(f->runs, tid);
	return f->sink->stack(f->sink->data, &s);
}

static int feed_again(struct feed *f, const struct tep_record *rec, uint32_t tid)
{
	uint64_t first;
	struct join_stack s = { .pos = rec->offset, .ts = rec->ts, .tid = tid, .nr = 1,
				.addrs = &first, .flags = STACK_AGAIN,
				.stream = f->nr_streams - 1 };

	if (!decode_read_again(&f->dec, rec, &s.cookie, &first))
		return 0;
	return f->sink->stack(f->sink->data, &s);
}

static int feed_map(struct feed *f, const struct tep_record *rec)
{
	struct maps_rec m = { .ts = rec->ts, .cpu = f->cpu };
	struct decode_map raw;

	if (!decode_read_map(&f->dec, rec, &raw))
		return 0;
	f->path.nr = 0;
	if (vec_reserve(&f->path, raw.path_len + 1))
		return -ENOMEM;
	if (raw.path_len)
		memcpy(f->path.v, raw.path, raw.path_len);
	f->path.v[raw.path_len] = '\0';
	m.start = raw.start;
	m.end = raw.end;
	m.pgoff = raw.pgoff;
	m.ino = raw.ino;
	m.tgid = raw.tgid;
	m.major = raw.major;
	m.minor = raw.minor;
	m.build_id_size = raw.build_id_size;
	if (raw.build_id_size)
		memcpy(m.build_id, raw.build_id, raw.build_id_size);
	m.path = f->path.v;
	return f->sink->map(f->sink->data, &m);
}

int feed_record(struct feed *f, const struct tep_record *rec)
{
	struct decode_common c;

	decode_read_common(&f->dec, rec, &c);
	return feed_decoded_record(f, rec, &c);
}

int feed_decoded_record(struct feed *f, const struct tep_record *rec, const struct decode_common *c)
{
	struct runs_rec r = { .pos = rec->offset, .ts = rec->ts, .tid = c->tid, .flags = c->flags };
	int ret = 0;

	if (f->has_record && rec->offset <= f->last)
		return -EILSEQ;
	/* only the positions of instances can coincide, see join_find_answer() */
	if (f->buffer && (!f->has_record || (rec->offset ^ f->position) >> POSITION_SHIFT)) {
		ret = f->sink->position(f->sink->data, f->nr_streams - 1, rec->offset, rec->ts);
		if (ret)
			return ret;
		f->position = rec->offset;
	}
	if (!f->has_record)
		f->first = rec->offset;
	f->last = rec->offset;
	f->last_ts = rec->ts;
	f->has_record = true;

	if (rec->missed_events) {
		ret = f->sink->loss(f->sink->data, f->nr_streams - 1,
				    rec->missed_events > 0 ? rec->missed_events : 0);
		if (!ret)
			ret = runs_add_loss(f->runs);
		if (ret)
			return ret;
	}
	if (!c->has_tid || !c->has_flags)
		return 0;
	switch (decode_get_kind(&f->dec, c)) {
	case DECODE_KERNEL_STACK:
		r.kind = RUNS_KERNEL_STACK;
		break;
	case DECODE_COOKIE:
		if (decode_read_cookie(&f->dec, rec, &r.cookie))
			r.kind = RUNS_COOKIE;
		break;
	case DECODE_STACK:
		r.kind = RUNS_STACK;
		ret = feed_stack(f, rec, r.tid);
		break;
	case DECODE_AGAIN:
		r.kind = RUNS_STACK;
		ret = feed_again(f, rec, r.tid);
		break;
	case DECODE_MAP:
		ret = feed_map(f, rec);
		break;
	case DECODE_NONE:
		break;
	}
	return ret ? ret : runs_add_record(f->runs, &r);
}

static int add_stream(void *data, uint32_t buffer, uint32_t cpu)
{
	struct sink_target *t = data;
	uint32_t stream;

	return join_add_stream(t->join, buffer, cpu, &stream);
}

static int set_range(void *data, uint32_t stream, uint64_t first, uint64_t last)
{
	return join_set_range(((struct sink_target *)data)->join, stream, first, last);
}

static int add_run(void *data, const struct join_run *run)
{
	return join_add_run(((struct sink_target *)data)->join, run);
}

static int add_stack(void *data, const struct join_stack *stack)
{
	return join_add_stack(((struct sink_target *)data)->join, stack);
}

static int add_loss(void *data, uint32_t stream, uint64_t events)
{
	struct sink_target *t = data;

	maps_set_incomplete(t->maps);
	return join_add_loss(t->join, stream, events);
}

static int set_dropped(void *data, uint32_t buffer)
{
	struct sink_target *t = data;

	maps_set_incomplete(t->maps);
	return join_set_dropped(t->join, buffer);
}

static int add_position(void *data, uint32_t stream, uint64_t pos, uint64_t ts)
{
	return join_add_position(((struct sink_target *)data)->join, stream, pos, ts);
}

static int add_map(void *data, const struct maps_rec *rec)
{
	return maps_add(((struct sink_target *)data)->maps, rec);
}

void sink_set_to_join(struct sink *sink, struct sink_target *target)
{
	*sink = (struct sink){
		add_stream, set_range, add_run, add_stack, add_loss, set_dropped, add_position,
		add_map, target,
	};
}
