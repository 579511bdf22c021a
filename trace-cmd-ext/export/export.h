/* SPDX-License-Identifier: GPL-2.0 */
/*
 * export.h - the functions and data that all formats of trace-ustack export use
 *
 * A format goes through the events with model_for_each(). It asks for the stack of each event as a
 * list of entries, innermost first, kernel before user. An entry is the number of a frame, of an
 * inlined function, or of a note. Inlined functions are listed only with opts->lines, right before
 * the frame that holds their code. A note says in square brackets what is missing.
 */
#ifndef TRACE_USTACK_EXPORT_H
#define TRACE_USTACK_EXPORT_H

#include <stdio.h>

#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/stacks/stacks.h"

/* An entry for an inlined function. */
struct export_inlined {
	const char *name, *source;
	uint32_t line, depth, frame;
};

/* The source line and the inlined functions of a frame, looked up once. */
struct export_code {
	const char *source;
	uint32_t line;
	uint32_t first, nr;		/* its part of export.inlined */
	bool known;
};

struct export {
	struct model *m;		/* opened with the user's filter */
	FILE *out;
	const char *path;
	const struct model_opts *opts;	/* as the user gave them */
	const struct gather_opts *gather;	/* what folded counts */
	bool nothing;			/* no event was wanted; set when the model is closed */
	VEC(uint32_t) entries;
	VEC(const char *) notes;
	VEC(struct export_inlined) inlined;
	VEC(struct export_code) code;	/* by frame */
};

/* Kinds of entries. An entry without these bits is a frame. */
#define EXPORT_NOTE	0x80000000u
#define EXPORT_INLINED	0x40000000u

/* One frame, inlined function or note. Strings are valid as long as the model. */
struct export_entry {
	const char *name;		/* function or note; NULL: not known */
	/* for an inlined function, the frame with its code; NULL: a note; until the next call */
	const struct model_frame *frame;
	const char *source;		/* file as the compiler named it; NULL: not known */
	uint32_t line;			/* 0: not known */
	uint32_t depth;			/* 0: not inlined; 1: into the function of the frame; ... */
	uint64_t lookup;		/* model_get_lookup_offset() of the frame */
};

/* The entries of a stack, or NULL if there is not enough memory. Valid until the next call. */
const uint32_t *export_get_stack(struct export *e, uint32_t kstack, uint32_t ustack, uint32_t *nr);
void export_get_entry(struct export *e, uint32_t entry, struct export_entry *ent);
/* Free the memory of export_get_stack(), but not the model. */
void export_free(struct export *e);
/* The process of a thread; the thread itself if the process is not known. */
uint32_t export_get_pid(struct export *e, uint32_t tid);
/* Time since the first record of the file, in nanoseconds or the unit of the clock. */
uint64_t export_get_time(struct export *e, uint64_t ts);
/* Open the file once more, with another filter. Prints no error again. NULL on failure. */
struct model *export_open_again(struct export *e, const struct model_filter *f);

/* The formats: write to e->out. 0, or a negative errno; check e->out for write errors. */
int export_perf(struct export *e);
int export_firefox(struct export *e);
int export_perfetto(struct export *e);
int export_pprof(struct export *e);

#endif
