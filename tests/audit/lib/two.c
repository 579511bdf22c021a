// SPDX-License-Identifier: GPL-2.0
int one(int n);
int two(int n);

int two(int n)
{
	return one(n) + 1;
}
