// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: the first mapping of the program "slow" takes 15 seconds to record. How often
 * "dlopen-host" looks at what is mapped is counted.
 *
 * The kernel asks for the path of the file while it records the mapping. The function tracer cannot
 * trace what looks, as that is code of kernel/trace.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

static bool entered, done;
module_param(entered, bool, 0400);
module_param(done, bool, 0400);

static unsigned int looks;
module_param(looks, uint, 0600);

static int delay(struct kprobe *kp, struct pt_regs *regs)
{
	int i;

	if (entered || strcmp(current->comm, "slow"))
		return 0;
	WRITE_ONCE(entered, true);
	for (i = 0; i < 15000; i++)
		mdelay(1);
	WRITE_ONCE(done, true);
	return 0;
}

static int count_look(struct kprobe *kp, struct pt_regs *regs)
{
	if (!strcmp(current->comm, "dlopen-host"))
		WRITE_ONCE(looks, looks + 1);
	return 0;
}

static struct kprobe path_probe = { .symbol_name = "d_path", .pre_handler = delay };
static struct kprobe look_probe = {
	.symbol_name = "user_maps_still_there", .pre_handler = count_look,
};
static struct kprobe *probes[] = { &path_probe, &look_probe };

static int __init slow_maps_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}
module_init(slow_maps_init);

static void __exit slow_maps_exit(void)
{
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}
module_exit(slow_maps_exit);

MODULE_DESCRIPTION("Takes long to record a mapping, for tests");
MODULE_LICENSE("GPL");
