/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tables.h - unwind tables for files: makes them once, keeps them, gives them to the kernel
 *
 *	elf.c		identifies a file: build ID, code segments
 *	cache.c		a directory of tables that were made before
 *	vdso32.c	the vDSO of 32-bit programs
 *	make.c		the table of a file: from the directory, or made and put there
 *	session.c	the session: files that are registered with the kernel, or why they are not
 *	scan.c		registers everything that runs: /proc
 *	follow.c	registers everything that starts from now on
 *	recall.c	registers files that ran in earlier sessions, and may start again
 *
 * Functions return 0 or a negative errno, and print nothing. Several threads may use a struct
 * tables_session at once, and a struct tables_cache too.
 */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "libunwind-user/gen/gen.h"

/* ------------------------------- one file -------------------------------- */

#define TABLES_MAX_SEGS		16

/* A code segment, in bytes of the file and in addresses of the file. */
struct tables_seg {
	uint64_t offset, size, vaddr;
};

/* The identity of a file, as far as its first pages show it. */
struct tables_id {
	struct stat st;
	uint8_t build_id[20];		/* longer build IDs are cut */
	uint32_t build_id_size;		/* 0: no build ID */
	bool is_vdso;			/* the kernel's vDSO, not a file; st is not set */
	bool compat;			/* of a 32-bit program */
	uint64_t layout;		/* checksum over the program headers */
	uint32_t nr_segs;
	struct tables_seg seg[TABLES_MAX_SEGS];
};

/*
 * Read the identity of the ELF file that is open for reading. Returns 0; -ENOEXEC if it is not an
 * ELF file; -EOPNOTSUPP if it is not a program or library of this machine's architecture, or on
 * x86-64 of i386; or the error of reading it.
 */
int tables_identify(int fd, struct tables_id *id);

/* ------------------------------- the cache ------------------------------- */

struct tables_cache;

#define TABLES_CACHE_LIMIT	(512ull << 20)

/*
 * Use the directory @dir, and make it if it does not exist. NULL means TRACE_USTACK_TABLES in the
 * environment, else /var/cache/trace-ustack/tables for root, else trace-ustack/tables in
 * XDG_CACHE_HOME or ~/.cache. The files in it take @limit bytes at most (0: TABLES_CACHE_LIMIT);
 * the files that were not used for the longest time go first.
 *
 * Returns 0, also for a directory that cannot be written to; -EPERM if the directory belongs to
 * another user, or if others may write to it; -ENOMEM; or the error of opening the directory. The
 * caller can then go on without a cache.
 */
int tables_cache_open(const char *dir, uint64_t limit, struct tables_cache **cache);
void tables_cache_close(struct tables_cache *cache);

/*
 * From now on, the cache identifies files of root or of the caller on the file system of @path by
 * their build ID: one table serves all copies. The file systems of / and /usr always count like
 * this. Do not call this while other threads use @cache.
 */
int tables_cache_trust(struct tables_cache *cache, const char *path);

/*
 * Get and put a table. -ENOENT means that the cache has no such table. A table counts as missing,
 * and is made again, if it is damaged, was made by another version of the generator, or is for a
 * file of another layout.
 */
int tables_cache_load(struct tables_cache *cache, const struct tables_id *id,
		      struct gen_table *table);
int tables_cache_store(struct tables_cache *cache, const struct tables_id *id,
		       const struct gen_table *table);

/*
 * The list of paths that a session leaves in the directory for later sessions. It is text, read
 * whole and replaced whole. The text is malloc()ed and terminated; NULL if there is no list, or if
 * the list does not belong to the caller.
 */
char *tables_cache_get_list(struct tables_cache *cache);
int tables_cache_put_list(struct tables_cache *cache, const char *text, size_t len);

/*
 * Get the table of a file that is open for reading, from @cache (may be NULL), or make it now. The
 * caller frees the table with gen_free(). Sets @cached, if not NULL: did the cache have the table?
 *
 * Returns 0, or as gen_from_fd() and tables_identify(), or -ESTALE if the file keeps changing.
 */
