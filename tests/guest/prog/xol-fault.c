// SPDX-License-Identifier: GPL-2.0
/*
 * xol-fault offset: print where in this file the instruction is that touches new memory
 * xol-fault N: print its address, and have a page fault in it N times
 *
 * A uprobe on that instruction has it stepped out of line, and the fault comes from there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const char __executable_start[], touching[];

static __attribute__((noinline, noclone)) void touch(char *page)
{
#if defined(__x86_64__)
	__asm__ volatile(".globl touching\ntouching: movb $1, (%0)" : : "r"(page) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile(".globl touching\ntouching: strb wzr, [%0]" : : "r"(page) : "memory");
#elif defined(__s390x__)
	__asm__ volatile(".globl touching\ntouching: mvi 0(%0), 1" : : "a"(page) : "memory");
#endif
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char *page;

	if (argc > 1 && !strcmp(argv[1], "offset")) {
		printf("0x%lx\n", (unsigned long)(touching - __executable_start));
		return 0;
	}

	printf("%lx\n", (unsigned long)touching);
	fflush(stdout);
	while (n-- > 0) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return 1;
		touch(page);
		munmap(page, 4096);
	}
	return 0;
}
