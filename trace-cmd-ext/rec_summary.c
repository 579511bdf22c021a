// SPDX-License-Identifier: GPL-2.0
/*
 * rec_summary - what the file holds, told when it is complete
 *
 * Its pages are gone through once, for what there is of each kind of record; then its requests and
 * stacks are joined as every reader will join them (plugin/scan.h), for what became of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode.h"
#include "rec.h"
#include "rec_sums.h"
#include "scan.h"

#define MAX_TGIDS	65536

struct ids {
	int kernel_stack, user_stack, cookie, stack, map;
};

/* "field:u32 NAME;	offset:N;" in a format; -1 if it is not there. */
static int offset_of(const char *format, const char *name)
{
	char wanted[64], *at;
	unsigned int off;

	snprintf(wanted, sizeof(wanted), " %s;\toffset:", name);
	at = strstr(format, wanted);
	return at && sscanf(at + strlen(wanted), "%u", &off) == 1 ? (int)off : -1;
}

static void add_tgid(struct rec_sums *c, uint32_t tgid)
{
	uint32_t *bigger;
	size_t i;

	/* mostly the one before */
	for (i = c->nr_tgids; i-- > 0;)
		if (c->tgid[i] == tgid)
			return;
	if (!tgid || c->nr_tgids == MAX_TGIDS)
		return;
	bigger = realloc(c->tgid, (c->nr_tgids + 1) * sizeof(*bigger));
	if (!bigger)
		return;
	c->tgid = bigger;
	bigger[c->nr_tgids++] = tgid;
}

struct pass {
	struct ids id;
	int flags_at;			/* in a stack */
	int map_tgid_at;
	struct rec_sums *c;
};

static uint32_t number_at(const char *data, int size, int off)
{
	uint32_t n = 0;

	if (off >= 0 && off + (int)sizeof(n) <= size)
		memcpy(&n, data + off, sizeof(n));
	return n;
}

static void count_record(const struct pass *p, const char *data, int size)
{
	struct rec_sums *c = p->c;
	uint16_t type;
	uint32_t flags;

	if (size < 8)
		return;
	memcpy(&type, data, sizeof(type));
	if (type == p->id.cookie)
		return;
	if (type == p->id.kernel_stack) {
		c->kernel_stacks++;
	} else if (type == p->id.user_stack) {
		c->user_stacks++;
	} else if (type == p->id.map) {
		/* once a process and file: cheaper than looking at each stack */
		add_tgid(c, number_at(data, size, p->map_tgid_at));
	} else if (type == p->id.stack) {
		flags = number_at(data, size, p->flags_at);
		c->stacks += !(flags & STACK_MORE);
		c->truncated += !!(flags & STACK_TRUNCATED);
		c->incomplete += !!(flags & STACK_INCOMPLETE);
		c->frame_pointer += !!(flags & STACK_FRAME_POINTER);
	} else {
		c->events++;
	}
}

static void count_page(const struct pass *p, struct kbuffer *kbuf, char *page)
{
	unsigned long long ts;
	char *data;

	if (kbuffer_load_subbuffer(kbuf, page))
		return;
	for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts))
		count_record(p, data, kbuffer_event_size(kbuf));
}

static int count_file(const struct rec *r, struct rec_sums *c)
{
	struct pass p = { .c = c, .flags_at = -1 };
	uint64_t at, end, size = lseek(r->out, 0, SEEK_END);
	struct kbuffer *kbuf;
	char *mem, *format;
	int i, cpu;

	p.id = (struct ids){
		rt_event_id("ftrace", "kernel_stack"), rt_event_id("ftrace", "user_stack"),
		rt_event_id("ftrace", "user_unwind_cookie"),
		rt_event_id("ftrace", "user_unwind_stack"),
		rt_event_id("ftrace", "user_unwind_map"),
	};
	format = rt_read(NULL, "events/ftrace/user_unwind_stack/format", NULL);
	if (format)
		p.flags_at = offset_of(format, "flags");
	free(format);
	format = rt_read(NULL, "events/ftrace/user_unwind_map/format", NULL);
	p.map_tgid_at = format ? offset_of(format, "tgid") : -1;
	free(format);
	kbuf = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
			     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? KBUFFER_ENDIAN_BIG :
			     KBUFFER_ENDIAN_LITTLE);
	mem = mmap(NULL, size, PROT_READ, MAP_PRIVATE, r->out, 0);
	if (!kbuf || mem == MAP_FAILED)
		return -ENOMEM;
	for (i = 0; i < REC_NR_BUFFERS; i++) {
		at = r->buf[i].data;
		for (cpu = 0; r->buf[i].size && cpu < r->nr_cpus; cpu++) {
			end = at + r->buf[i].size[cpu];
			c->bytes += r->buf[i].size[cpu];
			for (; at + r->page_size <= end && end <= size; at += r->page_size)
				count_page(&p, kbuf, mem + at);
			at = end;
		}
	}
	munmap(mem, size);
	kbuffer_free(kbuf);
	return 0;
}

