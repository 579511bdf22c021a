// SPDX-License-Identifier: GPL-2.0
/* A user's program for the section "symbols" of unwind-user.h. */
#include <stdio.h>
#include <unwind-user.h>

int main(int argc, char **argv)
{
	struct uu_file f = { .path = argv[argc - 1] };
	struct uu_symbols *syms = uu_symbols_new(NULL);
	struct uu_symbol sym;
	int ret = syms ? uu_symbols_find(syms, &f, 0, &sym) : -1;

	/* the ELF header is not a function */
	printf("%d %d\n", ret, uu_symbols_is_signal_return(syms, &f, 0));
	uu_symbols_add_jit(syms, 1, "10 10 jitted\n", 13);
	if (!uu_symbols_find_jit(syms, 1, 0x18, &sym))
		puts(sym.name);
	uu_symbols_free(syms);
	return 0;
}
