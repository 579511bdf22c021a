// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: a task that writes a number of milliseconds to irqs_ms has interrupts off for
 * so long, and one that writes it to preempt_ms has preemption off. others_ms: all other CPUs have
 * interrupts off, by an interrupt of what they run.
 *
 *	echo 50 > /sys/module/irqs_off/parameters/irqs_ms
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/smp.h>

static void wait_ms(void *ms)
{
	unsigned long i;

	for (i = 0; i < (unsigned long)ms; i++)
		mdelay(1);
}

static int set_irqs_ms(const char *val, const struct kernel_param *kp)
{
	unsigned long flags, ms;
	int ret = kstrtoul(val, 0, &ms);

	if (ret)
		return ret;
	local_irq_save(flags);
	wait_ms((void *)ms);
	local_irq_restore(flags);
	return 0;
}

static int set_preempt_ms(const char *val, const struct kernel_param *kp)
{
	unsigned long ms;
	int ret = kstrtoul(val, 0, &ms);

	if (ret)
		return ret;
	preempt_disable();
	wait_ms((void *)ms);
	preempt_enable();
	return 0;
}

static int set_others_ms(const char *val, const struct kernel_param *kp)
{
	unsigned long ms;
	int ret = kstrtoul(val, 0, &ms);

	if (ret)
		return ret;
	preempt_disable();
	smp_call_function(wait_ms, (void *)ms, true);
	preempt_enable();
	return 0;
}

static const struct kernel_param_ops irqs_ops = { .set = set_irqs_ms };
static const struct kernel_param_ops preempt_ops = { .set = set_preempt_ms };
static const struct kernel_param_ops others_ops = { .set = set_others_ms };
module_param_cb(irqs_ms, &irqs_ops, NULL, 0200);
module_param_cb(preempt_ms, &preempt_ops, NULL, 0200);
module_param_cb(others_ms, &others_ops, NULL, 0200);

MODULE_DESCRIPTION("Turns interrupts or preemption off, for tests");
MODULE_LICENSE("GPL");
