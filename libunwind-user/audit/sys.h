/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys.h - system calls without a C library
 *
 * They return a negative errno, and leave the errno of the program alone. Layouts are the kernel's.
 * On 64-bit Linux they equal those of the headers of the C library.
 */
#ifndef AUDIT_SYS_H
#define AUDIT_SYS_H

#include <asm/unistd.h>
#include <errno.h>		/* numbers only */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22		/* linux/mman.h, 5.14 */
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV		0x41555856	/* linux/prctl.h, 6.4 */
#endif
#define PR_GET_SECCOMP		21		/* linux/prctl.h */

#ifdef __x86_64__

/* System V ABI, AMD64 supplement, appendix A.2.1 */
static inline long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#else
#error "the audit module has no sys_call() for this architecture; add it here"
#endif

static inline int sys_open(const char *path, int flags)
{
	return sys_call(__NR_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline void sys_close(int fd)
{
	sys_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *to, size_t size)
{
	return sys_call(__NR_read, fd, (long)to, size, 0, 0, 0);
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return sys_call(__NR_fstat, fd, (long)st, 0, 0, 0, 0);
}

static inline int sys_stat(const char *path, struct stat *st, int flags)
{
	return sys_call(__NR_newfstatat, AT_FDCWD, (long)path, (long)st, flags, 0, 0);
}

/* MAP_PRIVATE; of @fd, or without a file if that is -1. The address, or a negative errno. */
static inline long sys_mmap(size_t size, int prot, int fd)
{
	return sys_call(__NR_mmap, 0, size, prot, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			0);
}

static inline void sys_munmap(unsigned long addr, size_t size)
{
	sys_call(__NR_munmap, addr, size, 0, 0, 0, 0);
}

static inline int sys_madvise(unsigned long addr, size_t size, int advice)
{
	return sys_call(__NR_madvise, addr, size, advice, 0, 0, 0);
}

/* 0 if the whole range is mapped, else -ENOMEM. This changes nothing. */
static inline int sys_msync(unsigned long addr, size_t size)
{
	return sys_call(__NR_msync, addr, size, MS_ASYNC, 0, 0, 0);
}

static inline int sys_prctl(int option, const void *arg, size_t size)
{
	return sys_call(__NR_prctl, option, (long)arg, size, 0, 0, 0);
}

static inline long sys_now(void)
{
	struct timespec now;

	return sys_call(__NR_clock_gettime, 0 /* CLOCK_REALTIME */, (long)&now, 0, 0, 0, 0) ? 0 :
	       now.tv_sec;
}

#endif
