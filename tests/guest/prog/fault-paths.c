// SPDX-License-Identifier: GPL-2.0
/*
 * fault-paths: print the right stack, then change this task's stack in ways that deferred unwinding
 * got wrong. For the tests of fault/.
 *
 *	fault-paths exec PROGRAM	execve from a known path
 *	fault-paths execthread PROGRAM	the same in a thread that is not the leader
 *	fault-paths execserved PROGRAM	with a frame in a page that a thread serves by userfaultfd,
 *					until execve() ends that thread
 *	fault-paths pauseserved		pause() with such a frame, which nobody serves
 *	fault-paths exit | killed | exitthread
 *					end there, in three ways
 *	fault-paths exitelsewhere	getppid, then exit_group in memory that no stack was in
 *					before; "elsewhere PID START ADDRESS": where that starts,
 *					and where exit_group would return to
 *	fault-paths sigreturn N		N signals to itself, from a known path
 *	fault-paths read		read a byte from standard input
 *	fault-paths signalled | spinning | absent
 *					a tracer sends its child elsewhere while that is stopped by
 *					a signal: in read(), in a loop without system calls, in one
 *					with a frame in a page that is not in memory
 *	fault-paths depth N		getppid with a stack of exactly N frames
 *	fault-paths badfp | zerofp	getppid with a frame pointer to nowhere, or 0
 *	fault-paths late N		N times: system calls from four paths in turn, and the same
 *					one from two callers, on one CPU with a second process that
 *					does the same
 *	fault-paths faulting FILE SCRIPT
 *					write SCRIPT to FILE with a frame in a page of a file that
 *					is not there yet; the page's address comes first
 *	fault-paths hammer FILE TASKS CYCLES
 *					tests/guest/modules/fault_hammer.c
 *
 * A line "path NAME TID ADDRESS..." is a stack, innermost address first. It is complete unless it
 * ends in "...". Every function here keeps its frame pointer. A complete stack starts in
 * outermost(), with the frame pointer 0 that the ABI asks for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
/* No call here may become a jump (tail call) */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

/* A system call. Its return address and function have unique names; late_step.c skips the nop */
#define SYSCALL(name, ret, nr, a1, a2, a3)						\
	__asm__ volatile("syscall\n\t.globl " #name "\n" #name ":\n\tnop"		\
			 : "=a"(ret)							\
			 : "0"((long)(nr)), "D"((long)(a1)), "S"((long)(a2)), "d"((long)(a3)) \
			 : "rcx", "r11", "memory")

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void flush(void)
{
	fflush(stdout);
}

/* The return addresses from the caller's frame up to the frame whose frame pointer is 0 */
static inline __attribute__((always_inline)) void print_path(const char *name, const char *ip)
{
	uintptr_t *fp = __builtin_frame_address(0);

	printf("path %s %ld %lx", name, syscall(SYS_gettid), (unsigned long)ip);
	for (; fp; fp = (uintptr_t *)fp[0])
		printf(" %lx", (unsigned long)fp[1]);
	printf("\n");
	flush();
}

