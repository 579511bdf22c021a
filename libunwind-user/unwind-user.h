/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unwind-user.h - libunwind-user: walks user-space stacks and symbolizes their addresses
 *
 * All names start with uu_. Functions that return int return 0 or a negative errno. The library
 * prints nothing, keeps no state outside the objects the caller made, and reads every file as
 * hostile input.
 *
 * `pkg-config --cflags --libs libunwind-user` prints the options to compile and link a program,
 * static or not. The library is an archive: a program holds only the sections that it uses. A
 * program may link with only the libraries that these sections need: each part of this header names
 * them.
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
 * lock. Nothing is fetched from a network unless that is asked for.
 *
 * There are two kinds:
 *
 *  - uu_symbols_new(): functions, from the symbol tables of the files
 *    themselves.
 *  - uu_symbols_new_debug(): also the symbol tables of separate debug files, and
 *    source files, lines and inlined functions from debug information. See "lines"
 *    below; a program that does not call it pays nothing for it.
 *
 * Link with -lunwind-user -lelf -liberty
 */
struct uu_symbols;

struct uu_symbols_opts {
	size_t size;			/* sizeof(struct uu_symbols_opts) */
	/* put before each path, NULL for none; copied */
	const char *sysroot;
	/* give names as they stand in the file (C++ and Rust: mangled) */
	bool no_demangle;
	/*
	 * The folder of debug files, below the sysroot; NULL: "/usr/lib/debug"; copied.
	 * It has .build-id/, in which both kinds of objects look for files with a known
	 * build-id, and copies of other folders' trees.
	 */
	const char *debug_dir;
	/*
	 * Of uu_symbols_new_debug(): how long all that is asked of the debuginfod
	 * servers in $DEBUGINFOD_URLS may take, in milliseconds. 0: they are never
	 * asked, whatever the environment says. libdebuginfod is loaded if it is
	 * installed. What it fetched stays in its cache ($DEBUGINFOD_CACHE_PATH).
	 */
	unsigned int debuginfod_ms;
	/*
	 * Of uu_symbols_new_debug(): how many bytes of debug information may be in
	 * memory, unpacked; 0: 1 GiB. A file for which there is no room left has no
	 * lines: -EFBIG from uu_symbols_debug_info(). Indices come on top, about as
	 * much once more if every unit of a file is asked about.
	 */
	size_t debug_bytes;
};

