/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fold.h - stacks with their weights, ready to be folded into a flame graph
 *
 * A sample is a path from the outermost frame to the innermost, and two numbers. Its path is made
 * of FOLD_SEGS segments, in the order in which they are drawn: a task, its user stack, its kernel
 * stack, and so on; a segment is a list of names. Segments repeat far more often than paths, so
 * they are interned, and a sample is a few numbers. fold_finish() sorts the samples by their paths
 * and adds up equal ones. Then samples that share outer frames are neighbours, and one pass over
 * them finds every frame of the graph (tree.h).
 *
 * A fold does not depend on recordings and models. It copies its input. It is not thread safe.
 */
#ifndef TRACE_USTACK_FOLD_H
#define TRACE_USTACK_FOLD_H

#include <stddef.h>
#include <stdint.h>

#define FOLD_SEGS	6
#define FOLD_NONE	0u		/* the segment without names, and no file */

enum fold_kind {
	FOLD_TASK,
	FOLD_USER,
	FOLD_KERNEL,
	FOLD_NOTE,			/* why a stack or a part of it is missing */
	FOLD_MARK,			/* "woken by" */
	FOLD_EVENT,
	FOLD_INLINED,			/* a function of the user program, inlined into the next */
	FOLD_NR_KINDS
};

struct fold_name {
	const char *text;		/* terminated bytes, not always UTF-8 */
	enum fold_kind kind;
	uint32_t file;			/* fold_add_file(); FOLD_NONE: not known */
};

struct fold_sample {
	uint32_t seg[FOLD_SEGS];
	uint64_t value[2];
};

struct fold;

/* NULL if there is not enough memory. */
struct fold *fold_new(void);
void fold_free(struct fold *f);

/* The number of a file, a name or a list of names (outermost first); UINT32_MAX: no memory */
uint32_t fold_add_file(struct fold *f, const char *path);
uint32_t fold_add_name(struct fold *f, enum fold_kind kind, const char *text, uint32_t file);
uint32_t fold_add_seg(struct fold *f, const uint32_t *names, uint32_t nr);

/* Add a sample. 0 or -ENOMEM; also -ENOMEM if a segment is UINT32_MAX, so callers need no check. */
int fold_add(struct fold *f, const uint32_t seg[FOLD_SEGS], const uint64_t value[2]);
/* Reserve memory for @nr samples; 0 or -ENOMEM. */
int fold_reserve(struct fold *f, size_t nr);
/* Sort samples and add up equal ones. Call it again after adding more samples. 0 or -ENOMEM. */
int fold_finish(struct fold *f);

size_t fold_get_nr_samples(const struct fold *f);
const struct fold_sample *fold_get_sample(const struct fold *f, size_t i);
const uint32_t *fold_get_names(const struct fold *f, uint32_t seg, uint32_t *nr);
const struct fold_name *fold_get_name(const struct fold *f, uint32_t name);
uint32_t fold_get_nr_segs(const struct fold *f);
const char *fold_get_path(const struct fold *f, uint32_t file);
uint32_t fold_get_nr_files(const struct fold *f);

#endif