/* Call fn(arg) with a frame that has no caller. */
static NOINLINE long outermost(long (*fn)(long), long arg)
{
	long ret;

	__asm__ volatile("push %%rbp\n\t"
			 "mov %%rsp, %%rbx\n\t"
			 "and $-16, %%rsp\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%[fn]\n\t"
			 "mov %%rbx, %%rsp\n\t"
			 "pop %%rbp"
			 : "=a"(ret), "+D"(arg)
			 : [fn] "r"(fn)
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return ret;
}

/* Two more frames, so that the path is longer */
static NOINLINE long middle(long (*fn)(long), long arg)
{
	long ret = fn(arg);

	KEEP_FRAME();
	return ret;
}

#define PATH_TO(fn)								\
static NOINLINE long fn##_path(long arg)					\
{										\
	long ret = middle(fn, arg);						\
										\
	KEEP_FRAME();								\
	return ret;								\
}

/* exec */
extern const char ip_exec[];
static const char *program;

static NOINLINE long do_exec(long arg)
{
	const char *argv[] = { program, "child", NULL };
	const char *envp[] = { NULL };
	long ret;

	(void)arg;
	print_path("exec", ip_exec);
	SYSCALL(ip_exec, ret, SYS_execve, program, argv, envp);
	fprintf(stderr, "fault-paths: cannot execute %s: %s\n", program, strerror(-ret));
	exit(1);
}
PATH_TO(do_exec)

/* exit */
extern const char ip_exit_group[], ip_exit[], ip_read[];

static NOINLINE long do_exit_group(long arg)
{
	long ret;

	print_path("exit", ip_exit_group);
	SYSCALL(ip_exit_group, ret, SYS_exit_group, arg, 0, 0);
	return ret;
}
PATH_TO(do_exit_group)

static NOINLINE long do_exit(long arg)
{
	long ret;

	print_path("exit", ip_exit);
	SYSCALL(ip_exit, ret, SYS_exit, arg, 0, 0);
	return ret;
}
PATH_TO(do_exit)

static int exit_elsewhere(void)
{
	/* xor %edi,%edi; mov $SYS_exit_group,%eax; syscall */
	static const unsigned char code[] = { 0x31, 0xff, 0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05 };
	char *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		return 1;
	memcpy(to, code, sizeof(code));
	printf("elsewhere %d %lx %lx\n", getpid(), (long)to, (long)to + sizeof(code));
	fflush(NULL);
	/* until the reader waits for more */
	sleep(1);
	getppid();
	((void (*)(void))to)();
	return 1;
}

static NOINLINE long do_read(long fd)
{
	char c;
	long ret;

	print_path("exit", ip_read);
	SYSCALL(ip_read, ret, SYS_read, fd, &c, 1);
	return ret;
}
PATH_TO(do_read)

static void until_asleep(pid_t pid)
{
	char path[64], line[512], *end;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 20000; i++) {
		FILE *f = fopen(path, "r");

		end = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (f)
			fclose(f);
		if (end && end[1] == ' ' && end[2] == 'S')
			return;
		usleep(1000);
	}
	die("the task does not sleep");
}

static void *in_thread(void *fn)
{
	/* Until the leader sleeps in pthread_join() it is not woken */
	until_asleep(getpid());
	outermost((long (*)(long))fn, 0);
	return NULL;
}

static int run_in_thread(long (*fn)(long))
{
	pthread_t t;

	if (pthread_create(&t, NULL, in_thread, fn))
		die("pthread_create");
	pthread_join(t, NULL);
	return 0;
}

/* A child that is killed while it reads from an empty pipe */
static int killed(void)
{
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (!pid)
		exit(outermost(do_read_path, fds[0]));
	until_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return !WIFSIGNALED(status);
}

/* signalled, spinning, absent */
extern const char ip_spin[], ip_absent[];

static NOINLINE long do_spin(long fd)
{
	/* Asleep for a moment, as the kernel walks for a stop only who was walked before */
	usleep(1000);
	print_path("spin", ip_spin);
	if (write(fd, "", 1) != 1)
		die("write");
	__asm__ volatile(".globl ip_spin\nip_spin:\n\tjmp ip_spin" ::: "memory");
	return fd;
}
PATH_TO(do_spin)

static NOINLINE void do_absent(int fd)
{
	uintptr_t frame[2] = { 0, (uintptr_t)do_absent };
	int file = memfd_create("frame", 0);
	char *map;

	if (file < 0 || pwrite(file, frame, sizeof(frame), 4096) != sizeof(frame) ||
	    ftruncate(file, 2 * 4096))
		die("memfd_create");
	map = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		die("mmap");
	printf("path absent %ld %lx\n", syscall(SYS_gettid), (unsigned long)ip_absent);
	flush();
	if (write(fd, "", 1) != 1)
		die("write");
	/* Walks only go up, so the stack must be below */
	__asm__ volatile("mov %[sp], %%rsp\n\t"
			 "mov %[fp], %%rbp\n"
			 ".globl ip_absent\nip_absent:\n\t"
			 "jmp ip_absent"
			 : : [sp] "r"(map + 2048), [fp] "r"(map + 4096) : "memory");
	__builtin_unreachable();
}

