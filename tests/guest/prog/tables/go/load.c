// SPDX-License-Identifier: GPL-2.0
/*
 * load - a C program that calls a library in Go
 */
void goRun(void);

int main(void)
{
	goRun();
	return 0;
}
