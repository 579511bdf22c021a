/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libunwind-user - user space stacks: what their addresses mean
 *
 * All names begin with uu_. Functions that return int return 0 or a negative
 * errno. The library prints nothing, keeps no state outside the objects the
 * caller made, and reads every file as hostile input.
 */
#ifndef UNWIND_USER_H
#define UNWIND_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------- symbols --------------------------------
 *
 * From a file and an offset in it to the function there.
 *
 * A struct uu_symbols keeps an index for each file it was asked about, until it
 * is freed; the first lookup in a file reads the file's symbol tables, a later
 * one is a binary search. It is not thread safe: use one in each thread, or a
 * lock. Nothing is fetched from a network.
 */
struct uu_symbols;

struct uu_symbols_opts {
	size_t size;			/* sizeof(struct uu_symbols_opts) */
	/* put before each path, NULL for none; copied */
	const char *sysroot;
	/* give names as they stand in the file (C++ and Rust: mangled) */
	bool no_demangle;
};

/* Which file is meant. */
struct uu_file {
	const char *path;		/* absolute; "[vdso]" and the like are no files */
	/*
	 * The build-id that the file must have, so that one which was replaced
	 * since is not taken for it; size 0 if it is not known.
	 */
	const uint8_t *build_id;
	size_t build_id_size;
};

struct uu_symbol {
	const char *name;		/* valid until uu_symbols_free() */
	uint64_t start;			/* file offset at which the function begins */
};

/*
 * @opts may be NULL. Returns NULL without memory.
 */
struct uu_symbols *uu_symbols_new(const struct uu_symbols_opts *opts);
void uu_symbols_free(struct uu_symbols *syms);

/*
 * Find the function that holds the byte at @offset of @file.
 *
 * Returns 0 and fills @sym, or
 *  -ENOENT   the file has no symbol there,
 *  -ENODEV   the path is not that of a regular file that can be read,
 *  -ESTALE   the file has another build-id than @file says, or none,
 *  -ENOEXEC  it is not an ELF file, or a broken one,
 *  -ENOMEM.
 * For a return address ask for the byte before it. With a result other than
 * 0, @sym is zeroed.
 */
int uu_symbols_find(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		    struct uu_symbol *sym);

/*
 * Is the byte at @offset of @file the first of a signal trampoline, the code a
 * signal handler returns to? The frame after it was interrupted, so its address
 * is that of the next instruction and no return address.
 */
bool uu_symbols_is_signal_return(struct uu_symbols *syms, const struct uu_file *file,
				 uint64_t offset);

#ifdef __cplusplus
}
#endif

#endif
