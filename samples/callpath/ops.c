// SPDX-License-Identifier: GPL-2.0
/*
 * ops.c - the call paths, and the system calls at their ends
 *
 * cp_path() walks down through three functions that call each other from several places. The task's
 * own random numbers choose the way. Now and then it makes a system call on the way, so paths
 * differ in depth, in functions and in call sites.
 */
#include <linux/futex.h>
#include "sys.h"

unsigned int cp_cpus = 1;

typedef void (*op_t)(struct task *t);

static PATH void walk_b(struct task *t, unsigned int left, op_t op);
static PATH void walk_c(struct task *t, unsigned int left, op_t op);

static PATH void walk_a(struct task *t, unsigned int left, op_t op)
{
	ENTER(t);
	if (!left)
		op(t);
	else if (cp_random(t) & 1)
		walk_b(t, left - 1, op);
	else
		walk_c(t, left - 1, op);
	if (cp_random(t) % 64 == 0)
		SYS0(t, __NR_getpid);
	LEAVE(t);
}

static PATH void walk_b(struct task *t, unsigned int left, op_t op)
{
	volatile char room[40];

	ENTER(t);
	room[left % 40] = 1;
	(void)room[0];
	if (!left) {
		op(t);
	} else if (cp_random(t) % 3) {
		walk_c(t, left - 1, op);
	} else {
		if (cp_random(t) % 64 == 0)
			SYS3(t, __NR_lseek, -1, left, 0);
		walk_a(t, left - 1, op);
	}
	LEAVE(t);
}

/* The size of its frame is known at run time only */
static PATH void walk_c(struct task *t, unsigned int left, op_t op)
{
	unsigned int size = 16 + (cp_random(t) & 63);
	volatile char *room = __builtin_alloca(size);

	ENTER(t);
	room[size - 1] = 0;
	if (!left)
		op(t);
	else if (cp_random(t) & 1)
		walk_a(t, left - 1, op);
	else
		walk_b(t, left - 1, op);
	LEAVE(t);
}

PATH void cp_path(struct task *t, unsigned int left, op_t op)
{
	ENTER(t);
	switch (cp_random(t) % 3) {
	case 0:
		walk_a(t, left, op);
		break;
	case 1:
		walk_b(t, left, op);
		break;
	default:
		walk_c(t, left, op);
	}
	LEAVE(t);
}

/* Move to the next CPU of the first cp_cpus: the call itself moves the task */
PATH void cp_migrate(struct task *t)
{
	unsigned long mask[1024 / 8 / sizeof(long)] = { 0 };

	ENTER(t);
	t->nr_cpu = (t->nr_cpu + 1) % cp_cpus;
	mask[0] = 1ul << t->nr_cpu;
	SYS3(t, __NR_sched_setaffinity, 0, sizeof(mask), mask);
	LEAVE(t);
}

PATH void op_plain(struct task *t)
{
	ENTER(t);
	switch (cp_random(t) % 4) {
	case 0:
		SYS0(t, __NR_getppid);
		break;
	case 1:
		SYS1(t, __NR_close, -1);
		break;
	case 2:
		SYS3(t, __NR_lseek, -1, 0, 0);
		break;
	default:
		SYS2(t, __NR_getpriority, 0, 0);
	}
	LEAVE(t);
}

PATH void op_sleep(struct task *t)
{
	long ts[2] = { 0, 20000 + (cp_random(t) & 0xffff) };

	ENTER(t);
	SYS(t, CP_RESTART, __NR_nanosleep, ts, 0, 0, 0);
	LEAVE(t);
}

PATH void op_yield(struct task *t)
{
	ENTER(t);
	SYS0(t, __NR_sched_yield);
	LEAVE(t);
}

/* No task wakes it: it ends by its time limit */
PATH void op_futex(struct task *t)
{
	long ts[2] = { 0, 50000 };

	ENTER(t);
	SYS(t, CP_RESTART, __NR_futex, &t->ping, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, t->ping, ts);
	LEAVE(t);
}

PATH void op_pipe(struct task *t)
{
	char c = 'x';

	ENTER(t);
	if (!t->pipe[1])
		SYS2(t, __NR_pipe2, t->pipe, 0);
	SYS3(t, __NR_write, t->pipe[1], &c, 1);
	SYS(t, CP_RESTART, __NR_read, t->pipe[0], &c, 1, 0);
	LEAVE(t);
}

/* Exit at the depth of the call, after waking a waiter on ->done */
PATH void op_exit(struct task *t)
{
	ENTER(t);
	__atomic_store_n(&t->done, 1, __ATOMIC_RELEASE);
	SYS3(t, __NR_futex, &t->done, FUTEX_WAKE, 0x7fffffff);
	SYS(t, CP_EXIT, __NR_exit, 0, 0, 0, 0);
	__builtin_trap();
}

PATH void op_exit_group(struct task *t)
{
	ENTER(t);
	SYS(t, CP_EXIT, __NR_exit_group, 0, 0, 0, 0);
	__builtin_trap();
}
