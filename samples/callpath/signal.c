// SPDX-License-Identifier: GPL-2.0
/*
 * signal.c - signal handlers that make system calls, nested, on either stack
 *
 * Every signal here arrives at a system call that the task itself makes: the task signals itself,
 * or it waits in rt_sigsuspend for a signal that is blocked elsewhere. So the interrupted
 * instruction is the instruction after a system call, and the path recorded for the handler is
 * exact.
 */
#include <linux/signal.h>
#include "sys.h"

/*
 * UC_IP: offset of the instruction pointer in the kernel's struct ucontext. RESTORER and AFTER:
 * what the handler returns to, and where the rt_sigreturn there ends. Those are ours on x86;
 * elsewhere the vDSO's, whose code the kernel promises to debuggers.
 */
#ifdef __x86_64__
#define UC_IP		168
#elif defined(__i386__)
#define UC_IP		76
#elif defined(__s390x__)
#define UC_IP		48
#define AFTER(ret)	((ret) + 2)
#elif defined(__aarch64__)
#define UC_IP		440
#define AFTER(ret)	((ret) + 8)
#endif

#ifdef AFTER
#define RESTORER(ret)	(ret)
#undef SA_RESTORER
#define SA_RESTORER	0
#define RESTORER_OF_US	((void (*)(void))0)
#else
#define RESTORER(ret)	((void)(ret), (unsigned long)cp_restorer)
#define AFTER(ret)	((unsigned long)cp_sigreturn_ip)
#undef SA_RESTORER
#define SA_RESTORER	0x04000000
#define RESTORER_OF_US	cp_restorer
#endif

#define CP_SIG_PLAIN	SIGUSR1		/* handler on the task's stack; nests CP_SIG_INNER */
#define CP_SIG_INNER	SIGUSR2		/* handler on the alternate stack */
#define CP_SIG_WAITED	SIGHUP		/* blocked except in rt_sigsuspend */

struct ksigaction {
	void		(*handler)(int sig, void *info, void *ucontext);
	unsigned long	flags;
	void		(*restorer)(void);
	unsigned int	mask[2];
};

static struct task *task_of_stack(void)
{
	unsigned long sp = (unsigned long)__builtin_frame_address(0);

	return (struct task *)(sp & ~((unsigned long)CP_REGION - 1));
}

static PATH void in_handler(struct task *t, int sig)
{
	ENTER(t);
	SYS0(t, __NR_getppid);
	if (sig == CP_SIG_PLAIN && t->in_signal < 3)
		SYS3(t, __NR_tgkill, t->tgid, t->tid, CP_SIG_INNER);
	SYS0(t, __NR_sched_yield);
	LEAVE(t);
}

/* Return the sequence number of the rt_sigreturn that ends the handler, which returns to @ret */
PATH unsigned int cp_signal(int sig, void *info, void *ucontext, unsigned long ret);
PATH unsigned int cp_signal(int sig, void *info, void *ucontext, unsigned long ret)
{
	unsigned long ip = *(unsigned long *)((char *)ucontext + UC_IP);
	struct task *t = task_of_stack();
	unsigned long long *slot;
	unsigned int seq;

	(void)info;
	t->ra[t->depth++] = ip | CP_INTERRUPTED;
	t->ra[t->depth++] = RESTORER(ret);
	ENTER(t);
	t->in_signal++;
	in_handler(t, sig);
	cp_path(t, cp_random(t) % 4, op_plain);
	t->in_signal--;
	/* When cp_restorer runs, only the interrupted code is on the stack */
	t->depth -= 2;
	seq = cp_seq();
	slot = cp_begin(t, __NR_rt_sigreturn, seq, CP_SIGRETURN | CP_FLAGS);
	*slot = AFTER(ret);
	t->depth--;
	return seq;
}

static PATH void set_handler(struct task *t, int sig, unsigned long flags)
{
	struct ksigaction sa = {
		.handler = cp_sig_entry,
		.flags = SA_SIGINFO | SA_NODEFER | SA_RESTORER | flags,
		.restorer = RESTORER_OF_US,
	};

	ENTER(t);
	SYS(t, 0, __NR_rt_sigaction, sig, &sa, 0, 8);
	LEAVE(t);
}

static PATH void set_mask(struct task *t, unsigned int how, int sig)
{
	unsigned long mask[8 / sizeof(long)] = { 1ul << (sig - 1) };

	ENTER(t);
	SYS(t, 0, __NR_rt_sigprocmask, how, mask, 0, 8);
	LEAVE(t);
}

/* Handlers are of the process; each task has an alternate stack and a mask of its own */
PATH void cp_signals_init(struct task *t)
{
	stack_t alt = {
		.ss_sp = (char *)t + 16 * 1024,
		.ss_size = CP_ALTSTACK,
	};

	ENTER(t);
	if (t->tid == t->tgid) {
		set_handler(t, CP_SIG_PLAIN, 0);
		set_handler(t, CP_SIG_INNER, SA_ONSTACK);
		set_handler(t, CP_SIG_WAITED, SA_RESTART);
	}
	SYS2(t, __NR_sigaltstack, &alt, 0);
	set_mask(t, SIG_BLOCK, CP_SIG_WAITED);
	LEAVE(t);
}

/* The task signals itself: the handler runs at the end of this call */
PATH void op_signal(struct task *t)
{
	ENTER(t);
	SYS3(t, __NR_tgkill, t->tgid, t->tid,
	     cp_random(t) & 1 ? CP_SIG_PLAIN : CP_SIG_INNER);
	LEAVE(t);
}

/* Allow a blocked signal while waiting, then allow another one by the mask */
PATH void op_suspend(struct task *t)
{
	unsigned int none[2] = { 0, 0 };

	ENTER(t);
	SYS3(t, __NR_tgkill, t->tgid, t->tid, CP_SIG_WAITED);
	SYS(t, CP_RESTART, __NR_rt_sigsuspend, none, 8, 0, 0);
	SYS3(t, __NR_tgkill, t->tgid, t->tid, CP_SIG_WAITED);
	set_mask(t, SIG_UNBLOCK, CP_SIG_WAITED);
	set_mask(t, SIG_BLOCK, CP_SIG_WAITED);
	LEAVE(t);
}
