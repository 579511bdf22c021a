/* SPDX-License-Identifier: GPL-2.0 */
/*
 * messages.h - the message file: where each stack is, and messages about events by CPU
 *
 * The file has the messages of all CPUs mixed, as they came. messages_read() reads it once, and
 * notes where each stack is. It writes the messages about events to two temporary files for each
 * CPU, in the order of their sequence numbers. The second file has the messages about kprobe
 * events. messages_peek() then reads these files as streams. The number of the first stream is that
 * of the CPU; messages_probe_stream() gives the number of the second.
 */
#ifndef TRACE_USTACK_RECORD_BPF_MESSAGES_H
#define TRACE_USTACK_RECORD_BPF_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "libunwind-user/base/base.h"
#include "msg.h"

struct messages_event {
	uint64_t time, stack;
	uint32_t tid, tgid;
	uint32_t cpu, event;
	uint16_t reason;
	uint8_t gap;			/* messages are missing before it */
	uint8_t nr_kernel;		/* frames in the kernel, of a sample or a function */
	uint16_t counter;		/* msg_event.counter */
	uint8_t flags;			/* of a sample or a function: msg_sample.flags */
	uint32_t ran, since;		/* msg_event.ran, msg_event.since */
	uint64_t offset;		/* of the message in the file */
};

struct messages_sample {
	struct msg_sample head;
	uint64_t kernel[MSG_MAX_KERNEL];
};

struct messages_stack {
	uint64_t id;
	uint32_t tgid, flags;
	uint32_t nr, nr_code;
	uint64_t offset;		/* of the struct msg_stack in the file */
	uint32_t checked;		/* see insert.c: its mappings were written; 0: not yet */
};

struct messages_task {
	uint32_t id;			/* tid */
	uint32_t tgid;
	uint64_t cookie;		/* the last cookie; 0: no cookie yet */
	uint64_t stack;			/* the stack of that cookie; 0: none */
	uint64_t latest;		/* the stack of the latest message so far; 0: none */
};

/*
 * A time in which the kernel may have skipped executions of a program on a CPU. After
 * messages_read() these times are sorted, and the times of one program do not overlap.
 */
struct messages_skipped_executions {
	uint64_t from, to;
	uint16_t counter;
};

struct messages_stream;

struct messages {
	VEC(struct messages_stack) stacks;
	struct hidx stack_idx;
	int fd;				/* the file */
	struct msg_stack *body;		/* messages_read_stack() reads a stack into this */
	struct messages_sample sample;	/* messages_read_sample() reads a sample into this */
	VEC(uint64_t) python;		/* offsets of struct msg_python, by number; 0: none */
	struct msg_python *function;	/* messages_read_python() reads a function into this */
	VEC(struct messages_task) tasks;	/* tasks that sent a message about an event */
	struct hidx task_idx;
	struct messages_stream *stream;	/* two for each CPU */
	VEC(struct messages_skipped_executions) skipped;
	bool skipped_unknown;		/* the counts at the end are not in the file */
	int nr_cpus;
	uint64_t events, gaps;
};

/* 0, or -errno with @why. Temporary files are in the directory of @path. */
int messages_read(struct messages *m, const char *path, int nr_cpus, char *why, size_t size);
void messages_free(struct messages *m);
/*
 * The next message of a stream, NULL at the end. Its time is UINT64_MAX if it only says that
 * messages are missing at the end. @error is set to -errno if the file cannot be read.
 */
const struct messages_event *messages_peek(struct messages *m, int stream, int *error);
void messages_advance(struct messages *m, int stream);

static inline int messages_probe_stream(const struct messages *m, int cpu)
{
	return m->nr_cpus + cpu;
}

/* Can the kernel have skipped an execution of this program, on any CPU, between two times? */
bool messages_may_skip_execution(const struct messages *m, uint16_t counter, uint64_t from,
				 uint64_t to);

struct messages_stack *messages_find_stack(struct messages *m, uint64_t id);
/* The message with this stack, valid until the next call. NULL with @error: it cannot be read. */
const struct msg_stack *messages_read_stack(struct messages *m, const struct messages_stack *st,
					    int *error);
/* The message of a sample or a function, as messages_read_stack(). */
const struct messages_sample *messages_read_sample(struct messages *m,
						   const struct messages_event *ev, int *error);
/* The function of a number (msg.h), valid until the next call. NULL: not known, or @error. */
const struct msg_python *messages_read_python(struct messages *m, uint32_t number, int *error);
struct messages_task *messages_find_task(struct messages *m, uint32_t tid);

/* ------------------------------ python_names.c --------------------------- */

/* Add "NAME (FILE)". Returns the line; 0: it is not known */
uint32_t python_describe(const struct msg_python *m, struct text *path);

#endif
