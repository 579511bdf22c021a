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
 *	debug/		debug information: lines and inlined functions
 *
 * uu_symbols_new_debug() sets uu_symbols.ops. Only programs that call it are linked with debug/.
 */
#ifndef UU_SYMBOLS_IMPL_H
#define UU_SYMBOLS_IMPL_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libunwind-user/base/base.h"
#include "symbols.h"

/* ---- elf.c ---- */

struct go_table;

/* A function, in virtual addresses of the file; name is an offset in the string pool. */
struct sym {
	uint64_t addr;
	uint64_t size;		/* never 0 once the index is ready */
	uint32_t name;
	uint32_t rank : 6;	/* the higher, the better a name for this address */
	uint32_t unsized : 1;	/* the file gives no size: extent.c found it */
};

/* A loadable segment. */
struct seg {
	uint64_t offset, filesz, vaddr;
	bool exec;
};

/* The functions and segments of an ELF file. */
struct symtab {
	struct sym *syms;	/* sorted by address */
	size_t nr_syms;
	struct cover cover;	/* of syms */
	struct seg *segs;
	size_t nr_segs;
	char *pool;
	size_t pool_size;
	uint8_t build_id[UU_BUILD_ID_MAX];
	size_t build_id_size;
	uint16_t machine;	/* e_machine */
	struct go_table *go;	/* of a Go program without symbols, with its bytes; or NULL */
};

struct collect;

/* Adds the functions that debug information has for @elf; 0 or -ENOMEM. */
typedef int debug_collect_fn(void *arg, struct collect *c, Elf *elf);

/* Add the functions of another file with the same addresses; 0 or -ENOMEM. */
int symtab_collect(struct collect *c, Elf *elf);
/* The virtual address of a file offset; -1 if no segment holds it. */
int symtab_to_addr(const struct symtab *tab, uint64_t offset, uint64_t *addr);
/* Find the build ID among the notes in @data, which may be NULL. Returns its size, or 0. */
size_t symtab_find_build_id(Elf_Data *data, uint8_t id[UU_BUILD_ID_MAX]);

/*
 * Read the ELF file open at @fd. Returns 0 with an index, which may be empty, or -ENOEXEC, -ENOMEM.
 * @collect_debug may be NULL.
 */
int symtab_read(struct symtab *tab, int fd, debug_collect_fn *collect_debug, void *arg);
void symtab_free(struct symtab *tab);
/* The function that holds virtual address @addr, or NULL. */
const struct sym *symtab_find(const struct symtab *tab, uint64_t addr);
/* The file offset of a virtual address; -1 if no segment holds it. */
int symtab_to_offset(const struct symtab *tab, uint64_t addr, uint64_t *offset);

/* Add a function. 0 or -ENOMEM. */
int symtab_add_func(struct collect *c, const GElf_Sym *s, const char *name);

/* ---- golang.c ---- */

/* The file and the line of @addr, from Go's own table: see go_find_line(). */
bool symtab_find_go_line(const struct symtab *tab, uint64_t addr, const char **file,
			 uint32_t *line);

/* Add the functions of a Go program without symbols, with @lines also its lines. 0 or -ENOMEM. */
int golang_collect(struct symtab *tab, struct collect *c, Elf *elf, bool lines);
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

/* ---- symbols.c ---- */

/* Where a file is: a path below a root, which is "" or a directory */
struct place {
	char *root, *path;
};

#define MAX_PIDS 16

struct debug;

struct file {
	struct file *next;
	char *path;
	uint8_t build_id[UU_BUILD_ID_MAX];
	size_t build_id_size;
	int error;		/* 0, or what every lookup returns */
	struct file *same;	/* read before at another path, with the same build ID */
	struct place place;	/* where it was found */
	struct symtab tab;
	char **names;		/* demangled, by symbol; NULL: not asked for yet */
	struct debug *debug;	/* of debug/debug.c; NULL: no debug information */
	int pids[MAX_PIDS];	/* processes whose roots were tried without success */
	unsigned int nr_pids;
};

struct perfmap;

/* The functions that uu_symbols_new_debug() adds */
struct debug_ops {
	/* finds debug information, and adds its functions; @arg is a struct debug_arg */
	debug_collect_fn *collect;
	void (*free)(struct debug *d);
	/* opens a file with this build ID from elsewhere, and sets *@place; or -1 */
	int (*fetch)(struct uu_symbols *syms, struct file *f, struct place *place);
	/* ends the use of debug information */
	void (*close)(struct uu_symbols *syms);
};

struct uu_symbols {
	char *sysroot, *debug_dir;
	bool no_demangle;
	unsigned int debuginfod_ms;	/* time left for requests */
	size_t debug_room;		/* bytes of debug information that may still be read */
	struct file **buckets;
	struct perfmap *maps;
	const struct debug_ops *ops;
	void *lines;			/* of debug/lines.c */
	void *debuginfod;		/* of debug/debuginfod.c */
	/* the bytes of a file that uu_symbols_is_signal_return() read last */
	struct {
		const struct file *f;
		uint64_t offset;
		ssize_t nr;
		uint8_t bytes[16384];
	} peek;
};

/* The @arg of debug_ops.collect() */
struct debug_arg {
	struct uu_symbols *syms;
	struct file *f;
};

/* Find a file, and read it if needed: 0, or the error of all lookups in it. */
int symbols_get_file(struct uu_symbols *syms, const struct uu_file *want, struct file **file);

/* ---- demangle.c ---- */

/*
 * A name as people write it, to be freed; NULL if @name is not mangled, or if there is not enough
 * memory.
 */
char *symbols_demangle(const char *name);

/* ---- open.c ---- */

/* Copy @root and @path, in place of what @p has; 0 or -ENOMEM. */
int place_set(struct place *p, const char *root, const char *path);
void place_free(struct place *p);

/* Open @path from /proc/PID/maps, which may end in " (deleted)". Sets *@place to what it opened. */
int symbols_open_mapped(const char *root, const char *path, struct place *place);

/* ---- perfmap.c ---- */

void perfmap_free_all(struct uu_symbols *syms);

#endif
