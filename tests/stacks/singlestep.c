// SPDX-License-Identifier: GPL-2.0
/*
 * singlestep [-e] [-s CALLS] [-n STEPS] [-x FILE] [-v] PROGRAM [ARG...]
 *
 * Steps through a program and all its children and threads, one instruction at a time. At every
 * instruction it compares the stack from the tables with a shadow stack, which is kept from the
 * calls, returns and signals (shadow.c, verdict.c). The program runs without address space
 * randomisation, so findings can be reproduced.
 *
 *	-e		start at the program's entry point, again after each exec; the dynamic
 *			loader's first 100,000 instructions go by at full speed
 *	-s CALLS	start CALLS system calls after that point: the frames at that moment come
 *			from the tables, if each returns to an address after a call; from then on
 *			everything is checked, the returns of these frames included
 *	-n STEPS	end after STEPS instructions
 *	-x FILE		break the table of a file of this name on purpose: one row starts a byte
 *			late. singlestep must find it, or it tests nothing. FILE,N: spare N other
 *			suitable rows
 *	-v		print each place of early walks too
 *
 * Exit code: 0; 1 if a walk was wrong; 2 if the program could not be stepped, or failed while
 * stepped.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks.h"

static struct {
	bool to_entry, all;
	u64 calls, max;
} opt = { .max = ~0ull };

static struct task *tasks;
static pid_t main_pid;
static int main_status = -1;

#define OPTIONS	(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | \
		 PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

static void die(const char *what)
{
	fprintf(stderr, "singlestep: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* --------------------------------- tasks -------------------------------- */

static struct task *task_of(pid_t pid)
{
	struct task *t;

	for (t = tasks; t && t->pid != pid; t = t->next)
		;
	if (!t) {
		t = calloc(1, sizeof(*t));
		t->pid = pid;
		t->next = tasks;
		tasks = t;
	}
	return t;
}

static void drop_task(struct task *t)
{
	struct task **p;

	verdict_end(t);
	for (p = &tasks; *p != t; p = &(*p)->next)
		;
	*p = t->next;
	if (t->space)
		space_put(t->space);
	shadow_free(&t->shadow);
	free(t);
}

static bool get_regs(struct task *t)
{
	space_forget();
	return !ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs);
}

static int wait_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) {
		fprintf(stderr, "singlestep: the program ended before the first step\n");
		exit(2);
	}
	return WSTOPSIG(status);
}

static void run_to(struct task *t, u64 addr)
{
	long word = ptrace(PTRACE_PEEKTEXT, t->pid, addr, NULL);

	ptrace(PTRACE_POKETEXT, t->pid, addr, (word & ~0xffl) | 0xcc);
	do {
		if (ptrace(PTRACE_CONT, t->pid, NULL, NULL))
			die("PTRACE_CONT");
		wait_stop(t->pid);
		get_regs(t);
	} while (t->regs.rip != addr + 1);
	ptrace(PTRACE_POKETEXT, t->pid, addr, word);
	t->regs.rip = addr;
	ptrace(PTRACE_SETREGS, t->pid, NULL, &t->regs);
}

static void run_calls(struct task *t)
{
	u64 i;

	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_EXITKILL);
	for (i = 0; i < 2 * opt.calls; ) {
		if (ptrace(PTRACE_SYSCALL, t->pid, NULL, NULL))
			die("PTRACE_SYSCALL");
		i += wait_stop(t->pid) == SIGTRAP;
	}
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, OPTIONS);
	get_regs(t);
	t->space->stale = true;
	if (!verdict_seed(t)) {
		fprintf(stderr, "singlestep: no complete stack after %" PRIu64 " system calls\n",
			opt.calls);
		exit(2);
	}
}

/* A new program, just executed: it has no caller. */
static void begin_program(struct task *t)
{
	bool first = !t->begun && t->pid == main_pid;

	verdict_end(t);
	if (t->space)
		space_put(t->space);
	t->space = space_new(t->pid);
	shadow_free(&t->shadow);
	t->last_pc = 0;
	t->stack_start = 0;
	t->begun = true;
	get_regs(t);
	if (opt.to_entry)
		run_to(t, t->space->entry);
	t->space->stale = true;
	if (first && opt.calls)
		run_calls(t);
}

