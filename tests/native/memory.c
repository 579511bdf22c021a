// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - calls a function through code in memory that is in no file
 *
 * The code keeps a frame pointer, but the recorder cannot know that: no runtime has compiled it.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void work(void)
{
	int i;

	for (i = 0; i < 50; i++)
		getppid();
}

int main(void)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	void (*call)(void (*func)(void));
	void *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return 1;
	memcpy(mem, code, sizeof(code));
	if (mprotect(mem, 4096, PROT_READ | PROT_EXEC))
		return 1;
	memcpy(&call, &mem, sizeof(call));
	call(work);
	return 0;
}
