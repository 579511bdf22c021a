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
#define AUDIT_DIR_SIZE		448	/* bytes; a directory with a longer path is not used */
#define AUDIT_MAX_DIRS		2

/* Where to look for tables, and whose tables to trust. */
struct audit_dirs {
	char path[AUDIT_MAX_DIRS][AUDIT_DIR_SIZE];
	unsigned int nr;
	uint32_t user;			/* whose files are trusted, in addition to root's */
};

/* An ELF file as it is mapped. Addresses are those of the process. */
struct audit_object {
	uintptr_t header;
	uintptr_t bias;			/* to be added to addresses of the file */
	uintptr_t dynamic;		/* PT_DYNAMIC, or 0 */
	uintptr_t start, end;		/* of all its mappings */
	const Elf64_Phdr *phdr;
	unsigned int nr_phdrs;
	uint64_t layout;		/* see abi/format.h */
	uint32_t build_id_size;		/* 0: no build ID */
	const uint8_t *build_id;	/* in its own memory */
};

/*
 * Read the headers of the file that is mapped at @header; one page there can be read. False if the
 * file is not a 64-bit ELF file with all headers in that page, or if its mapping makes no sense.
 */
bool audit_read_object(struct audit_object *o, uintptr_t header);

/* A table in memory. If map_size is not 0, [map, map + map_size) was mapped for it. */
struct audit_table {
	uintptr_t table, size, base;	/* as in struct unwind_table_user */
	uintptr_t map;
	size_t map_size;
};

/* Find the SFrame section in the file itself, if it is of a kind that the kernel reads. */
bool audit_find_own_table(const struct audit_object *o, struct audit_table *t);

/*
 * Map a table from a cache. @path is the path of the file, for names with an inode in them, or
 * NULL. @exact: @path is sure to be the mapped file, even if something else changed that path.
 */
bool audit_find_cached_table(const struct audit_dirs *dirs, const struct audit_object *o,
			     const char *path, bool exact, struct audit_table *t);

void audit_unmap_table(struct audit_table *t);

#endif
