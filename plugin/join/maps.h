/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * maps.h - from a process, a time and an address to a file and an offset
 *
 * A user_unwind_map record says: at this time, this range of this process is this file. The kernel
 * writes the record when a stack first touches an executable mapping, and again when something else
 * was mapped at that place. The rules are:
 *
 *  1. An address belongs to the mapping that holds it and was recorded last, at or before the
 *     stack: a later record for the same place means a later exec or mmap.
 *  2. If no mapping was recorded before the stack, the address belongs to the first mapping
 *     recorded after it: the earlier record was overwritten, or the clock of the other CPU is
 *     ahead.
 *  3. Two different mappings of one place are ambiguous if one of them was recorded within 10 ms of
 *     the stack on another CPU: the clocks of the two CPUs need not agree. The address then has no
 *     file, because a guess could be wrong.
 *
 * Some addresses are not code, and so not return addresses, although a frame pointer led to them:
 *
 *  4. An address in the first page, or where no program has memory: the kernel's half, and
 *     addresses that no processor can translate.
 *  5. An address outside of every mapping that was ever recorded of the process, if all mappings
 *     are known. They are known under three conditions: the mapping that the task itself ran in was
 *     recorded, the file dropped no event, and the stack touches fewer mappings than the kernel
 *     records for one stack.
 *
 * The recorder of BPF stacks puts functions of Python into stacks. Each line of such a function has
 * an address of its own, where no program has memory, and a mapping with a path like
 *
 *	[python] outer (/usr/bin/app)
 *
 * The file of this mapping is /usr/bin/app, and says that it is the function outer(). An offset in
 * it stands for a line: maps_get_python_line().
 *
 * Records of all buffer instances count. A stack without a process ID (the layout posted upstream)
 * is looked up by its thread ID.
 */
#ifndef USTACK_MAPS_H
#define USTACK_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps;

struct maps_rec {
	uint64_t start, end;
	uint64_t pgoff;			/* offset of @start in the file, in bytes */
	uint64_t ino;
	uint64_t ts;			/* ns */
	uint32_t tgid, cpu, major, minor;
	uint32_t build_id_size;		/* at most 20 */
	uint8_t build_id[20];
	const char *path;		/* terminated */
};

/* A file as the maps describe it; equal files share an id. */
struct maps_file {
	uint32_t id;
	uint32_t major, minor;
	uint64_t ino;
	uint32_t build_id_size;
	uint8_t build_id[20];
	char *path;			/* of a Python function: as Python names its file */
	char *python;			/* the name of this function, or NULL */
};

#define MAPS_PYTHON	"[python] "	/* starts the path in the record of such a function */
#define MAPS_PYTHON_BASE	0x0180000000000000ull	/* addresses of such functions */
/* MAPS_PYTHON_BASE + 2 * (highest number, 2^18, + 1): MSG_PYTHON_END of record/bpf/msg.h */
#define MAPS_PYTHON_END		0x0180000000080002ull

static inline bool maps_is_python(uint64_t addr)
{
	return addr >= MAPS_PYTHON_BASE && addr < MAPS_PYTHON_END;
}

/* The line that an offset in a Python function stands for; 0: not known */
static inline uint32_t maps_get_python_line(uint64_t offset)
{
	return offset / 2;
}

/* The offset that stands for a line */
static inline uint64_t maps_make_python_offset(uint32_t line)
{
	return 2 * (uint64_t)line;
}

struct maps *maps_new(void);
void maps_free(struct maps *m);
/* 0, or -ENOMEM. */
int maps_add(struct maps *m, const struct maps_rec *rec);
int maps_finish(struct maps *m);

/* The file that @addr lies in, and the offset in it; NULL if no file is known. */
const struct maps_file *maps_find_file(struct maps *m, uint32_t tgid, uint64_t ts, uint32_t cpu,
				       uint64_t addr, uint64_t *offset);

/* An address in a stack of process @tgid that was recorded on @cpu at @ts */
struct maps_place {
	uint32_t tgid, cpu;
	uint64_t ts, addr;
};

/*
 * Returns as maps_find_file(), and a range around the address: all addresses from *@from up to *@to
 * lie in the same mapping. The range is the address alone if the mapping is unknown or depends on
 * the time.
 */
const struct maps_file *maps_find_file_range(struct maps *m, const struct maps_place *place,
					     uint64_t *offset, uint64_t *from, uint64_t *to);
/* Records may be missing: events were dropped, or the file is damaged. */
void maps_set_incomplete(struct maps *m);
/*
 * The index of the first address in @addrs, from @from on, that is not code by rules 4 and 5; @nr
 * if all are code. @addrs is the whole stack; its first address is where the task was.
 */
uint32_t maps_find_outside(struct maps *m, uint32_t tgid, const uint64_t *addrs, uint32_t from,
			   uint32_t nr);
/*
 * Returns the epoch of @ts. All stacks of this process in one epoch have the same files, except
 * those for which this function sets *@near: rule 3 applies to them.
 */
uint32_t maps_get_epoch(struct maps *m, uint32_t tgid, uint64_t ts, bool *near);

#endif
