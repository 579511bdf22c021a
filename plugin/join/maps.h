/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * maps - from a process, a time and an address to a file and an offset
 *
 * A user_unwind_map record says: at this time this range of this process is
 * this file. The kernel makes one when a stack first touches an executable
 * mapping, and again when something else has come to its place, so:
 *
 *  1. An address belongs to the mapping that holds it and was recorded last at
 *     or before the stack: a later record for the same place is a later exec
 *     or mmap.
 *  2. Where none was recorded before, to the one recorded first after it: the
 *     earlier record was overwritten, or the other CPU's clock is ahead.
 *  3. Two different mappings of one place, of which one was recorded within
 *     10 ms of the stack, but on another CPU: their clocks need not agree on
 *     which of the two it was. Nothing is guessed, the address has no file.
 *
 * An address is no code, so no return address, although a frame pointer led to it
 *
 *  4. in the first page, and where no program has memory: the kernel's half, and
 *     what no processor can translate;
 *  5. outside of every mapping that was ever recorded of the process, if they are
 *     all there: the one that the task itself was in was recorded, no event of
 *     the file was dropped, and the stack touches fewer mappings than the kernel
 *     records for one stack.
 *
 * Records of all buffer instances count. A stack without a process id (the
 * layout posted upstream) is looked up under its thread id.
 */
#ifndef USTACK_MAPS_H
#define USTACK_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps;

struct maps_rec {
	uint64_t start, end, pgoff, ino, ts;
	uint32_t tgid, cpu, major, minor;
	uint32_t build_id_size;		/* at most 20 */
	uint8_t build_id[20];
	const char *path;		/* terminated */
};

/* What the maps tell of a file; equal ones share an id. */
struct maps_file {
	uint32_t id;
	uint32_t major, minor;
	uint64_t ino;
	uint32_t build_id_size;
	uint8_t build_id[20];
	char *path;
};

struct maps *maps_new(void);
void maps_free(struct maps *m);
/* 0, or -ENOMEM. */
int maps_add(struct maps *m, const struct maps_rec *rec);
int maps_finish(struct maps *m);

/* The file that @addr is of, and the offset in it; NULL if none is known. */
const struct maps_file *maps_find(struct maps *m, uint32_t tgid, uint64_t ts, uint32_t cpu,
				  uint64_t addr, uint64_t *offset);
/*
 * The same, and around @addr the addresses from *@from up to *@to are in the same place of the same
 * file; nothing around it (*@from is @addr) where that depends on the time.
 */
const struct maps_file *maps_find_range(struct maps *m, uint32_t tgid, uint64_t ts, uint32_t cpu,
					uint64_t addr, uint64_t *offset, uint64_t *from,
					uint64_t *to);
/* Records may be missing: events were dropped, or the file is damaged. */
void maps_set_incomplete(struct maps *m);
/*
 * The first of @addrs from @from on that is no code, by rules 4 and 5; @nr if there is none. @addrs
 * is the whole stack: the task was at the first one.
 */
uint32_t maps_find_outside(struct maps *m, uint32_t tgid, const uint64_t *addrs, uint32_t from,
			   uint32_t nr);
/*
 * A number such that stacks of this process with the same number resolve
 * alike; *@near is set if this stack is subject to rule 3, where that is not so.
 */
uint32_t maps_epoch(struct maps *m, uint32_t tgid, uint64_t ts, bool *near);

#endif
