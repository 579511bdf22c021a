// SPDX-License-Identifier: GPL-2.0
/*
 * m32.c - what compiler, C library and kernel put on the stack of a 32-bit program
 *
 * Prints one line for each path that it takes: a system call, then its own functions from the
 * innermost to main() or to the start of a thread. "..." stands at the end if the stack ends
 * earlier and says so. The innermost function makes that system call.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PATH	__attribute__((noipa))

static char alternate[65536], other_stack[65536];

PATH static int leaf(void)
{
	return getppid() + 1;
}

PATH static int middle(int n)
{
	return (n ? middle(n - 1) : leaf()) + 1;
}

/* The compiler aligns the stack, and counts the frame from another register. */
PATH static int aligned(int n)
{
	char room[64] __attribute__((aligned(64)));
	char *more = alloca(n);

	memset(room, n, sizeof(room));
	memset(more, n, n);
	return leaf() + room[n & 63] + more[n - 1];
}

static int compare(const void *a, const void *b)
{
	static int done;

	if (!done++)
		leaf();
	return *(const int *)a - *(const int *)b;
}

PATH static int sorts(void)
{
	int n[3] = { 3, 1, 2 };

	qsort(n, 3, sizeof(*n), compare);
	return n[0];
}

static void handler(int sig)
{
	if (sig)
		leaf();
}

static void on_other_stack(int sig, siginfo_t *info, void *context)
{
	if (sig && info && context)
		leaf();
}

PATH static int raises(int sig)
{
	return raise(sig) + 1;
}

/* Interrupted where no call is, once with a frame and once before there is one */
PATH static int traps(int n)
{
	char room[256];

	memset(room, n, sizeof(room));
	asm volatile("int3" : : "r"(room) : "memory");
	return room[n];
}

asm(".text\n"
    ".type traps_at_once, @function\n"
    "traps_at_once:\n"
    "	.cfi_startproc\n"
    "	int3\n"
    "	xor %eax, %eax\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size traps_at_once, . - traps_at_once\n"
    /* Frames that count from another register than esp and ebp */
    ".type traps_by_register, @function\n"
    "traps_by_register:\n"
    "	.cfi_startproc\n"
    "	mov %esp, %ecx\n"
    "	.cfi_def_cfa ecx, 4\n"
    "	sub $12, %esp\n"
    "	int3\n"
    "	mov %ecx, %esp\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size traps_by_register, . - traps_by_register\n"
    ".type asks_by_register, @function\n"
    "asks_by_register:\n"
    "	.cfi_startproc\n"
    "	mov %esp, %edx\n"
    "	.cfi_def_cfa edx, 4\n"
    "	sub $12, %esp\n"
    "	mov $64, %eax\n"
    "	int $0x80\n"
    "	mov %edx, %esp\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size asks_by_register, . - asks_by_register\n"
    ".type asks_by_ecx, @function\n"
    "asks_by_ecx:\n"
    "	.cfi_startproc\n"
    "	mov %esp, %ecx\n"
    "	.cfi_def_cfa ecx, 4\n"
    "	sub $12, %esp\n"
    "	mov $64, %eax\n"
    "	int $0x80\n"
    "	mov %ecx, %esp\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size asks_by_ecx, . - asks_by_ecx\n"
    /* Calls @function with @from and @to, and with the address of some code in ebx */
    ".type call_with_code, @function\n"
    "call_with_code:\n"
    "	.cfi_startproc\n"
    "	push %ebx\n"
    "	.cfi_adjust_cfa_offset 4\n"
    "	.cfi_rel_offset ebx, 0\n"
    "	mov 16(%esp), %ebx\n"
    "	push 12(%esp)\n"
    "	.cfi_adjust_cfa_offset 4\n"
    "	push 12(%esp)\n"
    "	.cfi_adjust_cfa_offset 4\n"
    "	call *28(%esp)\n"
    "	add $8, %esp\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	pop %ebx\n"
    "	.cfi_adjust_cfa_offset -4\n"
    "	.cfi_restore ebx\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size call_with_code, . - call_with_code\n");
int traps_at_once(void);
int traps_by_register(void);
int asks_by_register(void);
int asks_by_ecx(void);
int call_with_code(ucontext_t *from, const ucontext_t *to, int (*code)(void),
		   int (*function)(ucontext_t *, const ucontext_t *));

/* The vDSO cannot answer this, so it makes the system call. */
PATH static int asks_vdso(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) + 1;
}

static ucontext_t caller, coroutine;

static void runs_aside(void)
{
	leaf();
}

/* Nothing calls the function of a coroutine. .eh_frame of swapcontext() lacks a push of ebx. */
PATH static int swaps(void)
{
	return call_with_code(&caller, &coroutine, leaf, swapcontext) + 1;
}

static void *thread(void *arg)
{
	return middle(1) ? arg : NULL;
}

int main(void)
{
	struct sigaction plain = { .sa_handler = handler };
	struct sigaction other = {
		.sa_sigaction = on_other_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	pthread_t t;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &plain, NULL);
	sigaction(SIGTRAP, &plain, NULL);
	sigaction(SIGUSR2, &other, NULL);

	puts("getppid leaf middle middle middle main");
	middle(2);
	puts("getppid leaf aligned main");
	aligned(7);
	puts("getppid leaf compare sorts main");
	sorts();
	puts("getppid leaf handler raises main");
	raises(SIGUSR1);
	puts("getppid leaf on_other_stack raises main");
	raises(SIGUSR2);
	puts("getppid leaf handler traps main");
	traps(3);
	puts("getppid leaf handler traps_at_once main");
	traps_at_once();
	puts("getppid leaf handler traps_by_register main");
	traps_by_register();
	puts("getppid asks_by_register main");
	asks_by_register();
	puts("getppid asks_by_ecx main");
	asks_by_ecx();
	puts("sigprocmask main");
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = other_stack;
	coroutine.uc_stack.ss_size = sizeof(other_stack);
	coroutine.uc_link = &caller;
	makecontext(&coroutine, runs_aside, 0);
	puts("sigprocmask ...");
	puts("getppid leaf runs_aside ...");
	puts("sigprocmask ...");
	swaps();
	puts("clock_gettime64 asks_vdso main");
	asks_vdso();
	puts("getppid leaf middle middle thread");
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	fflush(stdout);
	return 0;
}
