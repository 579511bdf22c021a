// SPDX-License-Identifier: GPL-2.0
/* part.c - a function that only calls another one; it is compiled into two files: see swap.c */

long NAME(long (*call)(long nr, ...), long nr)
{
	return call(nr) + 1;
}
