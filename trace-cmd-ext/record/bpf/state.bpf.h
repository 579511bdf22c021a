/* SPDX-License-Identifier: GPL-2.0 */
/*
 * state.bpf.h - the maps, and the state of a walk
 */
#ifndef TRACE_USTACK_RECORD_BPF_STATE_H
#define TRACE_USTACK_RECORD_BPF_STATE_H

#include "arch.bpf.h"

#define NR_MAPPINGS	MSG_MAX_CODE

/* Of the kernel ABI: docs/kernel-abi.md */
#define UNWIND_STACK_TRUNCATED		0x1
#define UNWIND_STACK_COMPAT		0x2
#define UNWIND_STACK_INCOMPLETE		0x8
#define UNWIND_STACK_FRAME_POINTER	0x10

/* The flags of a frame: USTEP_* in libunwind-user/sframe/step.h */
#define FRAME_EXACT	0x1
#define FRAME_INNERMOST	0x2
#define FRAME_SIGNAL	0x4
#define FRAME_NO_SP	0x10
#define FRAME_KEPT	0x20
#define FRAME_KEPT_AT	0x40

/* Bytes of a word of a 64-bit and of a 32-bit program. Words of a window have WORD bytes. */
#define WORD		8
#define WORD32		4
#define IN_COMPAT	(1ull << 63)	/* in walk_key.exec_id */
/* Where a new thread starts: bytes of code, and words on its stack */
#define START_CODE	256
#define START_WORDS	2
/* Bytes from where the function of a thread returns to, up to the end of the exit system call */
#define START_EXIT	8

enum mapping_kind {
	MAP_FILE,
	MAP_VDSO,
	MAP_NO_FILE,
};

/* An executable mapping that this walk has met. */
struct mapping {
	u64 start, end, pgoff;
	u64 ino;
	u32 dev;
	u32 kind;
	struct file_state state;
	/* the part of the file that the walk used last */
	u32 part_nr;
	u32 part_known;
	struct part part;
};

/*
 * The words of the stack that a walk has read. A walk reads a window of WINDOW words of one page at
 * once. Word I of window N has the number N * WINDOW + I.
 */
#define WINDOW		128
#define WINDOW_SIZE	(WINDOW * WORD)
#define MAX_WINDOWS	16
#define MAX_WORDS	128

struct trail {
	u32 nr;				/* words; more than MAX_WORDS: some are not here */
	u32 nr_windows;
	u64 window[MAX_WINDOWS];	/* addresses */
	u16 at[MAX_WORDS];		/* numbers of the words */
	u64 value[MAX_WORDS];
};

/* A walk depends on these and on struct trail. A task is known by its address and start time. */
struct walk_key {
	u64 task, start_time;
	u64 exec_id;			/* counts the task's programs; IN_COMPAT: 32-bit code */
	u64 mm, changes;		/* count_changes() */
	u64 ip, sp, fp;
	u64 stack_start, start_size;
	u64 start_ip;			/* where the thread started; 0: a program */
#if HAS_LINK_REG
	u64 link;			/* REG_LINK: RA, if the function has not saved it */
#endif
};

/* A walk whose result was sent. */
struct cached_walk {
	u64 busy;			/* a BPF program uses this place of the cache */
	u64 stack;			/* msg_stack.id */
	u64 time;			/* of the last walk with this result; 0: no walk yet */
	struct walk_key key;
	struct trail trail;
	/* as in struct python_walk; python 0: the walk met no Python */
	u32 python;
	u64 python_base, python_chain[2];
};

#define NR_CACHED_WALKS	1024
#define HEAD_SIZE	192		/* bytes of a structure, in @node: read_head() */
#define NO_WINDOW	1		/* an address at which no window starts */

