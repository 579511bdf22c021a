/* SPDX-License-Identifier: GPL-2.0 */
/*
 * task.bpf.h - which tasks are traced, and where their stacks start
 */
#ifndef TRACE_USTACK_RECORD_BPF_TASK_H
#define TRACE_USTACK_RECORD_BPF_TASK_H

#include "busy.bpf.h"

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task), *child_regs;
	struct task *t, new = {};
	u64 sp, half, key = (u64)child;
	u32 pid = task->pid;

	if (!c || !regs || (void *)task != (void *)parent || task->flags & PF_KTHREAD)
		return 0;
	if (BPF_CORE_READ(child, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return 0;
	mark_busy();
	/* left by an earlier task at this address */
	bpf_map_delete_elem(&saved_stacks, &key);
	t = bpf_map_lookup_elem(&tasks, &pid);
	if (t) {
		new.stack_start = t->stack_start;
		new.start_ip = t->start_ip;
		if (c->inherit && t->flags & TASK_TRACED)
			new.flags = TASK_TRACED;
		/* threads of the recorder, but not the program that it starts */
		if (t->flags & TASK_LEFT_OUT && BPF_CORE_READ(child, tgid) == task->tgid)
			new.flags |= TASK_LEFT_OUT;
	}
	/*
	 * The registers have the same place on the kernel stack of each task. The verifier of
	 * 6.1 forbids subtraction from such a pointer, but half of it is just a number.
	 */
	asm volatile("r1 = %1\n\tw1 = w1\n\t%0 = r1" : "=r"(half) : "r"(regs) : "r1");
	child_regs = BPF_CORE_READ(child, stack) + (u32)(half - (u32)(u64)task->stack);
	sp = BPF_CORE_READ(child_regs, REGS_SP);
	if (sp != regs->REGS_SP) {
		new.stack_start = sp;
		new.start_ip = BPF_CORE_READ(child_regs, REGS_IP);
	}
	new.start_time = BPF_CORE_READ(child, start_time);
	pid = BPF_CORE_READ(child, pid);
	if (new.flags || new.stack_start)
		bpf_map_update_elem(&tasks, &pid, &new, BPF_ANY);
	else
		/* left by an earlier task with this number */
		bpf_map_delete_elem(&tasks, &pid);
	unmark_busy();
	return 0;
}

/* args: task, its old number (a thread takes the number of its process), bprm */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct task *t, new = {};
	u32 pid = task->pid, old = ctx->args[1];
	u64 key = (u64)task;
	struct saved_stack *saved = bpf_map_lookup_elem(&saved_stacks, &key);

	/* see find_saved_stack() */
	if (saved && regs) {
		saved->ip = regs->REGS_IP;
		saved->sp = regs->REGS_SP;
		saved->syscall = get_syscall(regs);
		saved->exec_id = task->self_exec_id;
	}
	t = bpf_map_lookup_elem(&tasks, &old);
	if (t)
		new = *t;
	new.stack_start = 0;
	new.start_time = task->start_time;
	mark_busy();
	if (new.flags) {
		bpf_map_update_elem(&tasks, &pid, &new, BPF_ANY);
		/* The old leader has this number now. Its last switch may be yet to come. */
		if (old != pid)
			bpf_map_update_elem(&tasks, &old, &new, BPF_ANY);
	} else {
		bpf_map_delete_elem(&tasks, &pid);
		if (old != pid)
			bpf_map_delete_elem(&tasks, &old);
	}
	unmark_busy();
	return 0;
}

/* The number may now belong to another task. */
SEC("raw_tp/sched_process_free")
int on_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	u64 start = BPF_CORE_READ(task, start_time);
	u32 pid = BPF_CORE_READ(task, pid);
	struct task *t = bpf_map_lookup_elem(&tasks, &pid);
	u64 key = (u64)task;

	mark_busy();
	bpf_map_delete_elem(&saved_stacks, &key);
	if (t && t->start_time == start)
		bpf_map_delete_elem(&tasks, &pid);
	unmark_busy();
	return 0;
}

#endif
