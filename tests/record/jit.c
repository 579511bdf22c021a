// SPDX-License-Identifier: GPL-2.0
/*
 * jit - a compiler of two functions
 *
 * The program writes /tmp/perf-PID.map as real compilers do, runs the functions it made, prints
 * their place, and waits until a signal kills it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	static const uint8_t code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };	/* mov $42, %eax; ret */
	uint8_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*function)(void);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (at == MAP_FAILED || !f)
		return 1;
	memcpy(at + 0x100, code, sizeof(code));
	fprintf(f, "%lx 40 compiled one\n", (unsigned long)at + 0x100);
	fprintf(f, "%lx 40 _Z12compiled_twov\n", (unsigned long)at + 0x200);
	fclose(f);
#ifdef __x86_64__
	if (mprotect(at, 8192, PROT_READ | PROT_EXEC))
		return 1;
	memcpy(&function, &(void *){ at + 0x100 }, sizeof(function));
	if (function() != 42)
		return 1;
#else
	(void)function;
#endif
	printf("%lx\n", (unsigned long)at);
	fflush(stdout);
	pause();
	return 0;
}