/* Ends without the dynamic loader, which needs more stack than there may be. */
static NOINLINE void elsewhere(void)
{
	__asm__ volatile("syscall" : : "a"((long)SYS_exit_group), "D"(0L) :
			 "rcx", "r11", "memory");
	__builtin_unreachable();
}

static void until_stopped(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("the child does not stop");
}

/* Change where the child goes on, and where its function returns to, as a debugger may */
static int stopped(const char *how)
{
	int fds[2], status, spins = !strcmp(how, "spinning"), absent = !strcmp(how, "absent");
	struct user_regs_struct regs;
	pid_t pid;
	char c;

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		if (spins)
			outermost(do_spin_path, fds[1]);
		else if (absent)
			do_absent(fds[1]);
		else
			outermost(do_read_path, fds[0]);
		_exit(1);
	}
	until_stopped(pid);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (!spins && !absent)
		until_asleep(pid);
	else if (read(fds[0], &c, 1) != 1)
		die("read");
	else
		sleep(1);	/* it is on its way to the loop */
	kill(pid, SIGUSR1);
	until_stopped(pid);
	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	ptrace(PTRACE_POKEDATA, pid, regs.rbp + 8, 0);
	regs.rip = (uintptr_t)elsewhere;
	regs.rsp = (regs.rsp - 256) & ~15UL;
	regs.orig_rax = -1;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	return waitpid(pid, &status, 0) != pid || status;
}

/* sigreturn */
extern const char fault_restorer[], ip_sigreturn[];

__asm__(".text\n.globl fault_restorer\nfault_restorer:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".globl ip_sigreturn\nip_sigreturn:\n"
	"	ud2\n");

static void handler(int sig)
{
	(void)sig;
}

extern const char ip_kill[];

static NOINLINE long do_kill(long n)
{
	long ret;

	print_path("kill", ip_kill);
	while (n--)
		SYSCALL(ip_kill, ret, SYS_kill, getpid(), SIGUSR1, 0);
	return 0;
}
PATH_TO(do_kill)

static int signals(int n)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		const char *restorer;
		unsigned long mask;
	} sa = { handler, 0x04000000 /* SA_RESTORER */, fault_restorer, 0 };

	if (syscall(SYS_rt_sigaction, SIGUSR1, &sa, NULL, 8))
		die("rt_sigaction");
	printf("path sigreturn %ld %lx ...\n", syscall(SYS_gettid), (unsigned long)ip_sigreturn);
	flush();
	return outermost(do_kill_path, n);
}

/* depth */
extern const char ip_getppid[], ip_badfp[];

static NOINLINE long recurse(long left)
{
	long ret;

	if (left) {
		ret = recurse(left - 1);
		KEEP_FRAME();
		return ret;
	}
	print_path("depth", ip_getppid);
	SYSCALL(ip_getppid, ret, SYS_getppid, 0, 0, 0);
	return ret;
}

/* One system call with another frame pointer, and stack pointer unless that is 0 */
static NOINLINE long with_fp(uintptr_t fp, uintptr_t sp, long nr, long a1, long a2, long a3)
{
	long ret;

	__asm__ volatile("push %%rbp\n\t"
			 "mov %%rsp, %%rbx\n\t"
			 "test %[sp], %[sp]\n\t"
			 "cmovnz %[sp], %%rsp\n\t"
			 "mov %[fp], %%rbp\n\t"
			 "syscall\n"
			 ".globl ip_badfp\nip_badfp:\n\t"
			 "mov %%rbx, %%rsp\n\t"
			 "pop %%rbp"
			 : "=a"(ret)
			 : "0"(nr), "D"(a1), "S"(a2), "d"(a3), [fp] "r"(fp), [sp] "r"(sp)
			 : "rbx", "rcx", "r11", "memory", "cc");
	return ret;
}

