// SPDX-License-Identifier: GPL-2.0
/*
 * insert.c - add the stacks of the BPF programs to the recording
 *
 * ftrace recorded events and kernel stacks, and a BPF program sent a message for each of these
 * events. This file rewrites the ring buffer pages of all CPUs. It adds the records that a patched
 * kernel would have written: the cookie after an event and its kernel stack, and with a new cookie
 * the stack and the mappings that are not yet in the file. One cookie stands for successive events
 * of a task with equal stacks. After another stack of this task, the cookie is not used again: a
 * cookie of the kernel belongs to one entry into the kernel, and the join relies on that.
 *
 * A record takes the latest message about its task and event that no record took before, but only
 * if
 *
 *  1. the message is of the same CPU,
 *  2. no message of this CPU is missing between the message and the record,
 *  3. the message is less than 10 ms old; the limit is 100 ms if the task can be preempted in
 *     between and thread IDs are not reused that soon,
 *  4. the latest message of the task that has a stack, whatever its event, has the same stack.
 *
 * docs/stock-matching.md proves that the message then has the record's user stack. It has the rules
 * for runs that the kernel skips, for samples and functions, and for uprobe and kprobe events.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf.h"
#include "messages.h"
#include "pages.h"
#include "plugin/join/join.h"

#define MAX_AGE_NS	10000000ull
#define MAX_AGE_MIGRATED_NS	100000000ull
/* Unmatched messages of a task and an event: interrupts nest less deep. The oldest is dropped. */
#define MAX_UNMATCHED	8
#define EXPIRE_THRESHOLD	4096	/* pairs of a task and an event with unmatched messages */
#define MAX_FRAMES	256		/* in a record, as the kernel's limit */
#define PROGRESS_AT	1024		/* records */

#define IN_INTERRUPT	(TRACE_FL_HARDIRQ | TRACE_FL_SOFTIRQ | TRACE_FL_NMI)
/* The flags of samples: in an interrupt, with interrupts off */
#define SAMPLE_FLAGS	(TRACE_FL_HARDIRQ | TRACE_FL_IRQS_OFF)

struct message {
	uint64_t time, stack;
	uint64_t gaps, all_gaps;	/* before the message: on its CPU, on all CPUs */
	uint32_t cpu, tgid;
	uint16_t reason, counter;
};

struct unmatched {
	uint64_t key;			/* tid and event */
	unsigned int nr;
	struct message m[MAX_UNMATCHED];
};

struct process {
	uint32_t id;			/* tgid */
	uint32_t changes;		/* of its mappings */
	VEC(struct msg_code) maps;	/* mappings that have records; they do not overlap */
};

/* A Python function that has a record for a process */
struct known_python {
	uint64_t key;			/* tgid and number */
};

/* A cookie that waits for the kernel stack of its event. */
struct pending_cookie {
	uint32_t head[2];		/* the common fields, with type 0 */
	uint32_t tgid;
	uint64_t stack;
	uint16_t reason;
	uint64_t time;			/* of the event */
};

struct cpu {
	struct pages_in in;
	struct pages_out out;
	bool more;			/* @in has a record */
	uint64_t gaps;			/* in the messages of this CPU, up to the last one passed */
	struct nest nest;
	struct pending_cookie pending[NEST_LEVELS];
	VEC(struct messages_event) held;	/* functions that wait for a kernel stack */
	uint32_t count;			/* grows by 2 with each new cookie */
	uint64_t size;			/* bytes of this CPU's file */
};

struct insert {
	const struct insert_opts *o;
	struct insert_stats *stats;
	struct pages_layout layout;
	struct messages msgs;
	struct cpu *cpu;
	uint64_t next_message;		/* time of the earliest message not passed */
	/* Up to this time, records may be missing. Set before the next record of each CPU */
	uint64_t lost_until;
	uint64_t gaps;			/* sum of cpu.gaps */
	uint64_t gaps_ahead;		/* CPUs with a gap right before their next message */
	VEC(struct unmatched) unmatched;
	struct hidx unmatched_idx;
	size_t expire_threshold;
	VEC(struct process) processes;
	struct hidx process_idx;
	VEC(struct known_python) known_python;
	struct hidx known_python_idx;
	unsigned char *record;		/* room for a record that is made */
	uint64_t done, all;		/* bytes of the files, for progress */
	unsigned int nr;		/* records since the last progress */
};

/* Common fields of a record. include/linux/trace_events.h: struct trace_entry */
struct common {
	uint16_t type;
	uint8_t flags, preempt;
	uint32_t tid;
};

/* The record of an event that gets a stack */
struct event_record {
	int cpu;
	uint32_t tid;
	uint8_t flags;			/* common_flags */
	uint64_t time;
	const struct insert_event *event;
};

/* ---------------------------- messages to records ------------------------- */

