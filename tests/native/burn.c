// SPDX-License-Identifier: GPL-2.0
/*
 * burn MS: two threads and a child use the CPU, each for MS milliseconds of its own CPU time
 *
 * The main thread computes in leaf_a(), called by in_a(), called by main(). The thread computes in
 * leaf_b(), called by in_b(). The child asks for its parent again and again, in in_c().
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP	__attribute__((noinline, noclone))

static long end_ms;
static volatile unsigned long result;

static long used_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static KEEP void leaf_a(void)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		result = result * 3 + i;
}

static KEEP void leaf_b(void)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		result = result * 5 + i;
}

static KEEP void in_a(void)
{
	while (used_ms() < end_ms)
		leaf_a();
	result++;
}

static KEEP void in_b(void)
{
	while (used_ms() < end_ms)
		leaf_b();
	result++;
}

static KEEP void in_c(void)
{
	int i;

	while (used_ms() < end_ms)
		for (i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	result++;
}

static void *thread(void *arg)
{
	in_b();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t other;

	end_ms = argc == 2 ? atol(argv[1]) : 100;
	if (!fork()) {
		in_c();
		_exit(0);
	}
	if (pthread_create(&other, NULL, thread, NULL))
		return 1;
	in_a();
	pthread_join(other, NULL);
	wait(NULL);
	return 0;
}
