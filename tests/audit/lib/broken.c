// SPDX-License-Identifier: GPL-2.0
/* Needs libone.so, and a function that no library defines. */
int one(int n);
int nowhere(int n);
int broken(int n);

int broken(int n)
{
	return one(n) + nowhere(n);
}
