// SPDX-License-Identifier: GPL-2.0
/*
 * summary.c - print what the file holds, when it is complete
 *
 * One pass over the pages counts each kind of record, and feeds the join for the answers to the
 * requests (join.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/recording/recording.h"
#include "libunwind-user/base/base.h"
#include "impl.h"
#include "stats.h"
#include "trace-cmd-ext/record/bpf/bpf.h"

#define MAX_TGIDS	65536

#define PID_AT	4			/* in each record: the task that ran */

/* "field:u32 NAME;	offset:N;" in @format, which may be NULL; -1 if it is not there. */
static int parse_offset(const char *format, const char *name)
{
	char wanted[64], *at;
	unsigned int off;

	snprintf(wanted, sizeof(wanted), " %s;\toffset:", name);
	at = format ? strstr(format, wanted) : NULL;
	return at && sscanf(at + strlen(wanted), "%u", &off) == 1 ? (int)off : -1;
}

static void add_tgid(struct rec_stats *c, uint32_t tgid)
{
	uint32_t *new;
	size_t i;

	/* mostly the previous one */
	for (i = c->nr_tgids; i-- > 0;)
		if (c->tgid[i] == tgid)
			return;
	if (!tgid || c->nr_tgids == MAX_TGIDS)
		return;
	new = array_add(c->tgid, c->nr_tgids);
	if (new)
		*new = tgid;
}

enum pass_mode { COUNT_RECORDS, COUNT_OLDER_STACKS };

struct thread {
	uint32_t tid, tgid;
};

/* A pass over all records, or a second one over stacks of processes whose map came later */
struct pass {
	enum pass_mode mode;
	int kernel_stack, user_stack, cookie, stack, again, map, switched;	/* ids of records */
	int flags_at;			/* in a stack */
	int tgid_at;			/* in a stack */
	int map_tgid_at;
	int next_at;			/* in a sched_switch: the task that is switched to */
	const struct rec *r;
	struct rec_stats *c;
	struct rec_join *join;		/* or NULL */
	int buffer, cpu;		/* of the pages that come now */
	uint64_t at;			/* offset of the page in the file */
	VEC(struct thread) threads;	/* those with a stack so far */
	struct hidx thread_idx;
	int error;
};

static uint32_t read_number_at(const char *data, int size, int off)
{
	uint32_t n = 0;

	if (off >= 0 && off + (int)sizeof(n) <= size)
		memcpy(&n, data + off, sizeof(n));
	return n;
}

static void count_record(const struct pass *p, const char *data, int size)
{
	struct rec_stats *c = p->c;
	uint16_t type;

	if (size < 8)
		return;
	memcpy(&type, data, sizeof(type));
	if (type == p->cookie || type == p->stack || type == p->again)
		return;
	if (type == p->kernel_stack) {
		c->kernel_stacks++;
	} else if (type == p->user_stack) {
		c->user_stacks++;
	} else if (type == p->map) {
		/* once for each process and file, which is cheaper than for each stack */
		add_tgid(c, read_number_at(data, size, p->map_tgid_at));
	} else {
		c->events++;
		c->own += own_tasks_has(p->r, read_number_at(data, size, PID_AT)) ||
			  (type == p->switched &&
			   own_tasks_has(p->r, read_number_at(data, size, p->next_at)));
	}
}

/*
 * The process that a stack is of. A stack that comes again is of the process of its task's last
 * stack, which is on the same CPU, before it.
 */
static uint32_t get_tgid_of_stack(struct pass *p, int type, const char *data, int size)
{
	uint32_t tid = read_number_at(data, size, PID_AT);
	struct thread *t;

	if (type == p->again) {
		t = vec_find(&p->threads, &p->thread_idx, tid, tid);
		return t ? t->tgid : 0;
	}
	t = vec_get(&p->threads, &p->thread_idx, tid, tid);
	if (!t) {
		p->error = -ENOMEM;
		return 0;
	}
	t->tgid = read_number_at(data, size, p->tgid_at);
	return t->tgid;
}

