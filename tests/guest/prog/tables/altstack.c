// SPDX-License-Identifier: GPL-2.0
/*
 * altstack N: N times, a signal handler on an alternate stack makes system calls. The alternate
 * stack lies above and below the stack by turns. The signal comes from kill() in interrupted_b(),
 * or from a fault there.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deep.h"

#define STACK	65536

static volatile int *nowhere;
static int here;

static void DEEP handler_b(void)
{
	volatile char room[200];

	room[0] = 0;
	syscall(SYS_getppid);
	KEEP(room);
}

static void handler_a(int sig, siginfo_t *info, void *ctx)
{
	(void)ctx;
	handler_b();
	if (sig == SIGSEGV) {
		mprotect((void *)((long)info->si_addr & ~4095l), 4096, PROT_READ | PROT_WRITE);
		handler_b();
	}
	KEEP(&sig);
}

static void DEEP interrupted_b(int n)
{
	volatile char room[300];

	room[0] = n;
	if (n & 2) {
		mprotect((void *)nowhere, 4096, PROT_NONE);
		*nowhere = n;
	} else {
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	}
	KEEP(room);
}

static int DEEP interrupted_a(int n)
{
	interrupted_b(n);
	KEEP(&n);
	return n;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	struct sigaction sa = { .sa_sigaction = handler_a, .sa_flags = SA_ONSTACK | SA_SIGINFO };
	stack_t below = { .ss_size = STACK }, above;
	char on_stack[2 * STACK];

	/* The heap is below the stack; the frame of main() is above the frames that it calls */
	below.ss_sp = malloc(STACK);
	above = below;
	above.ss_sp = on_stack;
	nowhere = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!below.ss_sp || nowhere == MAP_FAILED)
		return 1;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (i = 0; i < n; i++) {
		if (sigaltstack(i & 1 ? &above : &below, NULL))
			return 2;
		here += interrupted_a(i);
	}
	return 0;
}
