// SPDX-License-Identifier: GPL-2.0
/*
 * observe - play the kernel for the audit module, and judge the module's requests
 *
 *	observe [OPTION...] CMD [ARGUMENT...]
 *	  -c DIR	directory of the cache
 *	  -w NAME	the object of this name has no table (repeated)
 *	  -n		no object has a table, except the module: its table is in its file
 *	  -s		say that the program is setuid (AT_SECURE)
 *	  -e ERRNO	answer everything with this; then there is one attempt for each execve()
 *	  -r		refuse all tables, as if they were damaged
 *	  -k		tables for memory that is gone may stay
 *	  -x		do not check when the program ends: other threads are still loading
 *	  -v		print the requests
 *
 * A filter of system calls stops the program at each prctl(), and observe answers as the kernel
 * does. Each registered table must be the table of the file that is mapped there, byte for byte,
 * for its whole segment of code. observe checks four rules at each prctl(MARK) of the program, and
 * when the program ends. All code that is mapped from files has a table, except the objects of -w.
 * No table is for memory that has gone. No table is mapped without being registered. No descriptor
 * is left open.
 *
 * Exit status: that of CMD, 128 + N for signal N; 99 if something was wrong, with a line for each
 * finding on standard error.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark.h"
#include "observe.h"

static struct {
	const char *without[16];
	unsigned int nr_without;
	bool nothing, secure, refuse, running, stale, verbose;
	int error;
	int wrong;
} opt;

static struct process process[MAX_PROCESSES];

void wrong(const struct process *p, const char *fmt, ...)
{
	va_list ap;

	opt.wrong++;
	fprintf(stderr, "observe: %d: ", (int)p->tgid);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ------------------------------- processes ------------------------------- */

static pid_t tgid_of(pid_t tid)
{
	char path[64], line[256];
	pid_t tgid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %d", &tgid);
	if (f)
		fclose(f);
	return tgid;
}

static struct process *process_of(pid_t tid)
{
	pid_t tgid = tgid_of(tid);
	struct process *p, *unused = NULL;

	for (p = process; p < process + MAX_PROCESSES; p++) {
		if (p->tgid == tgid)
			return p;
		if (!p->tgid && !unused)
			unused = p;
	}
	if (!unused)
		errx_full();
	memset(unused, 0, sizeof(*unused));
	unused->tgid = tgid;
	return unused;
}

/* --------------------------------- prctl --------------------------------- */

static int replace(struct process *p, const struct unwind_table_user *new, uint64_t start,
		   uint64_t end)
{
	unsigned int i, n = 0, gone;

	for (i = 0; i < p->nr; i++) {
		const struct unwind_table_user *t = &p->table[i];

		if (t->text_start >= end || t->text_start + t->text_size <= start)
			p->table[n++] = *t;
	}
	gone = p->nr - n;
	p->nr = n;
	if (new && p->nr < MAX_TABLES)
		p->table[p->nr++] = *new;
	return gone;
}

static long answer(struct process *p, pid_t tid, const struct user_regs_struct *regs)
{
	struct unwind_table_user arg;
	struct iovec here = { &arg, sizeof(arg) }, there = { (void *)regs->rsi, sizeof(arg) };
	bool add = (int)regs->rdi == PR_ADD_SFRAME;

	p->asked++;
	if (opt.verbose)
		fprintf(stderr, "%d: %s", (int)tid, add ? "add" : "remove");
	if (opt.error) {
		if (p->asked > 1)
			wrong(p, "attempt %u after an error", p->asked);
		return -opt.error;
	}
	if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof(arg) ||
	    regs->rdx != sizeof(arg) || regs->r10 || regs->r8 || arg.size != sizeof(arg) ||
	    arg.flags) {
		wrong(p, "a prctl() with arguments that the kernel refuses");
		return -EINVAL;
	}
	if (opt.verbose)
		fprintf(stderr, " text %#" PRIx64 "+%#" PRIx64 " table %#" PRIx64 "+%#" PRIx64
			" base %#" PRIx64 "\n", arg.text_start, arg.text_size, arg.table,
			arg.table_size, arg.table_base);
	if (!add)
		return replace(p, NULL, arg.text_start, arg.text_start + arg.text_size) ? 0 :
		       -ENOENT;
	if (!table_is_right(p, &arg))
		return -EINVAL;
	if (opt.refuse)
		return -EBADMSG;
	replace(p, &arg, arg.text_start, arg.text_start + arg.text_size);
	return 0;
}

