// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs of bpf-stack: a fork asks for the user stack of its task, and the stack comes
 * when the task returns to user space.
 *
 * Only one task on a CPU is in on_stack, as the kernel calls it with preemption disabled. So the
 * program has the buffer of its CPU to itself. A fork can be missed, if the task that is in on_fork
 * is preempted by one that forks: recursion_misses counts that.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf-stack.h"

char LICENSE[] SEC("license") = "GPL";

/* Of the kernel, with the fields that are used here */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	int pid;
};

struct unwind_stacktrace {
	unsigned int nr;
	unsigned int flags;
	unsigned long *entries;
};

#pragma clang attribute pop

/* The cookie of the current task's user stack, or 0 */
extern __u64 bpf_unwind_user_request(void) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} messages SEC(".maps");

/* A stack on its way, one for each CPU */
struct buffer {
	struct message head;
	unsigned long long entry[MAX_ENTRIES];	/* right after @head */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct buffer);
} buffers SEC(".maps");

/* How many messages were lost, because there was no room */
unsigned long long lost;

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct message m = {
		.kind = MESSAGE_EVENT,
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.child = child->pid,
		.cookie = bpf_unwind_user_request(),
	};

	if (bpf_ringbuf_output(&messages, &m, sizeof(m), 0))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

SEC("tp_btf/unwind_user_stack_tp")
int BPF_PROG(on_stack, struct unwind_stacktrace *trace, __u64 cookie)
{
	__u32 zero = 0, nr = trace->nr;
	struct buffer *b = bpf_map_lookup_elem(&buffers, &zero);

	if (!b)
		return 0;
	if (nr > MAX_ENTRIES)
		nr = MAX_ENTRIES;
	b->head.kind = MESSAGE_STACK;
	b->head.tid = (__u32)bpf_get_current_pid_tgid();
	b->head.cookie = cookie;
	b->head.flags = trace->flags;
	b->head.nr = nr;
	if ((nr && bpf_probe_read_kernel(b->entry, nr * sizeof(b->entry[0]), trace->entries)) ||
	    bpf_ringbuf_output(&messages, &b->head, sizeof(b->head) + nr * sizeof(b->entry[0]), 0))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}
