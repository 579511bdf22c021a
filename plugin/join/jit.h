/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit - names of code that was compiled at run time: what trace-ustack record left in FILE.jit/
 *
 *	FILE.jit/index		"trace-ustack-jit 1 ID", then a line "TGID FROM" for each map
 *	FILE.jit/perf-TGID.map	what the process's compiler wrote to /tmp/perf-PID.map
 *
 * ID is that of the recording (TRACEID in its trace.dat, hexadecimal): another recording's maps do
 * not count. A map names code of that process from FROM on, in the recording's time stamps; before,
 * another process may have had that number, or this one another program
 * (trace-cmd-ext/record/jit.c). There is no other source of such names here: a file in /tmp now
 * says nothing of whose it is.
 */
#ifndef USTACK_JIT_H
#define USTACK_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "libunwind-user/unwind-user.h"

#include "maps.h"

struct jit;

/*
 * Those of the trace.dat file @dat, whose number is @id, 0 if it has none. NULL if there are none,
 * or without memory: all functions take that.
 */
struct jit *jit_open(const char *dat, uint64_t id);
void jit_free(struct jit *j);

/* Is there a map for the code of this process at this time? */
bool jit_knows(const struct jit *j, uint32_t tgid, uint64_t ts);
/*
 * The function that has the byte at @addr, where jit_knows() and jit_may(). A struct jit goes with
 * one @syms.
 */
bool jit_symbol(struct jit *j, struct uu_symbols *syms, uint32_t tgid, uint64_t addr,
		struct uu_symbol *sym);
/* May compiled code be in it? Memory in no file, and files that exist in memory only. NULL may. */
bool jit_may(const struct maps_file *file);

#endif
