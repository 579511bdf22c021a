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
	uint64_t lo, hi;	/* [lo, hi), which may be empty */
	uint64_t rank;		/* the highest wins; of equal ranks, any */
	uint32_t owner;		/* never COVER_NONE */
};

/* A piece goes from start to the start of the next piece. COVER_NONE: it has no owner. */
struct cover_piece {
	uint64_t start;
	uint32_t owner;
};

struct cover {
	struct cover_piece *v;
	size_t nr;
};

/*
 * Fill @c from @in, and sort @in. @c gets at most 2 * @nr pieces. Returns 0 or -ENOMEM; the caller
 * frees c->v with free().
 */
int cover_make(struct cover *c, struct cover_in *in, size_t nr);

/* The owner of @addr, or COVER_NONE. */
uint32_t cover_find(const struct cover *c, uint64_t addr);

#endif
