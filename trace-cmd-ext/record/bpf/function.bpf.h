/* SPDX-License-Identifier: GPL-2.0 */
/*
 * function.bpf.h - the program for functions of the kernel (record -l)
 *
 * The kernel calls one program at the start of each function that the recorder has named
 * (kprobe.multi). ftrace records nothing for that: the message of the program has the addresses and
 * both stacks, and insert.c makes the record ftrace:function of it. So the stack of a record cannot
 * be that of another one.
 *
 * Preemption is off. The kernel skips the program while it runs already on this CPU, or while a
 * program of a kprobe event or a sample does. So functions that the walk itself calls do not lead
 * to another walk. A call in an interrupt of such a program is missing. Since 6.7 the kernel counts
 * these.
 */
#ifndef TRACE_USTACK_RECORD_BPF_FUNCTION_H
#define TRACE_USTACK_RECORD_BPF_FUNCTION_H

/* include/linux/preempt.h. Bits of interrupts have moved when irq_disable() was given a count. */
#define SOFTIRQ_SERVED	0x100
#define SOFTIRQ_OFF	0xfe00
#define OLD_HARDIRQ	0xf0000
#define OLD_NMI		0xf00000
#define NEW_HARDIRQ	0xf000000
#define NEW_NMI		0x70000000	/* the highest bit can be PREEMPT_NEED_RESCHED */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pcpu_hot___count {
	int preempt_count;
};

#pragma clang attribute pop

/* Until 6.1, and since 6.15 */
extern const int __preempt_count __ksym __weak;
/* In between */
extern const struct pcpu_hot___count pcpu_hot __ksym __weak;
/* Came with the new bits */
extern const unsigned long local_interrupt_disable_state __ksym __weak;

/* The flags of a record. The program cannot see whether interrupts are off */
static __always_inline u32 read_context(void)
{
	u32 count = 0, hardirq = OLD_HARDIRQ, nmi = OLD_NMI;
	const struct pcpu_hot___count *hot;
	const int *plain;

	if (&__preempt_count) {
		plain = bpf_this_cpu_ptr(&__preempt_count);
		count = *plain;
	} else if (&pcpu_hot) {
		hot = bpf_this_cpu_ptr(&pcpu_hot);
		count = hot->preempt_count;
	}
	if (&local_interrupt_disable_state) {
		hardirq = NEW_HARDIRQ;
		nmi = NEW_NMI;
	}
	return (count & nmi ? FL_NMI : 0) | (count & hardirq ? FL_HARDIRQ : 0) |
	       (count & SOFTIRQ_SERVED ? FL_SOFTIRQ : 0) | (count & SOFTIRQ_OFF ? FL_BH_OFF : 0);
}

SEC("kprobe.multi")
int on_function(struct pt_regs *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	u64 parent_ip = 0;

	if (!c || !c->sampling)
		return 0;
	/* the return address is on top of the stack: the function has not yet begun */
	bpf_probe_read_kernel(&parent_ip, sizeof(parent_ip), (void *)ctx->sp);
	sample(ctx, c, c->function, read_context(), ctx->ip, parent_ip);
	return 0;
}

#endif
