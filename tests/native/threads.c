// SPDX-License-Identifier: GPL-2.0
/*
 * threads NUMBER: start NUMBER threads and NUMBER children that call getppid() every 2 ms until
 * they are killed; print the PIDs of the children
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void __attribute__((noinline)) call_often(void)
{
	for (;;) {
		syscall(SYS_getppid);
		usleep(2000);
	}
}

static void *in_thread(void *arg)
{
	(void)arg;
	call_often();
	return NULL;
}

int main(int argc, char **argv)
{
	int i, nr = argc == 2 ? atoi(argv[1]) : 1;
	pthread_t thread;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			call_often();
		}
		printf("%d\n", (int)pid);
	}
	fflush(stdout);
	for (i = 0; i < nr; i++)
		pthread_create(&thread, NULL, in_thread, NULL);
	call_often();
	return 0;
}
