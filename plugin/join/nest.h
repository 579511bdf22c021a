/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nest.h - which records of a CPU can belong to one event
 *
 * The kernel writes an event, its kernel_stack and its cookie one after the other, with preemption
 * off and with the same context: task, flags and preempt count are those that the event found
 * (trace_ctx). Only an interrupt can write records between them. An interrupt writes whole groups,
 * one event after the other, and they lie before the rest of the interrupted group. So the records
 * of a CPU are nested by levels:
 *
 *  - The flags of records of an interrupt handler and of the softirqs after it say that they are
 *    not a task's. A record of a level ends the open groups of all higher levels.
 *  - The end of an interrupt (irq_exit) can wake up ksoftirqd. Its record then looks like one of
 *    the task, or of the softirq that was interrupted. But interrupts are off then, and they were
 *    on where the interrupt came. So each level is two levels: interrupts off is above interrupts
 *    on.
 *  - The task cannot change between the records of a group.
 *
 * The task also turns interrupts off by itself, so records with interrupts off may lie after a
 * group as well as inside it. These records end nothing. But once such records have passed a group,
 * the group continues only with a record of exactly the same context.
 */
#ifndef USTACK_NEST_H
#define USTACK_NEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Flags are common_flags, and common_preempt_count from bit 8 on. The bits of common_flags:
 * include/linux/trace_events.h in the kernel.
 */
#define TRACE_FL_IRQS_OFF	0x01
#define TRACE_FL_HARDIRQ	0x08
#define TRACE_FL_SOFTIRQ	0x10
#define TRACE_FL_NMI		0x40
#define TRACE_FL_BH_OFF		0x80

#define NEST_LEVELS		8

/*
 * Returns the flags and the preempt count of a record in the form described above. A kernel with
 * CONFIG_PREEMPTION takes 1 from the preempt count of each event. That of a uprobe event is 0
 * already, so tracing_gen_ctx_dec() borrows from the flags. The resulting count is unique: 15
 * levels of preemption off, and 15 of migration off.
 */
static inline uint32_t nest_make_flags(uint32_t flags, uint32_t preempt)
{
	if ((preempt & 0xff) == 0xff)
		return (flags + 1) & 0xff;
	return (flags & 0xff) | (preempt & 0xff) << 8;
}

/*
 * The level of a record, rising: task, softirq, hardirq, NMI, each with interrupts on and then with
 * interrupts off.
 */
static inline int nest_get_level(uint32_t flags)
{
	int off = flags & TRACE_FL_IRQS_OFF;

	/* most records */
	if (!(flags & (TRACE_FL_NMI | TRACE_FL_HARDIRQ | TRACE_FL_SOFTIRQ)))
		return off;
	if (flags & TRACE_FL_NMI)
		return 6 + off;
	return (flags & TRACE_FL_HARDIRQ ? 4 : 2) + off;
}

/* The flags that do not change within a group. NEED_RESCHED can change before a trigger. */
static inline uint16_t nest_get_context(uint32_t flags)
{
	return flags & (TRACE_FL_BH_OFF | 0xff00);
}

struct nest_group {
	uint32_t tid;
	uint16_t context;
	bool passed;			/* records came that may be of the end of an interrupt */
};

struct nest {
	struct nest_group v[NEST_LEVELS];
	uint32_t open;			/* a bit for each level with an open group */
};

static inline void nest_open(struct nest *n, int level, uint32_t tid, uint16_t context)
{
	n->v[level] = (struct nest_group){ tid, context, false };
	n->open |= 1u << level;
}

static inline void nest_close(struct nest *n, int level)
{
	n->open &= ~(1u << level);
}

/* Close the groups that a record of @tid ends at other levels; returns the bits of these levels. */
static inline uint32_t nest_close_ended(struct nest *n, int level, uint32_t tid)
{
	uint32_t ended, below;
	int i;

	if (!(n->open & ~(1u << level)))
		return 0;
	ended = n->open >> (level + 1) << (level + 1);
	for (i = 0, below = n->open & ((1u << level) - 1); below; i++, below >>= 1) {
		if (!(below & 1))
			continue;
		if (n->v[i].tid != tid)
			ended |= 1u << i;
		else if (i == level - 1 && level & 1)
			n->v[i].passed = true;
	}
	n->open &= ~ended;
	return ended;
}

/* Can a record of this context belong to the group that is open at its level? */
static inline bool nest_belongs(const struct nest *n, int level, uint32_t tid, uint16_t context)
{
	return n->open >> level & 1 && n->v[level].tid == tid &&
	       (!n->v[level].passed || n->v[level].context == context);
}

#endif
