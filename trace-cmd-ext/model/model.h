/* SPDX-License-Identifier: GPL-2.0 */
/*
 * model.h - one opened trace.dat: its events, each with its kernel stack and its joined user stack
 *
 * model_open() reads the file once and joins requests with stacks. model_each() and model_counts()
 * then go through its events. A traced event is up to three records in the file (the event, its
 * kernel stack, its cookie); here it is one struct model_event. Records that are not events of
 * their own (kernel_stack, user_stack, user_unwind_*) are not passed on.
 *
 * Everything that repeats is interned and has a small number: event types, kernel stacks, user
 * stacks, frames. Numbers start at 0 and are dense, so a caller may keep arrays over them. Numbers,
 * strings, addresses and struct maps_file stay valid until model_close(). A pointer to a struct or
 * to frame numbers is valid until the next call for one of its kind. Symbols are looked up when the
 * frames of a stack are asked for, once a frame.
 *
 * The model prints nothing; errors are sentences. It is not thread safe. A damaged file can end the
 * process (libtracecmd): see cmd_guard(). Memory grows with the distinct stacks and with the runs
 * of requests (plugin/join/join.h), not with the events.
 *
 *	struct model *m = model_open(path, &opts, why, sizeof(why));
 *	if (!m) { cmd_error("%s: %s", path, why); return CMD_INPUT; }
 *	ret = model_each(m, MODEL_BY_TIME, event, &mine);
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

/* Which events are wanted; a zeroed one wants all. Within a list one must match, and each list. */
struct model_filter {
	const char **events;		/* shell patterns of NAME or SYSTEM:NAME */
	size_t nr_events;
	uint32_t *pids;			/* thread or process ids */
	size_t nr_pids;
	const char **comms;		/* shell patterns of the thread's name */
	size_t nr_comms;
	uint32_t *cpus;
	size_t nr_cpus;
	/*
	 * Time stamps, both included, in ns; in 1e-9 units of a clock that counts something else.
	 * to 0: no end.
	 */
	uint64_t from, to;
	const char **symbols;		/* shell patterns of a function in either stack */
	size_t nr_symbols;
};

struct model_opts {
	const char *sysroot;		/* put before the paths of traced files, or NULL */
	bool no_demangle;
	bool lines;			/* debug information is read too: for model_lines() */
	bool plugins;			/* libtraceevent loads its plugins, for printing events */
	bool counts;			/* model_counts() will be asked: counted in the scan */
	uint32_t notes;			/* taken for that at most; 0: tally.c's limit */
	struct model_filter filter;	/* what it points to must outlive the model */
	uint32_t processes;		/* how many to read with; 0: one a CPU of this machine */
	/* called now and then while the file is read; may be NULL */
	void (*progress)(const char *what, uint64_t done, uint64_t total);
};

/* A kind of event. */
struct model_type {
	const char *system, *name;	/* "?" for one the file has no format of */
	int id;				/* common_type */
	struct tep_event *event;	/* NULL without a format */
	uint64_t records, bytes;	/* in the whole file, whatever the filter */
};

struct model_event {
	uint64_t ts;			/* units of the trace clock, ns with most */
	uint32_t type;			/* model_type() */
	uint32_t tid;
	uint32_t cpu;
	uint32_t buffer;		/* 0 the top one, else an instance: model_buffer() */
	uint32_t kstack;		/* model_kstack(), or MODEL_NONE */
	uint32_t ustack;		/* model_ustack(), or MODEL_NONE: none was asked for */
	int64_t missed;			/* dropped since the CPU's last wanted event; -1: some */
	struct tep_record *rec;		/* the raw record; valid in the callback only */
	struct tep_record *kstack_rec, *cookie_rec;	/* those of its stacks, or NULL */
};

/* Why an event has no user stack (state), or which it has. */
struct model_ustack {
	enum join_state state;		/* JOIN_STACK, or why not; never JOIN_NONE */
	/* the rest only with JOIN_STACK */
	uint32_t flags;			/* STACK_*: see plugin/join/join.h */
	uint32_t tgid;			/* of the process; 0: not recorded */
	uint32_t tid;			/* of one thread that has this stack */
	uint32_t nr;
	const uint64_t *addrs;		/* innermost first */
};

struct model_kstack {
	uint32_t nr;
	const uint64_t *addrs;		/* innermost first */
};

/* A kernel frame, or a place in a user program. */
struct model_frame {
	uint64_t addr;			/* as recorded: mostly a return address */
	const char *func;		/* NULL: not known. Bytes out of a file, not always UTF-8 */
	uint64_t func_offset;		/* addr - start of func */
	const struct maps_file *file;	/* NULL: kernel, or no mapping known */
	uint64_t offset;		/* of addr in file */
	uint32_t tgid;			/* with neither kernel nor file: whose address it is */
	bool kernel;
	bool jit;			/* func is code that tgid compiled; it has no file then */
	bool exact;			/* addr is where it was, no return address */
};

/* "joined", "pending", "lost", "not-recorded", "unsure"; "none". */
const char *model_state_name(enum join_state state);

/* A line of source code; several for one frame where functions were inlined. */
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
	bool joined;			/* the file has our events */
	bool damaged;			/* it could not be read to its end */
	struct join_stats join;		/* of the whole file, whatever the filter */
};

struct model;

/*
 * Open and scan a file. NULL on failure, with a sentence "cause; remedy" in @why. @opts may be
 * NULL. A file without our events is fine: its events have no user stacks.
 */
struct model *model_open(const char *path, const struct model_opts *opts, char *why, size_t size);
void model_close(struct model *m);
const struct model_info *model_info(struct model *m);

/* ---- going through the events ---- */

