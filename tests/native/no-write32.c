// SPDX-License-Identifier: GPL-2.0
/* no-write32 CMD...: run a command; its 32-bit programs are killed when they write one byte */
#include <unistd.h>

#include "../lib/deny_write32.h"

int main(int argc, char **argv)
{
	if (argc < 2 || deny_write32(SECCOMP_RET_KILL_PROCESS))
		return 2;
	execvp(argv[1], argv + 1);
	return 127;
}
