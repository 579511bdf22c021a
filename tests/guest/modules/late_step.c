// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone, on x86: user space goes on before a late request is answered
 *
 * An interrupt answers requests on the last steps to user space. On some machines it is a message
 * to the CPU itself, and user space may run until it arrives. Here, the interrupt moves the program
 * fault-paths over the nop on which it goes on.
 *
 * drop=1	the interrupt is not sent at all, so the next system call comes before the stack
 */
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

static bool drop;
module_param(drop, bool, 0400);

static bool is_fault_paths(void)
{
	return !strcmp(current->comm, "fault-paths") && user_mode(task_pt_regs(current));
}

static int step(struct kprobe *kp, struct pt_regs *at)
{
	struct pt_regs *regs = task_pt_regs(current);
	u8 code;

	if (is_fault_paths() &&
	    !copy_from_user_nofault(&code, (void __user *)regs->ip, 1) && code == 0x90)
		regs->ip++;
	return 0;
}

static noinline bool queue_nothing(struct irq_work *work)
{
	return true;
}

static int replace_queue(struct kprobe *kp, struct pt_regs *at)
{
	struct irq_work *work = (void *)regs_get_kernel_argument(at, 0);
	char func[KSYM_SYMBOL_LEN];

	if (!is_fault_paths())
		return 0;
	sprint_symbol(func, (unsigned long)work->func);
	if (!strstarts(func, "unwind_late_irq+"))
		return 0;
	at->ip = (unsigned long)queue_nothing;
	return 1;
}

/* There for the kprobe to be no jump, which could not go elsewhere */
static void after_queue(struct kprobe *kp, struct pt_regs *at, unsigned long flags)
{
}

static struct kprobe step_probe = { .symbol_name = "unwind_late_irq", .pre_handler = step };
static struct kprobe drop_probe = { .symbol_name = "irq_work_queue", .pre_handler = replace_queue,
				    .post_handler = after_queue };

static struct kprobe *probe(void)
{
	return drop ? &drop_probe : &step_probe;
}

static int __init late_step_init(void)
{
	return register_kprobe(probe());
}
module_init(late_step_init);

static void __exit late_step_exit(void)
{
	unregister_kprobe(probe());
}
module_exit(late_step_exit);

MODULE_DESCRIPTION("Lets user space go on before late stacks, for tests");
MODULE_LICENSE("GPL");
