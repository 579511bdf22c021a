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
 * A struct uu_symbols keeps an index for each file it was asked about, until it is freed. The first
 * lookup in a file reads the file's symbol tables; later lookups are a binary search. It is not
 * thread safe: use one object in each thread, or a lock. It fetches nothing from a network unless
 * the caller asks for that.
 *
 * There are two kinds:
 *
 *  - uu_symbols_new(): functions, from the symbol tables of the files themselves, or from Go's own
 *    table in Go programs that have no symbols.
 *  - uu_symbols_new_debug(): also the symbol tables of separate debug files, and source files,
 *    lines and inlined functions from debug information. See "lines" below; a program that does not
 *    call it pays nothing for it.
 *
 * Link with -lunwind-user -lelf -liberty
 */
struct uu_symbols;

struct uu_symbols_opts {
	size_t size;			/* sizeof(struct uu_symbols_opts) */
	/* prefix of each path, NULL for no prefix; copied */
	const char *sysroot;
	/* return names as they are in the file (C++ and Rust: mangled) */
	bool no_demangle;
	/*
	 * The directory of debug files, below the sysroot; NULL: "/usr/lib/debug"; copied. It has
	 * copies of other directories' trees, and .build-id/. Both kinds of objects look in
	 * .build-id/ for files with a known build ID.
	 */
	const char *debug_dir;
	/*
	 * For uu_symbols_new_debug(): how long all requests to the debuginfod servers in
	 * $DEBUGINFOD_URLS may take together, in milliseconds. 0: the library never asks them,
	 * whatever the environment says. libdebuginfod is loaded if it is installed. Fetched files
	 * stay in its cache ($DEBUGINFOD_CACHE_PATH).
	 */
	unsigned int debuginfod_ms;
	/*
	 * For uu_symbols_new_debug(): how many bytes of debug information may be in memory,
	 * unpacked; 0: 1 GiB. A file that does not fit into the rest has no lines:
	 * uu_symbols_debug_info() then says -EFBIG. Indices come on top: about as much memory again
	 * if the caller asks about every unit of a file.
	 */
	size_t debug_bytes;
};

/* A file to look up. Unknown fields are 0: struct uu_file f = { .path = ... }. */
struct uu_file {
	const char *path;		/* absolute; "[vdso]" and the like are not files */
	/*
	 * The build ID that the file must have, so that a file which replaced it is not used; at
	 * most 64 bytes. Size 0 if the build ID is not known.
	 */
	const uint8_t *build_id;
	size_t build_id_size;
	/*
	 * A process that had the file mapped, or 0. It counts only with a build ID. The library
	 * then looks for the path in that process's root directory too, if the process lives: this
	 * finds files of containers. After that, it tries a file with this build ID that was read
	 * before, and the file with this build ID in debug_dir.
	 */
	int pid;
};

struct uu_symbol {
	const char *name;		/* valid until uu_symbols_free() */
	uint64_t start;			/* file offset of the function's first byte */
};

/* Create an object. @opts may be NULL. Returns NULL if there is not enough memory. */
struct uu_symbols *uu_symbols_new(const struct uu_symbols_opts *opts);
void uu_symbols_free(struct uu_symbols *syms);

/*
 * Find the function that holds the byte at @offset of @file.
 *
 * Returns 0 and fills @sym, or
 *  -ENOENT   the file has no symbol there,
 *  -ENODEV   the path is not that of a regular file that can be read,
 *  -ESTALE   the file has another build ID than @file says, or none,
 *  -ENOEXEC  it is not an ELF file, or a broken one,
 *  -EINVAL   the build ID is longer than 64 bytes,
 *  -ENOMEM.
 * For a return address, pass the offset of the byte before it. With a result other than 0, @sym is
 * zeroed.
 */
int uu_symbols_find(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		    struct uu_symbol *sym);

/*
 * Is the byte at @offset of @file the first byte of a signal trampoline, the code that a signal
 * handler returns to? If so, the next frame was interrupted: its address is that of the next
 * instruction, not a return address.
 */
bool uu_symbols_is_signal_return(struct uu_symbols *syms, const struct uu_file *file,
				 uint64_t offset);

