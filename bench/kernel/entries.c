// SPDX-License-Identifier: GPL-2.0
/*
 * System calls from a call path of a given depth
 *
 * All functions of the path keep a frame pointer. The outermost function starts with a cleared
 * frame pointer, as the ABI asks, and its unwind information says that it has no caller. So all
 * unwinders see the whole path and no frame of the C library.
 */
#include "cost.h"

struct run {
	long nr;
	unsigned int calls;
	bool changing;
	uint64_t cost;
};

/* Calls @fn(@run, @depth) as an outermost function would be. */
void on_new_path(struct run *run, unsigned int depth, void (*fn)(struct run *, unsigned int));
asm(".globl on_new_path\n"
    "on_new_path:\n"
    "	.cfi_startproc\n"
    "	.cfi_undefined rip\n"
    "	push %rbp\n"
    "	xor %ebp, %ebp\n"
    "	call *%rdx\n"
    "	pop %rbp\n"
    "	ret\n"
    "	.cfi_endproc\n");

/*
 * Pass the arguments with which wait4() waits for any child; getppid() takes no arguments. With
 * another @nops, the compiler does not merge two calls.
 */
static inline __attribute__((always_inline)) long syscall_here(long nr, int nops)
{
	register long r10 asm("r10") = 0;
	long ret;

	asm volatile(".nops %c[nops]\n\tsyscall" : "=a" (ret) :
		     [nops] "i" (nops), "D" (-1l), "S" (0l), "d" (0l), "a" (nr), "r" (r10) :
		     "rcx", "r11", "memory");
	return ret;
}

static __attribute__((noinline, noclone)) void path(struct run *run, unsigned int depth)
{
	uint64_t start;

	if (depth > 1) {
		path(run, depth - 1);
	} else {
		/* Once before it counts: what is recorded once is recorded now */
		syscall_here(run->nr, 1);
		start = cost_now();
		for (unsigned int i = run->calls; i; i--) {
			if (run->changing && i & 1)
				syscall_here(run->nr, 2);
			else
				syscall_here(run->nr, 1);
		}
		run->cost = cost_now() - start;
	}
	asm volatile("" ::: "memory");		/* no tail call */
}

/* @depth functions are @depth + 1 frames, with the one that calls the outermost. */
uint64_t entries_run(long nr, unsigned int depth, unsigned int calls, bool changing)
{
	struct run run = { .nr = nr, .calls = calls, .changing = changing };

	on_new_path(&run, depth, path);

	return run.cost;
}
