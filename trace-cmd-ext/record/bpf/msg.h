/* SPDX-License-Identifier: GPL-2.0 */
/*
 * msg.h - what the BPF programs send to the recorder, and in which order
 *
 * Each run of a program for an event of a traced user task sends one struct msg_event. Before that
 * it sends a struct msg_stack, if the stack is a new one. The recorder appends the messages to a
 * file (FILE.part.bpf) as they come; insert.c reads this file after the recording. A sample of a
 * CPU (record -F) and a call of a kernel function (record -l) have a message, and no record of
 * ftrace.
 *
 * A program runs before ftrace writes the record of the same event, because it was attached first.
 * So on one CPU, for one task and one event, messages and records alternate: see insert.c. The
 * programs of kprobe events run after the record.
 *
 * All fields have the byte order of the machine. A message is a multiple of 8 bytes long.
 */
#ifndef TRACE_USTACK_RECORD_BPF_MSG_H
#define TRACE_USTACK_RECORD_BPF_MSG_H

#ifndef __bpf__
#include <stdint.h>
typedef uint16_t __msg16;
typedef uint32_t __msg32;
typedef uint64_t __msg64;
#else
typedef unsigned short __msg16;
typedef unsigned int __msg32;
typedef unsigned long long __msg64;
#endif

#define MSG_MAX_FRAMES	512
#define MSG_MAX_CODE	16
#define MSG_MAX_KERNEL	127

enum msg_type {
	MSG_EVENT = 1,			/* struct msg_event */
	MSG_STACK,			/* struct msg_stack */
	MSG_END,			/* struct msg_end */
	MSG_SAMPLE,			/* struct msg_sample: a sample or a function */
	MSG_SKIPPED,			/* struct msg_skipped */
	MSG_PYTHON,			/* struct msg_python */
};

struct msg_head {
	__msg16 type;			/* enum msg_type */
	__msg16 reserved;		/* 0 */
	__msg32 size;			/* of the whole message in bytes, a multiple of 8 */
};

/* Why a stack is missing or incomplete. A sample of a kernel thread has MSG_OK and no stack. */
enum msg_reason {
	MSG_OK,				/* complete */
	MSG_NOT_READABLE,		/* a page of the stack is not in memory */
	MSG_NO_MAPPING,			/* an address is in no executable mapping */
	MSG_NO_TABLE,			/* a file has no table yet */
	MSG_HOLE,			/* the table says that this place cannot be walked */
	MSG_BUSY,			/* the program's memory was in use on this CPU */
	MSG_NO_ROOM,			/* no room in the ring buffer for the stack */
	MSG_NO_REGISTERS,		/* the registers of user space are not known */
	MSG_TOO_DEEP,			/* more than MSG_MAX_FRAMES */
	MSG_OTHER_ABI,			/* a file of another ABI than the task's, such as x32 */
	MSG_NR_REASONS,
};

struct msg_event {
	struct msg_head head;
	__msg64 time;			/* ns, CLOCK_MONOTONIC (trace_clock mono): of the program */
	__msg64 stack;			/* msg_stack.id of a message before this one; 0: none */
	__msg32 tid, tgid;		/* of the task, in the initial PID namespace */
	__msg32 cpu;
	__msg32 event;			/* the event's id in its format file (common_type) */
	__msg32 seq;			/* counts the messages of this CPU, lost ones as well */
	__msg16 reason;			/* enum msg_reason */
	__msg16 counter;		/* the program's, see rule.h; 0: @skipped is not known */
	/* runs of this program on this CPU that the kernel had skipped when it ran */
	__msg32 skipped;
	/* ns that the program ran; ~0: long, or it interrupted another program */
	__msg32 ran;
	/*
	 * A kprobe event: the record is the only one of this event on this CPU in this many ns
	 * before the message. 0: not a kprobe event; the record comes after the message
	 */
	__msg32 since;
	__msg32 pad;
};

/* A sample, or a call of a function: what a record of ftrace would say, and the kernel stack */
struct msg_sample {
	struct msg_event event;
	char comm[16];			/* the task's name; terminated */
	__msg64 ip, parent_ip;		/* as in the event ftrace:function; of a sample 0 */
	__msg32 nr;			/* frames of the kernel stack, at most MSG_MAX_KERNEL */
	__msg32 flags;			/* common_flags: TRACE_FLAG_* of the kernel */
	/* __msg64 kernel[nr], innermost first */
};

/* An executable mapping that frames of a stack are in. */
struct msg_code {
	__msg64 start, end, pgoff;	/* bytes; as in /proc/PID/maps */
	__msg64 ino;			/* 0: no file */
	__msg32 dev_major, dev_minor;	/* without a file 0 and enum msg_no_file */
};

enum msg_no_file {
	MSG_ANON,
	MSG_VDSO,
};

struct msg_stack {
	struct msg_head head;
	__msg64 time;			/* as msg_event.time */
	__msg64 id;			/* never 0; names tgid, flags, code and frames together */
	__msg32 tid, tgid;
	__msg32 flags;			/* as in user_unwind_stack: UNWIND_STACK_* */
	__msg32 reason;			/* enum msg_reason */
	__msg32 nr;			/* frames, innermost first */
	__msg32 nr_code;		/* at most MSG_MAX_CODE */
	struct msg_code code[];		/* nr_code of them, then __msg64 ip[nr] */
};

/*
 * A Python function in a stack has such an address: MSG_PYTHON_BASE + 2 * number + 1. No program
 * has memory there, as addresses of programs have at most 56 bits. No other frame of a stack is
 * between MSG_PYTHON_BASE and MSG_PYTHON_END. A return address is looked up at the address before
 * it, which belongs to the same number. A number stands for a name, a file and an instruction, in
 * all processes.
 */
#define MSG_PYTHON_BASE	0x0180000000000000ull	/* as MAPS_PYTHON_BASE of the join */
#define MSG_PYTHON_UNKNOWN	0	/* functions are not known here, and maybe further out */
#define MSG_PYTHON_FIRST	1
#define MSG_MAX_PYTHON_FUNCTIONS (1u << 18)	/* the highest number */
#define MSG_PYTHON_END	(MSG_PYTHON_BASE + 2 * (MSG_MAX_PYTHON_FUNCTIONS + 1ull))
#define MSG_MAX_NAME	256		/* bytes, multiples of 8 */
#define MSG_MAX_FILE	512
#define MSG_MAX_TABLE	7424

/* A text of Python; the message has at most MSG_MAX_NAME or MSG_MAX_FILE bytes of it */
struct msg_text {
	__msg32 size;			/* bytes, all of them */
	__msg32 kind;			/* bytes of a character: 1 (Latin-1), 2 or 4 (UTF-32) */
};

/* A number and the function it stands for; before or after the first stack that has it */
struct msg_python {
	struct msg_head head;
	__msg32 number;
	__msg32 instr;			/* offset of the instruction, bytes */
	__msg32 line;			/* first line of the function */
	__msg32 table;			/* bytes of its line table; 0: it is too long */
	struct msg_text name, file;
	/* char name[MSG_MAX_NAME], file[MSG_MAX_FILE], table[] (co_linetable) */
};

/* The recorder writes this at the end: msg_event.skipped by then. It leaves out a count of 0. */
struct msg_skipped {
	struct msg_head head;
	__msg32 cpu;
	__msg32 counter;
	__msg32 skipped;
	__msg32 pad;
};

/* The last message of a CPU, from the recorder: lost messages before it are a gap, too. */
struct msg_end {
	struct msg_head head;
	__msg32 cpu;
	__msg32 seq;			/* that the next message would have had */
};

#endif
