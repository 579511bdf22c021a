/* SPDX-License-Identifier: GPL-2.0 */
/* bpf-stack.h - what the BPF programs send to bpf-stack */
#ifndef BPF_STACK_H
#define BPF_STACK_H

/* As many as the kernel walks */
#define MAX_ENTRIES	512

enum message_kind {
	MESSAGE_EVENT,			/* a fork, with the cookie of its stack */
	MESSAGE_STACK,			/* the stack with this cookie */
};

/* After a stack's message, its addresses follow, innermost first. */
struct message {
	unsigned int kind;
	unsigned int tid;
	unsigned long long cookie;
	unsigned int child;		/* MESSAGE_EVENT: the new task */
	unsigned int flags, nr;		/* MESSAGE_STACK: UNWIND_STACK_*; number of addresses */
	unsigned int reserved;
};

#endif
