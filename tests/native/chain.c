// SPDX-License-Identifier: GPL-2.0
/*
 * chain FILE NUMBER: a program without PIE that executes the next one of its copies
 *
 * Copies have names like this: FILENUMBER. All of them are mapped at one address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int number = argc == 3 ? atoi(argv[2]) : 0;
	char path[4096], text[16];

	syscall(SYS_getppid);
	if (!number--)
		return 0;
	snprintf(path, sizeof(path), "%s%d", argv[1], number);
	snprintf(text, sizeof(text), "%d", number);
	execl(path, path, argv[1], text, NULL);
	return 1;
}
