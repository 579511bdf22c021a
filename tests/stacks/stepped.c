// SPDX-License-Identifier: GPL-2.0
/*
 * stepped [NAME...]: the program that singlestep steps through. It enters and leaves frames in
 * every way that C has. NAME: see the table at the end; the default is all. Exits with 0 if all
 * results are right.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "stepped.h"

volatile int sink;
static const char *self;
static int failed;

static void expect(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "stepped: %s\n", what);
		failed = 1;
	}
}

/* -------------------------------- frames -------------------------------- */

/* no call, so its variables may lie below SP */
static NOINLINE int red_zone(int n)
{
	volatile int a[12];
	int i, sum = 0;

	for (i = 0; i < 12; i++)
		a[i] = n * i;
	for (i = 0; i < 12; i++)
		sum += a[i];
	return sum;
}

static NOINLINE int many_registers(const int *p, int a, int b, int c, int d, int e, int f)
{
	int g = red_zone(a), h = red_zone(b), i = red_zone(c), j = red_zone(d);

	return g * h + i * j + red_zone(e) * p[0] + red_zone(f) * p[1] + a * b * c * d * e * f;
}

static NOINLINE int varying(int n)
{
	char buf[n + 8], *more = alloca(3 * n);

	memset(buf, n, n + 8);
	memset(more, 1, 3 * n);
	return buf[n] + more[n] + red_zone(n);
}

/* GCC counts from a register of its own here (DRAP) */
static NOINLINE int aligned(int n, ...)
{
	char buf[96] __attribute__((aligned(64)));
	va_list ap;
	int v;

	va_start(ap, n);
	v = va_arg(ap, int);
	va_end(ap);
	memset(buf, v, sizeof(buf));
	return buf[n] + red_zone(v) + varying(n);
}

static NOINLINE int big(int n)
{
	volatile char buf[20000];

	buf[n] = 1;
	buf[19999] = n;
	return buf[n] + red_zone(n);
}

static NOINLINE int tail(int n)
{
	if (n & 1)
		return red_zone(n + 1);
	return varying(n);
}

static NOINLINE double floats(double a, double b)
{
	double c[4] = { a, b, a * b, a + b };

	sink += red_zone(a);
	return c[sink & 3] * a + b;
}

void deep(int n, void (*leaf)(void))
{
	volatile int here = n;

	if (n)
		deep(n - 1, leaf);
	else
		leaf();
	sink += here;
}

static void frames(void)
{
	int p[2] = { 3, 4 };

	sink += many_registers(p, 1, 2, 3, 4, 5, 6);
	sink += varying(20) + aligned(7, 5) + big(4321) + tail(3) + tail(4);
	sink += floats(2, 3);
}

/* Functions of libc, first through the lazy binding of their stubs */
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void libc(void)
{
	int a[] = { 5, 3, 9, 1, 7 }, key = 7;
	struct timespec ts;
	char buf[64];

	qsort(a, 5, sizeof(a[0]), compare);
	expect(bsearch(&key, a, 5, sizeof(a[0]), compare) == &a[3], "bsearch");
	snprintf(buf, sizeof(buf), "%d %s %.3f", a[0], "abc", 1.5);
	expect(!strcmp(buf, "1 abc 1.500"), buf);
	sink += strtol("1234", NULL, 10) + getpid() + (int)strlen(buf);
	/* in the vDSO */
	clock_gettime(CLOCK_MONOTONIC, &ts);
	free(malloc(100));
}

/* -------------------------------- signals ------------------------------- */

static volatile int handled;
static sigjmp_buf out;

static void handler(int sig)
{
	sink += red_zone(sig);
	handled++;
}

static void nested(int sig)
{
	(void)sig;
	raise(SIGUSR1);
	handled++;
}

static void jumps(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(out, 1);
}

/* the handler makes the instruction succeed */
static void *volatile page;
static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	uc->uc_mcontext.gregs[REG_RAX] = (greg_t)page;
	handled++;
}