/* Which file is meant. What is not known is 0: struct uu_file f = { .path = ... }. */
struct uu_file {
	const char *path;		/* absolute; "[vdso]" and the like are no files */
	/*
	 * The build-id that the file must have, so that one which was replaced
	 * since is not taken for it; at most 64 bytes, 0 if it is not known.
	 */
	const uint8_t *build_id;
	size_t build_id_size;
	/*
	 * A process that had it mapped, or 0. Only with a build-id: the path is then
	 * looked for in that process's root folder too, if the process lives, and so
	 * files of containers are found. After that, a file with this build-id which
	 * was read before is taken, and the one that debug_dir has by its build-id.
	 */
	int pid;
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

/*
 * Find the function at @addr that a JIT compiler of process @pid wrote, by what
 * it says in /tmp/perf-PID.map: lines "START SIZE NAME", hexadecimal numbers. The
 * file is looked for below the sysroot; without a sysroot in the process's root folder
 * while it lives, then in /tmp. It is read once, at most 128 MB of it. It must be that
 * user's, root's or the caller's; below a sysroot anyone's. Where entries overlap the
 * last one counts.
 *
 * Returns 0 with @sym, whose start is then an address, or -ENODEV (there is no
 * such file), -ENOENT (nothing in it for this address), -EACCES (someone else's
 * file), -ENOMEM.
 */
int uu_symbols_find_jit(struct uu_symbols *syms, int pid, uint64_t addr, struct uu_symbol *sym);

/*
 * The same from text that was saved while the process was there. It takes the
 * place of what was known of @pid. 0 or -ENOMEM. Lines that make no sense are
 * skipped.
 */
int uu_symbols_add_jit(struct uu_symbols *syms, int pid, const char *text, size_t len);

/*
 * The same, but for addresses of which it is not known when code ran there: the text does not say
 * when a function was written, nor that it went. Where lines overlap that do not name the same
 * function with the same start, there is no name (-ENOENT) instead of the last one's. A last line
 * without its line feed is cut, and does not count.
 */
int uu_symbols_add_jit_saved(struct uu_symbols *syms, int pid, const char *text, size_t len);

/* -------------------------------- lines ---------------------------------
 *
 * From a file and an offset in it to source lines and inlined functions.
 *
 * Link with -lunwind-user -lelf -liberty -lz -llzma -lzstd -ldl
 */

/*
 * As uu_symbols_new(). uu_symbols_find() then knows the functions of separate
 * debug files too, which is most of the static ones of a stripped file.
 *
 * For a file without debug information of its own these are tried, and the
 * first one is taken:
 *  - DEBUG_DIR/.build-id/xx/yyyy.debug with the same build-id;
 *  - the file named in .gnu_debuglink, beside the file, in .debug/ there, and below
 *    DEBUG_DIR, with the CRC that it names and not another build-id;
 *  - a debuginfod server, if debuginfod_ms is not 0;
 *  - .gnu_debugdata in the file itself (functions only).
 * What dwz moved into a common file (.gnu_debugaltlink) is looked for by name
 * and by build-id. DWARF 2 to 5 is read; that in .dwo and .dwp files is not.
 */
struct uu_symbols *uu_symbols_new_debug(const struct uu_symbols_opts *opts);

/* One function at an address: what was inlined there, or the one that has the code. */
struct uu_frame {
	const char *name;		/* NULL: not known */
	const char *file;		/* source file as the compiler named it; NULL: not known */
	uint32_t line;			/* 0: not known */
	bool inlined;			/* into the next frame, at that one's file and line */
};

/*
 * Find all functions and source lines at @offset of @file, the innermost first.
 *
 * Returns 0, with at least one frame, or as uu_symbols_find(). The last frame
 * is the function that was compiled; those before it were inlined. Names are
 * those of the debug information, and may be another alias than the one that
 * uu_symbols_find() prefers; code without it, assembly mostly, has the name of the
 * symbol. A file without debug information has one frame with neither file nor
 * line: uu_symbols_debug_info() tells why.
 *
 * The array is valid until the next call, the strings until uu_symbols_free().
 * The first lookup in a file takes the longest (a unit of the debug information
 * is read when one first falls into it); later ones are a few searches.
 */
int uu_symbols_lines(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		     const struct uu_frame **frames, size_t *nr);

enum uu_debug_kind {
	UU_DEBUG_NONE,		/* none was found */
	UU_DEBUG_IN_FILE,
	UU_DEBUG_BUILD_ID,
	UU_DEBUG_LINK,
	UU_DEBUG_SERVER,
	UU_DEBUG_MINI,		/* .gnu_debugdata: functions only */
};

struct uu_debug_info {
	enum uu_debug_kind kind;
	const char *path;	/* NULL: none, or in the file; valid until uu_symbols_free() */
	/*
	 * 0, or why there are no lines: -ENOENT (no such information), -EFBIG (over
	 * debug_bytes), -ENOEXEC (broken), -EOPNOTSUPP (unknown compression), -ESTALE (the debug
	 * file was replaced meanwhile), -ENOMEM
	 */
	int error;
	bool split;		/* part of it is in .dwo files: no inlines, no names from there */
	bool alt_missing;	/* dwz' common file is not there: some names are missing */
};

/* What debug information @file has. 0, or as uu_symbols_find() for the file itself. */
int uu_symbols_debug_info(struct uu_symbols *syms, const struct uu_file *file,
			  struct uu_debug_info *info);

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
 * nothing and calls nothing but the callbacks and process_vm_readv(), so it may be used in a signal
 * handler, as long as no other function of this unwinder was interrupted by it.
 *
 * Amd64, arm64 and s390x; with a callback to read memory, of any of them on any machine.
 *
 * Link with -lunwind-user -lcapstone
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
	uint64_t sp, fp;		/* amd64: rsp, rbp; arm64: sp, x29; s390x: r15, r11 */
	/*
	 * The memory of the calling process that may be read: all of its stack, usually. What lies
	 * outside is not touched, whatever tables and stack say.
	 */
	uint64_t low, high;
	/*
	 * Or, if not NULL, this reads @nr (1 or 2) words at @addr, which is aligned to 8, of any
	 * memory: that of another process, or a copy. They are what the program would load: of one
	 * of the other byte order, turned round. Returns 0 or a negative errno.
	 */
	int (*read)(void *ctx, uint64_t addr, uint64_t *words, unsigned int nr);
	/*
	 * A register of the first frame by its DWARF number, but sp and fp; few functions need
	 * one on amd64, but all leaf functions on arm64 and s390x the link register, 30 and 14.
	 * Returns 0 or a negative errno. NULL: unknown.
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
