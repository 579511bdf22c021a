/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tree.h - the frames of a flame graph
 *
 * Sorted samples are walked once, with only the frames of the current path in memory; a frame is
 * finished when a path no longer holds it. There can be millions of frames, so only the heaviest
 * are kept: a first walk finds the least weight for which at most @max_nodes frames are left. A
 * frame weighs no less than any frame on top of it, so the frames left out are whole upper parts.
 */
#ifndef TRACE_USTACK_TREE_H
#define TRACE_USTACK_TREE_H

#include "fold.h"

struct tree_node {
	uint32_t name;			/* fold_get_name() */
	uint32_t depth;			/* 0: outermost */
	uint64_t start;			/* weight of all frames to the left of it */
	uint64_t value[2];		/* its own values, with all frames on top of it */
};

struct tree {
	struct tree_node *nodes;	/* by depth, then by start; the caller frees them */
	size_t nr;
	size_t hidden;			/* number of frames left out */
	uint64_t least;			/* weight of the lightest frame that was kept */
	uint64_t total[2];
	uint32_t depth;			/* depth of the deepest frame that was kept, + 1 */
};

/*
 * Make the tree of the finished fold @f. value[@by] is the weight. Frames of weight 0, and frames
 * that weigh less than @share of all, are never kept. 0 or -ENOMEM.
 */
int tree_make(struct tree *t, const struct fold *f, int by, size_t max_nodes, double share);

#endif