/* Drop the lists whose messages are too old. */
static int expire_messages(struct insert *s, uint64_t now)
{
	size_t i, nr = 0;

	for (i = 0; i < s->unmatched.nr; i++) {
		const struct unmatched *u = &s->unmatched.v[i];

		if (u->nr && u->m[u->nr - 1].time + MAX_AGE_MIGRATED_NS >= now)
			s->unmatched.v[nr++] = *u;
	}
	s->unmatched.nr = nr;
	hidx_clear(&s->unmatched_idx);
	for (i = 0; i < nr; i++)
		if (hidx_add(&s->unmatched_idx, hash64(s->unmatched.v[i].key), i))
			return -ENOMEM;
	s->expire_threshold = 2 * nr < EXPIRE_THRESHOLD ? EXPIRE_THRESHOLD : 2 * nr;
	return 0;
}

static int add_message(struct insert *s, const struct messages_event *ev)
{
	uint64_t key = (uint64_t)ev->tid << 32 | ev->event;
	struct messages_task *t = messages_find_task(&s->msgs, ev->tid);
	struct unmatched *u;
	unsigned int i;

	if (t && ev->stack)
		t->latest = ev->stack;
	if (s->unmatched.nr >= s->expire_threshold &&
	    !vec_find(&s->unmatched, &s->unmatched_idx, key, key) && expire_messages(s, ev->time))
		return -ENOMEM;
	u = vec_get(&s->unmatched, &s->unmatched_idx, key, key);
	if (!u)
		return -ENOMEM;
	if (u->nr == MAX_UNMATCHED)
		memmove(u->m, u->m + 1, --u->nr * sizeof(*u->m));
	i = u->nr++;
	u->m[i].time = ev->time;
	u->m[i].stack = ev->stack;
	u->m[i].cpu = ev->cpu;
	u->m[i].tgid = ev->tgid;
	u->m[i].reason = ev->reason;
	u->m[i].counter = ev->counter;
	u->m[i].gaps = s->cpu[ev->cpu].gaps;
	u->m[i].all_gaps = s->gaps;
	return 0;
}

static bool has_gap_ahead(struct insert *s, int cpu, int *error)
{
	const struct messages_event *ev = messages_peek(&s->msgs, cpu, error);

	return ev && ev->gap;
}

/* Is this the message of an event without a record? */
static bool has_no_record(const struct insert *s, const struct messages_event *ev)
{
	return ev->event == (uint32_t)s->o->sample || ev->event == (uint32_t)s->o->function;
}

static int pass_without_record(struct insert *s, const struct messages_event *ev);

/* Pass all messages up to @time, in the order of time across the CPUs. */
static int pass_messages(struct insert *s, uint64_t time)
{
	const struct messages_event *ev, *first;
	int cpu, at = 0, ret = 0;

	while (time >= s->next_message) {
		first = NULL;
		s->next_message = UINT64_MAX;
		s->gaps_ahead = 0;
		for (cpu = 0; cpu < s->o->nr_cpus; cpu++) {
			ev = messages_peek(&s->msgs, cpu, &ret);
			if (!ev)
				continue;
			s->gaps_ahead += ev->gap;
			if (ev->time >= s->next_message)
				continue;
			s->next_message = ev->time;
			first = ev;
			at = cpu;
		}
		if (ret || !first || first->time > time)
			return ret;
		s->cpu[at].gaps += first->gap;
		s->gaps += first->gap;
		ret = (has_no_record(s, first) ? pass_without_record : add_message)(s, first);
		if (ret)
			return ret;
		messages_advance(&s->msgs, at);
		s->next_message = 0;
	}
	return 0;
}

static int compare_id(const void *id, const void *event)
{
	const struct insert_event *ev = event;

	return cmp_int(*(const int *)id, ev->id);
}

static const struct insert_event *find_event(const struct insert *s, int id)
{
	return bsearch(&id, s->o->event, s->o->nr_events, sizeof(*s->o->event), compare_id);
}

/* Can the kernel have skipped the program of this record, and can its stack be another one? */
static bool may_lack_message(struct insert *s, const struct event_record *r,
			     const struct message *m, int *error)
{
	const struct messages_event *next;

	if (!r->event->skips)
		return false;
	if (r->event->may_migrate)
		return (r->event->filter || m->time <= s->lost_until) &&
		       messages_may_skip_execution(&s->msgs, m->counter, m->time, r->time);
	next = messages_peek(&s->msgs, r->cpu, error);
	if (!next || next->time == UINT64_MAX || next->tid != r->tid)
		return false;
	if (next->stack && next->stack == m->stack)
		return false;
	return r->flags & IN_INTERRUPT || next->ran == UINT32_MAX ||
	       next->time - next->ran <= r->time;
}

