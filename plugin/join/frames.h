/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames.h - a joined stack as text, one line per frame
 *
 *	=> [user] read+0x1a (/usr/lib/x86_64-linux-gnu/libc.so.6+0xf1d3a)
 *
 * The text of a stack is made once and kept, because most stacks of a trace are equal.
 */
#ifndef USTACK_FRAMES_H
#define USTACK_FRAMES_H

#include "libunwind-user/unwind-user.h"

#include "jit.h"
#include "requests.h"
#include "maps.h"

struct text;

struct frames_opts {
	bool no_symbols;	/* addresses in place of functions */
	bool no_offsets;	/* functions and files without "+0x..." */
	bool no_demangle;
	bool raw;		/* each line ends with the frame's address */
	const char *sysroot;	/* put before each path; "" for none */
	struct jit *jit;	/* names of JIT code, or NULL; must outlive the frames */
	/*
	 * If not NULL, called after the line of each frame in a file, to add lines about the byte
	 * at @offset. Equal frames share one call.
	 */
	void (*more)(void *data, struct text *t, const struct maps_file *file, uint64_t offset);
	void *data;
};

struct frames;

/* @maps must outlive the frames; @opts is copied. NULL if there is not enough memory. */
struct frames *frames_new(struct maps *maps, const struct frames_opts *opts);
void frames_free(struct frames *f);

/*
 * The lines for @ans, each with its newline; "" for JOIN_NONE. @damaged: the
 * file was not read to its end. Valid until the next call.
 */
const char *frames_format(struct frames *f, const struct join_answer *ans, bool damaged);

/* ---- the same for callers that do not need text ---- */

/*
 * End a joined stack before its first address that is not code, and add the flags STACK_INCOMPLETE
 * and STACK_OUTSIDE. The innermost address stays, because the task was there. @jit knows compiled
 * code and may be NULL. frames_format() does this by itself.
 */
void frames_cut_at_non_code(struct maps *maps, struct jit *jit, struct uu_symbols *syms,
			    struct join_answer *ans);
/*
 * The file that an address of a stack lies in, and the offset in it; NULL if no file is known.
 * @exact: the task was at @addr; otherwise @addr is a return address. The innermost address is
 * exact (unless STACK_NO_INNER), and so is the address after a signal trampoline.
 */
const struct maps_file *frames_find_file(struct maps *maps, const struct join_answer *ans,
					 uint64_t addr, bool exact, uint64_t *offset);
/* The function there, its name NULL if unknown; true for a signal trampoline. */
bool frames_find_symbol(struct uu_symbols *syms, const struct maps_file *file, uint64_t offset,
			bool exact, struct uu_symbol *sym);

#endif
