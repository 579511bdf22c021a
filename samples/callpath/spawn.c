// SPDX-License-Identifier: GPL-2.0
/*
 * spawn.c - new tasks: threads, forked and vforked children, new programs
 */
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include "sys.h"

/* On the parent's stack. On s390x the argument for the stack comes first */
#ifdef __s390x__
#define CLONE(t, flags)	SYS(t, CP_SPAWN, __NR_clone, 0, flags, 0, 0)
#else
#define CLONE(t, flags)	SYS(t, CP_SPAWN, __NR_clone, flags, 0, 0, 0)
#endif
#ifdef __NR_vfork
#define VFORK(t)	SYS(t, CP_SPAWN, __NR_vfork, 0, 0, 0, 0)
#else
#define VFORK(t)	CLONE(t, CLONE_VFORK | CLONE_VM | SIGCHLD)
#endif

union region cp_region[CP_MAX_TASKS] __attribute__((aligned(CP_REGION)));
static int used[CP_MAX_TASKS] = { 1 };

const char *cp_exec_path;
const char *cp_out;
unsigned int cp_size;

/* NULL if all are in use */
struct task *cp_new_task(void)
{
	struct task *t;
	unsigned int i;

	for (i = 0; i < CP_MAX_TASKS; i++) {
		if (__atomic_exchange_n(&used[i], 1, __ATOMIC_ACQUIRE))
			continue;
		t = &cp_region[i].task;
		t->index = i;
		t->depth = 0;
		t->done = 0;
		t->in_signal = 0;
		t->pipe[0] = 0;
		t->pipe[1] = 0;
		return t;
	}
	return (void *)0;
}

void cp_free_task(struct task *t)
{
	__atomic_store_n(&used[t->index], 0, __ATOMIC_RELEASE);
}

static PATH struct task *start_thread(struct task *t, void (*fn)(struct task *))
{
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				    CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID;
	struct task *nt = cp_new_task();
	unsigned int depth = t->depth, seq = cp_seq();
	unsigned long long *slot;
	long ret;

	if (!nt)
		return nt;
	nt->tgid = t->tgid;
	nt->rng = t->rng + 7919 * nt->index;
	nt->nr_cpu = nt->index;
	/* cp_clone() clears the frame pointer: its call has no callers */
	t->depth = 0;
	slot = cp_begin(t, __NR_clone, seq, CP_SPAWN | CP_FLAGS);
	t->depth = depth;
	ret = cp_clone(flags, (char *)nt + CP_REGION, &nt->tid, seq, slot, fn, nt);
	if (ret < 0) {
		cp_free_task(nt);
		return (void *)0;
	}
	return nt;
}

/* Start @threads threads that call @fn, and wait until each is about to exit */
PATH void cp_threads(struct task *t, unsigned int threads, void (*fn)(struct task *))
{
	struct task *nt[CP_MAX_TASKS];
	long ts[2] = { 0, 100000000 };
	unsigned int i;

	ENTER(t);
	if (threads > CP_MAX_TASKS - 4)
		threads = CP_MAX_TASKS - 4;
	for (i = 0; i < threads; i++)
		nt[i] = start_thread(t, fn);
	for (i = 0; i < threads; i++) {
		while (nt[i] && !__atomic_load_n(&nt[i]->done, __ATOMIC_ACQUIRE))
			SYS(t, CP_RESTART, __NR_futex, &nt[i]->done, FUTEX_WAIT, 0, ts);
	}
	LEAVE(t);
}

/* The work of a task that runs in a process of its own */
static PATH void new_process(struct task *t)
{
	ENTER(t);
	t->tid = 0;
	t->tgid = 0;
	t->tid = SYS0(t, __NR_gettid);
	t->tgid = t->tid;
	t->pipe[1] = 0;
	LEAVE(t);
}

/* @body does not return */
static PATH void fork_and(struct task *t, void (*body)(struct task *), unsigned int kill)
{
	long ts[2] = { 0, 3000000 };
	long pid;

	ENTER(t);
	pid = CLONE(t, SIGCHLD);
	if (!pid) {
		new_process(t);
		body(t);
		__builtin_trap();
	}
	if (kill) {
		SYS(t, CP_RESTART, __NR_nanosleep, ts, 0, 0, 0);
		SYS2(t, __NR_kill, pid, SIGKILL);
	}
	SYS(t, CP_RESTART, __NR_wait4, pid, 0, 0, 0);
	LEAVE(t);
}