/* Count a stack of a process with a map, and whether it is older than the map. */
static void count_older_stacks(struct pass *p, uint64_t ts, const char *data, int size)
{
	uint32_t tgid;
	uint16_t type;
	size_t i;

	if (size < 8)
		return;
	memcpy(&type, data, sizeof(type));
	if (type != p->again &&
	    (type != p->stack || read_number_at(data, size, p->flags_at) & STACK_MORE))
		return;
	tgid = get_tgid_of_stack(p, type, data, size);
	for (i = 0; i < p->c->nr_maps; i++) {
		if (p->c->map[i].tgid != tgid)
			continue;
		p->c->map[i].stacks++;
		p->c->map[i].before += ts < p->c->map[i].from;
	}
}

static void count_page(struct pass *p, struct kbuffer *kbuf, char *page)
{
	struct tep_record rec = { .cpu = p->cpu };

	if (kbuffer_load_subbuffer(kbuf, page))
		return;
	rec.missed_events = kbuffer_missed_events(kbuf);
	for (rec.data = kbuffer_read_event(kbuf, &rec.ts); rec.data;
	     rec.data = kbuffer_next_event(kbuf, &rec.ts)) {
		rec.size = kbuffer_event_size(kbuf);
		rec.offset = p->at + kbuffer_curr_offset(kbuf);
		if (p->mode == COUNT_OLDER_STACKS)
			count_older_stacks(p, rec.ts, rec.data, rec.size);
		else
			count_record(p, rec.data, rec.size);
		if (p->join && !p->error)
			p->error = rec_join_record(p->join, p->buffer, &rec);
		rec.missed_events = 0;
	}
}

/* Find out which records there are, and where their fields are. */
static struct pass prepare_pass(const struct rec *r, struct rec_stats *c)
{
	char *stack = format_read(r, FORMAT_STACK, NULL), *map = format_read(r, FORMAT_MAP, NULL);
	char *switched = rec_tracefs_read(NULL, "events/sched/sched_switch/format", NULL);
	struct pass p = {
		.kernel_stack = rec_tracefs_read_id("ftrace", "kernel_stack"),
		.user_stack = rec_tracefs_read_id("ftrace", "user_stack"),
		.cookie = format_get_id(r, FORMAT_COOKIE),
		.stack = format_get_id(r, FORMAT_STACK),
		.again = rec_tracefs_read_id("ftrace", "user_unwind_again"),
		.map = format_get_id(r, FORMAT_MAP),
		.switched = rec_tracefs_read_id("sched", "sched_switch"),
		.flags_at = parse_offset(stack, "flags"),
		.tgid_at = parse_offset(stack, "tgid"),
		.map_tgid_at = parse_offset(map, "tgid"),
		.next_at = parse_offset(switched, "next_pid"),
		.r = r, .c = c,
	};

	free(stack);
	free(map);
	free(switched);
	return p;
}

/* Count the records of all pages, and give them to @join if it is not NULL. 0 or -errno */
static int walk_pages(struct pass *p, enum pass_mode mode, struct rec_join *join)
{
	const struct rec *r = p->r;
	uint64_t end, size = lseek(r->out_fd, 0, SEEK_END);
	struct kbuffer *kbuf;
	char *mem;
	int i, cpu, ret = -ENOMEM;

	p->mode = mode;
	p->join = join;
	kbuf = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
			     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? KBUFFER_ENDIAN_BIG :
			     KBUFFER_ENDIAN_LITTLE);
	mem = mmap(NULL, size, PROT_READ, MAP_PRIVATE, r->out_fd, 0);
	if (!kbuf || mem == MAP_FAILED)
		goto out;
	for (i = 0; i < NR_BUFS; i++) {
		p->at = r->buf[i].data;
		p->buffer = i;
		for (cpu = 0; r->buf[i].size && cpu < r->nr_cpus; cpu++) {
			end = p->at + r->buf[i].size[cpu];
			p->c->bytes += mode == COUNT_RECORDS ? r->buf[i].size[cpu] : 0;
			p->cpu = cpu;
			for (; p->at + r->page_size <= end && end <= size; p->at += r->page_size)
				count_page(p, kbuf, mem + p->at);
			p->at = end;
		}
	}
	ret = p->error;
