/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tables.h - unwind tables for files: made once, kept, given to the kernel
 *
 *	elf.c	which file is it: build-id, code segments
 *	cache.c	a folder of tables that were made before
 *	make.c	the table of a file: from the folder, or made and put there
 *	session.c	the session: what was registered with the kernel, and what was not and why
 *	scan.c	everything that runs: /proc
 *	follow.c	everything that starts from now on
 *	recall.c	everything that ran in earlier sessions, and may start again
 *
 * Functions return 0 or a negative errno, and print nothing. A struct tables may be used by several
 * threads at once, a struct tables_cache too.
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

/* Which file it is, as far as that can be told from its first pages. */
struct tables_id {
	struct stat st;
	uint8_t build_id[20];		/* longer ones are cut */
	uint32_t build_id_size;		/* 0: it has none */
	bool is_vdso;			/* no file: what the kernel gave; st is not set */
	uint64_t layout;		/* checksum over the program headers */
	uint32_t nr_segs;
	struct tables_seg seg[TABLES_MAX_SEGS];
};

/*
 * Read the identity of the ELF file that is open for reading. Returns 0, -ENOEXEC if it is no ELF
 * file, -EOPNOTSUPP if it is no 64-bit one of this machine's architecture or no program or library,
 * or what reading it returned.
 */
int tables_identify(int fd, struct tables_id *id);

/* ------------------------------- the cache ------------------------------- */

struct tables_cache;

#define TABLES_CACHE_LIMIT	(512ull << 20)

/*
 * Use the folder @dir, which is made if it is not there; NULL means TRACE_USTACK_TABLES in the
 * environment, else /var/cache/trace-ustack/tables for root, else trace-ustack/tables in
 * XDG_CACHE_HOME or ~/.cache. Its files take @limit bytes at most (0: TABLES_CACHE_LIMIT); those
 * that were not used for the longest time go first.
 *
 * Returns 0 (also for a folder that cannot be written to), or -EPERM if the folder belongs to
 * someone else or others may write to it, -ENOMEM, or what opening it returned. There is nothing
 * wrong with going on without a cache then.
 */
int tables_cache_open(const char *dir, uint64_t limit, struct tables_cache **cache);
void tables_cache_close(struct tables_cache *cache);

/*
 * Files of root or of the caller on the file system of @path are taken by their build-id: one table
 * for all copies. So are those on the file systems of / and /usr. Not while others use @cache.
 */
int tables_cache_trust(struct tables_cache *cache, const char *path);

/*
 * Get and put a table. -ENOENT means that it is not there (or damaged, or made by another version
 * of the generator, or for a file of another layout: it is then made anew).
 */
int tables_cache_get(struct tables_cache *cache, const struct tables_id *id,
		     struct gen_table *table);
int tables_cache_put(struct tables_cache *cache, const struct tables_id *id,
		     const struct gen_table *table);

/*
 * The list of paths that a session leaves in the folder for later ones: text, read whole, replaced
 * whole. The text is malloc()ed and terminated; NULL if there is none, or it is not the caller's.
 */
char *tables_cache_get_list(struct tables_cache *cache);
int tables_cache_put_list(struct tables_cache *cache, const char *text, size_t len);

/*
 * The table of a file that is open for reading, from @cache (may be NULL) or made now. gen_free()
 * is the caller's. @cached, if not NULL, tells which.
 *
 * Returns 0, or as gen_from_fd() and tables_identify(), or -ESTALE if the file changes all the
 * time.
 */
int tables_make(struct tables_cache *cache, int fd, struct tables_id *id,
		struct gen_table *table, bool *cached);

/* The same, but only from @cache: -ENOENT if it is not there, and nothing is made. */
int tables_make_none(struct tables_cache *cache, int fd, struct tables_id *id,
		     struct gen_table *table);

/*
 * The same for the vDSO of this process, which is that of all. Returns also -ENOENT if there is
 * none.
 */
int tables_make_vdso(struct tables_cache *cache, struct tables_id *id, struct gen_table *table,
		     bool *cached);

/* ------------------------ registered with the kernel --------------------- */

struct tables;

/* Why a file, or code that runs, has no table. */
enum tables_cause {
	TABLES_COVERED,
	TABLES_NO_EH_FRAME,	/* nothing to make a table from */
	TABLES_NO_ELF,		/* not an ELF file, or a broken one */
	TABLES_OTHER_ARCH,	/* of an architecture that has no tables */
	TABLES_NO_PERMISSION,	/* may not be read */
	TABLES_VANISHED,	/* was gone before it could be read */
	TABLES_NO_ROOM,		/* memory, or a limit of the kernel */
	TABLES_CHANGING,	/* is written to */
	TABLES_ERROR,		/* any other error, see tables_file.error */
	TABLES_NR_CAUSES
};

const char *tables_cause_name(enum tables_cause cause);
/* The cause behind a result of tables_make() and of the functions below. */
enum tables_cause tables_cause_of(int error);

