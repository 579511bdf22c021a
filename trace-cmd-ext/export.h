/* SPDX-License-Identifier: GPL-2.0 */
/*
 * export - what the formats of trace-ustack export share
 *
 * A format goes through the events with model_each() and asks for the stack of each as a list of
 * entries, innermost first, kernel before user: numbers of frames, and of notes, which say in
 * square brackets what is missing.
 */
#ifndef TRACE_USTACK_EXPORT_H
#define TRACE_USTACK_EXPORT_H

#include <stdio.h>

#include "model.h"
#include "vec.h"
#include "waits.h"

struct export {
	struct model *m;		/* opened with the user's filter */
	FILE *out;
	const char *path;
	const struct model_opts *opts;	/* as the user gave them */
	VEC(uint32_t) entries;
	VEC(const char *) notes;
};

#define EXPORT_NOTE	0x80000000u	/* entries from here on are notes */

/* One frame or note. Strings are valid as long as the model. */
struct export_entry {
	const char *name;		/* function or note; NULL: not known */
	const struct model_frame *frame; /* NULL: a note. Valid until the next call */
};

/* The stack of an event, or NULL without memory. Valid until the next call. */
const uint32_t *export_stack(struct export *e, uint32_t kstack, uint32_t ustack, uint32_t *nr);
void export_entry(struct export *e, uint32_t entry, struct export_entry *ent);
/* The last part of a path. */
const char *export_base(const char *path);
/* The process a thread is of; itself where that is not known. */
uint32_t export_pid(struct export *e, uint32_t tid);
/* Nanoseconds since the first record of the file; clocks of another unit as they are. */
uint64_t export_since(struct export *e, uint64_t ts);
/*
 * The file once more, with another filter: what is wrong with it was told when it was opened first.
 * NULL on failure.
 */
struct model *export_again(struct export *e, const struct model_filter *f);

/* The formats: 0, or a negative errno. They write to e->out, and errors of that are its own. */
int export_perf(struct export *e);
int export_firefox(struct export *e);
int export_perfetto(struct export *e);
int export_pprof(struct export *e);

#endif
