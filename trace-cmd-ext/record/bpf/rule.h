/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rule.h - unwind tables as BPF programs read them, and what else programs and recorder share
 *
 * An SFrame section is compact, and slow to read: a search, then row after row of variable size.
 * The recorder unpacks it into flat rows of 8 bytes: an offset in the file, and the rule that holds
 * from there on. Rules that do not fit 32 bits are in a second table (struct full_rule); few of
 * them differ.
 *
 * A part is PART_SIZE bytes of a file that are mapped as code. Its rows and an index of them are
 * together in a chunk: a map value, which the recorder fills by mmap(). The recorder adds chunks as
 * it needs them. The map `parts` leads from device, inode and number of the part to its rows.
 */
#ifndef TRACE_USTACK_RECORD_BPF_RULE_H
#define TRACE_USTACK_RECORD_BPF_RULE_H

#include "msg.h"

/*
 * Do the programs walk the stacks of 32-bit programs, too? Do they know runtimes (Go, JIT code,
 * Python)? They read code of amd64 for that. The recorder is for the same architecture.
 */
#if defined(ARCH_AMD64) || \
	(defined(__x86_64__) && !defined(ARCH_ARM64) && !defined(ARCH_S390X))
#define HAS_32BIT	1
#define HAS_RUNTIMES	1
#else
#define HAS_32BIT	0
#define HAS_RUNTIMES	0
#endif

/* A chunk: 32-bit words. Rows are pairs of words: offset in the part, rule */
#define CHUNK_WORDS	(1u << 19)	/* 2 MiB */
#define MAX_CHUNKS	512

#define PART_SHIFT	20
#define PART_SIZE	(1u << PART_SHIFT)

struct part_key {
	__msg64 ino;			/* 0: a vDSO */
	__msg32 dev;			/* as the kernel writes it: major << 20 | minor */
	__msg32 nr;			/* offset in the file >> PART_SHIFT */
};

/* These stand for the device of a vDSO: that of 64-bit, i386 and x32 programs. */
#define VDSO64_DEV	0
#define VDSO32_DEV	(1u << 20)
#define VDSOX32_DEV	(2u << 20)

/* Which tasks may be walked by the rows of a part. */
enum part_abi {
	ABI_ANY,			/* no rows */
	ABI_64,
	ABI_32,
	ABI_OTHER,			/* no task */
};

/* Which contents of a file the rows are for. Not used for a vDSO. */
struct file_state {
	__msg64 size;
	__msg64 mtime;			/* s */
	__msg32 mtime_nsec;
	__msg32 pad;
};

/*
 * The index divides the part into blocks of 1 << shift bytes. Number i of the index is the last row
 * that starts at the start of block i or before. There is one more number than blocks.
 */
struct part {
	struct file_state state;
	__msg32 chunk;
	__msg32 index;			/* first word of the index */
	__msg32 rows;			/* first word of the rows, even */
	__msg32 nr_rows;		/* 0: the file has no rules here, and never will */
	__msg32 shift;
	__msg32 abi;			/* enum part_abi */
	__msg32 python;			/* number of a struct python_layout; 0: the file has none */
	__msg32 pad;
};

/*
 * A rule of 32 bits. The low two bits say what the others are:
 *  RULE_SPECIAL	enum special_rule
 *  RULE_SP, RULE_FP	where the caller is
 *  RULE_FULL		number of a struct full_rule
 *
 * amd64 and i386: CFA = SP or FP + word * (rule >> 9, signed); RA is at CFA - word; the FP of the
 * caller is at CFA - word * (rule >> 2 & 127), or unchanged if that is 0. A word has 8 bytes, and
 * in rows of ABI_32 it has 4.
 *
 * Where a call leaves RA in a register (arm64, s390x): CFA = SP or FP + 8 * (rule >> 10, signed).
 * With n = (rule >> 2 & 127), the FP of the caller is at CFA - 8 * n, and RA is RULE_*_RA_AFTER_FP
 * bytes above FP. If n is 0, FP is unchanged, and RA is still in the register. RULE_SIGNED_RA: RA
 * is signed (arm64). RULE_RA_ONLY: FP is unchanged all the same (s390x).
 */