/* The frames of Python: python.bpf.h */
#define MAX_PYTHON	512		/* frames and markers */
#define PYTHON_NAME_AT	0		/* in words */
#define PYTHON_FILE_AT	(MSG_MAX_NAME / WORD)
#define PYTHON_TABLE_AT	(PYTHON_FILE_AT + MSG_MAX_FILE / WORD)
#define PYTHON_TABLE_WORDS	(MSG_MAX_TABLE / WORD)
#define PYTHON_TEXT_WORDS	(PYTHON_TABLE_AT + PYTHON_TABLE_WORDS)
#define PYTHON_CFRAME_SIZE	24	/* bytes that are read of a _PyCFrame */
/* enum _frameowner of CPython: a generator; the highest owner of a frame of Python */
#define PYTHON_GENERATOR	1
#define PYTHON_LAST_OWNER	2

struct python_walk {
	u32 file;			/* number of a struct python_layout; 0: none met */
	u32 failed;			/* the stack has UNKNOWN_FRAME */
	u64 base;			/* where addresses of the file count from */
	u64 next_frame;			/* address of the next frame to read */
	u64 marker, previous;		/* 3.11: of this span, and of the one before */
	u64 caller;			/* 3.11: the caller of the last span's outermost frame */
	u32 caller_known;
	u32 reserved;			/* index in @entry of the marker of this span */
	u32 nr, next_entry;		/* next_entry: the first that is not in the stack yet */
	u32 read_file;			/* the file whose spans are in @entry; 0: none */
	u32 spans_unknown;		/* the spans of read_file could not be read */
	u32 nr_sent;			/* functions that this walk has sent */
	u32 table_bytes;		/* bytes of line tables that this walk has read */
	u32 tail_calls;			/* 3.14: each instruction can have its own function */
	u32 interrupted;		/* the last frame: interrupted in a function of @file */
	u64 hash_start[2], hash_factor[2];	/* as in struct control */
	u64 chain[2];			/* hash of all entries */
	u64 entry[MAX_PYTHON];		/* for each span: marker, frames from the innermost one */
	/* copies of structures of CPython */
	u64 frame[16], code[PYTHON_CODE_SIZE / WORD], object[8];
	u64 thread, thread_id;		/* the task's PyThreadState; 0: none with frames */
	u64 innermost;			/* address of the innermost frame of that thread */
	u64 thread_at, thread_before;	/* in the list of threads; 0: at its end, at its start */
	u64 code_at;			/* address of the code object that @code is a copy of */
	u64 code_hash[2];		/* hash of that code object */
	u64 hash[2];
	struct msg_python head;		/* the message; @text follows it */
	u64 text[PYTHON_TEXT_WORDS];
};

struct python_key {
	u64 hash[2];
};

/* The event that a walk is for */
struct origin {
	u32 event;			/* its id */
	u32 counter, skipped;		/* as in msg_event */
	/* 0, or if the record comes first: the time of a message before it (probe.bpf.h) */
	u64 earlier_time;
};

struct walk {
	u64 repeated;			/* stacks found by find_same(); the recorder reads this */
	u64 owner;			/* address of a program's context; 0: free */
	u64 time;
	struct origin origin;
	u32 reason;
	u32 nested;			/* this program interrupted another one */

	struct walk_key key;
	u64 ip, sp, fp;
	u64 frame_flags;
	u64 signal_frame;		/* FRAME_SIGNAL: where its registers are */
	u64 kept;			/* FRAME_KEPT: REG_KEPT; FRAME_KEPT_AT: its address */
	u64 value;			/* what read_reg() found */
#if HAS_SIGNED_RA
	u64 signature;			/* the bits of RA that can be signed */
#endif
	u64 trampoline;			/* the page that uprobes have put in; 0: none */
	u64 vdso_image;			/* the image that vdso_dev was found for */
	u64 vdso_dev;			/* VDSO64_DEV, VDSO32_DEV or VDSOX32_DEV */
	u64 seen_ip, seen_sp;		/* an earlier signal frame: finds cycles, as step.c */
	u32 nr_sig;
	u32 fp_frame;			/* 1 + number of the first frame by a frame pointer */
	u32 maybe_jit;			/* the last frames may be JIT frames: runtime.bpf.h */
	u32 switched;			/* the walk has left the stack of a thread: go.bpf.h */
	u32 go_nr;			/* with go_field: frames on the stack of the thread */
	u32 called_dev;			/* file that the innermost JIT frame called; 0: none */
	u64 called_ino;
	u64 go_field, go_sp;		/* address and value of a goroutine's SP; 0: none */
	u64 lowest, highest;		/* addresses of these JIT frames */
	s64 map_before;			/* mapping and pc of the frame before this one */
	u64 pc_before;
	u64 window_start;		/* the address that @window starts at, or NO_WINDOW */
	u64 window[WINDOW];
	u64 word;			/* what read_word() has read */
	struct trail trail;
	u64 reg[REG_SLOTS];		/* of the innermost frame, by DWARF number */

