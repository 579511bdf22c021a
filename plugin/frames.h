/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames - a joined stack as text, one line a frame
 *
 *	=> [user] read+0x1a (/usr/lib/x86_64-linux-gnu/libc.so.6+0xf1d3a)
 *
 * The text of a stack is made once and kept: most stacks of a trace are equal.
 */
#ifndef USTACK_FRAMES_H
#define USTACK_FRAMES_H

#include <stddef.h>

#include "join.h"
#include "maps.h"

struct frames_opts {
	bool no_symbols;	/* addresses in place of functions */
	bool no_offsets;	/* functions and files without "+0x..." */
	bool no_demangle;
	bool raw;		/* each frame's address at its end */
	const char *sysroot;	/* put before each path; "" for none */
};

struct frames;

/* @maps must outlive it; @opts is copied. NULL without memory. */
struct frames *frames_new(struct maps *maps, const struct frames_opts *opts);
void frames_free(struct frames *f);

/*
 * The lines for @ans, each with its newline; "" for JOIN_NONE. @damaged: the
 * file was not read to its end. Valid until the next call.
 */
const char *frames_text(struct frames *f, const struct join_answer *ans, bool damaged);

#endif
