/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One file's symbol index, shared by symbols.c (lookup) and symbols_elf.c (reading). */
#ifndef UU_SYMBOLS_H
#define UU_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A function, in virtual addresses of the file; name is an offset in the string pool. */
struct sym {
	uint64_t addr;
	uint64_t size;		/* never 0 once the index is ready */
	uint32_t name;
	uint32_t rank;		/* the higher, the better a name for this address */
};

/* A loadable segment. */
struct seg {
	uint64_t offset, filesz, vaddr;
};

struct symtab {
	struct sym *syms;	/* sorted by address, one an address */
	size_t nr_syms;
	struct seg *segs;
	size_t nr_segs;
	char *pool;
	size_t pool_size;
	uint8_t build_id[64];
	size_t build_id_size;
	uint16_t machine;	/* e_machine */
};

/*
 * Read the ELF file open at @fd. 0 with an index, which may be empty, or
 * -ENOEXEC, -ENOMEM.
 */
int symtab_read(struct symtab *tab, int fd);
void symtab_free(struct symtab *tab);
/* The function that holds virtual address @addr, or NULL. */
const struct sym *symtab_find(const struct symtab *tab, uint64_t addr);
/* Between file offset and virtual address; -1 if no segment holds it. */
int symtab_to_addr(const struct symtab *tab, uint64_t offset, uint64_t *addr);
int symtab_to_offset(const struct symtab *tab, uint64_t addr, uint64_t *offset);

#endif
