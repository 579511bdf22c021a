/* SPDX-License-Identifier: GPL-2.0 */
/*
 * firefox.h - the data and functions of both formats of trace-ustack export --format firefox
 *
 * firefox.c collects samples and waits, makes the stack table of one thread after the other, and
 * writes the Gecko profile format. That format has no place for inlined functions and source files.
 * So with --lines, firefox_lines.c writes each thread in the processed format of the same site.
 */
#ifndef TRACE_USTACK_FIREFOX_H
#define TRACE_USTACK_FIREFOX_H

#include "export.h"
#include "libunwind-user/base/base.h"

/* meta.categories */
enum { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_NOTE, CATEGORY_WAIT };

struct firefox_sample {
	uint64_t ts;
	uint32_t tid, kstack, ustack, type;
};

struct firefox_wait {
	uint64_t from, ns, state;
	uint32_t tid;
};

/* A node of the stack table of the current thread. */
struct firefox_node {
	uint32_t prefix, frame;		/* prefix UINT32_MAX: none */
};

struct firefox {
	struct export *e;
	struct jsonw json;
	VEC(struct firefox_sample) samples;
	VEC(struct firefox_wait) waits;
	/* of one thread */
	VEC(struct firefox_node) nodes;
	struct hidx node_idx;
	VEC(uint32_t) frames;		/* entries of export_get_stack() */
	struct hidx frame_idx;
	VEC(uint32_t) stacks;		/* node by sample of the thread; UINT32_MAX: none */
	struct text t;
};

/* The thread whose tables are in struct firefox. */
struct firefox_thread {
	uint32_t tid;
	const struct firefox_sample *samples;
	size_t nr;
	const struct firefox_wait *waits;
	size_t nr_waits;
};

/* Milliseconds, exact to the nanosecond. */
void firefox_put_ms(struct jsonw *j, const char *key, uint64_t ns);
/* UINT32_MAX: null */
void firefox_put_index(struct jsonw *j, uint32_t index);
int firefox_get_category(const struct export_entry *ent);
/* Set f->t to the name of an entry; to its address if the name is not known. */
void firefox_set_name(struct firefox *f, const struct export_entry *ent);
/* The name of the file of an entry; NULL for an entry without file, and for a note. */
const char *firefox_get_file(const struct export_entry *ent);
/* The data of a wait's marker. */
void firefox_put_wait(struct jsonw *j, const struct firefox_wait *w);

/* ---- the processed format ---- */

#define FIREFOX_PROCESSED	55	/* its version */

struct firefox_lines;

/* NULL if there is not enough memory. */
struct firefox_lines *firefox_lines_new(void);
void firefox_lines_free(struct firefox_lines *l);
/* Write a thread; 0 or -ENOMEM. */
int firefox_lines_put_thread(struct firefox_lines *l, struct firefox *f,
			     const struct firefox_thread *t);
/* Write the libs, to which all threads refer. */
void firefox_lines_put_libs(struct firefox_lines *l, struct jsonw *j);

#endif
