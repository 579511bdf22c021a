// SPDX-License-Identifier: GPL-2.0
/*
 * spawned - a program whose stack grows past the address where the previous program's stack started
 *
 * posix_spawn() and vfork() of many C libraries execute programs from a task whose stack came from
 * clone(). The start of that stack says nothing about the new program. Here its address is in the
 * middle of the new stack. Without randomization, a recursion in the new program passes a place
 * that was free in the old program, and makes system calls below it.
 */
#include <alloca.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BELOW	16384		/* the old stack starts that much below main() */
#define ABOVE	2048		/* the recursion starts that much above it */
#define CALLS	300		/* of 16 bytes, so that one of them starts exactly there */

static char number[32];
static uintptr_t began;

static void calls(long depth);
static void (*volatile again)(long) = calls;

static void __attribute__((noinline)) calls(long depth)
{
	uintptr_t sp;

	if (depth) {
		again(depth - 1);
	} else {
		__asm__("mov %%rsp, %0" : "=r"(sp));
		if (sp >= began) {
			fputs("spawned: not deep enough\n", stderr);
			exit(EXIT_FAILURE);
		}
		for (int i = 0; i < 200; i++)
			syscall(__NR_getpid);
	}
	__asm__ volatile("");	/* no tail call */
}

static int child(void *path)
{
	/* with a frame of 8 bytes, SP would be that of the start, which hides clone() */
	volatile char room[64] = "";

	execl(path, path, number + *room, NULL);
	_exit(EXIT_FAILURE);
}

static int parent(char *path, uintptr_t here)
{
	int status, pid;

	began = (here - BELOW) & -16;
	snprintf(number, sizeof(number), "%#lx", (unsigned long)began);
	pid = clone(child, (void *)began, CLONE_VM | CLONE_VFORK | SIGCHLD, path);
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("spawned");
		return EXIT_FAILURE;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	char here, *down;

	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		if (personality(ADDR_NO_RANDOMIZE) < 0 || execv("/proc/self/exe", argv) < 0)
			perror("spawned");
		return EXIT_FAILURE;
	}
	if (argc < 2)
		return parent(argv[0], (uintptr_t)&here);
	began = strtoul(argv[1], NULL, 16);
	if ((uintptr_t)&here < began + ABOVE) {
		fputs("spawned: the stack is elsewhere\n", stderr);
		return EXIT_FAILURE;
	}
	down = alloca((uintptr_t)&here - began - ABOVE);
	*(volatile char *)down = 0;
	calls(CALLS);
	return 0;
}