int tables_get_table(struct tables_cache *cache, int fd, struct tables_id *id,
		     struct gen_table *table, bool *cached);

/* Get the table only if @cache has it. Returns as tables_get_table(), or -ENOENT. */
int tables_get_cached_table(struct tables_cache *cache, int fd, struct tables_id *id,
			    struct gen_table *table);

/*
 * Get or make the table for the vDSO of this process; all processes have the same vDSO. Returns as
 * tables_get_table(), or -ENOENT if there is no vDSO.
 */
int tables_get_vdso_table(struct tables_cache *cache, struct tables_id *id, struct gen_table *table,
			  bool *cached);

/*
 * Make the table for the vDSO of 32-bit programs; it is not cached. -ENOEXEC: this kernel runs no
 * 32-bit programs. This starts such a program for a moment; -EIO: it could not go on.
 */
int tables_make_vdso32_table(struct tables_id *id, struct gen_table *table);

/* The name of the vDSO of 32-bit programs in a session's list of files */
#define TABLES_VDSO32		"[vdso32]"

/* ------------------------ registered with the kernel --------------------- */

struct tables_session;

/* Why a file, or code that runs, has no table. */
enum tables_cause {
	TABLES_COVERED,
	TABLES_NO_SOURCE,	/* nothing to make a table from */
	TABLES_NO_ELF,		/* not an ELF file, or a broken one */
	TABLES_OTHER_ARCH,	/* an architecture without tables */
	TABLES_NO_PERMISSION,	/* may not be read */
	TABLES_VANISHED,	/* was gone before it was read */
	TABLES_NO_ROOM,		/* memory, or a limit of the kernel */
	TABLES_CHANGING,	/* something writes to it */
	TABLES_ERROR,		/* any other error, see tables_file.error */
	TABLES_NR_CAUSES
};

const char *tables_get_cause_name(enum tables_cause cause);
/* The cause for a result of tables_get_table() or of the functions below. */
enum tables_cause tables_get_cause(int error);

struct tables_file {
	const char *path;
	enum tables_cause cause;
	int error;			/* negative errno that led to @cause, or 0 */
	bool cached;
	uint8_t build_id[20];
	uint32_t build_id_size;
	uint64_t table_size;		/* bytes */
	struct stats stats;		/* valid if covered */
};

struct tables_summary {
	uint64_t files[TABLES_NR_CAUSES];
	uint64_t uncovered;		/* files that are there, without a table */
	uint64_t cached;		/* covered files whose tables were in the cache */
	uint64_t table_bytes;
	uint64_t text_bytes;		/* code in the covered files; of it: */
	uint64_t covered_bytes;
	uint64_t holes;			/* see stats_get_nr_holes() */
	uint64_t hole_bytes;
	uint64_t unknown_bytes;		/* not in the tables: walked by frame pointers */
	/* In the last tables_scan(): */
	uint64_t processes;
	uint64_t unreadable;		/* processes whose mappings may not be read */
	uint64_t anon_processes;	/* processes with code that is in no file: JIT */
	uint64_t anon_bytes;
	/* While following: */
	uint64_t events;		/* executable mappings made */
	uint64_t lost;			/* events dropped: another scan makes up for them */
};

struct tables_opts {
	size_t size;			/* sizeof(struct tables_opts) */
	const char *tracefs;		/* NULL: /sys/kernel/tracing */
	const char *cache_dir;		/* as tables_cache_open() */
	uint64_t cache_limit;
	bool no_cache;
	/*
	 * Called now and then while tables_scan() or tables_recall() runs: @done of @all files are
	 * done. May be NULL. A result other than 0 ends the scan, which returns it. The scanning
	 * thread calls it. For the first scan of tables_follow() this is the following thread,
	 * which never calls it again once tables_follow_wait() has returned.
	 */
	int (*progress)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
	/*
	 * With tables_open_with(): if not NULL, called for each file that is open for reading, in
	 * place of registering its table; also for a file without a table. The session takes the
	 * result as the result of registering. The thread of tables_follow() calls it, too.
	 */
	int (*add_file)(void *ctx, int fd, const char *path);
};