/* Does the stack start at the address in the record? */
static bool has_first_address(struct insert *s, const struct event_record *r, uint64_t stack,
			      int *error)
{
	const struct pages_in *in = &s->cpu[r->cpu].in;
	const struct messages_stack *st = messages_find_stack(&s->msgs, stack);
	const struct msg_stack *m = st && st->nr ? messages_read_stack(&s->msgs, st, error) : NULL;
	uint64_t at;

	if (!m)
		return !*error;
	if (r->event->address_off + sizeof(at) > in->data_size)
		return false;
	memcpy(&at, (const char *)in->data + r->event->address_off, sizeof(at));
	return ((const uint64_t *)(m->code + st->nr_code))[0] == at;
}

/* Do the four rules above allow that the record takes this message? */
static bool may_take(struct insert *s, const struct event_record *r, const struct message *m,
		     uint64_t latest_stack, int *error)
{
	bool may_migrate = r->event->may_migrate;
	uint64_t max_age = may_migrate && !s->o->few_tids ? MAX_AGE_MIGRATED_NS : MAX_AGE_NS;

	if (m->stack && m->stack != latest_stack)	/* rule 4 */
		return false;
	if (m->time + max_age < r->time)		/* rule 3 */
		return false;
	/* for these events, rule 1 does not apply, and rule 2 is about all CPUs */
	if (may_migrate)
		return m->all_gaps == s->gaps + s->gaps_ahead;
	return m->cpu == (uint32_t)r->cpu &&		/* rules 1 and 2 */
	       m->gaps == s->cpu[r->cpu].gaps + has_gap_ahead(s, r->cpu, error);
}

/* Take the message of a record; false if it has none. No other record may take a wrong message. */
static bool take_message(struct insert *s, const struct event_record *r,
			 struct pending_cookie *pending, int *error)
{
	uint64_t key = (uint64_t)r->tid << 32 | r->event->id;
	struct unmatched *u = vec_find(&s->unmatched, &s->unmatched_idx, key, key);
	const struct messages_task *t = messages_find_task(&s->msgs, r->tid);
	const struct message *m;
	bool right;

	if (!t || !u || !u->nr)
		return false;
	m = &u->m[u->nr - 1];
	right = may_take(s, r, m, t->latest, error);
	if (right && may_lack_message(s, r, m, error))
		return false;
	right = right && (!r->event->address_off || has_first_address(s, r, m->stack, error));
	if (right) {
		pending->stack = m->stack;
		pending->tgid = m->tgid;
		pending->reason = m->reason;
	}
	u->nr--;
	return right;
}

/* Take the message of a record that precedes its message (kprobe events). */
static bool take_message_after(struct insert *s, const struct event_record *r,
			       struct pending_cookie *pending, int *error)
{
	int stream = messages_probe_stream(&s->msgs, r->cpu);
	const struct messages_event *ev;

	while ((ev = messages_peek(&s->msgs, stream, error)) && ev->time < r->time)
		messages_advance(&s->msgs, stream);
	if (!ev || ev->event != (uint32_t)r->event->id || ev->tid != r->tid ||
	    r->time + ev->since <= ev->time)
		return false;
	pending->stack = ev->stack;
	pending->tgid = ev->tgid;
	pending->reason = ev->reason;
	messages_advance(&s->msgs, stream);
	return true;
}

/* -------------------------------- new records ----------------------------- */

/* user_unwind_cookie, user_unwind_stack and user_unwind_map; dat.c writes their formats. */
struct cookie_record {
	uint32_t head[2];
	uint64_t cookie;
};

_Static_assert(MSG_PYTHON_BASE == MAPS_PYTHON_BASE && MSG_PYTHON_END == MAPS_PYTHON_END,
	       "the join knows functions of Python by these addresses");

struct stack_record {
	uint32_t head[2];
	uint64_t cookie;
	uint32_t tgid, flags;
	uint32_t stack;			/* __data_loc: offset, and size << 16 */
	uint32_t pad;
};

struct map_record {
	uint32_t head[2];
	uint64_t start, end, pgoff, ino;
	uint32_t tgid, dev_major, dev_minor, build_id_size;
	uint8_t build_id[20];
	uint32_t path;			/* __data_loc */
};

/* kernel_stack: what formats.c expects of this kernel */
struct kernel_stack_record {
	uint32_t head[2];
	uint32_t nr, pad;
	uint64_t ip[];
};

/* cpu_sample, and function: formats.c */
struct sample_record {
	uint32_t head[2];
	union {
		uint64_t period;
		uint64_t ip[2];		/* of the function and of its caller */
	};
};

static int write_record(struct insert *s, struct cpu *cpu, const struct pending_cookie *pending,
			int type, unsigned int size)
{
	uint32_t head[2] = { pending->head[0], pending->head[1] };
	uint16_t id = type;

	memcpy(head, &id, sizeof(id));
	memcpy(s->record, head, sizeof(head));
	while (size % 4)
		s->record[size++] = 0;
	return pages_put_data(&cpu->out, cpu->out.time, s->record, size);
}

