// SPDX-License-Identifier: GPL-2.0
/* A library whose touch() makes one system call in its own text. */
#include <sys/syscall.h>

long touch(void);

long __attribute__((noinline)) touch(void)
{
	long ret;

	asm volatile("syscall" : "=a" (ret) : "0" (SYS_getppid) : "rcx", "r11", "memory");
	return ret;
}
