/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls made inline in the calling function, each recorded before it is made.
 *
 * SYS(t, flags, nr, a, b, c, d) first reserves the entry with cp_begin(), a function that makes no
 * system call. Then one asm statement stores the address of the instruction after the system call
 * in the entry, and makes the call. So the entry is complete before the kernel is entered, and its
 * ip is exact whatever the compiler did.
 */
#ifndef CALLPATH_SYS_H
#define CALLPATH_SYS_H

#include <asm/unistd.h>
#include "task.h"

/* Every function of a path is one that the compiler can neither inline nor clone */
#define PATH	__attribute__((noipa))

#ifdef __x86_64__
#define cp_sys(slot, nr, seq, a, b, c, d)					\
({										\
	register long __d asm("r10") = (long)(d);				\
	register long __e asm("r8") = (long)(seq);				\
	register long __f asm("r9") = 0;					\
	long __ret = (long)(slot);						\
										\
	asm volatile("lea 1f(%%rip), %%rcx\n\t"					\
		     "mov %%rcx, (%%rax)\n\t"					\
		     "mov %[n], %%eax\n\t"					\
		     "syscall\n"						\
		     "1:"							\
		     : "+a" (__ret)						\
		     : [n] "i" (nr), "D" ((long)(a)), "S" ((long)(b)),		\
		       "d" ((long)(c)), "r" (__d), "r" (__e), "r" (__f)	\
		     : "rcx", "r11", "memory");					\
	__ret;									\
})
#define CP_FLAGS	0
#elif defined(__s390x__)
#define cp_sys(slot, nr, seq, a, b, c, d)					\
({										\
	long __a = (long)(a), __b = (long)(b), __c = (long)(c), __d = (long)(d);	\
	register long __1 asm("r1") = (nr);					\
	register long __2 asm("r2") = __a;					\
	register long __3 asm("r3") = __b;					\
	register long __4 asm("r4") = __c;					\
	register long __5 asm("r5") = __d;					\
	register long __6 asm("r6") = (seq);					\
	register long __7 asm("r7") = 0;					\
										\
	asm volatile("larl %%r0, 1f\n\t"					\
		     "stg %%r0, 0(%[s])\n\t"					\
		     "svc 0\n"							\
		     "1:"							\
		     : "+d" (__2)						\
		     : [s] "a" (slot), "d" (__1), "d" (__3), "d" (__4),		\
		       "d" (__5), "d" (__6), "d" (__7)				\
		     : "r0", "cc", "memory");					\
	__2;									\
})
#define CP_FLAGS	0
#elif defined(__aarch64__)
#define cp_sys(slot, nr, seq, a, b, c, d)					\
({										\
	long __a = (long)(a), __b = (long)(b), __c = (long)(c), __d = (long)(d);	\
	register long __8 asm("x8") = (nr);					\
	register long __0 asm("x0") = __a;					\
	register long __1 asm("x1") = __b;					\
	register long __2 asm("x2") = __c;					\
	register long __3 asm("x3") = __d;					\
	register long __4 asm("x4") = (seq);					\
	register long __5 asm("x5") = 0;					\
										\
	asm volatile("adr x9, 1f\n\t"						\
		     "str x9, [%[s]]\n\t"					\
		     "svc #0\n"							\
		     "1:"							\
		     : "+r" (__0)						\
		     : [s] "r" (slot), "r" (__8), "r" (__1), "r" (__2),		\
		       "r" (__3), "r" (__4), "r" (__5)				\
		     : "x9", "cc", "memory");					\
	__0;									\
})
#define CP_FLAGS	0
#else
#define cp_sys(slot, nr, seq, a, b, c, d)					\
({										\
	long __ret = (long)(slot);						\
										\
	asm volatile("movl $1f, (%%eax)\n\t"					\
		     "movl %[n], %%eax\n\t"					\
		     "int $0x80\n"						\
		     "1:"							\
		     : "+a" (__ret)						\
		     : [n] "i" (nr), "b" ((long)(a)), "c" ((long)(b)),		\
		       "d" ((long)(c)), "S" ((long)(d)), "D" ((long)(seq))	\
		     : "memory");						\
	__ret;									\
})
#define CP_FLAGS	CP_COMPAT
#endif

#define SYS_SEQ(t, flg, seqno, nr, a, b, c, d)					\
({										\
	unsigned int __seq = (seqno);						\
	unsigned long long *__slot = cp_begin(t, nr, __seq, (flg) | CP_FLAGS);	\
										\
	cp_sys(__slot, nr, __seq, a, b, c, d);					\
})

#define SYS(t, flg, nr, a, b, c, d) SYS_SEQ(t, flg, cp_seq(), nr, a, b, c, d)

#define SYS0(t, nr)		SYS(t, 0, nr, 0, 0, 0, 0)
#define SYS1(t, nr, a)		SYS(t, 0, nr, a, 0, 0, 0)
#define SYS2(t, nr, a, b)	SYS(t, 0, nr, a, b, 0, 0)
#define SYS3(t, nr, a, b, c)	SYS(t, 0, nr, a, b, c, 0)

/* The first and the last statement of each function of a path */
#define ENTER(t)	((t)->ra[(t)->depth++] = (unsigned long)__builtin_return_address(0))
#define LEAVE(t)	((t)->depth--)

#endif /* CALLPATH_SYS_H */
