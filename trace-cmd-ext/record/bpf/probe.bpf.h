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
 * But the kernel skips a program, after the record, if it is busy with BPF on this CPU. So the
 * program reads the kernel's count of hits. If the count is one more than in the program's run
 * before this one, then all between the two runs is of this hit. The message says how long ago the
 * run before was: a record of the event on this CPU in that time is the record of this hit. If the
 * count is another one, the program sends nothing, because there can be two records.
 *
 * Nobody but the kernel knows where the count is. read_probe() finds it: the recorder has opened
 * the event, and from the file a way leads to the count.
 *
 * Uprobe events
 *
 * The kernel allows a uprobe event either for ftrace or for perf. So the recorder makes a uprobe
 * for perf at the same place. The kernel calls the uprobes at a place, and the uretprobes when a
 * function returns, in the order of their registration, the last one first. ftrace registers its
 * one when an event is first switched on. The recorder makes its uprobe after that, so the program
 * runs before ftrace writes the record, as at a tracepoint. The task can be preempted, and can move
 * to another CPU, between the two. The kernel does not skip the programs of uprobes.
 */
#ifndef TRACE_USTACK_RECORD_BPF_PROBE_H
#define TRACE_USTACK_RECORD_BPF_PROBE_H

/* An NMI can come while the kernel saves the registers of user space. Its stack is in this area. */
#define CPU_ENTRY_AREA		0xfffffe0000000000ull
#define CPU_ENTRY_AREA_SIZE	(1ull << 39)
#define MAX_CPUS		8192

/* One event on one CPU */
struct hits {
	u64 count;			/* address of the kernel's count */
	u64 seen;			/* the count in the last run of the program */
	u64 time;			/* of this run */
	u64 context;			/* its address */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, u32);
	__type(value, struct hits);
} hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} probe_programs SEC(".maps");

/* The recorder replaces this number in each copy by the event's place in @hits. */
#define PROBE_PLACE	0x5ee7e1d1

SEC("kprobe")
int on_probe(struct pt_regs *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *task = bpf_get_current_task_btf();
	u64 seen = 0, after, time = bpf_ktime_get_ns();
	struct task *known;
	u32 event, place;
	struct hits *h;

	asm volatile("%0 = %1" : "=r"(event) : "i"(EVENT_ID));
	asm volatile("%0 = %1" : "=r"(place) : "i"(PROBE_PLACE));
	h = bpf_map_lookup_elem(&hits, &place);
	/* 1: other programs and perf are not to be kept from the event */
	if (!c || !h)
		return 1;
	bpf_probe_read_kernel(&seen, sizeof(seen), (void *)h->count);
	after = seen == h->seen + 1 ? h->time : 0;
	h->seen = seen;
	h->time = time;
	if (!c->on || !after || !is_traced(c, task, &known))
		return 1;
	/* The verifier forbids arithmetic with a pointer, but not with what was stored */
	*(volatile u64 *)&h->context = (u64)ctx;
	if (*(volatile u64 *)&h->context - CPU_ENTRY_AREA < CPU_ENTRY_AREA_SIZE)
		send_event(c, event, 0, MSG_NO_REGISTERS, 0, after);
	else
		walk_for(ctx, c, task, known, event, after, &probe_programs);
	return 1;
}

SEC("kprobe")
int on_uprobe(struct pt_regs *ctx)
{
	walk_before(ctx, &probe_programs);
	return 0;
}

SEC("kprobe")
int walk_probe(struct pt_regs *ctx)
{
	walk_on(ctx, &probe_programs);
	return 1;
}

/* ------------------------- where the kernel counts ----------------------- */

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

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct file___private {
	void *private_data;
};

struct task_struct___files {
	struct files_struct *files;
};

struct bpf_array {
	void *pptrs[0];
};

#pragma clang attribute pop

/* The structure that a descriptor of the recorder stands for */
static __always_inline void *get_private(u64 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct file **fds = BPF_CORE_READ(task, files, fdt, fd);
	struct file___private *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), fds + fd);
	return BPF_CORE_READ(file, private_data);
}

struct counts {
	u64 nhit;			/* as the kernel has it: one address for all CPUs */
	u64 elem;			/* the same for the element of @hits */
	u32 place;
	u32 found;
};

static long find_count(u32 cpu, struct counts *counts)
{
	u32 place = counts->place;
	struct hits *h = bpf_map_lookup_percpu_elem(&hits, &place, cpu);

	if (!h)
		return 1;
	/* the distance to the data of this CPU, as above */
	*(volatile u64 *)&h->context = (u64)h;
	h->count = counts->nhit + (*(volatile u64 *)&h->context - counts->elem);
	if (bpf_probe_read_kernel(&h->seen, sizeof(h->seen), (void *)h->count))
		return 1;
	h->time = bpf_ktime_get_ns();
	counts->found++;
	return 0;
}

/*
 * The recorder runs this before it attaches on_probe(). @args: descriptors of the event for perf
 * and of @hits, and the event's place there. Returns the number of CPUs; 0: the kernel does it in
 * another way, -1: the event has more than one place in the kernel
 */
SEC("raw_tp")
int read_probe(struct bpf_raw_tracepoint_args *ctx)
{
	struct perf_event *event = get_private(ctx->args[0]);
	struct bpf_array *array = get_private(ctx->args[1]);
	struct counts counts = { .place = ctx->args[2] };
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
	counts.nhit = (u64)BPF_CORE_READ(tk, nhit);
	bpf_probe_read_kernel(&counts.elem, sizeof(counts.elem), (void *)array +
			      bpf_core_field_offset(struct bpf_array, pptrs) +
			      counts.place * sizeof(u64));
	if (!counts.nhit || !counts.elem)
		return 0;
	bpf_loop(MAX_CPUS, find_count, &counts, 0);
	return counts.found;
}

#endif
