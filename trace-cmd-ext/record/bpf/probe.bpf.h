/* SPDX-License-Identifier: GPL-2.0 */
/*
 * probe.bpf.h - programs for kprobe events and uprobe events
 *
 * Kprobe events
 *
 * The kernel handles a hit of a kprobe event in one function, kprobe_dispatcher() or
 * kretprobe_dispatcher(). This function first counts the hit, for each CPU by itself. Then it
 * writes the record of ftrace, and then it calls the programs that are attached to the event.
 * Between these steps no other kprobe is hit on this CPU: the task stays there, and the kernel
 * skips kprobes that an interrupt hits meanwhile, with their records. So the records of an event
 * and the runs of its program alternate on each CPU.
 *
 * But after the record, the kernel skips the program if it is busy with BPF on this CPU. So the
 * program reads the kernel's count of hits. If the count is one more than in the previous run of
 * the program, everything between the two runs belongs to this hit. The message says how long ago
 * the previous run was: a record of the event on this CPU in that time is the record of this hit.
 * If the count is another one, the program sends nothing, because there can be two records.
 *
 * read_probe() finds the count (count.bpf.h).
 *
 * Uprobe events
 *
 * The kernel allows a uprobe event either for ftrace or for perf. So the recorder makes a uprobe
 * for perf at the same place. The kernel calls the uprobes at a place in the order of their
 * registration, the last one first. It does the same with uretprobes when a function returns.
 * ftrace registers its uprobe when an event is first switched on. The recorder makes its own after
 * that, so the program runs before ftrace writes the record, as at a tracepoint. Between the two,
 * the task can be preempted and can move to another CPU. The kernel does not skip the programs of
 * uprobes.
 */
#ifndef TRACE_USTACK_RECORD_BPF_PROBE_H
#define TRACE_USTACK_RECORD_BPF_PROBE_H

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} probe_programs SEC(".maps");

SEC("kprobe")
int on_probe(struct pt_regs *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *task = bpf_get_current_task_btf();
	u64 seen = 0, time = bpf_ktime_get_ns();
	struct origin origin = {};
	struct task *entry;
	struct count *h;
	u32 counter;

	asm volatile("%0 = %1" : "=r"(origin.event) : "i"(EVENT_ID));
	asm volatile("%0 = %1" : "=r"(counter) : "i"(COUNTER));
	h = bpf_map_lookup_elem(&counts, &counter);
	/* 1: perf and other programs still get the event */
	if (!c || !h)
		return 1;
	bpf_probe_read_kernel(&seen, sizeof(seen), (void *)h->at);
	origin.earlier_time = seen == h->seen + 1 ? h->time : 0;
	h->seen = seen;
	h->time = time;
	if (!c->on || !origin.earlier_time || !is_traced(c, task, &entry))
		return 1;
	if (may_lack_registers(task, get_address(h, ctx)))
		send_event(c, &origin, 0, MSG_NO_REGISTERS, 0);
	else
		start_walk_program(ctx, c, task, entry, &origin, &probe_programs);
	return 1;
}

SEC("kprobe")
int on_uprobe(struct pt_regs *ctx)
{
	start_walk_before_record(ctx, &probe_programs);
	return 0;
}

SEC("kprobe")
int walk_probe(struct pt_regs *ctx)
{
	finish_walk_program(ctx, &probe_programs);
	return 1;
}

/* ------------------------ where the kernel counts hits ------------------- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct trace_event_call;

struct perf_event {
	struct trace_event_call *tp_event;
};

struct trace_event_call {
	int flags;
};

struct trace_probe {
	struct list_head list;
};

struct trace_probe_event {
	struct trace_event_call call;
	struct list_head probes;
};

struct trace_kprobe {
	unsigned long *nhit;
	struct trace_probe tp;
};

#pragma clang attribute pop

/*
 * The recorder runs this before it attaches on_probe(). @args: descriptors of the event for perf
 * and of the map `counts`, and the event's element there. Returns the number of CPUs; 0: the kernel
 * does it in another way, -1: the event has more than one place in the kernel
 */
SEC("raw_tp")
int read_probe(struct bpf_raw_tracepoint_args *ctx)
{
	struct perf_event *event = get_private(ctx->args[0]);
	struct trace_probe_event *tpe;
	struct trace_kprobe *tk;
	void *call, *probe;

	call = BPF_CORE_READ(event, tp_event);
	tpe = call - bpf_core_field_offset(struct trace_probe_event, call);
	probe = BPF_CORE_READ(tpe, probes.next);
	if (!call || !probe)
		return 0;
	if (BPF_CORE_READ((struct list_head *)probe, next) != (void *)tpe +
	    bpf_core_field_offset(struct trace_probe_event, probes))
		return -1;
	tk = probe - bpf_core_field_offset(struct trace_probe, list) -
	     bpf_core_field_offset(struct trace_kprobe, tp);
	return find_counts((u64)BPF_CORE_READ(tk, nhit), ctx->args[1], ctx->args[2]);
}

#endif
