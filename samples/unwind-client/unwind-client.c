// SPDX-License-Identifier: GPL-2.0
/*
 * A client of deferred user stack unwinding outside the kernel, as a module.
 *
 * It asks for the user stack of the current task in the probe of a tracepoint (sched_switch or
 * sys_enter), and in an ftrace callback at the start of a function. Neither may sleep or read user
 * memory. The module records each request as an event with the cookie it got. When the task returns
 * to user space, the unwind callback records the stack with the same cookie.
 *
 *	request event   cookie=300000b ...
 *	stack event     cookie=300000b ... the frames
 *
 * The order of removal matters. First the module removes the probe and the ftrace callback and
 * waits for running ones, so that nothing can start a request any more. Then
 * unwind_deferred_cancel() drops the pending requests and waits for callbacks.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/trace_recursion.h>
#include <linux/tracepoint.h>
#include <linux/unwind_deferred.h>

#define CREATE_TRACE_POINTS
#include "unwind-client-trace.h"

/* This many frames fit into the smallest sub-buffer, with room to spare */
#define FRAMES_PER_EVENT	256u

static char *event = "sched_switch";
module_param(event, charp, 0444);
MODULE_PARM_DESC(event, "tracepoint to request at: sched_switch, sys_enter or none");

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "function to request at, none if empty");

static int pid;
module_param(pid, int, 0644);
MODULE_PARM_DESC(pid, "process to request for, all if 0");

static struct unwind_work work;

static void request_stack(unsigned long ip)
{
	u64 cookie;
	int ret;

	if (READ_ONCE(pid) && READ_ONCE(pid) != current->tgid)
		return;
	/* Show a refused request, too: its cookie is 0 */
	ret = unwind_deferred_request(&work, &cookie);
	trace_unwind_client_request(cookie, ret, ip);
}

/* Runs in the task that the stack belongs to, shortly before it returns to user space */
static void record_stack(struct unwind_work *w, struct unwind_stacktrace *trace, u64 cookie)
{
	unsigned int first = 0, nr;

	do {
		nr = min(trace->nr - first, FRAMES_PER_EVENT);
		trace_unwind_client_stack(cookie, trace->flags, trace->nr, first, nr,
					  trace->entries + first);
		first += nr;
	} while (first < trace->nr);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	request_stack(_THIS_IP_);
}

static void on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	request_stack(_THIS_IP_);
}

static void on_function(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	preempt_disable_notrace();
	request_stack(ip);
	preempt_enable_notrace();
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops ops = {
	.func = on_function,
};

static const struct source {
	const char	*name;
	void		*probe;
} sources[] = {
	{ "sched_switch",	on_sched_switch },
	{ "sys_enter",		on_sys_enter },
};

/* The attached tracepoint, or NULL */
static struct tracepoint *tracepoint;
static void *probe;

static void find_tracepoint(struct tracepoint *tp, void *name)
{
	if (!strcmp(tp->name, name))
		tracepoint = tp;
}

static int attach_event(void)
{
	unsigned int i;
	int ret;

	if (!strcmp(event, "none"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!strcmp(sources[i].name, event))
			probe = sources[i].probe;
	}
	if (probe)
		for_each_kernel_tracepoint(find_tracepoint, event);
	if (!tracepoint) {
		pr_err("no event %s: use sched_switch, sys_enter or none\n", event);
		return -EINVAL;
	}
	ret = tracepoint_probe_register(tracepoint, probe, NULL);
	if (ret)
		tracepoint = NULL;
	return ret;
}

static int attach_function(void)
{
	int ret;

	if (!*function)
		return 0;
	ret = ftrace_set_filter(&ops, function, strlen(function), 1);
	if (!ret)
		ret = register_ftrace_function(&ops);
	if (ret) {
		pr_err("cannot trace function %s (%d): see available_filter_functions\n", function,
		       ret);
		ftrace_free_filter(&ops);
	}
	return ret;
}

static void detach(void)
{
	if (tracepoint) {
		tracepoint_probe_unregister(tracepoint, probe, NULL);
		tracepoint_synchronize_unregister();
	}
	unwind_deferred_cancel(&work);
}

static int __init unwind_client_init(void)
{
	int ret = unwind_deferred_init(&work, record_stack);

	if (ret) {
		pr_err("no unwind client is free (%d): too many instances trace user stacks\n",
		       ret);
		return ret;
	}
	ret = attach_event();
	if (!ret)
		ret = attach_function();
	if (ret)
		detach();
	return ret;
}

static void __exit unwind_client_exit(void)
{
	if (*function) {
		/* Waits for callbacks that run */
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
	}
	detach();
}

module_init(unwind_client_init);
module_exit(unwind_client_exit);
MODULE_DESCRIPTION("A client of deferred user stack unwinding");
MODULE_LICENSE("GPL");
