/* SPDX-License-Identifier: GPL-2.0 */
/*
 * messages.h - the file of messages: where each stack is, and messages about events by CPU
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
	uint16_t counter;		/* as in msg_event, and @ran, @since */
	uint8_t flags;			/* of msg_sample: common_flags */
	uint32_t ran, since;
	uint64_t at;			/* of its message in the file */
};

struct messages_sample {
	struct msg_sample head;
	uint64_t kernel[MSG_MAX_KERNEL];
};

struct messages_stack {
	uint64_t id;
	uint32_t tgid, flags;
	uint32_t nr, nr_code;
	uint64_t at;			/* of its struct msg_stack in the file */
	uint32_t checked;		/* see insert.c: its mappings were written; 0: not yet */
};

struct messages_task {
	uint32_t id;			/* tid */
	uint32_t tgid;
	uint64_t cookie;		/* its last one; 0: none yet */
	uint64_t stack;			/* the stack of that cookie; 0: none */
	uint64_t latest;		/* stack of the latest message so far; 0: none */
};

/*
 * In this time, the kernel may have skipped runs of a program on a CPU. After messages_read() they
 * are sorted, and those of a program do not overlap.
 */
struct messages_skipped_runs {
	uint64_t from, to;
	uint16_t counter;
};

struct messages_cpu;

struct messages {
	VEC(struct messages_stack) stacks;
	struct hidx stack_idx;
	int fd;				/* the file */
	struct msg_stack *body;		/* what messages_read_stack() has read last */
	struct messages_sample sample;	/* the same of messages_read_sample() */
	VEC(uint64_t) python;		/* places of struct msg_python, by number; 0: none */
	struct msg_python *function;	/* room for one */
	VEC(struct messages_task) tasks;	/* all that sent a message about an event */
	struct hidx task_idx;
	struct messages_cpu *cpu;	/* two for each CPU, as the streams */
	VEC(struct messages_skipped_runs) skipped;
	bool skipped_unknown;		/* the counts at the end are not in the file */
	int nr_cpus;
	uint64_t events, gaps;
};

/* 0, or -errno with @why. Temporary files are in the folder of @path. */
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

/* Can the kernel have skipped a run of this program, on any CPU, between two times? */
bool messages_may_skip_run(const struct messages *m, uint16_t counter, uint64_t from, uint64_t to);

struct messages_stack *messages_find_stack(struct messages *m, uint64_t id);
/* The message with this stack, valid until the next call. NULL with @error: it cannot be read. */
const struct msg_stack *messages_read_stack(struct messages *m, const struct messages_stack *st,
					    int *error);
/* The message of a sample or a function, as messages_read_stack(). */
const struct messages_sample *messages_read_sample(struct messages *m,
						   const struct messages_event *ev, int *error);
/*
 * The function that a number stands for (msg.h), valid until the next call. NULL: it is not known,
 * or with @error it cannot be read.
 */
const struct msg_python *messages_read_python(struct messages *m, uint32_t number, int *error);
struct messages_task *messages_find_task(struct messages *m, uint32_t tid);

/* ------------------------------ python_names.c --------------------------- */

/* Add "NAME (FILE)". Returns the line; 0: it is not known */
uint32_t python_describe(const struct msg_python *m, struct text *path);

#endif
