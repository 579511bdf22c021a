// SPDX-License-Identifier: GPL-2.0
/*
 * leave TIMES: tasks that end while others write to their stacks
 *
 * A child of vfork() and a thread end in end_task(). Before such a task leaves its memory, the
 * kernel wakes the parent of the child, or the thread that joins the other one. They call go_on()
 * on the same stack, with frames of the same layout. A third thread locks the memory most of the
 * time, so that the end of the task takes long and has an event: lock:contention_end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCKED	(256ul << 20)

static char *mem;

/* Each change of 65,536 pages is one lock of all memory. */
static void *lock_memory(void *arg)
{
	(void)arg;
	for (;;) {
		mprotect(mem, LOCKED, PROT_READ);
		mprotect(mem, LOCKED, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* Changed after the calls, so that each function is a frame. */
static volatile int done;

static void __attribute__((noinline)) end_task(void)
{
	syscall(SYS_exit, 0);
	done = 1;
}

static void __attribute__((noinline)) go_on(void)
{
	struct timespec t = { .tv_nsec = 5000000 };

	syscall(SYS_nanosleep, &t, NULL);
	done = 1;
}

static void *thread_ends(void *arg)
{
	end_task();
	return arg;
}

static void *thread_goes_on(void *arg)
{
	go_on();
	return arg;
}

static void __attribute__((noinline)) fork_child(void)
{
	pid_t pid = vfork();

	if (!pid)
		end_task();
	go_on();
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int i, nr = argc == 2 ? atoi(argv[1]) : 20;
	pthread_t thread;

	mem = mmap(NULL, LOCKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return 1;
	/* a kernel without huge pages refuses it */
	madvise(mem, LOCKED, MADV_NOHUGEPAGE);
	/* Pages that are read only have no memory of their own. */
	for (i = 0; (unsigned long)i < LOCKED / 4096; i++)
		*(volatile char *)(mem + i * 4096ul);
	if (pthread_create(&thread, NULL, lock_memory, NULL))
		return 1;
	for (i = 0; i < nr; i++) {
		fork_child();
		if (pthread_create(&thread, NULL, thread_ends, NULL))
			return 1;
		pthread_join(thread, NULL);
		if (pthread_create(&thread, NULL, thread_goes_on, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}