/*
 * Start a session. Tables registered in it stay until tables_close(), or until the process ends, in
 * whatever way. exec closes the descriptors.
 *
 * @opts may be NULL. Returns 0, -ENOENT if the kernel has no unwind tables by file (or there is no
 * tracefs), -EACCES or -EPERM if the caller may not register tables, or -ENOMEM.
 */
int tables_open(const struct tables_opts *opts, struct tables_session **tables);
void tables_close(struct tables_session *t);

struct unwind_table_file;	/* abi/abi.h */

/*
 * tables_open() without the kernel: @add gets each table that the kernel would get. If
 * opts.add_file is set, that function gets each file, and @add is not used.
 */
int tables_open_with(const struct tables_opts *opts,
		     int (*add)(struct tables_session *t, const struct unwind_table_file *arg),
		     struct tables_session **tables);

/* opts.ctx of tables_open() or tables_open_with(). */
void *tables_get_ctx(const struct tables_session *t);

/* Why there is no cache, or 0. */
int tables_get_cache_error(const struct tables_session *t);

/*
 * Register the file that is open for reading; the summary calls it @path. Returns 0, also if the
 * file was registered before and has not changed since. Otherwise returns -errno, which the summary
 * has too.
 */
int tables_add_fd(struct tables_session *t, int fd, const char *path);

/*
 * Open the file that process @pid has mapped at [start, end). If the process is gone, open @path in
 * the caller's own root. The kernel identifies the opened file, so a wrong file does no harm.
 */
int tables_open_mapping(struct tables_session *t, pid_t pid, uint64_t start, uint64_t end,
			const char *path);

/* Open @path, and register it as tables_add_fd() does. */
int tables_add_path(struct tables_session *t, const char *path);

/* Register a table for the vDSO, made from the vDSO of this process. */
int tables_add_vdso(struct tables_session *t);

/*
 * Register every file that has executable mappings in some process. Later calls register only new
 * files. A file that cannot be registered is not an error, see tables_get_summary(). Returns 0, the
 * error of reading /proc, -ENOMEM if there is not enough memory for the list of files, or what
 * progress() returned. After the first two errors, no file is registered.
 */
int tables_scan(struct tables_session *t);

/*
 * Start a thread that registers all programs and libraries that start or load from now on, until
 * tables_follow_stop() or tables_close(). With @scan, the thread starts with a tables_scan(), and
 * also registers programs that start during the scan. Returns 0, or -errno without a thread.
 */
int tables_follow(struct tables_session *t, bool scan);
void tables_follow_stop(struct tables_session *t);

/* Wait until the first scan of tables_follow() is done. Returns the result of the scan. */
int tables_follow_wait(struct tables_session *t);

/*
 * A table that is registered at a program's first mapping is late for the first stacks of that
 * program. So a session leaves a list of the files that ran (tables_remember(), at its end). A
 * later session registers these files (tables_recall()), most recently used first, before any of
 * them runs: up to 1024 files and 64 MiB of tables that are in the cache. The list only says where
 * to look: the session registers the file that is there now, with its present contents.
 *
 * Both return 0 or -errno; -ENOENT without a cache. If progress() returned another value than 0,
 * tables_recall() returns that value.
 */
int tables_recall(struct tables_session *t);
int tables_remember(struct tables_session *t);

/*
 * tables_recall() for about @ns nanoseconds, or until progress() returns another value than 0.
 * Returns 1 if files are left. tables_recall_rest() then hands them to the thread of
 * tables_follow(). After each file this thread checks for new programs and libraries, which come
 * first. Without that thread, tables_recall_rest() registers the files itself.
 */
int tables_recall_within(struct tables_session *t, uint64_t ns);
int tables_recall_rest(struct tables_session *t);

void tables_get_summary(struct tables_session *t, struct tables_summary *sum);

/* Call @fn for each file, in the order of registration. @file is valid during the call. */
void tables_for_each(struct tables_session *t,
		     void (*fn)(void *ctx, const struct tables_file *file), void *ctx);

#endif
