/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gen.h - makes an SFrame V3 section from .eh_frame, Go's tables and the code
 *
 * Internal to the library. The input is an ELF file, or an image that is mapped somewhere (a
 * library, the vDSO). The table is for sframe/sframe_read.c and for the kernel:
 *
 *	struct gen_table t;
 *
 *	if (!gen_from_fd(fd, &t)) {
 *		... t.data, t.size, t.base, t.text_start, t.text_size ...
 *		gen_free(&t);
 *	}
 *
 * A rule that SFrame cannot express becomes a hole, never a wrong row. The table states its holes,
 * and a walk ends there. For code that nothing is known about, the table has no function, and a
 * walk goes on by frame pointers. So a table never makes a stack shorter than it is without the
 * table.
 *
 * Rows are exact for every pc that .eh_frame covers. The table also covers some code without
 * .eh_frame:
 *
 *	- the stubs of a PLT and the code that returns from signal handlers, recognized by their
 *	  bytes;
 *	- the padding between two functions, if it is padding and nothing else: execution there is
 *	  about to enter the second function, whose first row is right;
 *	- code of Go programs, which have tables of their own, see rows/go.c;
 *	- code that can be followed from a known state of the frame to where it returns, see
 *	  flow/flow.h.
 *
 * ELF files are linked (not .o), for amd64, arm64, s390x or i386 (see arch/), whatever the
 * architecture of this machine. SFrame defines no ABI number for i386: such a table has
 * SFRAME_ABI_I386. The table has the byte order of the file. Every file is hostile input; work and
 * memory are in proportion to its size. A file is read, not mapped. So a file that is cut short
 * meanwhile gives an error or a table with holes, and no signal. Thread safe; no state is kept.
 */
#ifndef GEN_H
#define GEN_H

#include "libunwind-user/rows/rows.h"

struct sframe_table;

/*
 * A table. Addresses are those of the ELF file (p_vaddr); in a process, add the load bias to @base
 * and @text_start. @base is the address of the section, which function starts are relative to.
 */
struct gen_table {
	uint8_t *data;
	size_t size;
	uint64_t base;
	uint64_t text_start, text_size;
	struct stats stats;
};

/*
 * Make a table for the ELF file that is open for reading. Its position is not changed.
 *
 * Returns 0 (also when the table has no function at all), or
 *  -ENOEXEC     not an ELF file, or a broken ELF file,
 *  -EOPNOTSUPP  an architecture or kind of file for which no table is made,
 *  -ENODATA     no .eh_frame, and no code that is covered without .eh_frame,
 *  -EFBIG       more than 4 GiB of code, or of table,
 *  -ENOMEM, or what pread() set errno to.
 */
int gen_from_fd(int fd, struct gen_table *table);

/*
 * Copy @len bytes at @addr of the memory that the image is mapped in. Returns 0 or a negative
 * errno.
 */
typedef int (*gen_read_fn)(void *ctx, uint64_t addr, void *to, size_t len);

/*
 * Make a table for an ELF image that is mapped with its header at @addr: the vDSO at
 * AT_SYSINFO_EHDR, a library at its l_addr. The image must have program headers and
 * PT_GNU_EH_FRAME. Addresses in @table are those of the ELF file, as above. @bias, if not NULL,
 * gets the number to add to them.
 *
 * Returns as gen_from_fd(), or what @read returned.
 */
int gen_from_memory(gen_read_fn read, void *ctx, uint64_t addr, struct gen_table *table,
		    uint64_t *bias);

/* Make a table for an image in the memory of this process, which must not go away meanwhile. */
int gen_from_own_memory(uint64_t addr, struct gen_table *table, uint64_t *bias);

/*
 * Open a table for reading, after it was made: @reader points into the table, and uses addresses of
 * the ELF file. Returns what sframe_open() returns.
 */
int gen_open(const struct gen_table *table, struct sframe_table *reader);

void gen_free(struct gen_table *table);

#endif
