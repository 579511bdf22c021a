// SPDX-License-Identifier: GPL-2.0
/* part.c - a function that calls another one and needs nothing else, in two files: see swap.c */

long NAME(long (*call)(long nr, ...), long nr)
{
	return call(nr) + 1;
}
