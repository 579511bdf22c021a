// SPDX-License-Identifier: GPL-2.0
/* Linked without a build ID: the audit module knows it by its inode. */
#include <unistd.h>

int odd(int n);

int odd(int n)
{
	return n - getppid();
}
