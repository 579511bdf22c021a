/* SPDX-License-Identifier: GPL-2.0 */
/*
 * function.bpf.h - the program for kernel functions (record -l)
 *
 * The kernel calls one program at the start of each function that the recorder has named
 * (kprobe.multi). ftrace records nothing for that: the message of the program has the addresses and
 * both stacks, and insert.c makes the record ftrace:function of it. So the stack of a record cannot
 * be that of another one.
 *
 * Preemption is off. The kernel skips the program while it runs already on this CPU, or while a
 * program of a kprobe event or a sample does. While any other program walks or sends, this program
 * does nothing (busy.bpf.h). So functions that a walk itself calls do not lead to another walk. A
 * call in an interrupt of such a program is missing, too. This program counts the calls that it
 * leaves out, and since 6.7 the kernel counts those that it skips.
 */
#ifndef TRACE_USTACK_RECORD_BPF_FUNCTION_H
#define TRACE_USTACK_RECORD_BPF_FUNCTION_H

/* include/linux/preempt.h */
#define SOFTIRQ_SERVED	0x100
#define SOFTIRQ_OFF	0xfe00

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The variable is this structure, or an int. */
struct pcpu_hot___count {
	int preempt_count;
};

#pragma clang attribute pop

/* The flags of a record. The program cannot see whether interrupts are off */
static __always_inline u32 read_context(void)
{
	u64 hardirq, nmi;
	void *variable;
	u32 count;

	asm volatile("%0 = %1 ll" : "=r"(variable) : "i"(PREEMPT_COUNT));
	asm volatile("%0 = %1" : "=r"(hardirq) : "i"(HARDIRQ_BITS));
	asm volatile("%0 = %1" : "=r"(nmi) : "i"(NMI_BITS));
	variable = bpf_this_cpu_ptr(variable);
	if (bpf_core_field_exists(struct pcpu_hot___count, preempt_count))
		count = ((struct pcpu_hot___count *)variable)->preempt_count;
	else
		count = *(u32 *)variable;
	return (count & nmi ? FL_NMI : 0) | (count & hardirq ? FL_HARDIRQ : 0) |
	       (count & SOFTIRQ_SERVED ? FL_SOFTIRQ : 0) | (count & SOFTIRQ_OFF ? FL_BH_OFF : 0);
}

SEC("kprobe.multi")
int on_function(struct pt_regs *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	u64 parent_ip;

	if (!c || !c->sampling)
		return 0;
	if (is_busy()) {
		__sync_fetch_and_add(&c->functions_skipped, 1);
		return 0;
	}
	parent_ip = read_parent_ip(ctx);
	take_sample(ctx, c, c->function, read_context(), ctx->REGS_IP, parent_ip);
	return 0;
}

#endif