/* "NAME: N" of per_cpu/cpuN/stats, over all CPUs of the events' buffer */
static uint64_t from_stats(const struct rec *r, const char *name)
{
	const struct rec_buffer *b = &r->buf[REC_EVENTS];
	uint64_t sum = 0;
	char *at;
	int cpu;

	for (cpu = 0; b->stats && cpu < r->nr_cpus; cpu++) {
		at = b->stats[cpu] ? strstr(b->stats[cpu], name) : NULL;
		/* not the end of a longer name */
		if (at && (at == b->stats[cpu] || at[-1] == '\n'))
			sum += strtoull(at + strlen(name), NULL, 10);
	}
	return sum;
}

typedef unsigned long long ull;

/* What every reader will make of it; false after telling why that cannot be said. */
static bool join(const struct rec *r, struct join_stats *st)
{
	struct scan scan;

	scan_file(&scan, r->out);
	if (scan.problem)
		cmd_error("%s: %s", r->opts.out, scan.problem);
	if (!scan.join)
		return false;
	join_stats(scan.join, st);
	scan_free(&scan);
	return true;
}

static void tell_join(const struct rec_sums *c)
{
	const struct join_stats *st = &c->join;
	uint64_t all = 0;
	int i;

	for (i = JOIN_STACK; i < JOIN_NR_STATES; i++)
		all += st->requests[i];
	fprintf(stderr, "  user stacks: asked for %llu times, %llu joined, %llu pending (still in "
		"the kernel), %llu lost, %llu not recorded\n", (ull)all,
		(ull)st->requests[JOIN_STACK], (ull)st->requests[JOIN_PENDING],
		(ull)st->requests[JOIN_LOST],
		(ull)(st->requests[JOIN_UNRECORDED] + st->requests[JOIN_UNSURE]));
	fprintf(stderr, "  %llu stacks, %llu different; %llu incomplete, %llu truncated, %llu with "
		"frame pointers followed\n", (ull)c->stacks, (ull)st->distinct,
		(ull)c->incomplete, (ull)c->truncated, (ull)c->frame_pointer);
}

static void tell(struct rec *r, const struct rec_sums *c)
{
	fprintf(stderr, "%s: %llu events in %.1f s, %llu kernel stacks, %.1f MiB, %.0f bytes an "
		"event\n", r->opts.out, (ull)c->events, r->seconds, (ull)c->kernel_stacks,
		c->bytes / 1048576.0, c->events ? 1.0 * c->bytes / c->events : 0);
	if (r->how == REC_FALLBACK)
		fprintf(stderr, "  %llu user stacks by frame pointers\n", (ull)c->user_stacks);
	else if (c->joined)
		tell_join(c);
	if (c->lost)
		fprintf(stderr, "  %llu records were lost: a CPU's buffer of %lu KB was full; -b "
			"makes it larger\n", (ull)c->lost, r->kb);
	rec_tables_summary(r);
	if (c->jit)
		fprintf(stderr, "  %s.jit: symbols of compiled code of %d processes\n",
			r->opts.out, c->jit);
}

int rec_summary(struct rec *r)
{
	bool text = !r->opts.quiet && r->opts.summary && !r->opts.json;
	struct rec_sums c = {};
	int ret = 0;

	if (count_file(r, &c)) {
		cmd_error("%s: not enough memory to look at it", r->opts.out);
		return CMD_FAIL;
	}
	c.jit = jit_save(r, c.tgid, c.nr_tgids);
	c.lost = from_stats(r, "overrun: ") + from_stats(r, "dropped events: ");
	if ((text || r->opts.json) && (r->how == REC_OPTION || r->how == REC_TRIGGER))
		c.joined = join(r, &c.join);
	if (text)
		tell(r, &c);
	if (r->opts.json)
		ret = rec_json(r, &c);
	free(c.tgid);
	return ret;
}
