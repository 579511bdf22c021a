/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cover.h - turns intervals that may overlap into a sorted list of pieces that do not
 *
 * Three kinds of intervals overlap: functions and the functions inlined into them, units of debug
 * information, and code that a JIT compiler wrote over older code. At each address the caller wants
 * the interval with the highest rank.
 */
#ifndef UU_COVER_H
#define UU_COVER_H

#include <stddef.h>
#include <stdint.h>

#define COVER_NONE	UINT32_MAX

struct cover_in {
	uint64_t lo, hi;	/* hi is the first address after it; empty ones are fine */
	uint64_t rank;		/* the highest wins; among equals any */
	uint32_t owner;		/* never COVER_NONE */
};

/* A piece: from start to the next one's, of owner, or of nobody: COVER_NONE. */
struct cover_piece {
	uint64_t start;
	uint32_t owner;
};

struct cover {
	struct cover_piece *v;
	size_t nr;
};

/*
 * Fill @c from @in, which is sorted on the way. At most 2 * @nr pieces. 0 or -ENOMEM; free it with
 * free(c->v).
 */
int cover_make(struct cover *c, struct cover_in *in, size_t nr);

/* Whose @addr is; COVER_NONE: nobody's. */
uint32_t cover_find(const struct cover *c, uint64_t addr);

#endif
