/* SPDX-License-Identifier: GPL-2.0 */
/*
 * busy.bpf.h - which CPUs run a program that takes locks
 *
 * Messages and changes of hash maps take locks of the kernel. While a program holds such a lock, it
 * may call a kernel function that -l names, as _raw_spin_unlock_irqrestore(). There
 * on_function() would wait for ever for the lock that its own CPU holds, or each of two CPUs would
 * wait for the other. So each program says from when on it takes locks, and on_function() does
 * nothing on this CPU until the program says that it is done.
 *
 * Samples and programs of kprobe events need not do so: the kernel skips on_function() for them.
 */
#ifndef TRACE_USTACK_RECORD_BPF_BUSY_H
#define TRACE_USTACK_RECORD_BPF_BUSY_H

#include "state.bpf.h"

/* How many programs are between mark_busy() and unmark_busy(); they can be nested */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} busy SEC(".maps");

/* Tasks that are preempted between the two change the same count. */
static __always_inline void mark_busy(void)
{
	u64 *nr = bpf_map_lookup_elem(&busy, (void *)&zero);

	if (nr)
		__sync_fetch_and_add(nr, 1);
}

static __always_inline void unmark_busy(void)
{
	u64 *nr = bpf_map_lookup_elem(&busy, (void *)&zero);

	if (nr)
		__sync_fetch_and_add(nr, -1);
}

static __always_inline bool is_busy(void)
{
	u64 *nr = bpf_map_lookup_elem(&busy, (void *)&zero);

	return !nr || *nr;
}

#endif