	u32 flags;			/* msg_stack.flags */
	u32 nr;				/* frames */
	u32 nr_code;			/* mappings for the message, as msg_stack.nr_code */
	u32 nr_mappings;		/* valid elements of @map */
	u32 last_map;			/* the element of @map that was found last */
	u64 hash[2];			/* of frames and mappings: they identify the stack */
	struct mapping map[NR_MAPPINGS];
	u64 node[32];			/* a node of the maple tree, or the start of a structure */
	struct full_rule rule;
	struct python_walk python;

	/*
	 * The message: @code is filled from its end, and then @head is moved up to @code. The
	 * verifier does not see that a message that starts later is also shorter. @room is never
	 * used: it makes the verifier accept the longest message at any start.
	 */
	u64 head[sizeof(struct msg_stack) / 8];
	struct msg_code code[MSG_MAX_CODE];
	u64 frame[MSG_MAX_FRAMES];
	struct msg_code room[MSG_MAX_CODE];

	/* the message of a sample or of a function */
	struct msg_sample sample;
	u64 kernel[MSG_MAX_KERNEL];
};

struct chunk {
	u32 word[CHUNK_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS_PER_CPU);	/* times CPUs */
	__type(key, u32);
	__type(value, struct walk);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NR_CACHED_WALKS);
	__type(key, u32);
	__type(value, struct cached_walk);
} walk_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* CPUs */
	__type(key, u32);
	__type(value, u32);
} seqs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, u32);
	__type(value, struct task);
} tasks SEC(".maps");

/*
 * The stack of a task that is about to lose its memory, by the address of its task_struct. All
 * later events of the task have this stack, until the task has the memory of the next program, or
 * ends.
 */
struct saved_stack {
	u64 ip, sp, syscall;		/* at the entry; on_exec() stores the new program's */
	u64 mm, exec_id;		/* at the walk; exec_id: from on_exec() */
	u64 stack;			/* msg_stack.id; 0: none */
	u32 reason;
	u16 vfork;			/* at the walk, a parent in vfork() waited for the task */
	u16 exits;			/* the task ends: it never runs in user space again */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, u64);
	__type(value, struct saved_stack);
} saved_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, struct part_key);
	__type(value, struct part);
} parts SEC(".maps");

/* The runtimes by file: @nr of the key is 0. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_RUNTIMES);
	__type(key, struct part_key);
	__type(value, struct runtime);
} runtimes SEC(".maps");

/* The first one is not used */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PYTHONS);
	__type(key, u32);
	__type(value, struct python_layout);
} pythons SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MSG_MAX_PYTHON_FUNCTIONS);
	__type(key, struct python_key);
	__type(value, u32);
} python_numbers SEC(".maps");

struct chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct chunk));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_CHUNKS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
	__array(values, struct chunk_map);
} chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_FULL);
	__type(key, u32);
	__type(value, struct full_rule);
} full_rules SEC(".maps");

/* Stacks that were sent: the id of each, and another hash of it */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 19);
	__type(key, u64);
	__type(value, u64);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} programs SEC(".maps");

/* Not static, and no literal: clang would put them into sections of their own, without BTF */
const volatile u32 zero SEC(".rodata") = 0;

#endif
