/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.h - start a thread that handles no signals */
#ifndef UU_THREAD_H
#define UU_THREAD_H

#include <pthread.h>
#include <signal.h>

/* The other threads of the program handle signals. Returns 0 or -errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

#endif
