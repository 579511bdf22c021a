/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug.h - debug information of a file: what the parts of uu_symbols_new_debug() share */
#ifndef UU_SYMBOLS_DEBUG_H
#define UU_SYMBOLS_DEBUG_H

#include <sys/stat.h>

#include "libunwind-user/dwarf/dwarf.h"
#include "../impl.h"

struct named {
	uint64_t die;		/* see dw_func.named */
	const char *name;	/* in a section; NULL: no name */
	char *demangled;	/* NULL: use name */
};

struct debug {
	enum uu_debug_kind kind;
	struct place place;	/* the file that has the debug information */
	dev_t dev;		/* identity of that file when it was found */
	ino_t ino;
	struct stamp stamp;
	bool opened;		/* the fields below are set, or error says why not */
	int error;
	struct dw dw;
	struct dw_span *exec;
	struct named *names;	/* hash; room is a power of two */
	size_t nr_names, names_room;
};

/* ---- debug.c ---- */

/* Read the debug information, unless it was read before; 0 or its error. */
int debug_open(struct uu_symbols *syms, struct file *f);

/* ---- file.c ---- */

/*
 * Find the separate debug file of @f, which is open as @elf. Returns a descriptor, with *@place and
 * *@kind set, or -1.
 */
int debugfile_find(struct uu_symbols *syms, const struct file *f, Elf *elf, struct place *place,
		   enum uu_debug_kind *kind);
/* Open the common file of dwz that the debug file @elf at @from names; *@named: it names one. */
int debugfile_open_alt(const struct uu_symbols *syms, const struct place *from, Elf *elf,
		       bool *named);
/* The section @name, if it has data in the file, or NULL. */
Elf_Scn *debugfile_find_section(Elf *elf, const char *name);

/* ---- mini.c ---- */

/*
 * Add the functions of .gnu_debugdata, if it unpacks to less than @max bytes. Returns 1, 0 if there
 * is no such section or it cannot be read, or -ENOMEM.
 */
int debugdata_collect(struct collect *c, Elf *elf, size_t max);

/* ---- debuginfod.c ---- */

/* Ask the servers, within the time left. Returns a descriptor with *@place set, or -1. */
int debuginfod_fetch(struct uu_symbols *syms, const uint8_t *id, size_t size, bool executable,
		     struct place *place);
void debuginfod_close(struct uu_symbols *syms);

#endif
