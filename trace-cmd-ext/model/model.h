/* SPDX-License-Identifier: GPL-2.0 */
/*
 * model.h - one opened trace.dat: its events, each with its kernel stack and its joined user stack
 *
 * model_open() reads the file once and joins requests with stacks. model_for_each() and
 * model_get_counts() then go through its events. A traced event is up to three records in the file
 * (the event, its kernel stack, its cookie); here it is one struct model_event. Records that are
 * not events of their own (kernel_stack, user_stack, user_unwind_*) are not passed on.
 *
 * Everything that repeats is interned and has a small number: event types, kernel stacks, user
 * stacks, frames. Numbers start at 0 and are dense, so a caller may keep arrays over them. Numbers,
 * strings, addresses and struct maps_file stay valid until model_close(). A pointer to a struct or
 * to frame numbers is valid until the next call for one of its kind. Symbols are looked up when the
 * frames of a stack are asked for, once a frame.
 *
 * Only model_check_names() prints; other errors are sentences. The model is not thread safe. A
 * damaged file can end the process (libtracecmd): see tool_run_in_child(). Memory grows with the
 * distinct stacks and with the runs of requests (plugin/join/requests.h), not with the events.
 *
 *	struct model *m = model_open(path, &opts, why, sizeof(why));
 *	if (!m) { tool_error("%s: %s", path, why); return TOOL_INPUT; }
 *	ret = model_for_each(m, MODEL_BY_TIME, count_event, &count);
 *	model_close(m);
 */
#ifndef TRACE_USTACK_MODEL_H
#define TRACE_USTACK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/join/join.h"
#include "plugin/recording/recording.h"
#include "reader.h"
#include "reasons.h"
#include "saved_tables.h"

#define MODEL_NONE	UINT32_MAX	/* no such stack */

/* A zeroed filter wants all events. An event must match an entry of each list that is not empty. */
struct model_filter {
	const char **events;		/* shell patterns of NAME or SYSTEM:NAME */
	size_t nr_events;
	uint32_t *pids;			/* thread or process IDs */
	size_t nr_pids;
	const char **comms;		/* shell patterns of the thread's name */
	size_t nr_comms;
	uint32_t *cpus;
	size_t nr_cpus;
	/* Both included, in ns, or in 1e-9 units of a clock that counts others. to 0: no end */
	uint64_t from, to;
	const char **symbols;		/* shell patterns of a function in either stack */
	size_t nr_symbols;
};

struct model_opts {
	const char *sysroot;		/* put before the paths of traced files, or NULL */
	bool no_demangle;
	bool lines;			/* read debug information too, for model_get_lines() */
	bool plugins;			/* libtraceevent loads its plugins, for printing events */
	bool counts;			/* count in the scan, for model_get_counts() */
	uint32_t max_early_counts;	/* of the scan; 0: the limit of early_counts.c */
	struct model_filter filter;	/* its lists and strings must outlive the model */
	uint32_t processes;		/* number of readers; 0: one per CPU of this machine */
	/* called from time to time while the file is read; may be NULL */
	void (*progress)(const char *what, uint64_t done, uint64_t total);
};

/* A kind of event. */
struct model_type {
	const char *system, *name;	/* "?" if the file has no format for the type */
	int id;				/* common_type */
	struct tep_event *event;	/* NULL without a format */
	uint64_t records, bytes;	/* in the whole file, whatever the filter */
};

struct model_event {
	uint64_t ts;			/* units of the trace clock, ns with most */
	uint32_t type;			/* model_get_type() */
	uint32_t tid;
	uint32_t cpu;
	uint32_t buffer;		/* 0: top buffer, else an instance */
	uint32_t kstack;		/* of model_get_kframes(), or MODEL_NONE */
	uint32_t ustack;		/* model_get_ustack(), or MODEL_NONE: no request */
	int64_t missed;			/* events dropped since the CPU's last one; -1: some */
	struct tep_record *rec;		/* the raw record; valid in the callback only */
	struct tep_record *kstack_rec, *cookie_rec;	/* those of its stacks, or NULL */
};