/* Returns the name that /proc/PID/maps shows. */
static const char *name_without_file(const struct msg_code *c)
{
	return c->dev_minor == MSG_VDSO ? "[vdso]" : "";
}

static int write_map(struct insert *s, struct cpu *cpu, const struct pending_cookie *pending,
		     uint32_t tgid, const struct msg_code *c)
{
	struct map_record *r = (struct map_record *)s->record;
	unsigned int size = sizeof(*r), max = pages_get_max_data(&s->layout);
	struct bpfsrc_file file = { .path = "" };
	size_t len;

	if (!s->o->get_file(s->o->ctx, c->dev_major, c->dev_minor, c->ino, &file))
		file = (struct bpfsrc_file){ .path = c->ino ? "" : name_without_file(c) };
	if (!file.path)
		file.path = "";
	memset(r, 0, sizeof(*r));
	r->start = c->start;
	r->end = c->end;
	r->pgoff = c->pgoff;
	r->ino = c->ino;
	r->tgid = tgid;
	r->dev_major = c->ino ? c->dev_major : 0;
	r->dev_minor = c->ino ? c->dev_minor : 0;
	if (file.build_id_size <= sizeof(r->build_id)) {
		r->build_id_size = file.build_id_size;
		memcpy(r->build_id, file.build_id, file.build_id_size);
	}
	len = strlen(file.path) + 1;
	/* a part of a path would name another file */
	if (size + len + 3 > max) {
		file.path = "";
		len = 1;
	}
	r->path = size | len << 16;
	memcpy(s->record + size, file.path, len);
	s->stats->maps++;
	return write_record(s, cpu, pending, s->o->map, size + len);
}

/* Note that a process has a Python function, by its number. 1: the number is new */
static int note_python(struct insert *s, uint32_t tgid, uint32_t number)
{
	uint64_t key = (uint64_t)tgid << 32 | number;

	if (vec_find(&s->known_python, &s->known_python_idx, key, key))
		return 0;
	return vec_get(&s->known_python, &s->known_python_idx, key, key) ? 1 : -ENOMEM;
}

/* Write a mapping for a Python function, see maps.h of the join. */
static int write_python_mapping(struct insert *s, struct cpu *cpu,
				const struct pending_cookie *pending, uint32_t tgid,
				uint32_t number)
{
	struct map_record *r = (struct map_record *)s->record;
	unsigned int size = sizeof(*r), max = pages_get_max_data(&s->layout) - 3;
	const struct msg_python *m;
	struct text path = {};
	uint32_t line = 0;
	int ret = 0;

	text_add(&path, MAPS_PYTHON);
	m = messages_read_python(&s->msgs, number, &ret);
	if (m)
		line = python_describe(m, &path);
	else
		text_add(&path, "<functions not known>");
	if (path.failed || ret) {
		free(path.v);
		return ret ? ret : -ENOMEM;
	}
	memset(r, 0, sizeof(*r));
	r->start = MSG_PYTHON_BASE + 2 * (uint64_t)number;
	r->end = r->start + 2;
	r->pgoff = maps_make_python_offset(line);
	r->tgid = tgid;
	if (path.nr + 1 > max - size)
		path.nr = max - size - 1;
	path.v[path.nr] = '\0';
	r->path = size | (path.nr + 1) << 16;
	memcpy(s->record + size, path.v, path.nr + 1);
	size += path.nr + 1;
	free(path.v);
	s->stats->maps++;
	return write_record(s, cpu, pending, s->o->map, size);
}

/* Write the functions of Python in a stack that its process lacks. */
static int write_python_mappings(struct insert *s, struct cpu *cpu,
				 const struct pending_cookie *pending, const struct msg_stack *m)
{
	const uint64_t *ip = (const uint64_t *)(m->code + m->nr_code);
	uint32_t i, number;
	int ret = 0;

	for (i = 0; i < m->nr && ret >= 0; i++) {
		if (!maps_is_python(ip[i]))
			continue;
		number = (ip[i] - MSG_PYTHON_BASE) / 2;
		ret = note_python(s, m->tgid, number);
		if (ret > 0)
			ret = write_python_mapping(s, cpu, pending, m->tgid, number);
	}
	return ret < 0 ? ret : 0;
}

/* Note a mapping of a process. 1: the mapping is new, 0: it is known */
static int note_map(struct process *p, const struct msg_code *c)
{
	struct msg_code *to, *m;

	for (m = p->maps.v; m < p->maps.v + p->maps.nr; m++)
		if (!memcmp(m, c, sizeof(*m)))
			return 0;
	for (m = to = p->maps.v; m < p->maps.v + p->maps.nr; m++)
		if (m->end <= c->start || m->start >= c->end)
			*to++ = *m;
	if (p->maps.v)
		p->maps.nr = to - p->maps.v;
	m = vec_add(&p->maps);
	if (!m)
		return -ENOMEM;
	*m = *c;
	/* messages_stack.checked is 0 if the stack was never checked */
	if (!++p->changes)
		p->changes = 1;
	return 1;
}

