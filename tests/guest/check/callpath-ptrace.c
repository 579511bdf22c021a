// SPDX-License-Identifier: GPL-2.0
/*
 * Check callpath against itself, without any tracing. ptrace stops callpath at each system call;
 * this program follows the frame pointers in callpath's memory, and compares the stack with the
 * entry that callpath wrote. This proves the record right before the tests use it as the truth.
 * Where a test wants tasks in ptrace stops, this program is the debugger.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "truth.h"

#define USER_CS32	0x23

static struct truth truth;
static const char *record;
static unsigned long right, wrong, unknown;
static int quiet;

/*
 * A stack whose entry cannot be read yet, and which is compared at the end. A program maps the
 * record only after its first system calls, and an entry that another task has just reserved hides
 * the entries after it.
 */
static struct late {
	struct late	*next;
	pid_t		tid;
	unsigned int	seq;
	unsigned int	nr;
	unsigned int	flags;
	uint64_t	addr[];
} *late;

static int read_word(pid_t tid, uint64_t at, unsigned int ws, uint64_t *word)
{
	struct iovec local = { word, ws }, remote = { (void *)at, ws };

	*word = 0;
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)ws ? 0 : -EFAULT;
}

static int kill_pending(pid_t tid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, tid, NULL, &regs) && errno == ESRCH;
}

static unsigned int walk_stack(pid_t tid, const struct user_regs_struct *regs, uint64_t *addr)
{
	unsigned int ws = regs->cs == USER_CS32 ? 4 : 8, nr = 0;
	uint64_t fp = regs->rbp, sp = regs->rsp, ra, next;

	addr[nr++] = regs->rip;
	while (nr < CP_MAX_DEPTH && fp >= sp) {
		if (read_word(tid, fp, ws, &next) || read_word(tid, fp + ws, ws, &ra)) {
			/* Killed while stopped: its memory is gone */
			if (errno == ESRCH || kill_pending(tid))
				return 0;
			break;
		}
		addr[nr++] = ra;
		sp = fp + 2 * ws;
		fp = next;
	}
	return nr;
}

static void compare_stack(pid_t tid, const struct cp_record *rec, const uint64_t *addr,
			  unsigned int nr, unsigned int flags)
{
	char why[WHY_SIZE];
	unsigned int i;

	if (truth_same(rec, addr, nr, flags, 0, why)) {
		right++;
		return;
	}
	wrong++;
	if (wrong > 3 || quiet)
		return;
	printf("wrong: tid %d: %s\n", tid, why);
	for (i = 0; i < nr; i++)
		printf("    %llx\n", (unsigned long long)addr[i]);
	truth_print(rec);
}

/* Has the program filled in the header of its record? */
static int is_ready(void)
{
	struct cp_header head;
	FILE *f = fopen(record, "r");
	int ready = f && fread(&head, sizeof(head), 1, f) == 1 && head.magic == CP_MAGIC;

	if (f)
		fclose(f);
	return ready;
}

static const struct cp_record *find_record(pid_t tid, unsigned int seq)
{
	const struct cp_record *rec;

	if (!truth.head && (!is_ready() || truth_load(&truth, record)))
		return NULL;
	rec = truth_find(&truth, tid, seq, -1);
	if (!rec) {
		truth_index(&truth);
		rec = truth_find(&truth, tid, seq, -1);
	}
	return rec;
}

static void keep_stack(pid_t tid, unsigned int seq, const uint64_t *addr, unsigned int nr,
		       unsigned int flags)
{
	struct late *l = malloc(sizeof(*l) + nr * sizeof(*addr));

	if (!l) {
		unknown++;
		return;
	}
	l->tid = tid;
	l->seq = seq;
	l->nr = nr;
	l->flags = flags;
	memcpy(l->addr, addr, nr * sizeof(*addr));
	l->next = late;
	late = l;
}

static void compare_late(void)
{
	const struct cp_record *rec;
	struct late *l;

	while (late) {
		l = late;
		late = l->next;
		rec = find_record(l->tid, l->seq);
		if (rec)
			compare_stack(l->tid, rec, l->addr, l->nr, l->flags);
		else
			unknown++;
		free(l);
	}
}

static void at_syscall(pid_t tid)
{
	struct user_regs_struct regs;
	struct __ptrace_syscall_info info;
	static uint64_t addr[CP_MAX_DEPTH];
	const struct cp_record *rec;
	unsigned int nr, flags;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	nr = walk_stack(tid, &regs, addr);
	if (!nr)
		return;
	flags = regs.cs == USER_CS32 ? STACK_COMPAT : 0;
	rec = find_record(tid, info.entry.args[4]);
	if (rec)
		compare_stack(tid, rec, addr, nr, flags);
	else
		keep_stack(tid, info.entry.args[4], addr, nr, flags);
}

static int run_program(void)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, sig, main_status = -1, seen = 0;
	pid_t tid, first = 0;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!first)
			first = tid;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (tid == first)
				main_status = status;
			continue;
		}
		sig = WSTOPSIG(status);
		if (!seen) {
			seen = 1;
			sig = 0;
			if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options)) {
				perror("PTRACE_SETOPTIONS");
				return -1;
			}
		} else if (sig == (SIGTRAP | 0x80)) {
			at_syscall(tid);
			sig = 0;
		} else if (status >> 16 || sig == SIGSTOP || sig == SIGTRAP) {
			sig = 0;
		}
		ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)sig);
	}
	return main_status;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "-q")) {
		quiet = 1;
		argv++;
		argc--;
	}
	if (argc < 3) {
		fprintf(stderr, "Usage: callpath-ptrace [-q] RECORD CALLPATH ARGUMENT...\n"
			"Runs CALLPATH -o RECORD ARGUMENT... and compares its record with its "
			"stack\n"
			"at each system call.\n");
		return 2;
	}
	record = argv[1];
	unlink(record);
	pid = fork();
	if (!pid) {
		const char *args[argc + 2];
		int i;

		args[0] = argv[2];
		args[1] = "-o";
		args[2] = record;
		for (i = 3; i <= argc; i++)
			args[i] = argv[i];
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[2], (char **)args);
		fprintf(stderr, "%s: cannot run it: %s; build it first\n", argv[2],
			strerror(errno));
		_exit(127);
	}
	status = pid < 0 ? -1 : run_program();
	if (status) {
		fprintf(stderr, "%s: did not end well: status 0x%x\n", argv[2], status);
		return 1;
	}
	compare_late();
	printf("callpath-ptrace: %lu right, %lu wrong, %lu without an entry\n", right, wrong,
	       unknown);
	return wrong || unknown || !right;
}
