/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * audit.h - the two halves of the audit module
 *
 *	audit.c		what the dynamic loader calls; which tables the kernel has
 *	table.c		the table of a mapped object: in its file, or in a cache
 *
 * Neither half uses a C library, see audit.c.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/abi/abi.h"

#define AUDIT_PAGE		4096
#define AUDIT_DIR_SIZE		448	/* bytes; a folder with a longer path is not used */
#define AUDIT_MAX_DIRS		2

/* Where to look for tables, and whose. */
struct audit_dirs {
	char path[AUDIT_MAX_DIRS][AUDIT_DIR_SIZE];
	unsigned int nr;
	uint32_t user;			/* whose files are believed, beside root's */
};

/* An ELF file as it is mapped. Addresses are those of the process. */
struct audit_object {
	uintptr_t header;
	uintptr_t bias;			/* to be added to addresses of the file */
	uintptr_t dynamic;		/* PT_DYNAMIC, or 0 */
	uintptr_t start, end;		/* of all that is mapped */
	const Elf64_Phdr *phdr;
	unsigned int nr_phdrs;
	uint64_t layout;		/* see abi/format.h */
	uint32_t build_id_size;		/* 0: it has none */
	const uint8_t *build_id;	/* in its own memory */
};

/*
 * Read the headers of the file that is mapped at @header, of which a page can be read. False if it
 * is no 64-bit ELF file with all headers in that page, or is mapped in a way that makes no sense.
 */
bool audit_object_read(struct audit_object *o, uintptr_t header);

/* A table where it is in memory; [map, map + map_size) was mapped for it, if map_size is not 0. */
struct audit_table {
	uintptr_t table, size, base;	/* as in struct unwind_table_user */
	uintptr_t map;
	size_t map_size;
};

/* The SFrame section in the file itself, if it is one that the kernel reads. */
bool audit_table_own(const struct audit_object *o, struct audit_table *t);

/*
 * A table from a cache, mapped. @path is that of the file, for names with an inode in them, or
 * NULL; @exact says that it is the file for sure, whatever else has become of that path.
 */
bool audit_table_cached(const struct audit_dirs *dirs, const struct audit_object *o,
			const char *path, bool exact, struct audit_table *t);

void audit_table_unmap(struct audit_table *t);

#endif