/* Write the mappings of a stack that its process lacks, or that changed since. */
static int write_maps(struct insert *s, struct cpu *cpu, const struct pending_cookie *pending,
		      struct messages_stack *st)
{
	const struct msg_code *code;
	const struct msg_stack *m;
	struct process *p;
	uint32_t i;
	int ret = 0;

	if (!st->nr_code)
		return 0;
	p = vec_get(&s->processes, &s->process_idx, id, st->tgid);
	if (!p)
		return -ENOMEM;
	if (st->checked && st->checked == p->changes)
		return 0;
	m = messages_read_stack(&s->msgs, st, &ret);
	code = m ? m->code : NULL;
	for (i = 0; i < st->nr_code && ret >= 0; i++) {
		ret = note_map(p, &code[i]);
		if (ret > 0)
			ret = write_map(s, cpu, pending, st->tgid, &code[i]);
	}
	st->checked = p->changes;
	if (m && ret >= 0)
		ret = write_python_mappings(s, cpu, pending, m);
	return ret < 0 ? ret : 0;
}

static int write_stack(struct insert *s, struct cpu *cpu, const struct pending_cookie *pending,
		       uint64_t cookie, const struct messages_stack *st)
{
	struct stack_record *r = (struct stack_record *)s->record;
	uint32_t fits = (pages_get_max_data(&s->layout) - sizeof(*r)) / 8;
	uint32_t nr = st ? st->nr : 0, at, n;
	const struct msg_stack *m;
	const uint64_t *ip = NULL;
	int ret = 0;

	if (st) {
		m = messages_read_stack(&s->msgs, st, &ret);
		if (!m)
			return ret;
		ip = (const uint64_t *)(m->code + st->nr_code);
	}
	if (fits > MAX_FRAMES)
		fits = MAX_FRAMES;
	for (at = 0; at < nr || !at; at += n) {
		n = nr - at < fits ? nr - at : fits;
		memset(r, 0, sizeof(*r));
		r->cookie = cookie;
		r->tgid = st ? st->tgid : pending->tgid;
		r->flags = st ? st->flags & ~STACK_MORE : STACK_INCOMPLETE;
		if (at + n < nr)
			r->flags |= STACK_MORE;
		r->stack = sizeof(*r) | (n * 8) << 16;
		if (n)
			memcpy(s->record + sizeof(*r), ip + at, n * 8);
		s->stats->stacks++;
		ret = write_record(s, cpu, pending, s->o->stack, sizeof(*r) + n * 8);
		if (ret || !nr)
			return ret;
	}
	return 0;
}

/* A cookie in the kernel's form: {CPU + 1, a count in steps of 2}. */
static uint64_t make_cookie(struct insert *s, struct cpu *cpu)
{
	union {
		struct {
			uint32_t cpu, count;
		} part;
		uint64_t cookie;
	} u;

	cpu->count += 2;
	u.part.cpu = cpu - s->cpu + 1;
	u.part.count = cpu->count - 1;
	return u.cookie;
}

/* Write a cookie; with a new one, also the mappings and the stack. */
static int write_cookie(struct insert *s, struct cpu *cpu, const struct pending_cookie *pending)
{
	struct messages_task *t = messages_find_task(&s->msgs, pending->head[1]);
	struct messages_stack *st =
		pending->stack ? messages_find_stack(&s->msgs, pending->stack) : NULL;
	struct cookie_record *r = (struct cookie_record *)s->record;
	uint16_t reason = pending->reason;
	bool new;
	int ret;

	if (!t)
		return -EINVAL;
	/* the stack itself was lost */
	if (!st && !reason)
		reason = MSG_NO_ROOM;
	new = !t->cookie || t->stack != (st ? st->id : 0) || (!st && t->tgid != pending->tgid);
	if (new) {
		t->stack = st ? st->id : 0;
		t->tgid = pending->tgid;
		t->cookie = make_cookie(s, cpu);
	}
	memset(r, 0, sizeof(*r));
	r->cookie = t->cookie;
	s->stats->cookies++;
	s->stats->reason[reason]++;
	ret = write_record(s, cpu, pending, s->o->cookie, sizeof(*r));
	if (!ret && st && new)
		ret = write_maps(s, cpu, pending, st);
	if (!ret && new)
		ret = write_stack(s, cpu, pending, t->cookie, st);
	return ret;
}

