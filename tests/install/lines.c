// SPDX-License-Identifier: GPL-2.0
/* A user's program for the section "lines" of unwind-user.h. */
#include <stdio.h>
#include <unwind-user.h>

int main(int argc, char **argv)
{
	struct uu_file f = { .path = argv[argc - 1] };
	struct uu_symbols *syms = uu_symbols_new_debug(NULL);
	const struct uu_frame *frames;
	struct uu_debug_info info;
	size_t nr;
	int ret = syms ? uu_symbols_debug_info(syms, &f, &info) : -1;

	printf("%d %d\n", ret, uu_symbols_lines(syms, &f, 0, &frames, &nr));
	uu_symbols_free(syms);
	return 0;
}
