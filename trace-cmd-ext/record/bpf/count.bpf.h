/* SPDX-License-Identifier: GPL-2.0 */
/*
 * count.bpf.h - what the kernel counts for each CPU: hits of a kprobe event, skipped runs
 *
 * Only the kernel knows where such a count is. The recorder has a descriptor of the event or of the
 * program. From the descriptor, read_probe() and read_skipped() find the kernel's structure, and
 * from there the count.
 */
#ifndef TRACE_USTACK_RECORD_BPF_COUNT_H
#define TRACE_USTACK_RECORD_BPF_COUNT_H

#include "state.bpf.h"

#define MAX_CPUS	8192

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_EVENTS);	/* the recorder adds the number of events */
	__type(key, u32);
	__type(value, struct count);
} counts SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

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

typedef struct {
	u64 v;
} u64_stats_t;

struct bpf_prog_stats {
	u64_stats_t misses;
};

struct bpf_prog {
	struct bpf_prog_stats *stats;
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

/* The verifier forbids arithmetic with a pointer, but not with what was stored. */
static __always_inline u64 get_address(struct count *c, void *pointer)
{
	*(volatile u64 *)&c->context = (u64)pointer;
	return *(volatile u64 *)&c->context;
}

struct finding {
	u64 at;				/* the kernel's address of the count, for all CPUs */
	u64 elem;			/* address of the element of `counts`, in the same form */
	u32 counter;
	u32 found;
};

static long find_count(u32 cpu, struct finding *f)
{
	u32 counter = f->counter;
	struct count *c = bpf_map_lookup_percpu_elem(&counts, &counter, cpu);

	if (!c)
		return 1;
	/* per-CPU data: the CPU's count is as far from @at as the CPU's element is from @elem */
	c->at = f->at + (get_address(c, c) - f->elem);
	if (bpf_probe_read_kernel(&c->seen, sizeof(c->seen), (void *)c->at)) {
		c->at = 0;
		return 1;
	}
	c->time = bpf_ktime_get_ns();
	f->found++;
	return 0;
}

/* Note a count of all CPUs. @at: as in the kernel. @map: of `counts`. Returns how many CPUs. */
static __always_inline int find_counts(u64 at, u64 map, u64 counter)
{
	struct finding f = { .at = at, .counter = counter };
	struct bpf_array *array = get_private(map);

	bpf_probe_read_kernel(&f.elem, sizeof(f.elem), (void *)array +
			      bpf_core_field_offset(struct bpf_array, pptrs) +
			      counter * sizeof(u64));
	if (!f.at || !f.elem)
		return 0;
	bpf_loop(MAX_CPUS, find_count, &f, 0);
	return f.found;
}

/*
 * Note where the kernel counts the skipped runs of a program. The recorder runs this. @args:
 * descriptors of the program and of `counts`, and the program's element there. Returns the number
 * of CPUs; 0: this kernel counts them elsewhere
 */
SEC("raw_tp")
int read_skipped(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_prog *prog = get_private(ctx->args[0]);
	u64 stats;

	if (!bpf_core_field_exists(prog->stats) ||
	    !bpf_core_field_exists(struct bpf_prog_stats, misses))
		return 0;
	stats = (u64)BPF_CORE_READ(prog, stats);
	if (!stats)
		return 0;
	return find_counts(stats + bpf_core_field_offset(struct bpf_prog_stats, misses),
			   ctx->args[1], ctx->args[2]);
}

/* A program notes for its message how many of its runs on this CPU were skipped so far. */
static __always_inline void note_skipped(struct origin *o, u32 counter)
{
	struct count *c = counter ? bpf_map_lookup_elem(&counts, &counter) : NULL;
	u64 skipped;

	if (!c || !c->at ||
	    bpf_probe_read_kernel(&skipped, sizeof(skipped), (void *)c->at))
		return;
	o->counter = counter;
	o->skipped = skipped;
}

#endif