#define RULE_SPECIAL	0
#define RULE_SP		1
#define RULE_FP		2
#define RULE_FULL	3
#define RULE_KIND(rule)	((rule) & 3)
#define RULE_MAX_FP	127
#define RULE_MAX_CFA	((1 << 22) - 1)	/* in words */
#define RULE_MAX_LINK_CFA	((1 << 21) - 1)
#define RULE_SIGNED_RA	(1u << 9)
#define RULE_RA_ONLY	(1u << 9)
#define RULE_ARM64_RA_AFTER_FP	8
#define RULE_S390X_RA_AFTER_FP	24

enum special_rule {
	RULE_UNKNOWN,			/* nothing is known of this code: try the frame pointer */
	RULE_HOLE,			/* known not to be walkable */
	RULE_OUTERMOST,			/* there is no caller */
	RULE_OTHER_ABI,			/* the rows are not for this task; in no table */
};

static inline __msg32 rule_make_special(enum special_rule what)
{
	return (__msg32)what << 2 | RULE_SPECIAL;
}

static inline __msg32 rule_make_full(__msg32 number)
{
	return number << 2 | RULE_FULL;
}

static inline __msg32 rule_make_plain(__msg32 kind, int cfa_words, __msg32 fp_words)
{
	return (__msg32)cfa_words << 9 | fp_words << 2 | kind;
}

/* The same, where a call leaves RA in a register; @flag: 0, RULE_SIGNED_RA or RULE_RA_ONLY */
static inline __msg32 rule_make_link(__msg32 kind, int cfa_words, __msg32 fp_words, __msg32 flag)
{
	return (__msg32)cfa_words << 10 | flag | fp_words << 2 | kind;
}

/* enum sframe_base of libunwind-user/sframe/sframe_read.h; flat.c checks that all are equal */
enum { BASE_SAME, BASE_UNDEFINED, BASE_CFA, BASE_SP, BASE_FP, BASE_REG };

/* Copies struct sframe_rule, with a base from the list above. */
struct full_value {
	int off;
	unsigned char base, deref, reg, add;
};

#define FULL_SIGNAL	0x1		/* the caller was interrupted by a signal */
#define FULL_DOUBTFUL	0x2		/* look at the code first: is_doubtful() of sframe/step.c */
#define FULL_SIGNED_RA	0x4
#define FULL_SP		0x8		/* the SP of the caller is the CFA */
#define MAX_FULL	4096

/* Values of full_rule.kept, as in sframe_format.h */
#define KEPT_UNKNOWN	0
#define KEPT_IN_REG	1

/* An element of an array map. Its size is a multiple of 8: the kernel rounds sizes up to that */
struct full_rule {
	struct full_value cfa, ra, fp;
	__msg32 flags;
	__msg32 kept;			/* SFRAME_ROW_KEPT() of the row */
};

/* Offsets in a file */
struct file_range {
	__msg64 start, end;
};

#define MAX_FRAMELESS_CALLEES	64

/*
 * A runtime: a file whose code compiles functions into memory that is in no file. Take consecutive
 * frames of such functions on a stack. These functions are known to keep a frame pointer while they
 * call something (runtime.c says why) if
 *
 *	- code in @callers has called the outermost of them,
 *	- the innermost has not called a function in @frameless_callee, which code without a frame
 *	  calls,
 *	- the innermost has called a function of this file, if @calls_itself is set,
 *	- all of them are between two addresses, which are in memory at @low and @high,
 *	- the byte in memory at @flag is 1,
 *	- no frame returns to the address that is in memory at @return_barrier. Stacks go on
 *	  elsewhere there.
 *
 * A runtime whose functions run on other stacks than the functions of the file says so by the
 * 4 bytes in memory at @own_stacks: if they are 1, all of its functions keep a frame pointer.
 *
 * All of these are offsets in the file. For @low, @high, @flag, @return_barrier and @own_stacks,
 * count from the code in memory, even if the file itself ends before; 0: there is none.
 */
struct runtime {
	struct file_state state;
	struct file_range callers, frameless_callee[MAX_FRAMELESS_CALLEES];
	__msg64 low, high, flag, return_barrier, own_stacks;
	__msg32 nr_frameless_callees;
	__msg32 calls_itself;
};

#define MAX_RUNTIMES	1024

