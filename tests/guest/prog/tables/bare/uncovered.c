// SPDX-License-Identifier: GPL-2.0
/*
 * uncovered: code with frame pointers that no unwind table covers
 *
 * It is compiled with frame pointers, without .eh_frame and symbols, and has so much code that the
 * generator cannot follow all of it. Go programs look like this. It makes two kinds of system
 * calls:
 *
 *	- 20 of getppid(), 12 frames deep, whose stacks are as long with a table of this file as
 *	  without;
 *	- getpgrp() for each of several values outside of all code, with a frame pointer to
 *	  a frame whose return address is the value. That frame leads to a frame that looks right,
 *	  and must not be followed. The last value is an address of code, and the frames are
 *	  followed.
 *
 * It is also built for 32 bits, there without a C library.
 */
#include <stdint.h>
#include <sys/syscall.h>

#define NOINLINE	__attribute__((noinline, noclone))

/* More than MAX_GAPS of libunwind-user/flow/flow.c, of code that is not padding */
__asm__(".text\n.globl ballast\nballast:\n\t.fill 5 << 20, 1, 0xc3\n");
extern const char ballast[];

#ifdef __x86_64__
#define CALL	"syscall"
#define FRAME	"%%rbp"
#define TO	"%%rcx"
#define CLOBBERS "rcx", "r11", "memory"
#else
#define CALL	"int $0x80"
#define FRAME	"%%ebp"
#define TO	"%%ecx"
#define CLOBBERS "ecx", "memory"
#endif

static long plain_call(long nr)
{
	__asm__ volatile(CALL : "+a"(nr) : : CLOBBERS);
	return nr;
}

static NOINLINE long call_at(unsigned int depth)
{
	long ret = depth ? call_at(depth - 1) : plain_call(SYS_getppid);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static NOINLINE void call_with(const uintptr_t *frame)
{
	long nr = SYS_getpgrp;

	__asm__ volatile("mov " FRAME ", " TO "\n\t"
			 "mov %1, " FRAME "\n\t"
			 "push " TO "\n\t"
			 CALL "\n\t"
			 "pop " FRAME
			 : "+a"(nr) : "d"(frame) : CLOBBERS);
}

static uintptr_t data[2];

int main(void)
{
	const uintptr_t code = (uintptr_t)ballast + 64;
	uintptr_t frame[4] = { (uintptr_t)&frame[2], 0, 0, code };
	const uintptr_t value[] = {
		3, (uintptr_t)0x563e444fd79d5700, (uintptr_t)&frame, (uintptr_t)&data[1],
		~(uintptr_t)0, code,
	};
	unsigned int i;

	for (i = 0; i < 20; i++)
		call_at(10);
	for (i = 0; i < sizeof(value) / sizeof(*value); i++) {
		frame[1] = value[i];
		__asm__ volatile("" : : : "memory");
		call_with(frame);
	}
	return 0;
}

#ifndef __x86_64__
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %esp\n\tcall main\n\t"
	"mov %eax, %ebx\n\tmov $1, %eax\n\tint $0x80\n");
#endif