/* @t has made @pid; both are stopped, or @pid soon will be. */
static void begin_child(struct task *t, pid_t pid, bool shares)
{
	struct task *child = task_of(pid);

	if (shares) {
		child->space = t->space;
		child->space->users++;
	} else {
		child->space = space_new(pid);
	}
	/* what it begins with, if it begins on the same stack: that is seen at its first stop */
	shadow_copy(&child->shadow, &t->shadow);
	get_regs(t);
	child->last_sp = t->regs.rsp;
	child->stack_start = t->stack_start;
}

static void step(struct task *t, int sig)
{
	t->delivered = sig;
	ptrace(PTRACE_SINGLESTEP, t->pid, NULL, sig);
}

/* ------------------------------- stops ---------------------------------- */

/* The first stop of a child that was made */
static void first_stop(struct task *t)
{
	get_regs(t);
	t->begun = true;
	if (t->regs.rsp != t->last_sp) {
		shadow_free(&t->shadow);
		t->stack_start = t->regs.rsp;
	}
	t->last_pc = t->last_sp = 0;
	step(t, 0);
}

static void stopped(struct task *t, int sig)
{
	struct user_regs_struct was = t->regs;
	struct change change = { .call = false };

	if (!get_regs(t))
		return;
	if (t->delivered && shadow_signal(&t->shadow, t->space, &was, &t->regs)) {
		change.signal = true;
		counts.signals++;
	} else if (t->regs.rip != was.rip || t->regs.rsp != was.rsp) {
		change = shadow_step(&t->shadow, t->space, &was, &t->regs);
		counts.steps++;
	}
	verdict(t, &change);
	step(t, sig == SIGTRAP ? 0 : sig);
}

static void event(struct task *t, int what)
{
	unsigned long msg = 0;

	switch (what) {
	case PTRACE_EVENT_EXEC:
		begin_program(t);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		ptrace(PTRACE_GETEVENTMSG, t->pid, NULL, &msg);
		begin_child(t, msg, what != PTRACE_EVENT_FORK);
		/* it may have stopped before */
		if (task_of(msg)->delivered)
			first_stop(task_of(msg));
		break;
	}
	step(t, 0);
}

static void stop(pid_t pid, int status)
{
	struct task *t = task_of(pid);
	int sig = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		if (pid == main_pid)
			main_status = status;
		drop_task(t);
	} else if (status >> 16) {
		event(t, status >> 16);
	} else if (t->begun) {
		stopped(t, sig);
	} else if (t->space) {
		first_stop(t);
	} else {
		/* the stop of its parent is still to come */
		t->delivered = true;
	}
}

static void start(char **argv)
{
	struct task *t;

	main_pid = fork();
	if (main_pid < 0)
		die("fork");
	if (!main_pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		fprintf(stderr, "singlestep: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	t = task_of(main_pid);
	wait_stop(main_pid);
	if (ptrace(PTRACE_SETOPTIONS, main_pid, NULL, OPTIONS) ||
	    ptrace(PTRACE_CONT, main_pid, NULL, NULL))
		die("ptrace");
	wait_stop(main_pid);
	begin_program(t);
	step(t, 0);
}

int main(int argc, char **argv)
{
	int c, status;
	pid_t pid;

	while ((c = getopt(argc, argv, "+es:n:x:v")) != -1) {
		switch (c) {
		case 'e':
			opt.to_entry = true;
			break;
		case 's':
			opt.calls = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			opt.max = strtoull(optarg, NULL, 0);
			break;
		case 'x':
			space_shift = strsep(&optarg, ",");
			if (optarg)
				space_shift_after = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			opt.all = true;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc) {
		fprintf(stderr, "singlestep: which program?\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	start(argv + optind);
	while (tasks && counts.steps < opt.max) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0)
			break;
		stop(pid, status);
	}
	/* other tasks end with this one; what is still open has not become wrong */
	if (!verdict_report(argv[optind], opt.all))
		return 1;
	if (space_shift) {
		fprintf(stderr, "singlestep: no row of %s to break\n", space_shift);
		return 2;
	}
	if (!tasks && main_status) {
		fprintf(stderr, "singlestep: %s ended with status %#x\n", argv[optind],
			main_status);
		return 2;
	}
	return 0;
}