/*
 * Find the function at @addr that a JIT compiler of process @pid wrote. The JIT compiler writes
 * /tmp/perf-PID.map: lines "START SIZE NAME", hexadecimal numbers. The library looks for the file
 * below the sysroot. Without a sysroot, it looks in the process's root directory while the process
 * lives, then in /tmp. It reads the file once, at most 128 MB of it. The file must belong to the
 * user of the process, to root or to the caller; below a sysroot it may belong to anyone. Where
 * entries overlap, the last entry counts.
 *
 * Returns 0 with @sym, whose start is then an address, or -ENODEV (there is no such file), -ENOENT
 * (the file has no entry for this address), -EACCES (the file belongs to another user), -ENOMEM.
 */
int uu_symbols_find_jit(struct uu_symbols *syms, int pid, uint64_t addr, struct uu_symbol *sym);

/*
 * Use @text, which somebody saved while the process lived, as the map of @pid. The text replaces
 * all that was known about @pid. Lines that make no sense are skipped. Returns 0 or -ENOMEM.
 */
int uu_symbols_add_jit(struct uu_symbols *syms, int pid, const char *text, size_t len);

/*
 * Use @text as uu_symbols_add_jit() does, if nobody knows when the code at an address ran: the
 * text does not say when a function was written, or dropped. Where lines overlap, they must name
 * the same function with the same start. Otherwise there is no name (-ENOENT), not the name of the
 * last line. A last line without a line feed is cut off, and does not count.
 */
int uu_symbols_add_jit_saved(struct uu_symbols *syms, int pid, const char *text, size_t len);

/* -------------------------------- lines ---------------------------------
 *
 * From a file and an offset in it to source lines and inlined functions.
 *
 * Link with -lunwind-user -lelf -liberty -lz -llzma -lzstd -ldl
 */

/*
 * Create an object as uu_symbols_new() does, for which uu_symbols_find() also knows the functions
 * of separate debug files. These have most of the static functions of a stripped file.
 *
 * For a file without debug information of its own, the library tries these in order, and takes the
 * first that it finds:
 *  - DEBUG_DIR/.build-id/xx/yyyy.debug with the same build ID;
 *  - the file named in .gnu_debuglink, next to the file, in .debug/ there, and below DEBUG_DIR,
 *    with the CRC that it names and not another build ID;
 *  - a debuginfod server, if debuginfod_ms is not 0;
 *  - .gnu_debugdata in the file itself (functions only).
 * dwz moves debug information into a common file (.gnu_debugaltlink). The library looks for that
 * file by name and by build ID. It reads DWARF 2 to 5, but no .dwo and .dwp files.
 */
struct uu_symbols *uu_symbols_new_debug(const struct uu_symbols_opts *opts);

/* One function at an address: a function inlined there, or the function that has the code. */
struct uu_frame {
	const char *name;		/* NULL: not known */
	const char *file;		/* source file as the compiler named it; NULL: not known */
	uint32_t line;			/* 0: not known */
	bool inlined;			/* into the next frame, at the next frame's file and line */
};

/*
 * Find all functions and source lines at @offset of @file, the innermost first.
 *
 * Returns 0, with at least one frame, or as uu_symbols_find(). The last frame is the function that
 * was compiled; the frames before it were inlined. Names come from the debug information, and may
 * differ from the alias that uu_symbols_find() prefers. Code without debug information, mostly
 * assembly, has the name of the symbol. A file without debug information has one frame with neither
 * file nor line: uu_symbols_debug_info() says why.
 *
 * The array is valid until the next call, the strings until uu_symbols_free(). The first lookup in
 * a file takes the longest: the library reads a unit of the debug information when a lookup first
 * falls into the unit. Later lookups are a few searches.
 */
int uu_symbols_lines(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		     const struct uu_frame **frames, size_t *nr);

enum uu_debug_kind {
	UU_DEBUG_NONE,		/* no debug information was found */
	UU_DEBUG_IN_FILE,
	UU_DEBUG_BUILD_ID,
	UU_DEBUG_LINK,
	UU_DEBUG_SERVER,
	UU_DEBUG_MINI,		/* .gnu_debugdata: functions only */
};

struct uu_debug_info {
	enum uu_debug_kind kind;
	const char *path;	/* NULL: no file, or @file itself; valid until uu_symbols_free() */
	/*
	 * 0, or why there are no lines: -ENOENT (no debug information), -EFBIG (over
	 * debug_bytes), -ENOEXEC (broken), -EOPNOTSUPP (unknown compression), -ESTALE (the debug
	 * file was replaced meanwhile), -ENOMEM
	 */
	int error;
	bool split;		/* a part is in .dwo files, which give no inlines and no names */
	bool alt_missing;	/* dwz' common file is not there: some names are missing */
};

