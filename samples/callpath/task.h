/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a callpath task, and where it is stored.
 *
 * Each task runs on a region of its own, aligned to its size. The region holds, from the bottom:
 * the struct task, the alternate signal stack, the stack. So a signal handler finds its task from
 * the stack pointer on either stack.
 */
#ifndef CALLPATH_TASK_H
#define CALLPATH_TASK_H

#include "record.h"

#define CP_REGION	(512 * 1024)
#define CP_ALTSTACK	(64 * 1024)
#define CP_MAX_TASKS	32

struct task {
	unsigned int	tid;
	unsigned int	tgid;
	unsigned int	depth;		/* frames in ra[] */
	unsigned int	rng;		/* state of this task's pseudo-random numbers */
	unsigned int	index;		/* which region */
	unsigned int	nr_cpu;		/* the CPU last migrated to */
	unsigned int	in_signal;	/* depth of nested handlers */
	int		done;		/* futex: 1 when the task is about to exit */
	int		ping;		/* the futex that op_futex waits on; no task wakes it */
	int		pipe[2];
	/* Shadow stack, outermost first: return addresses, CP_INTERRUPTED ones marked */
	unsigned long long ra[CP_MAX_DEPTH];
};

union region {
	struct task	task;
	char		bytes[CP_REGION];
};

extern union region cp_region[CP_MAX_TASKS];

static inline unsigned int cp_random(struct task *t)
{
	t->rng = t->rng * 1103515245u + 12345u;
	return t->rng >> 16;
}

/* record.c */

/* The next sequence number, from the shared header once it is mapped */
unsigned int cp_seq(void);

/*
 * Reserve an entry for system call @nr with the current path of @t. Returns the address for its ip;
 * storing the ip completes the entry. Never fails: without space the entry counts as refused, and
 * the address is one that nobody reads.
 */
unsigned long long *cp_begin(struct task *t, unsigned int nr, unsigned int seq,
			     unsigned int flags);

/*
 * Open the record at @path (create it with @size bytes if @create), and move the entries so far
 * into it. Returns 0 or the negative errno of the call that failed.
 */
int cp_open(struct task *t, const char *path, unsigned int size, int create);

/* Sequence numbers used before the record is mapped start at @base */
void cp_set_base(unsigned int base);
unsigned int cp_reserve_base(void);
unsigned int cp_refused(void);

/* start.S */

/*
 * clone() onto the stack ending at @stack, where the child calls @fn(@task). The
 * frame pointer is cleared around the call, so neither side has a chain there:
 * the entry at @slot has no frames.
 */
long cp_clone(unsigned long flags, void *stack, void *ptid, unsigned long seq,
	      unsigned long long *slot, void (*fn)(struct task *), struct task *task);
void cp_sig_entry(int sig, void *info, void *ucontext);
void cp_restorer(void);
extern const char cp_sigreturn_ip[];
extern const char cp_start_ip[];	/* on s390x: what called the caller of cp_main() */

/* signal.c */
void cp_signals_init(struct task *t);
void op_signal(struct task *t);
void op_suspend(struct task *t);

/* ops.c */
extern unsigned int cp_cpus;
void cp_path(struct task *t, unsigned int left, void (*op)(struct task *));
void cp_migrate(struct task *t);
void op_plain(struct task *t);
void op_sleep(struct task *t);
void op_yield(struct task *t);
void op_futex(struct task *t);
void op_pipe(struct task *t);
void op_exit(struct task *t);
void op_exit_group(struct task *t);

/* spawn.c */
extern const char *cp_exec_path;
extern const char *cp_out;
extern unsigned int cp_size;
struct task *cp_new_task(void);
void cp_free_task(struct task *t);
void cp_threads(struct task *t, unsigned int threads, void (*fn)(struct task *));
void op_fork(struct task *t);
void op_vfork(struct task *t);
void op_exec(struct task *t);
void op_exec_thread(struct task *t);
void op_kill(struct task *t);

#endif /* CALLPATH_TASK_H */
