// SPDX-License-Identifier: GPL-2.0
/*
 * gosteps [-n STEPS] [-x] PROGRAM [ARG...]
 *
 * Steps through a static Go program, one instruction at a time, and compares the row of each pc
 * with what calls have left: the return address, and FP as it was at the call. singlestep cannot do
 * that, because it separates stacks by their mappings, and all goroutines have theirs in one.
 *
 * For each call, the address of the caller's SP is noted: that is the CFA of the called function,
 * for as long as it runs. A CFA that was not noted is counted, not judged: goroutines start without
 * a call, and the runtime moves stacks. .debug_frame says that the CFA is right, see
 * tests/oracle/go.c. The rows of return addresses are looked up at each call, where the caller's SP
 * and FP are known.
 *
 *	-n STEPS	end after STEPS instructions
 *	-x		take FP to be saved 8 bytes higher: each row that has a rule for it is wrong
 *
 * Exit code: 0; 1 if a row was wrong; 2 if the program could not be stepped.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

#define NR_NOTES	(1u << 20)
#define MAX_THREADS	256
#define MAX_PRINTED	10

/* A call left @ret at the CFA @cfa, and FP was @fp. */
static struct note {
	uint64_t cfa, ret, fp;
} notes[NR_NOTES];

static struct thread {
	pid_t pid;
	bool known;
	struct user_regs_struct was;
} threads[MAX_THREADS];

static struct sframe_table table;
static uint64_t text, text_end;
static const uint8_t *code;
static struct {
	uint64_t steps, judged, saved, returns, unknown, no_row, wrong;
} counts;
static bool broken;

static struct note *note_of(uint64_t cfa)
{
	return &notes[(cfa >> 3) & (NR_NOTES - 1)];
}

static bool word(pid_t pid, uint64_t addr, uint64_t *v)
{
	errno = 0;
	*v = ptrace(PTRACE_PEEKDATA, pid, addr, NULL);
	return !errno;
}

static void print_wrong_row(uint64_t pc, const char *what)
{
	if (counts.wrong++ < MAX_PRINTED)
		printf("wrong: %#" PRIx64 ": %s\n", pc, what);
}

/* The CFA of @pc, by its row; false if there is no row, or no caller */
static bool cfa_of(uint64_t pc, const struct user_regs_struct *r, struct sframe_row *row,
		   uint64_t *cfa)
{
	if (sframe_find(&table, pc, row) || row->ra.base != SFRAME_CFA ||
	    (row->cfa.base != SFRAME_SP && row->cfa.base != SFRAME_FP)) {
		counts.no_row++;
		return false;
	}
	*cfa = (row->cfa.base == SFRAME_SP ? r->rsp : r->rbp) + row->cfa.off;
	return true;
}

static void judge(pid_t pid, const struct user_regs_struct *r)
{
	struct sframe_row row;
	const struct note *n;
	uint64_t cfa, ret, fp;

	if (!cfa_of(r->rip, r, &row, &cfa))
		return;
	n = note_of(cfa);
	if (n->cfa != cfa || !word(pid, cfa - 8, &ret) || ret != n->ret) {
		counts.unknown++;
		return;
	}
	counts.judged++;
	fp = r->rbp;
	if (row.fp.base == SFRAME_CFA) {
		counts.saved++;
		if (!word(pid, cfa + row.fp.off + 8 * broken, &fp))
			fp = 0;
	}
	if (fp != n->fp)
		print_wrong_row(r->rip, "FP of the caller");
}

static bool is_call(uint64_t pc)
{
	const uint8_t *p = code + (pc - text);

	if ((*p & 0xf0) == 0x40)
		p++;
	return p[0] == 0xe8 || (p[0] == 0xff && (p[1] >> 3 & 7) == 2);
}

/* @was has made a call, to @is. */
static void note_call(pid_t pid, const struct user_regs_struct *was,
		      const struct user_regs_struct *is)
{
	struct sframe_row row, after;
	uint64_t ret, cfa, later;

	if (is->rsp != was->rsp - 8 || !is_call(was->rip) || !word(pid, is->rsp, &ret) ||
	    ret <= was->rip || ret > was->rip + 8)
		return;
	*note_of(was->rsp) = (struct note){ .cfa = was->rsp, .ret = ret, .fp = was->rbp };
	if (sframe_find(&table, was->rip, &row) || row.ra.base != SFRAME_CFA)
		return;
	counts.returns++;
	if (!cfa_of(was->rip, was, &row, &cfa) || !cfa_of(ret - 1, was, &after, &later) ||
	    cfa != later || memcmp(&row.fp, &after.fp, sizeof(row.fp)))
		print_wrong_row(was->rip, "the row of the return address is another");
}

static struct thread *thread_of(pid_t pid)
{
	struct thread *t;

	for (t = threads; t < threads + MAX_THREADS - 1 && t->pid && t->pid != pid; t++)
		;
	t->pid = pid;
	return t;
}

static void step(struct thread *t)
{
	struct user_regs_struct is;

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &is))
		return;
	counts.steps++;
	if (t->known && t->was.rip >= text && t->was.rip < text_end)
		note_call(t->pid, &t->was, &is);
	if (is.rip >= text && is.rip < text_end)
		judge(t->pid, &is);
	t->was = is;
	t->known = true;
}

static int open_program(const char *path)
{
	static struct gen_table gen;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	struct stat st;
	const uint8_t *p;
	int i;

	if (fd < 0 || fstat(fd, &st) || gen_from_fd(fd, &gen) || gen_open(&gen, &table))
		return -1;
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	eh = (const void *)p;
	ph = (const void *)(p + eh->e_phoff);
	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X) {
			text = ph[i].p_vaddr;
			text_end = text + ph[i].p_filesz - 16;
			code = p + ph[i].p_offset;
		}
	}
	return eh->e_type == ET_EXEC && code ? 0 : -1;
}

/* The signal to deliver to a thread that has stopped with @status */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == SIGSTOP || status >> 16 ? 0 : sig;
}

static void run(uint64_t max)
{
	struct thread *t;
	int status;
	pid_t pid;

	while (counts.steps < max && (pid = waitpid(-1, &status, __WALL)) > 0) {
		t = thread_of(pid);
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			t->known = false;
			continue;
		}
		/* a handler starts without a call */
		if (signal_of(status))
			t->known = false;
		else
			step(t);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, signal_of(status));
	}
}

int main(int argc, char **argv)
{
	uint64_t max = UINT64_MAX;
	pid_t child;
	int c, status;

	while ((c = getopt(argc, argv, "+n:x")) > 0) {
		if (c == 'n')
			max = strtoull(optarg, NULL, 0);
		else
			broken = true;
	}
	if (optind >= argc || open_program(argv[optind])) {
		fprintf(stderr, "gosteps: no static program with a table\n");
		return 2;
	}
	child = fork();
	if (!child) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[optind], argv + optind);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE)) {
		fprintf(stderr, "gosteps: %s cannot be traced\n", argv[optind]);
		return 2;
	}
	ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	run(max);
	printf("%s: %" PRIu64 " steps: %" PRIu64 " judged, FP saved in %" PRIu64 ", %" PRIu64
	       " rows of return addresses; %" PRIu64 " without a known call, %" PRIu64
	       " without a row; %" PRIu64 " wrong\n", argv[optind], counts.steps, counts.judged,
	       counts.saved, counts.returns, counts.unknown, counts.no_row, counts.wrong);
	return counts.wrong || !counts.judged;
}
