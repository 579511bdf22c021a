// SPDX-License-Identifier: GPL-2.0
/*
 * sample.c - shapes of frames, from which compilers make .eh_frame
 *
 * Registers are saved late. Functions have many exits. Some frames are larger than a page, and
 * -fstack-clash-protection probes these step by step. Some frames have a variable size. Some frames
 * are aligned more than the stack, and GCC then counts from another register. Some calls do not
 * return.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int entry_c(int argc);
static jmp_buf env;
static volatile int sink;

__attribute__((noinline)) static void use(void *p)
{
	sink += *(volatile char *)p;
}

__attribute__((noinline)) static int many_ways_out(const char *s, int n)
{
	int a = atoi(s), b = n * 3, c;

	if (!a)
		return 0;
	if (n > 10)
		return strlen(s) + b;
	c = rand();
	if (c & 1)
		return a + b + c + printf("%d %d\n", a, b);
	return snprintf(NULL, 0, "%d %d %d", a, b, c) + a;
}

__attribute__((noinline)) static int big_frame(int n)
{
	char buf[70000];

	memset(buf, n, sizeof(buf));
	use(buf);
	return buf[n] + many_ways_out("12", n);
}

__attribute__((noinline)) static int variable_frame(int n)
{
	char buf[n + 1], *p = alloca(n * 2 + 8);

	memset(buf, n, n + 1);
	memset(p, n, n);
	use(buf);
	use(p);
	return buf[n] + p[n - 1];
}

__attribute__((noinline)) static int aligned_frame(int n, ...)
{
	char buf[128] __attribute__((aligned(64)));
	va_list ap;
	int sum = 0;

	va_start(ap, n);
	while (n--)
		sum += va_arg(ap, int);
	va_end(ap);
	memset(buf, sum, sizeof(buf));
	use(buf);
	return sum + variable_frame(buf[0] & 15);
}

__attribute__((noinline)) static int aligned_variable_frame(int n)
{
	double v[n + 1] __attribute__((aligned(32)));
	int i;

	for (i = 0; i <= n; i++)
		v[i] = i * 1.5 + big_frame(i);
	use(v);
	return v[n];
}

__attribute__((noinline, noreturn)) static void no_return(int n)
{
	if (n & 1)
		longjmp(env, n);
	abort();
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int nr)
{
	sink = nr;
}

__attribute__((noinline)) static int deep(int n, int (*fn)(int))
{
	return n ? deep(n - 1, fn) + fn(n) : fn(3);
}

int entry_c(int argc)
{
	int v[] = { 3, 1, 2, argc };

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	qsort(v, 4, sizeof(*v), compare);
	if (!setjmp(env))
		no_return(1);
	return v[0] + deep(3, big_frame) + aligned_frame(2, 1, argc) +
	       aligned_variable_frame(argc & 3);
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
	(void)argv;
	return entry_c(argc) == 12345;
}
#endif