/* Write the cookies that wait at these levels, the innermost first. */
static int write_cookies(struct insert *s, struct cpu *cpu, uint32_t levels)
{
	int level, ret = 0;

	for (level = NEST_LEVELS - 1; level >= 0 && !ret; level--)
		if (levels >> level & 1)
			ret = write_cookie(s, cpu, &cpu->pending[level]);
	return ret;
}

/* --------------------------------- records -------------------------------- */

static int write_kernel_stack(struct insert *s, struct cpu *cpu,
			      const struct pending_cookie *pending, const uint64_t *ip,
			      uint32_t nr)
{
	struct kernel_stack_record *r = (struct kernel_stack_record *)s->record;

	if (s->o->kernel_stack < 0 || !nr)
		return 0;
	memset(r, 0, sizeof(*r));
	r->nr = nr;
	memcpy(r->ip, ip, nr * 8);
	return write_record(s, cpu, pending, s->o->kernel_stack, sizeof(*r) + r->nr * 8);
}

/* Write the record of a sample or a function, with its stacks. */
static int write_sample(struct insert *s, struct cpu *cpu, const struct messages_event *ev)
{
	bool function = ev->event == (uint32_t)s->o->function;
	const struct common c = { .type = ev->event, .flags = ev->flags, .tid = ev->tid };
	struct pending_cookie pending = {
		.stack = ev->stack, .tgid = ev->tgid, .reason = ev->reason,
	};
	struct messages_task *t = messages_find_task(&s->msgs, ev->tid);
	struct sample_record *r = (struct sample_record *)s->record;
	const struct messages_sample *m;
	uint64_t time = ev->time > cpu->out.time ? ev->time : cpu->out.time;
	int ret = 0;

	m = messages_read_sample(&s->msgs, ev, &ret);
	if (!m)
		return ret;
	memcpy(pending.head, &c, sizeof(c));
	s->stats->events++;
	memcpy(r->head, &c, sizeof(c));
	if (function) {
		r->ip[0] = m->head.ip;
		r->ip[1] = m->head.parent_ip;
	} else {
		r->period = s->o->period;
	}
	ret = pages_put_data(&cpu->out, time, r,
			     function ? sizeof(*r) : offsetof(struct sample_record, ip[1]));
	if (!ret)
		ret = write_kernel_stack(s, cpu, &pending, m->kernel, ev->nr_kernel);
	if (!ret && t)
		return write_cookie(s, cpu, &pending);
	s->stats->other++;
	return ret;
}

/* The groups of a task that a function of this level can interrupt: a bit for each level. */
static uint32_t find_outer_groups(const struct cpu *cpu, int level, uint32_t tid)
{
	uint32_t around = 0;
	int i;

	for (i = level; i <= level + 1; i++)
		if (cpu->nest.open >> i & 1 && cpu->nest.v[i].tid == tid)
			around |= 1u << i;
	return around;
}

/* Write the functions that no longer wait. */
static int write_held_functions(struct insert *s, struct cpu *cpu)
{
	size_t i, nr = 0;
	int ret = 0;

	for (i = 0; i < cpu->held.nr && !ret; i++) {
		const struct messages_event ev = cpu->held.v[i];

		if (find_outer_groups(cpu, nest_get_level(ev.flags), ev.tid))
			cpu->held.v[nr++] = ev;
		else
			ret = write_sample(s, cpu, &ev);
	}
	cpu->held.nr = nr;
	return ret;
}

/* A record of this task comes: write the cookies whose kernel stacks can no longer come. */
static int end_groups(struct insert *s, struct cpu *cpu, int level, uint32_t tid, bool belongs)
{
	int ret = write_cookies(s, cpu, nest_close_ended(&cpu->nest, level, tid));

	if (!ret && !belongs && cpu->nest.open >> level & 1) {
		nest_close(&cpu->nest, level);
		ret = write_cookie(s, cpu, &cpu->pending[level]);
	}
	return ret ? ret : write_held_functions(s, cpu);
}

static int write_all_cookies(struct insert *s, struct cpu *cpu)
{
	uint32_t open = cpu->nest.open;
	int ret;

	cpu->nest.open = 0;
	ret = write_cookies(s, cpu, open);
	return ret ? ret : write_held_functions(s, cpu);
}

/*
 * Does the record of a function wait for the end of a group? If the next record of this CPU is too
 * late to be the kernel stack, the kernel stack was lost, and nothing waits for it.
 */
static bool has_to_wait(const struct cpu *cpu, int level, uint32_t tid)
{
	uint32_t around = cpu->more ? find_outer_groups(cpu, level, tid) : 0;
	int i;

	for (i = level; i <= level + 1; i++)
		if (around >> i & 1 && cpu->in.time - cpu->pending[i].time < MAX_AGE_NS)
			return true;
	return false;
}

