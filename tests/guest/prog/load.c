// SPDX-License-Identifier: GPL-2.0
/*
 * load SECONDS: keep every CPU busy in and out of the kernel, for tests that change tracing
 * meanwhile. Threads yield, sleep and wake each other; children start, execute a program and exit.
 * Prints "load: N rounds".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;
static unsigned long rounds;
static int pipes[2];

static __attribute__((noinline)) void deeper(int n)
{
	struct timespec ts = { 0, 30000 };
	char c = 'x';

	if (n > 0) {
		deeper(n - 1);
		return;
	}
	sched_yield();
	if (write(pipes[1], &c, 1) == 1 && read(pipes[0], &c, 1) == 1)
		nanosleep(&ts, NULL);
}

static void *thread(void *arg)
{
	long i = (long)arg;

	while (!stop) {
		deeper(i++ % 20);
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	long i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t t[16];
	pid_t pid;

	if (pipe(pipes))
		return 1;
	if (cpus > 8)
		cpus = 8;
	for (i = 0; i < 2 * cpus; i++) {
		if (pthread_create(&t[i], NULL, thread, (void *)i))
			return 1;
	}
	while (time(NULL) < end) {
		pid = fork();
		if (!pid) {
			if (rounds & 1)
				execl("/bin/true", "true", NULL);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
	stop = 1;
	for (i = 0; i < 2 * cpus; i++)
		pthread_join(t[i], NULL);
	printf("load: %lu rounds\n", rounds);
	return 0;
}
