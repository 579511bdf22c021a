/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit.h - names of JIT code, from the files that trace-ustack record left in FILE.jit/
 *
 *	FILE.jit/index		"trace-ustack-jit 1 ID", then a line "TGID FROM" for each map
 *	FILE.jit/perf-TGID.map	copy of /tmp/perf-PID.map, written by the process's compiler
 *
 * ID is the recording's TRACEID in hexadecimal; maps of another recording do not count. A map names
 * code of its process from FROM on, a time stamp of the recording. Before FROM, another process may
 * have had the same PID, or the process may have run another program (trace-cmd-ext/record/jit.c).
 * FILE.jit is the only source of such names: a file in /tmp does not say which process wrote it.
 */
#ifndef USTACK_JIT_H
#define USTACK_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "libunwind-user/unwind-user.h"

#include "maps.h"

struct jit;

/*
 * Open the maps of the trace.dat file @dat. @id is its TRACEID, or 0. Returns NULL if there are no
 * maps, or if there is not enough memory; all functions accept NULL.
 */
struct jit *jit_open(const char *dat, uint64_t id);
void jit_free(struct jit *j);

/* Is there a map for the code of this process at this time? */
bool jit_knows(const struct jit *j, uint32_t tgid, uint64_t ts);
/*
 * The function that holds the byte at @addr. Call it only if jit_knows() and jit_may_hold() are
 * true, and always with the same @syms for one struct jit.
 */
bool jit_find_symbol(struct jit *j, struct uu_symbols *syms, uint32_t tgid, uint64_t addr,
		     struct uu_symbol *sym);
/* May @file hold JIT code? True for NULL, memory in no file, and files in memory only. */
bool jit_may_hold(const struct maps_file *file);

#endif
