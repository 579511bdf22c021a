// SPDX-License-Identifier: GPL-2.0
/*
 * newborn - threads that stay in the function where they started
 *
 * A new thread continues in the function that made it, on a stack of its own. The rows there are
 * for the old thread: they find a return address at the stack pointer. Here there is such an
 * address, of main(). Three threads in turn make system calls: with the stack pointer that clone()
 * gave them, and with one and with two words taken off the stack. Each of their stacks is one
 * frame.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STR_(x)	#x
#define STR(x)	STR_(x)
#define FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
		 CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)

static int tid;
static long stack[1024] __attribute__((aligned(16)));

int main(void);

/* Make a thread that takes @pops words off @sp and does 200 getpid(). No prologue, one row. */
long born(long flags, long *sp, long *ptid, int *ctid, long pops);
__asm__(
"	.pushsection .text\n"
"	.type born, @function\n"
"born:\n"
"	.cfi_startproc\n"
"	mov	%rcx, %r10\n"		/* child_tid */
"	mov	%r8, %r9\n"
"	xor	%r8d, %r8d\n"		/* tls */
"	mov	$" STR(__NR_clone) ", %eax\n"
"	syscall\n"
"	test	%rax, %rax\n"
"	jz	1f\n"
"	ret\n"
"1:	test	%r9, %r9\n"
"	jz	2f\n"
"	lea	8(%rsp), %rsp\n"
"	dec	%r9\n"
"	jmp	1b\n"
"2:	mov	$200, %ebx\n"
"3:	mov	$" STR(__NR_getpid) ", %eax\n"
"	syscall\n"
"	dec	%ebx\n"
"	jnz	3b\n"
"	xor	%edi, %edi\n"
"	mov	$" STR(__NR_exit) ", %eax\n"
"	syscall\n"
"	hlt\n"
"	.cfi_endproc\n"
"	.size born, . - born\n"
"	.popsection\n");

int main(void)
{
	for (long pops = 0; pops < 3; pops++) {
		long *sp = stack + 1000;

		for (int i = 0; i < 24; i++)
			sp[i] = (long)main + 1;
		tid = 1;
		if (born(FLAGS, sp, NULL, &tid, pops) < 0) {
			perror("newborn: clone");
			return EXIT_FAILURE;
		}
		while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	return 0;
}
