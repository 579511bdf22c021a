// SPDX-License-Identifier: GPL-2.0
/*
 * lines [-mfq] [-d DEBUG-DIR] [-r SYSROOT] [-s MS] FILE < ADDRESSES
 *
 * Print the functions and source lines of a file's (virtual, hexadecimal) addresses, as addr2line
 * -a -i -f does: the address, and for each function, the innermost first, its name and file:line.
 *
 *	-m	names as in the file, not demangled
 *	-f	addresses are file offsets
 *	-q	print nothing (to measure)
 *	-d, -r	see struct uu_symbols_opts
 *	-s	ask debuginfod servers, and wait at most MS milliseconds
 *
 * On standard error, lines says which debug information it found, and how.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "libunwind-user/unwind-user.h"

static struct { uint64_t offset, size, addr; } segs[64];
static size_t nr_segs;

static void read_segments(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t i, nr = 0;
	GElf_Phdr ph;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getphdrnum(elf, &nr)) {
		fprintf(stderr, "lines: %s: not an ELF file that can be read\n", path);
		exit(1);
	}
	for (i = 0; i < nr && nr_segs < 64; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		segs[nr_segs].offset = ph.p_offset;
		segs[nr_segs].size = ph.p_filesz;
		segs[nr_segs++].addr = ph.p_vaddr;
	}
	elf_end(elf);
	close(fd);
}

static uint64_t to_offset(uint64_t addr)
{
	size_t i;

	for (i = 0; i < nr_segs; i++)
		if (addr - segs[i].addr < segs[i].size)
			return addr - segs[i].addr + segs[i].offset;
	return UINT64_MAX;
}

static void print_debug_info(struct uu_symbols *syms, const struct uu_file *file)
{
	static const char *const kinds[] = {
		"none", "in the file", "by build-id", "by link", "from a server",
		".gnu_debugdata",
	};
	struct uu_debug_info d;
	int ret = uu_symbols_debug_info(syms, file, &d);

	if (ret)
		fprintf(stderr, "file: %s\n", strerror(-ret));
	else
		fprintf(stderr, "debug: %s%s%s%s%s%s%s\n", kinds[d.kind], d.path ? ": " : "",
			d.path ? d.path : "", d.error ? ": " : "",
			d.error ? strerror(-d.error) : "", d.split ? ", split" : "",
			d.alt_missing ? ", without its common file" : "");
}

int main(int argc, char **argv)
{
	struct uu_symbols_opts opts = { .size = sizeof(opts) };
	struct uu_file file = {};
	bool quiet = false, offsets = false;
	const struct uu_frame *fr;
	struct uu_symbols *syms;
	char line[64], *full;
	size_t nr, i;
	int opt;

	while ((opt = getopt(argc, argv, "mfqd:r:s:")) != -1) {
		if (opt == 'm')
			opts.no_demangle = true;
		else if (opt == 'f')
			offsets = true;
		else if (opt == 'q')
			quiet = true;
		else if (opt == 'd')
			opts.debug_dir = optarg;
		else if (opt == 'r')
			opts.sysroot = optarg;
		else if (opt == 's')
			opts.debuginfod_ms = atoi(optarg);
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	syms = uu_symbols_new_debug(&opts);
	file.path = argv[optind];
	full = opts.sysroot ? NULL : realpath(file.path, NULL);
	if (full)
		file.path = full;
	if (!offsets)
		read_segments(file.path);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);
		int ret = uu_symbols_lines(syms, &file, offsets ? addr : to_offset(addr), &fr,
					   &nr);

		if (quiet)
			continue;
		printf("0x%016llx\n", (unsigned long long)addr);
		if (ret)
			printf("??\n??:0\n");
		for (i = 0; i < nr; i++)
			printf("%s\n%s:%u\n", fr[i].name ? fr[i].name : "??",
			       fr[i].file ? fr[i].file : "??", fr[i].line);
	}
	print_debug_info(syms, &file);
	uu_symbols_free(syms);
	free(full);
	return 0;
}
