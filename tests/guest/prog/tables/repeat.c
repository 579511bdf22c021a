// SPDX-License-Identifier: GPL-2.0
/*
 * repeat same N		N system calls from one place, with the same stack each time
 * repeat callers N		the same, but two functions take turns as the caller
 * repeat words N		the same, but a word of the stack takes turns that no frame uses
 * repeat mapped N		the same, and code is mapped and unmapped before each call
 *
 * The system call is getppid(). In all of these the stack pointer is the same at each call, and so
 * are the other registers that a walk starts from. The functions keep no frame pointer.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deep.h"

static DEEP long leaf(void)
{
	return syscall(SYS_getppid) + 1;
}

static DEEP long even(long i)
{
	long room[2] = { i, i };

	KEEP(room);
	return leaf() + room[0];
}

static DEEP long odd(long i)
{
	long room[2] = { i, i };

	KEEP(room);
	return leaf() + room[1];
}

int main(int argc, char **argv)
{
	long i, nr = argc > 2 ? atol(argv[2]) : 0, sum = 0;
	const char *what = argc > 1 ? argv[1] : "";
	void *code;

	for (i = 0; i < nr; i++) {
		if (!strcmp(what, "callers")) {
			sum += i & 1 ? odd(i) : even(i);
		} else if (!strcmp(what, "mapped")) {
			code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
			sum += even(i);
			munmap(code, 4096);
		} else {
			/* even() keeps its argument on the stack, where no frame is */
			sum += even(strcmp(what, "words") ? 0 : i);
		}
	}
	KEEP(&sum);
	return nr == 0;
}
