// SPDX-License-Identifier: GPL-2.0
/*
 * modes TIMES: system calls from code of another ABI than the program's
 *
 * The 64-bit program makes a system call at one place, with equal registers and an equal stack,
 * once as 64-bit code and once as 32-bit code. The bytes mean the same in both modes. Its thread
 * has a stack that 32-bit code can reach.
 *
 * The 32-bit program makes the system call as 64-bit code, in the vDSO of 32-bit programs.
 *
 * The system call is number 64: getppid of i386.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

#define STACK_SIZE	(1 << 20)
#define CS64		0x33
#define CS32		0x23

void run(unsigned long cs);

/* A far return pops 4 bytes of each, the address and the segment, in both modes. */
asm(".text\n"
    ".type run, @function\n"
    "run:\n"
    "	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset rbp, -16\n"
    "	mov %rsp, %rbp\n"
    "	.cfi_def_cfa_register rbp\n"
    "	movabs $0x3300000000, %rax\n"
    "	lea 2f(%rip), %rcx\n"
    "	or %rcx, %rax\n"
    "	push %rax\n"
    "	shl $32, %rdi\n"
    "	lea 1f(%rip), %rcx\n"
    "	or %rcx, %rdi\n"
    "	push %rdi\n"
    "	mov $64, %eax\n"
    "	lretl\n"
    "1:	int $0x80\n"
    "	lretl\n"
    "2:	pop %rbp\n"
    "	.cfi_def_cfa rsp, 8\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size run, . - run\n");

static int times;

static void *thread(void *arg)
{
	static const unsigned long cs[2] = { CS64, CS32 };
	int i;

	for (i = 0; i < 2 * times; i++) {
		/* time to look at the files */
		if (!(i & 1))
			usleep(2000);
		/* one call, so that all return addresses are equal */
		run(cs[i & 1]);
	}
	return arg;
}

int main(int argc, char **argv)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	times = argc == 2 ? atoi(argv[1]) : 1;
	if (stack == MAP_FAILED || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack, STACK_SIZE) ||
	    pthread_create(&t, &attr, thread, NULL))
		return 2;
	pthread_join(t, NULL);
	return 0;
}

#else

void run(const void *at);

/* The place is: int $0x80; pop %rbp; pop %rdx; pop %rcx; ret */
asm(".text\n"
    ".type run, @function\n"
    "run:\n"
    "	.cfi_startproc\n"
    "	push %ebx\n"
    "	push %esi\n"
    "	push %edi\n"
    "	push %ebp\n"
    "	mov 20(%esp), %edi\n"
    "	ljmp $0x33, $1f\n"
    "	.code64\n"
    "1:	mov %esp, %esp\n"
    "	mov %edi, %edi\n"
    "	lea 2f(%rip), %rax\n"
    "	push %rax\n"
    "	push %rcx\n"
    "	push %rdx\n"
    "	push %rbp\n"
    "	mov $64, %eax\n"
    "	jmp *%rdi\n"
    "2:	movabs $0x2300000000, %rax\n"
    "	lea 3f(%rip), %rcx\n"
    "	or %rcx, %rax\n"
    "	push %rax\n"
    "	lretl\n"
    "	.code32\n"
    "3:	pop %ebp\n"
    "	pop %edi\n"
    "	pop %esi\n"
    "	pop %ebx\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size run, . - run\n");

int main(int argc, char **argv)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	const char *at = vdso ? memmem(vdso, 4096, "\xcd\x80\x5d\x5a\x59\xc3", 6) : NULL;
	int i, times = argc == 2 ? atoi(argv[1]) : 1;

	if (!at) {
		fputs("the vDSO has no such place\n", stderr);
		return 2;
	}
	for (i = 0; i < times; i++) {
		usleep(2000);
		run(at);
	}
	return 0;
}

#endif
