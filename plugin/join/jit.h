/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit.h - names of code that was compiled at run time, from the files trace-ustack record left in
 * FILE.jit/
 *
 *	FILE.jit/index		"trace-ustack-jit 1 ID", then a line "TGID FROM" for each map
 *	FILE.jit/perf-TGID.map	copy of /tmp/perf-PID.map, written by the process's compiler
 *
 * ID is the recording's TRACEID in hexadecimal; maps of another recording do not count. A map names
 * code of its process from FROM on, a time stamp of the recording. Before FROM, another process may
 * have had the same PID, or the process may have run another program (trace-cmd-ext/record/jit.c).
 * FILE.jit is the only source of such names: nobody knows today which process wrote a file in /tmp.
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
