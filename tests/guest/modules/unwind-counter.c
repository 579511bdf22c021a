// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: set the per-CPU counter from which cookies are made. So tests see the counter
 * wrap, and cookies come back, without 2^31 kernel entries.
 *
 *	echo 0xfffffff0 > /sys/module/unwind_counter/parameters/set
 *
 * The counter is static in the kernel. kallsyms_lookup_name() finds the counter. This function is
 * not exported, so a kprobe finds the function.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>

static u32 __percpu *counter;

static int set_counter(const char *val, const struct kernel_param *kp)
{
	unsigned int cpu;
	u32 to;
	int ret = kstrtou32(val, 0, &to);

	if (ret)
		return ret;
	if (!counter)
		return -ENXIO;
	/* The low bit is always set, so that no cookie is 0 */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(counter, cpu), to | 1);
	return 0;
}

static int get_counter(char *buffer, const struct kernel_param *kp)
{
	unsigned int cpu;
	int n = 0;

	for_each_possible_cpu(cpu)
		n += sysfs_emit_at(buffer, n, "%s0x%x", n ? " " : "",
				   READ_ONCE(*per_cpu_ptr(counter, cpu)));
	return n + sysfs_emit_at(buffer, n, "\n");
}

static const struct kernel_param_ops counter_ops = {
	.set = set_counter,
	.get = get_counter,
};
module_param_cb(set, &counter_ops, NULL, 0600);

static int __init unwind_counter_init(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *name);
	int ret = register_kprobe(&kp);

	if (ret)
		return ret;
	lookup = (void *)kp.addr;
	unregister_kprobe(&kp);
	counter = (u32 __percpu *)lookup("unwind_ctx_ctr");
	if (!counter) {
		pr_err("kallsyms has no unwind_ctx_ctr: the kernel needs CONFIG_KALLSYMS_ALL\n");
		return -ENOENT;
	}
	return 0;
}

static void __exit unwind_counter_exit(void)
{
}

module_init(unwind_counter_init);
module_exit(unwind_counter_exit);
MODULE_DESCRIPTION("Sets the counter of unwind cookies");
MODULE_LICENSE("GPL");