/* Which debug information @file has. Returns 0, or as uu_symbols_find() for the file itself. */
int uu_symbols_debug_info(struct uu_symbols *syms, const struct uu_file *file,
			  struct uu_debug_info *info);

/* ------------------------------- unwinding ------------------------------
 *
 * Walks from a place in a program up its stack, by tables made from .eh_frame, Go's tables or
 * the code. The program needs no frame pointers, and nobody recompiles it.
 *
 *	struct uu_unwinder *u = uu_unwinder_new();
 *	struct uu_start s = { .ip = ..., .sp = ..., .fp = ..., .low = ..., .high = ... };
 *
 *	uu_unwinder_add_loaded(u);
 *	ret = uu_unwind(u, &s, addresses, MAX, &nr);
 *
 * A struct uu_unwinder is not thread safe: use one object in each thread, or a lock. uu_unwind()
 * takes no lock, allocates nothing and calls nothing but the callbacks and process_vm_readv(). So a
 * signal handler may call it, as long as the signal did not interrupt another function of this
 * unwinder.
 *
 * It knows amd64, arm64 and s390x. With a callback to read memory, it walks the stacks of any of
 * these on any machine.
 *
 * Link with -lunwind-user -lcapstone
 */
struct uu_unwinder;

/* Returns NULL if there is not enough memory. */
struct uu_unwinder *uu_unwinder_new(void);
void uu_unwinder_free(struct uu_unwinder *u);

/*
 * Make a table for the ELF file that is open as @fd. Address 0 of the file is mapped at @bias
 * (l_addr of the dynamic loader; 0 for code that is not position independent). Older tables for the
 * same addresses are dropped: a caller that closes a library and opens another need not say so. The
 * caller may close @fd afterwards.
 *
 * Returns 0, -EOPNOTSUPP for another architecture than that of the tables before, -ENOEXEC, -EFBIG,
 * -ENODATA (nothing to make a table from), -ENOMEM, or the error of reading the file.
 */
int uu_unwinder_add(struct uu_unwinder *u, int fd, uint64_t bias);

/*
 * Make tables for all code that the calling process has loaded: program, libraries, vDSO. The
 * function skips files that it cannot read, and files that no longer exist. Returns the number of
 * tables made, or -ENOMEM.
 */
int uu_unwinder_add_loaded(struct uu_unwinder *u);

/* Where a walk starts: the registers of one thread, and its memory. uu_unwind() only reads it. */
struct uu_start {
	uint64_t ip;			/* the next instruction */
	uint64_t sp, fp;		/* amd64: rsp, rbp; arm64: sp, x29; s390x: r15, r11 */
	/*
	 * The memory of the calling process that the walk may read: usually the whole stack. The
	 * walk touches nothing outside, whatever tables and stack say.
	 */
	uint64_t low, high;
	/*
	 * If not NULL, this callback is used in place of low and high. It reads @nr (1 or 2) words
	 * at @addr, which is aligned to 8, from any memory: another process's, or a copy. The words
	 * have the values that the program would load: bytes are swapped for a program of the
	 * other byte order. Returns 0 or a negative errno.
	 */
	int (*read)(void *ctx, uint64_t addr, uint64_t *words, unsigned int nr);
	/*
	 * A register of the first frame, other than sp and fp, by its DWARF number. On amd64 few
	 * functions need such a register. On arm64 and s390x all leaf functions need the link
	 * register, 30 and 14. Returns 0 or a negative errno. NULL: registers are not known.
	 */
	int (*get_reg)(void *ctx, unsigned int reg, uint64_t *value);
	void *ctx;
};

/*
 * Walk up the stack. @to gets the ip, then the return addresses; after a signal frame, it gets the
 * interrupted address. @nr gets the number of addresses, @max at most.
 *
 * Returns 0 if the walk reached the outermost frame, or
 *  -ENOBUFS  there are more than @max addresses,
 *  -ENOENT   no table covers the last address, or the table has a hole there,
 *  -ENODATA  the rule needs a register that is not known,
 *  -EINVAL, -EBADMSG  stack or table make no sense there,
 *  or what @read returned; -EFAULT outside of low to high.
 * With an error, the addresses found so far are still right.
 */
int uu_unwind(struct uu_unwinder *u, const struct uu_start *start, uint64_t *to, unsigned int max,
	      unsigned int *nr);

#ifdef __cplusplus
}
#endif

#endif
