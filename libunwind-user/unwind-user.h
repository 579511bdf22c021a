/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libunwind-user - user space stacks: how to walk them, what their addresses mean
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

/* ------------------------------- unwinding ------------------------------
 *
 * From a place in a program up its stack, by tables made of .eh_frame: neither frame pointers nor a
 * recompilation is needed.
 *
 *	struct uu_unwinder *u = uu_unwinder_new();
 *	struct uu_start s = { .ip = ..., .sp = ..., .fp = ..., .low = ..., .high = ... };
 *
 *	uu_unwinder_add_loaded(u);
 *	ret = uu_unwind(u, &s, addresses, MAX, &nr);
 *
 * It is not thread safe: use one in each thread, or a lock. uu_unwind() takes no lock, allocates
 * nothing and calls nothing but the callbacks, so it may be used in a signal handler, as long as no
 * other function of this unwinder was interrupted by it. Amd64 for now.
 */
struct uu_unwinder;

/* Returns NULL without memory. */
struct uu_unwinder *uu_unwinder_new(void);
void uu_unwinder_free(struct uu_unwinder *u);

/*
 * Make a table for the ELF file that is open as @fd, whose address 0 is mapped at @bias (l_addr of
 * the dynamic loader; 0 for what is not position independent). Tables for addresses that it
 * covers are dropped: who closes a library and opens another need not say so. @fd may be
 * closed then.
 *
 * Returns 0, -EOPNOTSUPP for another architecture than that of the tables before, -ENOEXEC, -EFBIG,
 * -ENODATA (nothing to make a table of), -ENOMEM, or what reading the file failed with.
 */
int uu_unwinder_add(struct uu_unwinder *u, int fd, uint64_t bias);

/*
 * The same for all that the calling process has loaded: program, libraries, vDSO. Files that cannot
 * be read, or no longer, are left out. Returns the number of tables made, or -ENOMEM.
 */
int uu_unwinder_add_loaded(struct uu_unwinder *u);

/* Where a walk begins: the registers of one thread, and its memory. Only read. */
struct uu_start {
	uint64_t ip;			/* the next instruction */
	uint64_t sp, fp;		/* amd64: rsp, rbp */
	/*
	 * The memory of the calling process that may be read: all of its stack, usually. What lies
	 * outside is not touched, whatever tables and stack say.
	 */
	uint64_t low, high;
	/*
	 * Or, if not NULL, this reads @nr (1 or 2) words at @addr, which is aligned to 8, of any
	 * memory: that of another process, or a copy. Returns 0 or a negative errno.
	 */
	int (*read)(void *ctx, uint64_t addr, uint64_t *words, unsigned int nr);
	/*
	 * A register of the first frame by its DWARF number, but sp and fp; few functions need
	 * one. Returns 0 or a negative errno. NULL: unknown.
	 */
	int (*get_reg)(void *ctx, unsigned int reg, uint64_t *value);
	void *ctx;
};

/*
 * Walk up the stack: @to gets the ip, then the return addresses (behind a signal frame, the address
 * that was interrupted), @nr how many, @max at most.
 *
 * Returns 0 if the walk came to the outermost frame, or
 *  -ENOBUFS  there are more than @max,
 *  -ENOENT   no table has a rule for the last address: code without .eh_frame, or not added,
 *  -ENODATA  the rule takes a register that is not known,
 *  -EINVAL, -EBADMSG  stack or table make no sense there,
 *  or what @read returned; -EFAULT outside of low to high.
 * The addresses up to there are right all the same.
 */
int uu_unwind(struct uu_unwinder *u, const struct uu_start *start, uint64_t *to, unsigned int max,
	      unsigned int *nr);

#ifdef __cplusplus
}
#endif

#endif