static int pass_without_record(struct insert *s, const struct messages_event *ev)
{
	struct messages_task *t = messages_find_task(&s->msgs, ev->tid);
	struct cpu *cpu = &s->cpu[ev->cpu];
	int level = nest_get_level(ev->flags), ret;
	struct messages_event *held;

	/* a CPU that came while recording has no file */
	if (cpu->out.fd < 0)
		return 0;
	if (t && ev->stack)
		t->latest = ev->stack;
	if (ev->event == (uint32_t)s->o->function && has_to_wait(cpu, level, ev->tid)) {
		held = vec_add(&cpu->held);
		if (!held)
			return -ENOMEM;
		*held = *ev;
		return 0;
	}
	ret = end_groups(s, cpu, level, ev->tid, false);
	return ret ? ret : write_sample(s, cpu, ev);
}

/* The record of an event is written: write or note the cookie that follows it. */
static int add_cookie(struct insert *s, struct cpu *cpu, const struct common *c, int level)
{
	struct event_record r = {
		.cpu = cpu - s->cpu, .tid = c->tid, .flags = c->flags, .time = cpu->in.time,
		.event = find_event(s, c->type),
	};
	struct pending_cookie pending = { .time = r.time };
	int error = 0;

	if (!r.event)
		return 0;
	s->stats->events++;
	if (!(r.event->probe ? take_message_after : take_message)(s, &r, &pending, &error)) {
		if (messages_find_task(&s->msgs, c->tid))
			s->stats->no_message++;
		else
			s->stats->other++;
		return error;
	}
	memcpy(pending.head, cpu->in.data, sizeof(pending.head));
	if (s->o->kernel_stack < 0)
		return write_cookie(s, cpu, &pending);
	cpu->pending[level] = pending;
	nest_open(&cpu->nest, level, c->tid,
		  nest_get_context(nest_make_flags(c->flags, c->preempt)));
	return 0;
}

static int add_record(struct insert *s, struct cpu *cpu)
{
	struct pages_in *in = &cpu->in;
	struct common c = {};
	uint32_t flags;
	int level = 0, ret;
	bool belongs;

	if (in->missed) {
		ret = write_all_cookies(s, cpu);
		if (!ret)
			ret = pages_put_missed(&cpu->out, in->missed, in->lost, in->page_time);
		if (ret)
			return ret;
	}
	if (in->data_size < sizeof(c))
		return pages_put(&cpu->out, in->time, in->type_len, in->body, in->body_size);
	memcpy(&c, in->data, sizeof(c));
	flags = nest_make_flags(c.flags, c.preempt);
	level = nest_get_level(flags);
	belongs = c.type == s->o->kernel_stack &&
		  nest_belongs(&cpu->nest, level, c.tid, nest_get_context(flags));
	ret = end_groups(s, cpu, level, c.tid, belongs);
	if (!ret)
		ret = pages_put(&cpu->out, in->time, in->type_len, in->body, in->body_size);
	if (ret)
		return ret;
	if (belongs) {
		nest_close(&cpu->nest, level);
		ret = write_cookie(s, cpu, &cpu->pending[level]);
		return ret ? ret : write_held_functions(s, cpu);
	}
	return c.type == s->o->kernel_stack ? 0 : add_cookie(s, cpu, &c, level);
}

static int read_next_record(struct insert *s, struct cpu *cpu)
{
	uint64_t before = cpu->in.offset;
	int ret = pages_next(&cpu->in);

	s->done += cpu->in.offset - before;
	cpu->more = ret > 0;
	if (cpu->in.missed && (!cpu->more || cpu->in.time > s->lost_until))
		s->lost_until = cpu->more ? cpu->in.time : UINT64_MAX;
	if (!ret && cpu->in.missed) {
		ret = write_all_cookies(s, cpu);
		if (!ret)
			ret = pages_put_missed(&cpu->out, cpu->in.missed, cpu->in.lost,
					       cpu->in.page_time);
	}
	return ret < 0 ? ret : 0;
}

/* The CPU with the earliest record; @until: time of the first record of the others. */
static struct cpu *find_first(struct insert *s, uint64_t *until)
{
	struct cpu *first = NULL, *c;

	*until = UINT64_MAX;
	for (c = s->cpu; c < s->cpu + s->o->nr_cpus; c++) {
		if (!c->more)
			continue;
		if (!first || c->in.time < first->in.time) {
			if (first)
				*until = first->in.time;
			first = c;
		} else if (c->in.time < *until) {
			*until = c->in.time;
		}
	}
	return first;
}