/* The user stack of an event, or the reason (state) why it has no user stack. */
struct model_ustack {
	enum join_state state;		/* JOIN_STACK, or the reason; never JOIN_NONE */
	/* the rest only with JOIN_STACK */
	uint32_t flags;			/* STACK_*: see plugin/join/requests.h */
	uint32_t tgid;			/* of the process; 0: not recorded */
	uint32_t tid;			/* of one thread that has this stack */
	uint32_t nr;
	const uint64_t *addrs;		/* innermost first */
};

/* A kernel frame, or a place in a user program. */
struct model_frame {
	uint64_t addr;			/* as recorded: mostly a return address */
	const char *func;		/* NULL: not known. Bytes from a file, not always UTF-8 */
	uint64_t func_offset;		/* addr - start of func */
	const struct maps_file *file;	/* NULL: kernel, or no mapping known */
	uint64_t offset;		/* of addr in file */
	uint32_t tgid;			/* set without kernel and file: process of the address */
	bool kernel;
	bool jit;			/* func is code that tgid compiled; file is NULL */
	bool exact;			/* the task was at addr; addr is not a return address */
};

/* A line of source code. A frame has several if functions were inlined. */
struct model_line {
	const char *func;		/* NULL: not known */
	const char *file;		/* as the compiler named it; NULL: not known */
	uint32_t line;			/* 0: not known */
	bool inlined;			/* into the next one, at that one's line */
};

struct model_info {
	int version;			/* of the file: 6 or 7 */
	uint32_t cpus;
	uint32_t buffers;		/* 1 + instances */
	const char *clock;		/* "local", "mono", ..., "" if the file does not say */
	bool nsec;			/* the clock counts nanoseconds */
	uint64_t bytes;			/* of the file */
	uint64_t records;
	uint64_t first_ts, last_ts;	/* least and greatest of all records */
	bool joined;			/* the file has user_unwind_* events */
	bool damaged;			/* the file could not be read to its end */
	struct join_stats join;		/* of the whole file, whatever the filter */
};

struct model;

/*
 * Open and scan a file. NULL on failure, with a sentence "cause; remedy" in @why. @opts may be
 * NULL. A file without user_unwind_* events is fine: its events have no user stacks.
 */
struct model *model_open(const char *path, const struct model_opts *opts, char *why, size_t size);
void model_close(struct model *m);
const struct model_info *model_get_info(struct model *m);

/* ---- going through the events ---- */

enum model_order {
	MODEL_BY_CPU,			/* buffer by buffer, CPU by CPU: the cheaper way */
	MODEL_BY_TIME,			/* by time stamp; at the same one, by buffer and CPU */
	MODEL_NO_STACKS,		/* as MODEL_BY_CPU, without stacks: cheaper still */
};

/*
 * Call @event for each event that the filter wants. A result other than 0 ends the walk and is
 * returned. Otherwise returns 0, -ENOMEM, or -EIO for a file that became unreadable. It may be
 * called again, but not from within @event.
 */
typedef int (*model_event_fn)(void *data, const struct model_event *ev);
int model_for_each(struct model *m, enum model_order order, model_event_fn event, void *data);

/* The number of wanted events that share type, thread and stacks. */
struct model_count {
	uint32_t type, tid;
	uint32_t kstack, ustack;	/* or MODEL_NONE */
	uint64_t nr;
};

/*
 * All counts, cheapest with opts.counts. Otherwise, and for a file with very many events, the model
 * reads the file once more on all CPUs of this machine. That is still far cheaper than
 * model_for_each(). The model owns the array. The array is not sorted, and may hold several counts
 * with equal keys. 0, or an error as above.
 */
int model_get_counts(struct model *m, const struct model_count **v, size_t *nr);

/* Has model_for_each() or model_get_counts() passed on any event? */
bool model_has_passed_events(struct model *m);

/* ---- the meaning of the numbers ---- */

uint32_t model_get_nr_types(struct model *m);
const struct model_type *model_get_type(struct model *m, uint32_t type);
const struct model_ustack *model_get_ustack(struct model *m, uint32_t ustack);

/*
 * The frames of a stack, innermost first: numbers for model_get_frame(). *@nr is 0 for MODEL_NONE
 * and for a missing stack. NULL if there is not enough memory.
 */