/* Say that the program is setuid: the kernel has written the vector. */
static void make_secure(pid_t tid, const struct user_regs_struct *regs)
{
	Elf64_auxv_t aux[64];
	struct iovec here = { aux, sizeof(aux) }, there = { (void *)regs->rsi, sizeof(aux) };
	ssize_t n = process_vm_readv(tid, &here, 1, &there, 1, 0);
	size_t i;

	for (i = 0; n > 0 && i < n / sizeof(*aux) && aux[i].a_type != AT_NULL; i++) {
		if (aux[i].a_type == AT_SECURE)
			aux[i].a_un.a_val = 1;
	}
	here.iov_len = n > 0 ? n : 0;
	there.iov_len = here.iov_len;
	process_vm_writev(tid, &here, 1, &there, 1, 0);
}

/* ---------------------------------- marks -------------------------------- */

static bool expected(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	unsigned int i;

	if (opt.error || opt.refuse)
		return false;
	if (opt.nothing)
		return !strcmp(name, "libunwind-user-audit.so");
	for (i = 0; i < opt.nr_without; i++) {
		if (!strcmp(opt.without[i], name))
			return false;
	}
	return true;
}

static void check_descriptors(struct process *p)
{
	char path[64], to[512];
	struct dirent *d;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)p->tgid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		if ((cache_dir && !strncmp(to, cache_dir, strlen(cache_dir))) ||
		    strstr(to, "/status"))
			wrong(p, "descriptor %s is open: %s", d->d_name, to);
	}
	if (dir)
		closedir(dir);
}

static void check(struct process *p, const char *when)
{
	static struct mapping map[MAX_MAPPINGS];
	unsigned int nr = read_maps(p->tgid, map), i, k, mapped = 0, registered = 0;
	bool has;

	for (i = 0; i < nr; i++) {
		mapped += is_cached(&map[i]);
		if (!map[i].exec || (*map[i].path != '/' && strcmp(map[i].path, "[vdso]")))
			continue;
		for (k = 0, has = false; k < p->nr; k++)
			has |= p->table[k].text_start >= map[i].start &&
			       p->table[k].text_start < map[i].end;
		if (has != expected(map[i].path))
			wrong(p, "%s: %s: %s", when, map[i].path, has ? "has a table" :
			      "has no table");
	}
	for (k = 0; k < p->nr; k++) {
		for (i = 0; i < nr && !(map[i].start <= p->table[k].text_start &&
					p->table[k].text_start < map[i].end); i++)
			;
		if (i == nr && !opt.stale)
			wrong(p, "%s: a table for memory that is gone: %#" PRIx64, when,
			      p->table[k].text_start);
		for (i = 0; i < nr && !(map[i].start <= p->table[k].table &&
					p->table[k].table < map[i].end); i++)
			;
		if (i == nr)
			wrong(p, "%s: the table for %#" PRIx64 " is gone", when,
			      p->table[k].text_start);
		else if (is_cached(&map[i]))
			registered++;
	}
	if (mapped != registered)
		wrong(p, "%s: %u tables of the cache are mapped, %u registered", when, mapped,
		      registered);
	check_descriptors(p);
}

/* ---------------------------------- main --------------------------------- */

/* TRACE for the prctl()s of interest, with their number in rdi. */
static void filter(void)
{
#define OPTION(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		OPTION(PR_ADD_SFRAME), OPTION(PR_REMOVE_SFRAME), OPTION(MARK),
		OPTION(MARK_GET_AUXV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("observe: no filter of system calls");
		_exit(98);
	}
}

