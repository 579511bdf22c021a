/* SPDX-License-Identifier: GPL-2.0 */
/*
 * paths.h - from the stacks of a model to the segments of a fold
 *
 * Each stack is turned into names once. A missing part becomes a name too, a note in square
 * brackets that says why it is missing: a stack that was not recorded, outer or inner frames that
 * were cut. A frame without a known function gets the name of its file in square brackets, so that
 * places that nobody can tell apart are one frame. The innermost kernel frames are left out if they
 * belong to the tracer at work.
 */
#ifndef TRACE_USTACK_PATHS_H
#define TRACE_USTACK_PATHS_H

#include "fold.h"
#include "waits.h"

/* The segments of a sample, in the order of fold_add(). */
enum paths_seg {
	SEG_TASK,
	SEG_USER,
	SEG_KERNEL,
	SEG_EVENT,			/* of an event: its name */
	/* of a wake-up: the waker's stack, from its innermost frame outwards */
	SEG_WAKER_KERNEL = SEG_EVENT,
	SEG_WAKER_USER,
	SEG_WAKER_TASK,
};

struct paths_opts {
	bool lines;			/* inlined functions are frames: FOLD_INLINED */
	bool threads;			/* tasks are "NAME-TID", not only "NAME" */
	const char **symbols;		/* shell patterns, of which a stack must have one */
	size_t nr_symbols;
};

/* What a user stack lacks, and where: outside of its frames, or inside. */
struct paths_notes {
	const char *outer[4];
	uint32_t nr;
	const char *inner;
};
void paths_notes(struct model *m, uint32_t ustack, struct paths_notes *n);
/*
 * Why an event of a file with user stacks has none though none is missing: NULL if there is nothing
 * to say, as this is a kernel thread's.
 */
const char *paths_no_user(struct model *m, uint32_t kstack);
/* Is it such a file? As model_info() says, which also counts all requests, and takes its time. */
bool paths_joined(struct model *m);

/* A kernel frame of the tracer at work: it is left out where it is innermost. */
bool paths_is_tracer(const struct model_frame *f);

struct paths;

/* Both must outlive it; @f NULL if only paths_wanted() is called. @o is copied. */
struct paths *paths_new(struct model *m, struct fold *f, const struct paths_opts *o);
void paths_free(struct paths *p);

/* Segments: UINT32_MAX without memory. */
uint32_t paths_task(struct paths *p, uint32_t tid);
/* @kstack tells whether a stack that nobody asked for is that of a kernel thread. */
uint32_t paths_user(struct paths *p, uint32_t ustack, uint32_t kstack);
uint32_t paths_kernel(struct paths *p, uint32_t kstack);
uint32_t paths_event(struct paths *p, uint32_t type);

/* All segments of a wake-up. */
void paths_wake(struct paths *p, const struct wait *w, const struct waker *by,
		uint32_t seg[FOLD_SEGS]);

/* Does one of these two stacks hold a function that is asked for? */
bool paths_wanted(struct paths *p, uint32_t kstack, uint32_t ustack);

#endif
