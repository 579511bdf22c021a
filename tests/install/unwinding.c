// SPDX-License-Identifier: GPL-2.0
/*
 * A user's program for the section "unwinding" of unwind-user.h. Some of its functions have names
 * of internal functions of the library.
 */
#include <stdio.h>
#include <unwind-user.h>

int gen_free(void);
int cfi_parse(void);
int tables_open(void);

int gen_free(void)
{
	return 1;
}

int cfi_parse(void)
{
	return 2;
}

int tables_open(void)
{
	return 3;
}

int main(void)
{
	struct uu_unwinder *u = uu_unwinder_new();
	struct uu_start s = { 0 };
	unsigned int nr = 0;
	uint64_t to[2];

	printf("%d ", gen_free() + cfi_parse() + tables_open());
	printf("%d ", uu_unwinder_add_loaded(u) > 0);
	printf("%d\n", uu_unwind(u, &s, to, 2, &nr));
	uu_unwinder_free(u);
	return 0;
}
