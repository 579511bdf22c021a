// SPDX-License-Identifier: GPL-2.0
/*
 * dies FILE [DEBUG-FILE] < ADDRESSES: which DIEs hold these hexadecimal addresses, by libdw?
 *
 * Prints "0xADDRESS" and below it a line for each function and inlined function, the innermost
 * first. The line has the name, DW_AT_linkage_name or DW_AT_name, through DW_AT_abstract_origin and
 * DW_AT_specification, and the place of the call in the next function. dies walks the DIEs with
 * libdw, for each address again, and shares no code with the library.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : "??";
}

/* Print the chain of the functions that hold @addr below @die; false: none does. */
static int chain(Dwarf_Die *die, Dwarf_Addr addr, int depth)
{
	Dwarf_Attribute a;
	Dwarf_Word line = 0;
	Dwarf_Die child;
	int tag = dwarf_tag(die), found = 0;

	if (depth > 200)
		return 0;
	if (!dwarf_child(die, &child)) {
		do {
			int t = dwarf_tag(&child);

			/* code is in functions, and functions are in other DIEs */
			if (t == DW_TAG_subprogram || t == DW_TAG_inlined_subroutine) {
				if (dwarf_haspc(&child, addr) > 0)
					found = chain(&child, addr, depth + 1);
			} else if (dwarf_haschildren(&child)) {
				found = chain(&child, addr, depth + 1);
			}
		} while (!found && !dwarf_siblingof(&child, &child));
	}
	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return found;
	/* a function inside another function is not a call of it */
	if (found == 2)
		return 2;
	if (dwarf_attr(die, DW_AT_call_line, &a))
		dwarf_formudata(&a, &line);
	printf("%s %" PRIu64 "\n", name_of(die), (uint64_t)line);
	return tag == DW_TAG_subprogram ? 2 : 1;
}

int main(int argc, char **argv)
{
	const char *path = argc == 3 ? argv[2] : argv[1];
	int fd = argc > 1 ? open(path, O_RDONLY) : -1;
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	char text[64];

	if (!dw) {
		fprintf(stderr, "dies: %s: %s\n", path, dwarf_errmsg(-1));
		return 1;
	}
	while (fgets(text, sizeof(text), stdin)) {
		Dwarf_Addr addr = strtoull(text, NULL, 16);
		Dwarf_CU *cu = NULL;
		Dwarf_Die die;

		printf("0x%016" PRIx64 "\n", (uint64_t)addr);
		while (!dwarf_get_units(dw, cu, &cu, NULL, NULL, &die, NULL))
			if (dwarf_haspc(&die, addr) > 0 && chain(&die, addr, 0))
				break;
	}
	dwarf_end(dw);
	return 0;
}