static PATH void fork_child(struct task *t)
{
	unsigned int i;

	ENTER(t);
	for (i = 0; i < 3; i++) {
		cp_path(t, cp_random(t) % 12, op_plain);
		cp_path(t, cp_random(t) % 12, op_yield);
	}
	cp_path(t, cp_random(t) % 40, op_exit_group);
}

PATH void op_fork(struct task *t)
{
	ENTER(t);
	fork_and(t, fork_child, 0);
	LEAVE(t);
}

static PATH void kill_child(struct task *t)
{
	ENTER(t);
	for (;;) {
		cp_path(t, cp_random(t) % 30, op_yield);
		cp_path(t, cp_random(t) % 30, op_sleep);
	}
}

PATH void op_kill(struct task *t)
{
	ENTER(t);
	fork_and(t, kill_child, 1);
	LEAVE(t);
}

static char *write_decimal(char *end, unsigned int n)
{
	*--end = 0;
	do {
		*--end = '0' + n % 10;
		n /= 10;
	} while (n);
	return end;
}

/* The new image appends to the same record, see cp_main() */
static PATH void exec_now(struct task *t)
{
	/* Lower than those of the new image, so that numbers grow with time */
	unsigned int seq = cp_seq();
	char base[16], size[16];
	const char *argv[] = {
		cp_exec_path, "-a", "-o", cp_out, "-x", "leaf",
		"-q", write_decimal(base + sizeof(base), cp_reserve_base()),
		"-z", write_decimal(size + sizeof(size), cp_size >> 20), (void *)0
	};

	ENTER(t);
	SYS_SEQ(t, CP_EXEC, seq, __NR_execve, cp_exec_path, argv,
		&argv[sizeof(argv) / sizeof(argv[0]) - 1], 0);
	SYS(t, CP_EXIT, __NR_exit_group, 3, 0, 0, 0);
	__builtin_trap();
}

static PATH void exec_child(struct task *t)
{
	ENTER(t);
	cp_path(t, cp_random(t) % 20, op_plain);
	cp_path(t, cp_random(t) % 20, exec_now);
}

PATH void op_exec(struct task *t)
{
	ENTER(t);
	fork_and(t, exec_child, 0);
	LEAVE(t);
}

static PATH void exec_thread(struct task *t)
{
	ENTER(t);
	cp_path(t, cp_random(t) % 20, op_plain);
	cp_path(t, cp_random(t) % 20, exec_now);
}

/* The leader waits; the thread's execve() kills the leader and takes its PID */
static PATH void exec_leader(struct task *t)
{
	long ts[2] = { 1, 0 };

	ENTER(t);
	if (!start_thread(t, exec_thread))
		op_exit_group(t);
	for (;;)
		SYS(t, CP_RESTART, __NR_nanosleep, ts, 0, 0, 0);
}

PATH void op_exec_thread(struct task *t)
{
	ENTER(t);
	fork_and(t, exec_leader, 0);
	LEAVE(t);
}

/* Runs on the parent's stack, below its frames, with its own shadow stack; changes only @c there */
static PATH void vfork_child(struct task *c)
{
	ENTER(c);
	new_process(c);
	cp_path(c, cp_random(c) % 12, op_plain);
	if (cp_exec_path && cp_random(c) & 1)
		cp_path(c, cp_random(c) % 12, exec_now);
	SYS(c, CP_EXIT, __NR_exit, 0, 0, 0, 0);
	__builtin_trap();
}

PATH void op_vfork(struct task *t)
{
	struct task *c = cp_new_task();
	unsigned int i;
	long pid;

	if (!c)
		return;
	ENTER(t);
	c->tid = 0;
	c->tgid = 0;
	c->rng = cp_random(t);
	c->depth = t->depth;
	for (i = 0; i < t->depth; i++)
		c->ra[i] = t->ra[i];
	pid = VFORK(t);
	if (!pid)
		vfork_child(c);
	cp_free_task(c);
	SYS(t, CP_RESTART, __NR_wait4, pid, 0, 0, 0);
	LEAVE(t);
}