static int add_records(struct insert *s)
{
	uint64_t until;
	struct cpu *c = find_first(s, &until);
	int ret = 0;

	/* ftrace may have written no records before the first one */
	if (c && c->in.time > s->lost_until)
		s->lost_until = c->in.time;
	while (!ret && (c = find_first(s, &until))) {
		do {
			ret = pass_messages(s, c->in.time);
			if (!ret)
				ret = add_record(s, c);
			if (!ret)
				ret = read_next_record(s, c);
			if (!ret && s->o->progress && ++s->nr == PROGRESS_AT) {
				s->nr = 0;
				ret = s->o->progress(s->o->ctx, s->done, s->all);
			}
		} while (!ret && c->more && c->in.time <= until);
	}
	/* samples and functions after the last record */
	if (!ret && (s->o->sample >= 0 || s->o->function >= 0))
		ret = pass_messages(s, UINT64_MAX - 1);
	for (c = s->cpu; c < s->cpu + s->o->nr_cpus && !ret; c++)
		ret = write_all_cookies(s, c);
	return ret;
}

/* ---------------------------------- files --------------------------------- */

void insert_path(const char *raw, char *path, size_t size)
{
	if (snprintf(path, size, "%s.new", raw) >= (int)size)
		*path = '\0';
}

static int open_files(struct insert *s, char *why, size_t size)
{
	char raw[PATH_MAX], path[PATH_MAX];
	struct cpu *c;
	off_t end;
	int i, ret;

	for (i = 0; i < s->o->nr_cpus; i++)
		s->cpu[i].in.fd = s->cpu[i].out.fd = -1;
	for (i = 0; i < s->o->nr_cpus; i++) {
		c = &s->cpu[i];
		s->o->raw_path(s->o->ctx, i, raw);
		insert_path(raw, path, sizeof(path));
		ret = *path ? pages_open_in(&c->in, &s->layout, raw) : -ENAMETOOLONG;
		if (ret) {
			snprintf(why, size, "%s: %s", raw, strerror(-ret));
			return ret;
		}
		if (c->in.fd < 0)
			continue;
		end = lseek(c->in.fd, 0, SEEK_END);
		s->all += end > 0 ? end : 0;
		ret = pages_open_out(&c->out, &s->layout, path);
		if (!ret)
			ret = read_next_record(s, c);
		if (ret) {
			snprintf(why, size, "%s: %s", path, strerror(-ret));
			return ret;
		}
	}
	return 0;
}

/* Close the files. If @ret is 0 they replace the old files, else they are removed. */
static int close_files(struct insert *s, int ret, char *why, size_t size)
{
	char raw[PATH_MAX], path[PATH_MAX];
	bool failed = ret;
	int i, error;

	for (i = 0; i < s->o->nr_cpus; i++) {
		pages_close_in(&s->cpu[i].in);
		error = pages_close_out(&s->cpu[i].out);
		if (!ret)
			ret = error;
	}
	for (i = 0; i < s->o->nr_cpus; i++) {
		s->o->raw_path(s->o->ctx, i, raw);
		insert_path(raw, path, sizeof(path));
		if (ret)
			unlink(path);
		else if (rename(path, raw) && errno != ENOENT)
			ret = -errno;
	}
	if (ret && !failed)
		snprintf(why, size, "%s: %s", path, strerror(-ret));
	return ret;
}

int insert_stacks(const struct insert_opts *opts, struct insert_stats *stats, char *why,
		  size_t size)
{
	struct insert s = { .o = opts, .stats = stats, .expire_threshold = EXPIRE_THRESHOLD };
	size_t i;
	int ret;

	memset(stats, 0, sizeof(*stats));
	*why = '\0';
	ret = pages_parse_layout(&s.layout, opts->header_page, opts->page_size);
	if (ret) {
		snprintf(why, size, "events/header_page describes pages that are not known");
		return ret;
	}
	ret = messages_read(&s.msgs, opts->messages, opts->nr_cpus, why, size);
	if (ret)
		goto out;
	s.cpu = calloc(opts->nr_cpus, sizeof(*s.cpu));
	s.record = malloc(opts->page_size);
	ret = s.cpu && s.record ? 0 : -ENOMEM;
	if (!ret) {
		ret = open_files(&s, why, size);
		if (!ret)
			ret = add_records(&s);
		if (ret && !*why)
			snprintf(why, size, "the recording with its stacks: %s",
				 ret == -EBADMSG ? "a page is damaged" : strerror(-ret));
		ret = close_files(&s, ret, why, size);
	}
	stats->messages = s.msgs.events;
	stats->gaps = s.msgs.gaps;
out:
	messages_free(&s.msgs);
	vec_free(&s.unmatched);
	hidx_free(&s.unmatched_idx);
	for (i = 0; i < s.processes.nr; i++)
		vec_free(&s.processes.v[i].maps);
	vec_free(&s.known_python);
	hidx_free(&s.known_python_idx);
	vec_free(&s.processes);
	hidx_free(&s.process_idx);
	for (i = 0; s.cpu && i < (size_t)opts->nr_cpus; i++)
		vec_free(&s.cpu[i].held);
	free(s.cpu);
	free(s.record);
	return ret;
}