static void print_badfp(void)
{
	printf("path badfp %ld %lx\n", syscall(SYS_gettid), (unsigned long)ip_badfp);
	flush();
}

/* A page that the kernel reads from its file only when the walk gets there */
static int faulting(const char *file, const char *script)
{
	uintptr_t frame[4] = { 0, (uintptr_t)faulting, 0, 0 };
	char name[] = "frame.XXXXXX";
	int fd = open(file, O_WRONLY), page = mkstemp(name);
	char *map;

	if (fd < 0)
		die(file);
	if (page < 0 || pwrite(page, frame, sizeof(frame), 4096) != sizeof(frame) ||
	    ftruncate(page, 2 * 4096))
		die(name);
	unlink(name);
	map = mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE, page, 0);
	if (map == MAP_FAILED)
		die("mmap");
	printf("page %lx\n", (unsigned long)map + 4096);
	flush();
	getchar();
	/* Walks only go up, so the stack must be below */
	return with_fp((uintptr_t)map + 4096, (uintptr_t)map + 16, SYS_write, fd, (long)script,
		       strlen(script)) < 0;
}

static int served = -1;		/* a userfaultfd */
static pid_t server_tid;

static void *server(void *page)
{
	static char frame[4096];
	struct uffdio_copy copy = { .dst = (uintptr_t)page, .src = (uintptr_t)frame, .len = 4096 };
	struct uffd_msg msg;

	__atomic_store_n(&server_tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (read(served, &msg, sizeof(msg)) == sizeof(msg))
		ioctl(served, UFFDIO_COPY, &copy);
	return NULL;
}

/* Memory for with_fp() whose second page is served */
static char *served_pages(void)
{
	char *map = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	struct uffdio_register reg = {
		.range = { (uintptr_t)map + 4096, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };

	served = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (map == MAP_FAILED || served < 0 || ioctl(served, UFFDIO_API, &api) ||
	    ioctl(served, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	map[0] = 0;
	print_badfp();
	return map;
}

static int exec_served(void)
{
	char *map = served_pages();
	const char *argv[] = { program, NULL };
	pthread_t t;

	if (pthread_create(&t, NULL, server, map + 4096) || pthread_setname_np(t, "server"))
		die("pthread_create");
	/* Only a thread that sleeps is woken */
	while (!__atomic_load_n(&server_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	until_asleep(server_tid);
	with_fp((uintptr_t)map + 4096, (uintptr_t)map + 16, SYS_execve, (long)program, (long)argv,
		(long)(argv + 1));
	die(program);
	return 1;
}

static int pause_served(void)
{
	char *map = served_pages();

	return with_fp((uintptr_t)map + 4096, (uintptr_t)map + 16, SYS_pause, 0, 0, 0) < 0;
}

/* late: four paths, each with two system calls of its own */
#define LATE(n)									\
extern const char ip_mark##n[], ip_yield##n[];					\
static NOINLINE long do_late##n(long arg)					\
{										\
	long ret;								\
										\
	SYSCALL(ip_mark##n, ret, SYS_getppid, n, arg, 0);			\
	SYSCALL(ip_yield##n, ret, SYS_sched_yield, n, arg, 0);			\
	return ret;								\
}										\
PATH_TO(do_late##n)
LATE(0)
LATE(1)
LATE(2)
LATE(3)

/* And two that make the same system call with equal frames, one after the other */
extern const char ip_same[];
static const void *same_caller[2];

static NOINLINE void do_same(long n)
{
	long ret;

	SYSCALL(ip_same, ret, SYS_sched_yield, n, 0, 0);
	same_caller[n - 4] = __builtin_return_address(0);
}

static NOINLINE void do_same4(void)
{
	do_same(4);
	KEEP_FRAME();
}

static NOINLINE void do_same5(void)
{
	do_same(5);
	KEEP_FRAME();
}

static NOINLINE long do_both(long n)
{
	while (n--) {
		do_same4();
		do_same5();
	}
	return 0;
}

static int late(long n)
{
	cpu_set_t one;
	pid_t pid;
	long i;
	int status;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	printf("call %lx %lx %lx %lx %lx %lx %lx %lx\n",
	       (unsigned long)ip_mark0, (unsigned long)ip_yield0,
	       (unsigned long)ip_mark1, (unsigned long)ip_yield1,
	       (unsigned long)ip_mark2, (unsigned long)ip_yield2,
	       (unsigned long)ip_mark3, (unsigned long)ip_yield3);
	flush();
	pid = fork();
	for (i = 0; i < n; i++) {
		outermost(do_late0_path, i);
		outermost(do_late1_path, i);
		outermost(do_late2_path, i);
		outermost(do_late3_path, i);
		outermost(do_both, 2);
	}
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	printf("same %lx %lx %lx\n", (unsigned long)ip_same, (unsigned long)same_caller[0],
	       (unsigned long)same_caller[1]);
	flush();
	return 0;
}

/* hammer */
static volatile int stop;

/* Each has an open file of its own: writes to a shared one wait for each other */
static void *requester(void *file)
{
	int fd = open(file, O_WRONLY);

	while (!stop)
		if (write(fd, "r", 1) != 1)
			die("request");
	return NULL;
}

static int hammer(const char *file, int tasks, int cycles)
{
	pthread_t t[64];
	long fd = open(file, O_WRONLY);
	int i;

	if (fd < 0)
		die(file);
	for (i = 0; i < tasks && i < 64; i++)
		if (pthread_create(&t[i], NULL, requester, (void *)file))
			die("pthread_create");
	/* Two tasks cancel */
	if (!fork()) {
		fd = open(file, O_WRONLY);
		for (i = 0; i < cycles; i++)
			if (write(fd, "c", 1) != 1)
				die("cycle");
		_exit(0);
	}
	for (i = 0; i < cycles; i++)
		if (write(fd, "c", 1) != 1)
			die("cycle");
	wait(NULL);
	stop = 1;
	for (i = 0; i < tasks && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static int is(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

int main(int argc, char **argv)
{
	const char *arg = argc > 2 ? argv[2] : NULL;
	const char *what = argc > 1 ? argv[1] : "";

	program = arg;
	if (is(what, "exec") && arg)
		return outermost(do_exec_path, 0);
	if (is(what, "execthread") && arg)
		return run_in_thread(do_exec_path);
	if (is(what, "execserved") && arg)
		return exec_served();
	if (is(what, "pauseserved"))
		return pause_served();
	if (is(what, "exit"))
		return outermost(do_exit_group_path, 0);
	if (is(what, "exitthread"))
		return run_in_thread(do_exit_path);
	if (is(what, "killed"))
		return killed();
	if (is(what, "exitelsewhere"))
		return exit_elsewhere();
	if (is(what, "read"))
		return outermost(do_read_path, 0) != 1;
	if (is(what, "signalled") || is(what, "spinning") || is(what, "absent"))
		return stopped(what);
	if (is(what, "sigreturn") && arg)
		return signals(atoi(arg));
	/* getppid's address, a return to each recurse() that called, and one to outermost() */
	if (is(what, "depth") && arg)
		return outermost(recurse, atoi(arg) - 2) < 0;
	if (is(what, "badfp")) {
		print_badfp();
		return with_fp(8, 0, SYS_getppid, 0, 0, 0) < 0;
	}
	if (is(what, "zerofp")) {
		print_badfp();
		return with_fp(0, 0, SYS_getppid, 0, 0, 0) < 0;
	}
	if (is(what, "late") && arg)
		return late(atol(arg));
	if (is(what, "faulting") && argc == 4)
		return faulting(arg, argv[3]);
	if (is(what, "hammer") && argc == 5)
		return hammer(arg, atoi(argv[3]), atoi(argv[4]));
	fprintf(stderr, "fault-paths: what to do? See the comment in its source.\n");
	return 2;
}