const uint32_t *model_get_kframes(struct model *m, uint32_t kstack, uint32_t *nr);
const uint32_t *model_get_uframes(struct model *m, uint32_t ustack, uint32_t *nr);
/*
 * A stack that stands for all stacks with the same frames and flags; @ustack itself if no other
 * stack is known. Processes that forked from one another have such stacks.
 */
uint32_t model_find_like_uframes(struct model *m, uint32_t ustack);
const struct model_frame *model_get_frame(struct model *m, uint32_t frame);
/* The offset in its file at which a frame is looked up: for a return address, that of its call. */
uint64_t model_get_lookup_offset(struct model *m, uint32_t frame);
/*
 * Source lines of a frame, innermost (most inlined) first. Returns their number; 0 if no line is
 * known, or without opts.lines. The first lookup in a file takes the longest.
 */
uint32_t model_get_lines(struct model *m, uint32_t frame, const struct model_line **v);
/* Source lines at an offset of a file; returns as model_get_lines(). */
uint32_t model_get_lines_at(struct model *m, const struct maps_file *file, uint64_t offset,
			    const struct model_line **v);

/* The name of a thread in the file; "<idle>" for 0, "<...>" if the name is not known. */
const char *model_get_comm(struct model *m, uint32_t tid);
/* The process of a thread, from its stacks; 0 if no stack says it. */
uint32_t model_get_tgid(struct model *m, uint32_t tid);
/* The name of a buffer; "" for the top buffer. */
const char *model_get_buffer_name(struct model *m, uint32_t buffer);
struct tep_handle *model_get_tep(struct model *m);

/* ---- the parts of a model ---- */

/* For callers that read records themselves. The model owns all of it, valid until model_close(). */
struct model_parts {
	const char *path;
	const char *sysroot;		/* "": none */
	bool no_demangle;
	struct reader *reader;
	struct join *join;
	struct maps *maps;
	const struct decode *decode;
};

struct model_parts model_get_parts(struct model *m);
/* Start all streams of the reader again; 0 or a negative errno. A forked child does this first. */
int model_rewind(struct model *m);
/* Start all streams again for model_for_each(), which keeps the reader: its handles stay valid. */
int model_rewind_to_walk(struct model *m);

/* Is the type an event of its own? Stacks, cookies and mappings are not. */
bool model_is_event(struct model *m, uint32_t type);
/* The threads of the file, and how many events each has in it, whatever the filter. */
uint32_t model_get_nr_tasks(struct model *m);
uint64_t model_get_task_events(struct model *m, uint32_t task, uint32_t *tid);
/* The stack of a run of requests (join_get_run()); MODEL_NONE: no stack, or not enough memory */
uint32_t model_get_run_ustack(struct model *m, uint32_t run);
/* The join's answer for a stack with JOIN_STACK, which says which mappings apply. */
const struct join_answer *model_get_answer(struct model *m, uint32_t ustack);

/*
 * Does the file have all names in @f? TOOL_OK, or TOOL_FAIL after printing one sentence for each
 * name that it lacks. Call it before the walk through the events.
 */
int model_check_names(struct model *m, const struct model_filter *f);

/* ---- fields ----
 *
 * Resolved once by name, then read by offset.
 *
 *	struct decode_field state;
 *	if (model_find_field(m, type, "prev_state", &state)) ...
 *	model_read_number(m, ev, &state, &val);
 */
/* The type with this name; MODEL_NONE if the file has no format for it. @system may be NULL. */
uint32_t model_find_type(struct model *m, const char *system, const char *name);
/* False if the type has no such field. */
bool model_find_field(struct model *m, uint32_t type, const char *name, struct decode_field *f);
/* A number, sign-extended if @f is signed; false if the record is too short. */
bool model_read_number(struct model *m, const struct model_event *ev, const struct decode_field *f,
		       uint64_t *val);
/* A string (char[], __data_loc char[]); not terminated, valid as long as the record. */
bool model_read_string(struct model *m, const struct model_event *ev, const struct decode_field *f,
		       const char **s, uint32_t *len);

#endif
