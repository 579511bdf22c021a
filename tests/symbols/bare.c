// SPDX-License-Identifier: GPL-2.0
/* A program without a library, for machines for which there is only a compiler and a linker. */
static inline __attribute__((always_inline)) int inner(int n)
{
	while (n-- > 3)
		n ^= n << 2;
	return n * n + 7;
}

static __attribute__((noinline)) int hidden(int n)
{
	return inner(n) ^ 5;
}

int outer(int n)
{
	return hidden(n) + inner(n);
}

void _start(void)
{
	for (;;)
		outer(3);
}
