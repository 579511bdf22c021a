/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read a callpath record, and compare a stack with one of its entries.
 *
 * This code is deliberately separate: the checkers share nothing with the plugin except the layout
 * of the record.
 */
#ifndef CHECK_TRUTH_H
#define CHECK_TRUTH_H

#include <stddef.h>
#include <stdint.h>
#include "../../../samples/callpath/record.h"

/* Flags of user_unwind_stack */
#define STACK_TRUNCATED		0x1
#define STACK_COMPAT		0x2
#define STACK_MORE		0x4
#define STACK_INCOMPLETE	0x8
#define STACK_FRAME_POINTER	0x10

#define WHY_SIZE	160		/* of the difference that truth_same() writes */

/* A stack that is cut must still have this many frames: the limit is 512 */
#define STACK_LIMIT		500

/* A record is judged on the machine it was made on: length of the instruction of a system call */
#if defined(__aarch64__)
#define SYSCALL_BYTES		4
#define NR_RESTART_SYSCALL	128
#elif defined(__s390x__)
#define SYSCALL_BYTES		2
#define NR_RESTART_SYSCALL	7
#else
#define SYSCALL_BYTES		2
#define NR_RESTART_SYSCALL	219
#endif

/* An address in the vDSO, which a text does not show. callpath is below 4 GiB, the vDSO above. */
#define ADDR_VDSO	1u

struct truth {
	const struct cp_header	*head;		/* the mapped file */
	const struct cp_record	**table;	/* open addressing, by seq */
	unsigned int		mask;		/* size of table - 1 */
	const struct cp_record	**sorted;	/* all entries, by (tid, seq); see truth_from() */
	unsigned int		entries;	/* number of complete entries */
	unsigned int		unused;		/* entries that were reserved, and never written */
};

/* Maps the record at @path, until truth_free(). 0, or -errno after a sentence on stderr. */
int truth_load(struct truth *tr, const char *path);
void truth_free(struct truth *tr);

/* Reads the new entries of the file, which may have grown since it was mapped. */
void truth_index(struct truth *tr);

/* The entry of system call @nr (< 0: any) of @tid with the fifth argument @seq, or NULL. */
const struct cp_record *truth_find(const struct truth *tr, unsigned int tid,
				   unsigned int seq, int nr);

/*
 * The first entry of @tid with a sequence number from @seq on, or NULL. The result points into an
 * array: the task's next entries follow there, up to another tid or NULL. The first call makes the
 * array.
 */
const struct cp_record *const *truth_from(struct truth *tr, unsigned int tid, unsigned int seq);

/*
 * Compares @nr addresses, innermost first, with the path of @rec. @tables: the unwinder that made
 * the stack sees the interrupted instruction after a signal frame. Returns 1 if they are the same
 * and the flags fit, otherwise 0 with the difference in @why.
 */
int truth_same(const struct cp_record *rec, const uint64_t *addr, unsigned int nr,
	       unsigned int flags, int tables, char why[WHY_SIZE]);

/* Is the stack the innermost part of the path, or all of it? Flags do not matter. */
int truth_starts(const struct cp_record *rec, const uint64_t *addr, unsigned int nr, int tables);
/* Prints the path of @rec, one address on each line */
void truth_print(const struct cp_record *rec);

#endif /* CHECK_TRUTH_H */