out:
	if (mem != MAP_FAILED)
		munmap(mem, size);
	kbuffer_free(kbuf);
	return ret;
}

/* The sum of "NAME: N" in per_cpu/cpuN/stats, over all CPUs of the events' buffer */
static uint64_t sum_stats(const struct rec *r, const char *name)
{
	const struct rec_buffer *b = &r->buf[BUF_EVENTS];
	uint64_t sum = 0;
	char *at;
	int cpu;

	for (cpu = 0; b->stats && cpu < r->nr_cpus; cpu++) {
		at = b->stats[cpu] ? strstr(b->stats[cpu], name) : NULL;
		/* do not match the end of a longer name */
		if (at && (at == b->stats[cpu] || at[-1] == '\n'))
			sum += strtoull(at + strlen(name), NULL, 10);
	}
	return sum;
}

typedef unsigned long long ull;

static void print_join(const struct rec_stats *c)
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
		"frame pointers followed\n", (ull)st->stacks, (ull)st->distinct,
		(ull)st->incomplete, (ull)st->truncated, (ull)st->frame_pointer);
}

static const char *const reasons[MSG_NR_REASONS] = {
	[MSG_NOT_READABLE] = "a page of the stack was not in memory",
	[MSG_NO_MAPPING] = "an address was in no executable mapping",
	[MSG_NO_TABLE] = "a file had no unwind table yet",
	[MSG_HOLE] = "the table of a file says that its code cannot be walked there",
	[MSG_BUSY] = "another walk on this CPU had been interrupted",
	[MSG_NO_ROOM] = "there was no room for the stack",
	[MSG_NO_REGISTERS] = "the registers of the program were not known",
	[MSG_TOO_DEEP] = "it has more than 512 frames",
	[MSG_OTHER_ABI] = "a file was of another ABI than the program (x32, say)",
};

/* Print the counts of the source bpf. */
static void print_bpf_counts(const struct rec *r)
{
	const struct bpfsrc_stats *bpf;
	const struct insert_stats *s = rec_bpf_get_stats(r, &bpf);
	int i;

	if (!s)
		return;
	fprintf(stderr, "  source bpf: %llu events, %llu with a complete user stack, %llu with an "
		"incomplete one or without one, %llu of kernel threads and tasks that are not "
		"traced\n",
		(ull)s->events, (ull)s->reason[MSG_OK],
		(ull)(s->cookies - s->reason[MSG_OK] + s->no_message), (ull)s->other);
	for (i = MSG_OK + 1; i < MSG_NR_REASONS; i++)
		if (s->reason[i])
			fprintf(stderr, "    %llu: %s\n", (ull)s->reason[i], reasons[i]);
	if (bpf->lost)
		fprintf(stderr, "    %llu messages about events, samples and functions had no "
			"room\n", (ull)bpf->lost);
	if (bpf->functions_skipped)
		fprintf(stderr, "    up to %llu calls of functions are not recorded: a program was "
			"running on their CPU (of all tasks, also calls by a walk itself)\n",
			(ull)bpf->functions_skipped);
	if (s->no_message)
		fprintf(stderr, "    %llu: the message about the event was lost, or more than one "
			"message fits the event\n", (ull)s->no_message);
}

static void print_jit(const struct rec *r, const struct rec_stats *c)
{
	bool any = false;
	size_t i;

	if (c->jit)
		fprintf(stderr, "  %s.jit: symbols of JIT code of %d processes\n",
			r->opts.out, c->jit);
	for (i = 0; i < c->nr_maps; i++) {
		const struct rec_jit_map *m = &c->map[i];

		if (!m->saved || 2 * m->before <= m->stacks)
			continue;
		any = true;
		fprintf(stderr, "  JIT code of process %u: its map was made late, %llu of its "
			"%llu stacks are older and get no names from it\n", m->tgid,
			(ull)m->before, (ull)m->stacks);
	}
	if (any)
		fputs("  a map names code from the time when it was created: create it before the "
		      "recording, or at the start of the program; see NOTES in "
		      "trace-ustack-record(1)\n", stderr);
}