struct tables_file {
	const char *path;
	enum tables_cause cause;
	int error;			/* negative errno behind @cause, or 0 */
	bool cached;
	uint8_t build_id[20];
	uint32_t build_id_size;
	uint64_t table_size;		/* bytes */
	struct gen_stats stats;		/* valid if covered */
};

struct tables_summary {
	uint64_t files[TABLES_NR_CAUSES];
	uint64_t cached;		/* of those covered: how many were in the cache */
	uint64_t table_bytes;
	uint64_t text_bytes;		/* code in the covered files, and of it: */
	uint64_t covered_bytes;
	uint64_t holes;			/* ranges that SFrame has no words for */
	uint64_t hole_bytes;
	uint64_t unknown_bytes;		/* the tables say nothing: by frame pointers there */
	/* In the last tables_scan(): */
	uint64_t processes;
	uint64_t unreadable;		/* processes whose mappings may not be read */
	uint64_t anon_processes;	/* those with code that is in no file: JIT */
	uint64_t anon_bytes;
	/* While following: */
	uint64_t events;		/* executable mappings made */
	uint64_t lost;			/* events dropped: answered by another scan */
};

struct tables_opts {
	size_t size;			/* sizeof(struct tables_opts) */
	const char *tracefs;		/* NULL: /sys/kernel/tracing */
	const char *cache_dir;		/* as tables_cache_open() */
	uint64_t cache_limit;
	bool no_cache;
	/*
	 * Called now and then while tables_scan() or tables_recall() runs: @done of @all files. May
	 * be NULL. Not 0 ends the scan with that value. The thread that scans calls it: for the
	 * first scan of tables_follow() that is the thread that follows, which never calls it again
	 * once tables_follow_wait() has returned.
	 */
	int (*progress)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

/*
 * Begin a session: tables that are registered in it stay until tables_close(), or until the
 * process ends, however it does. Descriptors are closed by exec.
 *
 * @opts may be NULL. Returns 0, -ENOENT if the kernel has no unwind tables by file (or there is no
 * tracefs), -EACCES or -EPERM if the caller may not register any, or -ENOMEM.
 */
int tables_open(const struct tables_opts *opts, struct tables **tables);
void tables_close(struct tables *t);

struct unwind_table_file;	/* abi/abi.h */

/* tables_open() without the kernel: @add gets what it would get. */
int tables_new(const struct tables_opts *opts,
	       int (*add)(struct tables *t, const struct unwind_table_file *arg),
	       struct tables **tables);

/* Why there is no cache, or 0. */
int tables_cache_error(const struct tables *t);

/*
 * Register the file that is open for reading; @path is what the summary calls it. Returns 0, also
 * if it has been registered before and has not changed since; or -errno, which the summary has,
 * too.
 */
int tables_add_fd(struct tables *t, int fd, const char *path);

/*
 * Open what process @pid has mapped at [start, end). The process may be gone: then @path is tried
 * in the caller's own root, where the kernel takes whatever file is opened for what it is.
 */
int tables_open_mapping(struct tables *t, pid_t pid, uint64_t start, uint64_t end,
			const char *path);
int tables_add_path(struct tables *t, const char *path);

/* Register a table for the vDSO, made from that of this process. */
int tables_add_vdso(struct tables *t);

/*
 * Register every file that has executable mappings in some process. Again, later: what is new
 * only. A file that cannot be registered is no error, see tables_get_summary().
 */
int tables_scan(struct tables *t);

/*
 * From now on, in a thread of its own, register what starts and what is loaded, until
 * tables_follow_stop() or tables_close(). With @scan that thread begins with a tables_scan(), and
 * nothing that starts meanwhile is missed. Returns 0 or -errno, without a thread.
 */
int tables_follow(struct tables *t, bool scan);
void tables_follow_stop(struct tables *t);

/* Wait until the first scan of tables_follow() is done. Returns what it returned. */
int tables_follow_wait(struct tables *t);

/*
 * A table that comes with the first mapping of a program comes late for its first stacks. So a
 * session leaves a list of the files that ran (tables_remember(), at its end), and a later one
 * registers these (tables_recall()), most recently used first, before any of them runs: up to 1024
 * files and 64 MiB of tables that are in the cache. The list is only one of places to look at:
 * what is registered is the file that is there now, for what is in it now.
 *
 * Both return 0 or -errno; -ENOENT without a cache, and tables_recall() also what progress()
 * returned if that was not 0.
 */
int tables_recall(struct tables *t);
int tables_remember(struct tables *t);

/*
 * tables_recall() for about @ns nanoseconds, or until progress() returns something else than 0.
 * Returns 1 if there is more; tables_recall_rest() then has the thread of tables_follow() do that,
 * which looks after each file whether something else was started or loaded: that comes first.
 * Without that thread it is done by the caller.
 */
int tables_recall_within(struct tables *t, uint64_t ns);
int tables_recall_rest(struct tables *t);

void tables_get_summary(struct tables *t, struct tables_summary *sum);

/* Each file once, in the order of registration. @file is valid during the call. */
void tables_each(struct tables *t, void (*fn)(void *ctx, const struct tables_file *file),
		 void *ctx);

#endif
