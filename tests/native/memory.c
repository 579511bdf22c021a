// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c [thunk|fp-thunk|other] - calls a function through code in memory that is in no file
 *
 * The code keeps a frame pointer, but the recorder cannot know that: no runtime has compiled it.
 * That of `thunk` and `other` keeps none. The code of `thunk` and `fp-thunk` shows how large its
 * frame is, as that of Python's trampolines does.
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

int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char fp_thunk[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	/* the same, with nop after the call */
	static const unsigned char frame[] = {
		0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x90, 0x5d, 0xc3,
	};
	/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
	static const unsigned char thunk[] = {
		0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3,
	};
	/* the same, with sub $24, and pop; pop; ret at the end */
	static const unsigned char other[] = {
		0x48, 0x83, 0xec, 24, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0x58, 0x58, 0xc3,
	};
	const char *what = argc > 1 ? argv[1] : "";
	void (*call)(void (*func)(void));
	void *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return 1;
	if (!strcmp(what, "thunk"))
		memcpy(mem, thunk, sizeof(thunk));
	else if (!strcmp(what, "fp-thunk"))
		memcpy(mem, fp_thunk, sizeof(fp_thunk));
	else if (!strcmp(what, "other"))
		memcpy(mem, other, sizeof(other));
	else
		memcpy(mem, frame, sizeof(frame));
	if (mprotect(mem, 4096, PROT_READ | PROT_EXEC))
		return 1;
	memcpy(&call, &mem, sizeof(call));
	call(work);
	return 0;
}
