// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: a task that writes to a parameter has interrupts off for so many milliseconds.
 *
 *	echo 50 > /sys/module/irqs_off/parameters/ms
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>

static int turn_off(const char *val, const struct kernel_param *kp)
{
	unsigned long flags;
	unsigned int ms;
	int ret = kstrtouint(val, 0, &ms);

	if (ret)
		return ret;
	local_irq_save(flags);
	while (ms--)
		mdelay(1);
	local_irq_restore(flags);
	return 0;
}

static const struct kernel_param_ops ms_ops = {
	.set = turn_off,
};
module_param_cb(ms, &ms_ops, NULL, 0200);

MODULE_DESCRIPTION("Turns interrupts off, for tests");
MODULE_LICENSE("GPL");