static void set_handler(int sig, void (*f)(int), int flags)
{
	struct sigaction sa = { .sa_handler = f, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void raise_usr1(void)
{
	raise(SIGUSR1);
}

static void raise_usr2(void)
{
	raise(SIGUSR2);
}

static void abort_here(void)
{
	abort();
}

static NOINLINE void never_returns(int n)
{
	/* the last instruction of this function is a call */
	if (n)
		abort_here();
	abort();
}

static void raise_abort(void)
{
	never_returns(sink + 1);
}

static void signals(void)
{
	handled = 0;
	set_handler(SIGUSR1, handler, 0);
	raise(SIGUSR1);
	deep(3, raise_usr1);
	set_handler(SIGUSR2, nested, 0);
	deep(2, raise_usr2);
	expect(handled == 4, "signals handled");
	set_handler(SIGUSR2, nested, SA_NODEFER);
	set_handler(SIGUSR1, jumps, 0);
	if (!sigsetjmp(out, 1))
		deep(4, raise_usr2);
	set_handler(SIGABRT, jumps, 0);
	if (!sigsetjmp(out, 1))
		deep(2, raise_abort);
	expect(handled == 6, "signals left");
}

/* on stacks of their own, each in its own mapping */
static void alternate(void)
{
	stack_t ss = { .ss_size = 65536 }, off = { .ss_flags = SS_DISABLE };

	ss.ss_sp = mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	sigaltstack(&ss, NULL);
	handled = 0;
	set_handler(SIGUSR1, handler, SA_ONSTACK);
	deep(2, raise_usr1);
	set_handler(SIGUSR2, nested, SA_ONSTACK);
	deep(2, raise_usr2);
	set_handler(SIGUSR1, jumps, SA_ONSTACK);
	if (!sigsetjmp(out, 1))
		deep(3, raise_usr2);
	expect(handled == 4, "signals on another stack");
	sigaltstack(&off, NULL);
	munmap(ss.ss_sp, ss.ss_size);
}

/* in the middle of functions, at the instruction that faults */
static NOINLINE int read_at(const volatile int *p)
{
	int v;

	asm volatile("mov (%1), %0" : "=r" (v) : "a" (p));
	return v + red_zone(1);
}

static void faults(void)
{
	struct sigaction sa = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };

	page = &failed;
	handled = 0;
	sigaction(SIGSEGV, &sa, NULL);
	sink += read_at((void *)8);
	expect(handled == 1, "faults handled");
	signal(SIGSEGV, SIG_DFL);
}

/* ------------------------------- jumps ---------------------------------- */

static jmp_buf back;

static void jump(void)
{
	longjmp(back, 2);
}

static NOINLINE void jump_out(void)
{
	volatile int again = 0;

	if (!setjmp(back))
		deep(6, jump);
	if (!again++)
		deep(1, jump);
}

static ucontext_t main_context, other_context;

static void coroutine(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		sink += red_zone(i);
		swapcontext(&other_context, &main_context);
	}
}

static void contexts(void)
{
	size_t size = 65536;
	char *stack = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	mprotect(stack + size, size, PROT_READ | PROT_WRITE);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack + size;
	other_context.uc_stack.ss_size = size;
	other_context.uc_link = &main_context;
	makecontext(&other_context, (void (*)(void))coroutine, 1, 2);
	for (i = 0; i < 3; i++)
		swapcontext(&main_context, &other_context);
	munmap(stack, 3 * size);
}

/* ------------------------------ processes ------------------------------- */

static void *thread(void *arg)
{
	deep(2, frames);
	return arg;
}

static void threads(void)
{
	pthread_t t;
	void *got = NULL;

	expect(!pthread_create(&t, NULL, thread, &t) && !pthread_join(t, &got) && got == &t,
	       "thread");
}

static void processes(void)
{
	char *argv[] = { (char *)self, "frames", NULL };
	int status = -1;
	pid_t pid;

	pid = vfork();
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "vfork");
	pid = fork();
	if (!pid) {
		frames();
		_exit(8);
	}
	waitpid(pid, &status, 0);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 8, "fork");
	expect(!posix_spawn(&pid, self, NULL, NULL, argv, environ), "posix_spawn");
	waitpid(pid, &status, 0);
	expect(WIFEXITED(status) && !WEXITSTATUS(status), "the program spawned");
}

static void dl(void)
{
	library(self);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "frames", frames }, { "libc", libc }, { "signals", signals }, { "alternate", alternate },
	{ "faults", faults }, { "jumps", jump_out }, { "contexts", contexts },
	{ "threads", threads }, { "processes", processes }, { "throw", throw_once },
	{ "rethrow", throw_and_catch }, { "dlopen", dl },
};

int main(int argc, char **argv)
{
	unsigned int i, n;
	int a;

	self = argv[0];
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		for (a = 1, n = argc == 1; a < argc; a++)
			n += !strcmp(argv[a], parts[i].name);
		if (n)
			parts[i].run();
	}
	return failed;
}