enum model_order {
	MODEL_BY_CPU,			/* buffer by buffer, CPU by CPU: the cheaper way */
	MODEL_BY_TIME,			/* by time stamp; at the same one, by buffer and CPU */
	MODEL_BARE,			/* as MODEL_BY_CPU, without stacks: cheaper still */
};

/*
 * Call @event for each event the filter wants. A non-zero result ends it and is returned; 0, or
 * -ENOMEM, or -EIO for a file that became unreadable. May be called again, not from within itself.
 */
typedef int (*model_event_fn)(void *data, const struct model_event *ev);
int model_each(struct model *m, enum model_order order, model_event_fn event, void *data);

/* How many events the filter wants, by all that says what they have in common. */
struct model_count {
	uint32_t type, tid;
	uint32_t kstack, ustack;	/* or MODEL_NONE */
	uint64_t nr;
};

/*
 * All at once. Cheapest with opts.counts; else, and for a file of very many events, it is read once
 * more on all CPUs of this machine, which is still far cheaper than model_each(). The array is the
 * model's, in no particular order, and equal ones may be there more than once. 0, or an error as
 * above.
 */
int model_counts(struct model *m, const struct model_count **v, size_t *nr);

/* Has model_each() or model_counts() given out any event? */
bool model_gave_any(struct model *m);

/* ---- what numbers mean ---- */

uint32_t model_nr_types(struct model *m);
const struct model_type *model_type(struct model *m, uint32_t type);
uint32_t model_nr_kstacks(struct model *m);
const struct model_kstack *model_kstack(struct model *m, uint32_t kstack);
const struct model_ustack *model_ustack(struct model *m, uint32_t ustack);

/*
 * The frames of a stack, innermost first: numbers for model_frame(). *@nr is 0 for MODEL_NONE and
 * for a missing stack. NULL without memory.
 */
const uint32_t *model_kframes(struct model *m, uint32_t kstack, uint32_t *nr);
const uint32_t *model_uframes(struct model *m, uint32_t ustack, uint32_t *nr);
/*
 * One stack for all those that have the same frames and the same flags, as those of processes that
 * forked from one another do; @ustack itself if none is known.
 */
uint32_t model_uframes_like(struct model *m, uint32_t ustack);
const struct model_frame *model_frame(struct model *m, uint32_t frame);
/* The byte of its file that a frame is looked up at: of the call, before a return address. */
uint64_t model_lookup(struct model *m, uint32_t frame);
/*
 * Source lines of a frame, innermost (most inlined) first; their number, 0 if none is known, or
 * without opts.lines. The first one in a file takes the longest.
 */
uint32_t model_lines(struct model *m, uint32_t frame, const struct model_line **v);
/* The same for a byte of a file. */
uint32_t model_lines_at(struct model *m, const struct maps_file *file, uint64_t offset,
			const struct model_line **v);

/* A thread's name as the file has it; "<idle>" for 0, "<...>" when it is not known. */
const char *model_comm(struct model *m, uint32_t tid);
/* The process a thread belongs to, as its stacks tell; 0 when none does. */
uint32_t model_tgid(struct model *m, uint32_t tid);
/* The name of a buffer; "" for the top one. */
const char *model_buffer(struct model *m, uint32_t buffer);
struct tep_handle *model_tep(struct model *m);

/* ---- what the model is made over ---- */

/* For callers that read on: all of it is the model's, valid until model_close(). */
struct model_parts {
	const char *path;
	const char *sysroot;		/* "": none */
	bool no_demangle;
	struct reader *reader;
	struct join *join;
	struct maps *maps;
	const struct decode *decode;
};

struct model_parts model_parts(struct model *m);
/* All streams of the reader begin again; 0 or a negative errno. A forked child does this first. */
int model_rewind(struct model *m);
/* The same, and the next model_each() goes on from there: handles of the reader stay valid. */
int model_rewind_to_walk(struct model *m);

/* Is it an event of its own, as stacks, cookies and mappings are not? */
bool model_is_event(struct model *m, uint32_t type);
/* The threads of the file, and how many events each has in it, whatever the filter. */
uint32_t model_nr_tasks(struct model *m);
uint64_t model_task_events(struct model *m, uint32_t task, uint32_t *tid);
/* The stack of a run of requests, see join_run(); MODEL_NONE without memory or without a stack. */
uint32_t model_run_ustack(struct model *m, uint32_t run);
/* What the join answered for a stack with JOIN_STACK: which mappings it goes by. */
const struct join_answer *model_answer(struct model *m, uint32_t ustack);

/*
 * Does the file have what @f names? CMD_OK, or CMD_FAIL after one sentence for each name that it
 * lacks. Call it before going through the events.
 */
int model_check_names(struct model *m, const struct model_filter *f);

/* ---- fields ----
 *
 * Resolved once by name, then read by offset.
 *
 *	struct decode_field state;
 *	if (model_field(m, type, "prev_state", &state)) ...
 *	model_number(m, ev, &state, &val);
 */
/* The type of this name; MODEL_NONE if the file has no format of it. @system may be NULL. */
uint32_t model_find_type(struct model *m, const char *system, const char *name);
/* False if the type has no such field. */
bool model_field(struct model *m, uint32_t type, const char *name, struct decode_field *f);
/* A number; false if the record is too short. Signed ones are sign-extended when @f is signed. */
bool model_number(struct model *m, const struct model_event *ev, const struct decode_field *f,
		  uint64_t *val);
/* A string (char[], __data_loc char[]); not terminated, valid as long as the record. */
bool model_string(struct model *m, const struct model_event *ev, const struct decode_field *f,
		  const char **s, uint32_t *len);

#endif