/*
 * A file with an interpreter of CPython: python.bpf.h. Addresses count from the code in memory, as
 * in struct runtime. All other fields are offsets in structures of CPython, which python.c names.
 */
struct python_layout {
	__msg64 runtime, code_type;	/* addresses: _PyRuntime, PyCode_Type */
	__msg32 interpreters, next_interpreter, threads, next_thread, thread_id;
	__msg32 thread_top;		/* the innermost struct _PyCFrame, or the innermost frame */
	__msg32 has_cframes;		/* thread_top is that of a struct _PyCFrame (3.11, 3.12) */
	__msg32 cframe_frame;
	__msg32 cframe_previous;	/* 0: frames are the markers */
	__msg32 frame_code, frame_previous, frame_instr, frame_owner, frame_entry;
	__msg32 code_tag;		/* bits of frame_code that are not of the address */
	/* of a code object */
	__msg32 first_line, file_name, name, table, first_traceable, instructions;
	__msg32 kind_shift;		/* of the texts' kind, in their state */
	__msg32 ascii_size, compact_size;	/* before the characters of a text */
};

#define MAX_PYTHONS	64

/* Bytes that the programs read of a frame, and at most of a thread or a code object */
#define PYTHON_FRAME_SIZE	80
#define PYTHON_CODE_SIZE	256

/* A task that the programs know of. */
#define TASK_TRACED	0x1
#define TASK_LEFT_OUT	0x2
#define TASK_SAVED_STACK	0x4		/* its stack may be in the map `saved_stacks` */

struct task {
	__msg64 stack_start;		/* the stack pointer from clone(); 0: from execve() */
	__msg64 start_ip;		/* where it started; valid with stack_start */
	__msg64 start_time;		/* of the task, ns; 0: not known */
	__msg32 flags;
	__msg32 pad;
};

/* Memory for running programs: several slots for each CPU, as programs can interrupt each other */
#define SLOTS_PER_CPU	8
#define MAX_SYSCALLS	512

/*
 * Programs have these numbers. In the copy of a program for an event, events.c replaces them by the
 * ID of the event, and by the number of the program's element in the map `counts`.
 */
#define EVENT_ID	0x5ee7e1d0
#define COUNTER		0x5ee7e1d1

/*
 * on_function() has these numbers. Before the kernel loads it, functions.c replaces them by the
 * type ID of the kernel's variable that counts interrupts, and by the bits in that variable.
 */
#define PREEMPT_COUNT	0x5ee7e1d2
#define HARDIRQ_BITS	0x5ee7e1d3
#define NMI_BITS	0x5ee7e1d4

/* Elements of the map `counts`. 0: no count; from COUNTER_EVENTS on: the counts of single events */
enum {
	COUNTER_ENTER = 1,
	COUNTER_EXIT,
	COUNTER_EVENTS,
};

/* One count of the kernel on one CPU */
struct count {
	__msg64 at;			/* address of the count; 0: not known */
	__msg64 seen;			/* value of the count at the last read */
	__msg64 time;			/* of the last read */
	__msg64 context;		/* see get_address() */
};

/* Data that recorder and programs exchange, in a map that the recorder has mapped */
struct control {
	__msg32 on;			/* programs send only while this is set */
	__msg32 all;			/* bpfsrc_opts.all */
	__msg32 inherit;
	__msg32 ring_size;
	__msg32 sample;			/* bpfsrc_opts.sample */
	__msg32 sampling;		/* bpfsrc_set_sampling() */
	__msg32 function;		/* bpfsrc_opts.function_id */
	__msg32 pad;
	__msg64 lost;			/* messages without room */
	__msg64 functions_skipped;	/* calls of functions, because of busy.bpf.h */
	__msg64 python_functions;	/* numbers given to functions of Python */
	/* random for each recording, so that no program can make hashes of functions collide */
	__msg64 hash_start[2], hash_factor[2];	/* factors are odd */
	__msg64 woken;			/* when a program last woke the recorder for a table */
	__msg64 syscall_table;		/* kernel address of sys_call_table, for read_syscalls */
	__msg64 syscall[MAX_SYSCALLS];	/* what read_syscalls found there */
	__msg32 enter[MAX_SYSCALLS];	/* id of the event, by number of the system call; 0: none */
	__msg32 exit[MAX_SYSCALLS];
};

#endif
