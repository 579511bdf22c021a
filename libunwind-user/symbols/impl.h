/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the files that symbolize addresses share
 *
 *	symbols.c	the object, its files, names
 *	open.c		where a file is: sysroot, /proc/PID/root
 *	elf.c		one ELF file's functions
 *	golang.c	... from Go's own table, if the program has no symbols
 *	extent.c	... and which addresses each of them names
 *	demangle.c	names as people write them
 *	perfmap.c	code that JIT compilers made
 */
#ifndef UU_SYMBOLS_IMPL_H
#define UU_SYMBOLS_IMPL_H

#include "symbols.h"

/* ---- elf.c ---- */

/* A function, in virtual addresses of the file; name is an offset in the string pool. */
struct sym {
	uint64_t addr;
	uint64_t size;		/* never 0 once the index is ready */
	uint32_t name;
	uint32_t rank : 6;	/* the higher, the better a name for this address */
	uint32_t unsized : 1;	/* the file gives no size: extent.c found it */
};

/*
 * Read the ELF file open at @fd. Returns 0 with an index, which may be empty, or
 * -ENOEXEC, -ENOMEM. @more may be NULL.
 */
int symtab_read(struct symtab *tab, int fd, symtab_more *more, void *arg);
void symtab_free(struct symtab *tab);
/* The function that holds virtual address @addr, or NULL. */
const struct sym *symtab_find(const struct symtab *tab, uint64_t addr);
/* The file offset of a virtual address; -1 if no segment holds it. */
int symtab_to_offset(const struct symtab *tab, uint64_t addr, uint64_t *offset);

/* Add a function. 0 or -ENOMEM. */
int symtab_add(struct collect *c, const GElf_Sym *s, const char *name);

/* ---- golang.c ---- */

/* Add the functions of a Go program without symbols. @keep: and its lines. 0 or -ENOMEM. */
int golang_collect(struct symtab *tab, struct collect *c, Elf *elf, bool keep);
void golang_free(struct symtab *tab);

/* ---- extent.c ---- */

/* Addresses at which a symbol without a size ends. */
struct bounds {
	uint64_t *v;
	size_t nr, room;
	bool complete;		/* the symbols include functions that are not exported */
};

/* Sort the symbols and make the cover; @elf has the .eh_frame. Adds to @b. 0 or -ENOMEM. */
int extent_make(struct symtab *tab, struct bounds *b, Elf *elf);

/* ---- open.c ---- */

/* Open @path from /proc/PID/maps, which may end in " (deleted)". Sets *@place to what it opened. */
int symbols_open_mapped(const char *root, const char *path, struct place *place);

/* ---- perfmap.c ---- */

void perfmap_free_all(struct uu_symbols *syms);

#endif
