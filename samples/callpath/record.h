/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The record of a callpath program: one entry for each system call, written before the call is
 * made, with the call path that leads to it.
 *
 * The file is one shared mapping: a header, then entries back to back, each starting where the
 * previous entry ended. An atomic add on the cursor hands out space, so threads, forked children
 * and images after execve() all append to the same file. All written entries stay when the program
 * is killed. All words are 64 or 32 bits wide whatever the program's word size, so the same code
 * reads a 32-bit program's record.
 *
 * An entry whose ip is 0 was reserved but its system call was never reached: readers skip it. A
 * task killed after it reserved an entry and before it wrote the size leaves a hole of unknown
 * length. The next entry is then at the next place, in steps of 8 bytes, that has a size and the
 * magic number.
 */
#ifndef CALLPATH_RECORD_H
#define CALLPATH_RECORD_H

#define CP_MAGIC	0x70617468u
#define CP_VERSION	1u

/*
 * The first sequence number: above any file descriptor, see cp_record.seq, and
 * nothing that other programs pass as a length, a flag or an address.
 */
#define CP_FIRST_SEQ	0x5ca10000u

/* The most frames that an entry can have */
#define CP_MAX_DEPTH	1024

/* cp_record.flags */
#define CP_COMPAT	0x01	/* made by 32-bit code */
#define CP_SIGRETURN	0x02	/* rt_sigreturn, at the end of a signal handler */
#define CP_EXEC		0x04	/* execve: on success the program is replaced */
#define CP_SPAWN	0x08	/* a child starts its life at this entry's ip */
#define CP_RESTART	0x10	/* the call can be set back to its own instruction */
#define CP_EXIT		0x20	/* exit or exit_group: the call does not return */

/*
 * Marks the address of an interrupted instruction among the frames: the code a
 * signal handler returns to. An unwinder that follows frame pointers does not
 * see it, since the signal frame itself keeps none; all others must.
 */
#define CP_INTERRUPTED	(1ull << 63)

/* The file starts with this */
struct cp_header {
	unsigned int	magic;		/* CP_MAGIC */
	unsigned int	version;	/* CP_VERSION */
	unsigned int	cursor;		/* offset of the first free byte */
	unsigned int	size;		/* bytes of the whole file */
	unsigned int	seq;		/* next sequence number */
	unsigned int	refused;	/* entries that found no space: the record is incomplete */
	unsigned int	pad[2];
};

struct cp_record {
	unsigned int	bytes;		/* of this entry, a multiple of 8 */
	/*
	 * Passed as the fifth argument of the system call, which the kernel
	 * ignores but a trace shows. Unique in the file and growing with each
	 * call of a task, except that 64-bit mmap() reads its fifth argument
	 * (where it has one): there it is the descriptor mapped.
	 */
	unsigned int	seq;
	unsigned int	tid;		/* 0: not known yet */
	unsigned int	tgid;		/* 0: not known yet */
	unsigned int	nr;		/* number of the system call, in its own ABI */
	unsigned int	flags;		/* CP_* */
	unsigned int	depth;		/* number of entries in frame[] */
	unsigned int	magic;		/* CP_MAGIC */
	unsigned long long ip;		/* of the instruction after the system call */
	unsigned long long frame[];	/* return addresses, innermost first */
};

#endif /* CALLPATH_RECORD_H */
