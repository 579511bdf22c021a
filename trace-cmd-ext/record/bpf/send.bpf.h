/* SPDX-License-Identifier: GPL-2.0 */
/*
 * send.bpf.h - builds a message and puts it into the ring buffer
 */
#ifndef TRACE_USTACK_RECORD_BPF_SEND_H
#define TRACE_USTACK_RECORD_BPF_SEND_H

#include "state.bpf.h"

#define WAKE_NS		1000000

/* Wake the recorder only if it is late: it polls, and a wake-up costs much. */
static __always_inline u64 wake_up(const struct control *c)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > c->ring_size / 2 ?
	       BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/*
 * insert.c relies on this: no task switch comes between the time and the number of a message.
 * Programs of system calls can be preempted. If that happens here, take both again: the unused
 * number counts as a lost message.
 */
static __always_inline void number_message(struct msg_event *m, u32 *seq, struct task_struct *task)
{
	u64 switches;
	u32 i;

	for (i = 0; i < 4; i++) {
		switches = task->nvcsw + task->nivcsw;
		barrier();
		m->time = bpf_ktime_get_ns();
		m->seq = __sync_fetch_and_add(seq, 1);
		barrier();
		if (switches == task->nvcsw + task->nivcsw)
			break;
	}
}

/* A message that is not sent leaves a gap. */
static __always_inline void skip_number(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	u32 *seq = bpf_map_lookup_elem(&seqs, &cpu);

	if (seq)
		__sync_fetch_and_add(seq, 1);
}

/* Fill the message; false if it cannot have a number */
static __always_inline bool make_event(struct msg_event *m, u32 event, u64 stack, u32 reason)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();
	u32 *seq = bpf_map_lookup_elem(&seqs, &cpu);

	if (!seq)
		return false;
	m->head.type = MSG_EVENT;
	m->head.reserved = 0;
	m->head.size = sizeof(*m);
	m->stack = stack;
	m->tid = task->pid;
	m->tgid = task->tgid;
	m->cpu = cpu;
	m->event = event;
	m->reason = reason;
	m->counter = 0;
	m->skipped = 0;
	m->ran = ~0u;
	m->since = 0;
	m->pad = 0;
	number_message(m, seq, task);
	return true;
}

/* @start: when the program started; 0: not known, or it interrupted another one */
static __always_inline void send_event(struct control *c, const struct origin *o, u64 stack,
				       u32 reason, u64 start)
{
	struct msg_event m;

	if (!make_event(&m, o->event, stack, reason))
		return;
	m.counter = o->counter;
	m.skipped = o->skipped;
	if (m.time - start < ~0u)
		m.ran = m.time - start;
	if (o->earlier_time)
		m.since = m.time - o->earlier_time < ~0u ? m.time - o->earlier_time : ~0u;
	if (bpf_ringbuf_output(&ring, &m, sizeof(m), wake_up(c)))
		__sync_fetch_and_add(&c->lost, 1);
}

/* @w->sample has its flags and addresses. The kernel stack is that of the code at @ctx */
static __always_inline void send_sample(void *ctx, struct control *c, struct walk *w, u32 event,
					u64 stack, u32 reason)
{
	struct msg_sample *m = &w->sample;
	long got = bpf_get_stack(ctx, w->kernel, sizeof(w->kernel), 0);
	u32 size = got < 0 ? 0 : got;

	if (size > sizeof(w->kernel))
		size = 0;
	if (!make_event(&m->event, event, stack, reason))
		return;
	m->event.head.type = MSG_SAMPLE;
	m->event.head.size = sizeof(*m) + size;
	m->nr = size / WORD;
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	if (bpf_ringbuf_output(&ring, m, sizeof(*m) + size, wake_up(c)))
		__sync_fetch_and_add(&c->lost, 1);
}

/* A file without a table: wake the recorder before the process ends, not for each stack. */
static __always_inline u64 wake_up_for(struct control *c, const struct walk *w)
{
	if (w->reason == MSG_NO_TABLE && w->time - c->woken > WAKE_NS) {
		c->woken = w->time;
		return BPF_RB_FORCE_WAKEUP;
	}
	return wake_up(c);
}

/* Send the stack of @w, unless it was sent before. Returns the stack's id; 0: there is no room */
__noinline u64 send_stack(struct walk *w)
{
	struct msg_stack *m;
	struct control *c;
	u64 id, pid_tgid = bpf_get_current_pid_tgid(), second, *other, size, from;
	u32 nr, nr_code, try;

	if (!w)
		return 0;
	c = bpf_map_lookup_elem(&control, (void *)&zero);
	if (!c)
		return 0;
	id = w->hash[0] ^ (pid_tgid >> 32 | (u64)w->flags << 32 | (u64)w->reason << 40);
	id = (id ^ id >> 29) * 0xbf58476d1ce4e5b9ull;
	id ^= id >> 32;
	second = w->hash[1] ^ pid_tgid >> 32 << 16 ^ (u64)w->flags << 56 ^ (u64)w->reason << 48;
	second = (second ^ second >> 31) * 0x94d049bb133111ebull;
	/* Two stacks with one id are very unlikely. The other hash still separates them. */
	for (try = 0; try < 2; try++) {
		if (!id)
			id = 1;
		other = bpf_map_lookup_elem(&seen, &id);
		if (!other)
			break;
		if (*other == second)
			return id;
		id = id * 0x9e3779b97f4a7c15ull + second;
	}
	if (try == 2)
		return 0;

	nr = w->nr;
	nr_code = w->nr_code;
	if (nr > MSG_MAX_FRAMES || nr_code > MSG_MAX_CODE)
		return 0;
	from = (MSG_MAX_CODE - nr_code) * sizeof(struct msg_code);
	if (from > MSG_MAX_CODE * sizeof(struct msg_code))
		return 0;
	m = (void *)w->head + from;
	size = sizeof(*m) + nr_code * sizeof(struct msg_code) + nr * sizeof(u64);
	m->head.type = MSG_STACK;
	m->head.reserved = 0;
	m->head.size = size;
	m->time = w->time;
	m->id = id;
	m->tid = pid_tgid;
	m->tgid = pid_tgid >> 32;
	m->flags = w->flags;
	m->reason = w->reason;
	m->nr = nr;
	m->nr_code = nr_code;
	if (bpf_ringbuf_output(&ring, m, size, wake_up_for(c, w))) {
		__sync_fetch_and_add(&c->lost, 1);
		return 0;
	}
	bpf_map_update_elem(&seen, &id, &second, BPF_ANY);
	return id;
}

#endif
