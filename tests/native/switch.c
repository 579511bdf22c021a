// SPDX-License-Identifier: GPL-2.0
/*
 * switch TIMES: call getppid() through functions that go to another stack, or align theirs
 *
 * The other stack is below that of main(). Walks go down to it from where on_first_stack() was
 * called, and up again.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void on_own_stack(void (*function)(void), void *end);
void on_first_stack(void (*function)(void));
void aligned(void (*function)(void));

static char stack[65536] __attribute__((aligned(64)));

/* Each call must have a frame. */
#define AND_RETURN()	__asm__ volatile("" ::: "memory")

static void leaf(void)
{
	syscall(SYS_getppid);
	AND_RETURN();
}

static void middle(void)
{
	aligned(leaf);
	AND_RETURN();
}

static void inside(void)
{
	on_first_stack(middle);
	AND_RETURN();
}

static void __attribute__((noinline, noclone)) outside(void)
{
	on_own_stack(inside, stack + sizeof(stack));
	AND_RETURN();
}

int main(int argc, char **argv)
{
	int i, n = argc == 2 ? atoi(argv[1]) : 0;

	for (i = 0; i < n; i++) {
		/* time to make the table */
		usleep(2000);
		outside();
	}
	return n <= 0;
}
