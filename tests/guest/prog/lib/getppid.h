/* SPDX-License-Identifier: GPL-2.0 */
/* own_getppid(): the system call, inlined into the text of the caller. */
#include <sys/syscall.h>

static inline __attribute__((always_inline)) long own_getppid(void)
{
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("syscall" : "=a" (ret) : "0" (SYS_getppid) : "rcx", "r11", "memory");
	return ret;
#elif defined(__s390x__)
	register long nr __asm__("r1") = SYS_getppid;
	register long ret __asm__("r2");

	__asm__ volatile("svc 0" : "=d" (ret) : "d" (nr) : "cc", "memory");
	return ret;
#elif defined(__aarch64__)
	register long nr __asm__("x8") = SYS_getppid;
	register long ret __asm__("x0");

	__asm__ volatile("svc #0" : "=r" (ret) : "r" (nr) : "memory");
	return ret;
#endif
}