static void on_prctl(pid_t tid)
{
	struct process *p = process_of(tid);
	struct user_regs_struct regs;
	int status;

	/* The thread has been killed meanwhile, as its process ends */
	if (ptrace(PTRACE_GETREGS, tid, 0, &regs))
		return;
	if ((int)regs.rdi == MARK_GET_AUXV) {
		if (!opt.secure)
			return;
		ptrace(PTRACE_SYSCALL, tid, 0, 0);
		if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			make_secure(tid, &regs);
		return;
	}
	if ((int)regs.rdi == MARK) {
		check(p, (const char[]){ 'a' + regs.rsi % 26, 0 });
		regs.rax = 0;
		p->marks++;
	} else {
		regs.rax = answer(p, tid, &regs);
		if (opt.verbose)
			fprintf(stderr, "  = %ld\n", (long)regs.rax);
	}
	regs.orig_rax = -1;
	ptrace(PTRACE_SETREGS, tid, 0, &regs);
}

static void on_event(pid_t tid, int event)
{
	struct process *p = process_of(tid), *child;
	unsigned long value = 0;

	if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &value) && event != PTRACE_EVENT_EXIT)
		return;
	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		on_prctl(tid);
		break;
	case PTRACE_EVENT_EXEC:
		p->nr = 0;
		p->asked = 0;
		p->marks = 0;
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		child = process_of(value);
		memcpy(child->table, p->table, sizeof(p->table));
		child->nr = p->nr;
		child->asked = p->asked;
		child->known = true;
		if (child->waits)
			ptrace(PTRACE_CONT, child->tgid, 0, 0);
		break;
	case PTRACE_EVENT_EXIT:
		if (tid == p->tgid && !WIFSIGNALED(value) && !opt.running)
			check(p, "at the end");
		if (tid == p->tgid)
			p->tgid = 0;
	}
}

static int run(pid_t first)
{
	int status, ret = 0, event, sig;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (tid == first)
				ret = WIFEXITED(status) ? WEXITSTATUS(status) :
				      128 + WTERMSIG(status);
			continue;
		}
		event = status >> 16;
		sig = event ? 0 : WSTOPSIG(status);
		if (event && event != PTRACE_EVENT_STOP)
			on_event(tid, event);
		/*
		 * The first stop of a new task. It can come before its parent's stop, which says
		 * which tables the task has.
		 */
		if (sig == SIGSTOP && !process_of(tid)->known) {
			process_of(tid)->waits = true;
			continue;
		}
		if (sig == SIGSTOP || sig == SIGTRAP)
			sig = 0;
		ptrace(PTRACE_CONT, tid, 0, sig);
	}
	return ret;
}

int main(int argc, char **argv)
{
	int c, ret, status;
	pid_t pid;

	while ((c = getopt(argc, argv, "+c:w:nskrxe:v")) != -1) {
		switch (c) {
		case 'c':
			cache_dir = optarg;
			break;
		case 'w':
			opt.without[opt.nr_without++ % 16] = optarg;
			break;
		case 'n':
			opt.nothing = true;
			break;
		case 's':
			opt.secure = true;
			break;
		case 'k':
			opt.stale = true;
			break;
		case 'r':
			opt.refuse = true;
			break;
		case 'x':
			opt.running = true;
			break;
		case 'e':
			opt.error = atoi(optarg);
			break;
		case 'v':
			opt.verbose = true;
			break;
		default:
			return 98;
		}
	}
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		if (getenv("OBSERVED_AUDIT"))
			setenv("LD_AUDIT", getenv("OBSERVED_AUDIT"), 1);
		filter();
		execvp(argv[optind], argv + optind);
		perror(argv[optind]);
		_exit(98);
	}
	waitpid(pid, &status, 0);
	process_of(pid)->known = true;
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC |
	       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
	       PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	ptrace(PTRACE_CONT, pid, 0, 0);
	ret = run(pid);
	return opt.wrong ? 99 : ret;
}
