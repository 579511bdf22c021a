/* SPDX-License-Identifier: GPL-2.0 */
/*
 * paths.h - from the stacks of a model to the segments of a fold
 *
 * Each stack is turned into names once. A missing part becomes a name too, a note in square
 * brackets that says why it is missing: a stack that was not recorded, outer or inner frames that
 * were cut. A frame without a known function gets the name of its file in square brackets, so all
 * such frames of a file are one frame. Innermost kernel frames of the tracer itself are left out.
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
	SEG_EVENT,			/* for an event: its name */
	/* for a wake-up: the waker's stack, from its innermost frame outwards */
	SEG_WAKER_KERNEL = SEG_EVENT,
	SEG_WAKER_USER,
	SEG_WAKER_TASK,
};

struct paths_opts {
	bool lines;			/* inlined functions are frames: FOLD_INLINED */
	bool threads;			/* tasks are "NAME-TID", not only "NAME" */
	const char **symbols;		/* shell patterns: a stack must have one of them */
	size_t nr_symbols;
};

/* Notes about the missing parts of a user stack, outside of its frames and inside. */
struct paths_notes {
	const char *outer[4];
	uint32_t nr;
	const char *inner;
};
void paths_get_notes(struct model *m, uint32_t ustack, struct paths_notes *n);
/*
 * Why an event has no user stack although no stack is missing, in a file with user stacks. NULL for
 * an event of a kernel thread, which needs no reason.
 */
const char *paths_explain_no_user(struct model *m, uint32_t kstack);
/* Is it a kernel frame of the tracer itself? Such frames are left out if they are innermost. */
bool paths_is_tracer(const struct model_frame *f);

struct paths;

/* @m and @f must outlive the paths. @f may be NULL for paths_have_symbol() alone. @o is copied. */
struct paths *paths_new(struct model *m, struct fold *f, const struct paths_opts *o);
void paths_free(struct paths *p);

/* Each returns a segment, or UINT32_MAX if there is not enough memory. */
uint32_t paths_get_task(struct paths *p, uint32_t tid);
/* If there was no request for a stack, @kstack shows whether the event is of a kernel thread. */
uint32_t paths_get_user(struct paths *p, uint32_t ustack, uint32_t kstack);
uint32_t paths_get_kernel(struct paths *p, uint32_t kstack);
uint32_t paths_get_event(struct paths *p, uint32_t type);

/* All segments of a wake-up. */
void paths_get_wake_up(struct paths *p, const struct wait *w, const struct waker *by,
		       uint32_t seg[FOLD_SEGS]);

/* Does one of these two stacks hold a function that matches @symbols? */
bool paths_have_symbol(struct paths *p, uint32_t kstack, uint32_t ustack);

#endif