static void print_waited(const struct gate_shared *counts)
{
	if (!counts)
		return;
	fprintf(stderr, "  %u program%s waited for tables, at most %.0f ms", counts->programs,
		counts->programs == 1 ? "" : "s", counts->longest / 1e6);
	if (counts->released_early)
		fprintf(stderr, "; %u started before their tables were made",
			counts->released_early);
	fputc('\n', stderr);
}

static void print_summary(struct rec *r, const struct rec_stats *c)
{
	fprintf(stderr, "%s: %llu events in %.1f s, %llu kernel stacks, %.1f MiB, %.0f bytes per "
		"event\n", r->opts.out, (ull)c->events, r->seconds, (ull)c->kernel_stacks,
		c->bytes / 1048576.0, c->events ? 1.0 * c->bytes / c->events : 0);
	if (c->own)
		fprintf(stderr, "  %llu of these events are the recorder's own: switches between "
			"it and other tasks, and tasks it woke\n", (ull)c->own);
	if (r->request_by == REQUEST_BY_FRAME_POINTERS)
		fprintf(stderr, "  %llu user stacks by frame pointers\n", (ull)c->user_stacks);
	else if (c->joined)
		print_join(c);
	print_bpf_counts(r);
	if (c->lost)
		fprintf(stderr, "  %llu records were lost: a CPU's buffer of %lu KB was full; -b "
			"makes it larger\n", (ull)c->lost, r->buffer_kb);
	rec_tables_print_summary(r);
	print_waited(rec_gate_get_shared(r));
	print_jit(r, c);
}

/* Save the maps of JIT code, and count the processes with a map that names some of its stacks. */
static int save_maps(struct rec *r, struct rec_stats *c, struct pass *p)
{
	bool later = false;
	size_t i;
	int ret;

	c->nr_maps = rec_jit_find_maps(r, c->tgid, c->nr_tgids, &c->map);
	rec_jit_save_maps(r, c->map, c->nr_maps);
	for (i = 0; i < c->nr_maps; i++)
		later |= c->map[i].from;
	ret = later ? walk_pages(p, COUNT_OLDER_STACKS, NULL) : 0;
	vec_free(&p->threads);
	hidx_free(&p->thread_idx);
	for (i = 0; i < c->nr_maps; i++)
		c->jit += c->map[i].saved &&
			  (!c->map[i].before || c->map[i].before < c->map[i].stacks);
	return ret;
}

int rec_finish_file(struct rec *r)
{
	bool text = !r->opts.quiet && r->opts.summary && !r->opts.json;
	struct rec_join *join = NULL;
	struct rec_stats c = {};
	struct pass pass = prepare_pass(r, &c);
	int ret = 0;

	if ((text || r->opts.json) && (r->request_by == REQUEST_BY_OPTION ||
				       r->request_by == REQUEST_BY_TRIGGER ||
				       r->request_by == REQUEST_BY_BPF)) {
		join = rec_join_new(r);
		ret = join ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = walk_pages(&pass, COUNT_RECORDS, join);
	if (!ret && join)
		ret = rec_join_finish(join, r, &c.join);
	c.joined = join;
	if (!ret)
		ret = save_maps(r, &c, &pass);
	rec_join_free(join);
	if (ret) {
		tool_error("%s: cannot be read: %s", r->opts.out, strerror(-ret));
		ret = TOOL_FAIL;
		goto out;
	}
	c.lost = sum_stats(r, "overrun: ") + sum_stats(r, "dropped events: ");
	if (text)
		print_summary(r, &c);
	if (r->opts.json)
		ret = rec_write_json(r, &c);
out:
	free(c.map);
	free(c.tgid);
	return ret;
}
