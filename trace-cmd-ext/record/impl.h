/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rec - what the files of `trace-ustack record` share
 *
 *	run.c	what happens in which order
 *	wait.c	from the start of recording to its end: signals, CMD, processes, time
 *	tracefs.c	tracefs: found, written to, and what a failure means
 *	events.c	-e: which events are meant, their filters, who gets stacks
 *	own.c	the recorder's own tasks, left out of what it records
 *	setup.c	the two instances: made, configured, started, stopped
 *	left.c	instances of recorders that are gone
 *	guard.c	a second process that finishes when the first one dies
 *	command.c	CMD: found, started, waited for
 *	tables.c	unwind tables for what runs and what starts
 *	model/saved_tables.c	FILE.tables: which files had them
 *	read.c	from the ring buffers to files, by a few threads
 *	dat.c	trace.dat: its head, and all put together
 *	names.c	names of tasks for it
 *	resume.c	files that recorders which are gone did not complete
 *	jit.c	/tmp/perf-PID.map of traced processes, kept beside the file
 *	summary.c	what the file holds
 *	join.c	what became of its requests and stacks
 *	json.c	the same for programs
 *	free.c	the memory of all that
 *
 * Nothing outside the two instances is changed, so whatever ends a recorder leaves nothing but
 * these and its unfinished file behind: the guard completes that and removes them, and if it was
 * killed too, resume.c and left.c do. Tables are gone with the descriptor that the recorder
 * had.
 *
 * Why the file is written here: libtracecmd's public interface (3.1.6 to 3.4) reads files and has
 * no function that writes one. `trace-cmd record` as a child would do, but has a die() for each
 * error, counts nothing, cleans nothing up when it is killed, and needs the sysctl ftrace_enabled
 * to be writable, which it is not in many containers and virtual machines.
 *
 * Functions that return int return 0, or an exit code (enum cmd_exit) after telling the error,
 * unless it says otherwise.
 */
#ifndef TRACE_USTACK_REC_H
#define TRACE_USTACK_REC_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "record.h"
#include "trace-cmd-ext/tool/tool.h"

struct rec_event {
	char *system, *name;
	const struct rec_select *sel;	/* the last one that means it */
};

/* How user stacks are asked for. */
enum rec_how {
	REC_OPTION,			/* the option: all events of the instance */
	REC_TRIGGER,			/* the trigger, for some of the events */
	REC_FALLBACK,			/* options/userstacktrace: the kernel has neither */
	REC_NONE,			/* no event is to have one */
};

/* What the guard must know of how far the recorder got; in shared memory. */
enum rec_stage {
	REC_SETUP,			/* nothing was recorded */
	REC_RUNNING,			/* the head of the file is there, data may be */
	REC_DONE,			/* the file is complete, or given up; instances are gone */
};

struct rec_shared {
	enum rec_stage stage;
	uint64_t head_end;		/* bytes of the head in the file */
};

struct rec_jit;
struct rec_reader;
struct rec_stream;
struct rec_tables;
struct tables_summary;

struct rec_buffer {
	struct tracefs_instance *instance;
	char name[64];
	const char *label;		/* what the file calls it; "" the top buffer */
	int lock;			/* descriptor of its folder, locked as long as we live */
	struct rec_stream *stream;	/* one a CPU, while recording */
	bool recorded;			/* there are files of its CPUs */
	char **stats;			/* per_cpu/cpuN/stats at the end, one a CPU */
	uint64_t data;			/* offset in the complete file of the first CPU's data */
	uint64_t *size;			/* bytes of it, one a CPU; the next follows */
};

enum { REC_EVENTS, REC_MAPS, REC_NR_BUFFERS };

struct rec {
	struct rec_opts opts;
	enum rec_how how;
	struct rec_event *event;
	size_t nr_events;
	struct rec_buffer buf[REC_NR_BUFFERS];
	int nr_cpus;
	unsigned int page_size;		/* of the ring buffers */
	unsigned long kb;		/* a CPU of the events' buffer */
	char part[PATH_MAX];		/* the file until it is complete */
	int out;			/* descriptor of it */
	uint64_t id;			/* of the recording, random; 0: it has none */
	struct rec_shared *shared;
	pid_t guard;
	int guard_pipe;			/* our end; closed when we die */
	pid_t child;			/* CMD, 0: none */
	pid_t *own;			/* tasks of the recorder, all that it has while recording */
	size_t nr_own;
	int child_go;			/* written to: CMD may start */
	int child_status;		/* of waitpid(), valid if child_ended */
	bool child_ended;
	int trouble;			/* eventfd: a reader cannot go on */
	int stop;			/* eventfd: readers end */
	struct rec_reader *reader;	/* threads, while recording */
	int nr_readers;
	struct rec_tables *tables;
	struct rec_jit *jit;		/* NULL before jit_begin() */
	double seconds;			/* how long was recorded */
	bool disk_full;
	char *comms;			/* "PID NAME" lines, of the beginning */
};

/* ---- events.c ---- */

int rec_select_events(struct rec *r);
/* Filters, triggers or options into the events' instance, which has none enabled yet. */
int rec_configure_events(struct rec *r);
int rec_enable_events(struct rec *r);
/*
 * Record an event, with its stacks, only where the condition @own holds, too. If the kernel refuses
 * that, all is as before, and -errno is returned.
 */
int rec_restrict_event(struct rec *r, const struct rec_event *ev, const char *own);

/* ---- own.c ---- */

/* The recorder's threads, all of them running by now, and its guard. */
void own_find(struct rec *r);
bool own_has(const struct rec *r, pid_t tid);
/* What they do is not recorded, nor what is done to them alone; 0 or -errno. */
int own_leave_out(struct rec *r);

/* ---- setup.c ---- */

/* Can this kernel do what is asked for? Sets @how. */
int rec_check_kernel(struct rec *r);
int rec_make_instances(struct rec *r);
/* What the instances of a recorder are called. */
void rec_name_instances(struct rec *r, pid_t pid);
/* For the guard: those that the recorder has made. */
void rec_adopt_instances(struct rec *r);
int rec_configure(struct rec *r);
/* The tasks whose events are recorded. */
int rec_set_pids(struct rec *r);
int rec_start(struct rec *r);
/* No more events, then no more records. */
void rec_stop(struct rec *r);
void rec_read_stats(struct rec *r);
/* Remove both; told if that fails. */
int rec_remove_instances(struct rec *r);

/* ---- left.c ---- */

/*
 * Lock the folder of an instance, as one of its owners, or as one who looks for what nobody owns.
 * A descriptor, or -errno.
 */
int left_lock(const char *name, bool own);

/* ---- guard.c ---- */

int rec_guard_start(struct rec *r);
/* The instances are there, and locked. */
int rec_guard_adopt(struct rec *r);
/* The recorder is done by itself. */
void rec_guard_end(struct rec *r);

/* ---- command.c ---- */

/* Where @name is, as a shell would find it: 0, or 126 or 127 after telling. */
int command_find(const char *name, char path[PATH_MAX]);
/* Make the process; it waits until command_go(). */
int command_prepare(struct rec *r);
/* 0; 126 or 127 if it cannot be executed. */
int command_go(struct rec *r);
/* It shall end, and will be waited for, for some seconds. */
void command_end(struct rec *r);
/* Its exit code as a shell has it. */
int command_exit_code(const struct rec *r);

/* ---- tables.c ---- */

/* Those that are needed first. */
int rec_tables_start(struct rec *r);
/* The others are made from now on, while recording. */
void rec_tables_rest(struct rec *r);
/* FILE.tables: what was covered, to be read with the recording; none of an earlier one. */
void rec_tables_save(struct rec *r);
/* What was covered, to standard error. */
void rec_tables_summary(struct rec *r);
/* The same in numbers; false if there are no tables. */
bool rec_tables_get(const struct rec *r, struct tables_summary *sum);
void rec_tables_end(struct rec *r);

/* ---- read.c ---- */

/* Open all streams; with @threads, read them until rec_read_stop(). */
int rec_read_start(struct rec *r, bool threads);
/* All that is left is read and the files are closed. */
int rec_read_stop(struct rec *r);
/* The raw data of a CPU until it is in the file. */
void rec_raw_path(const struct rec *r, int buffer, int cpu, char path[PATH_MAX]);

/* ---- dat.c ---- */

/* What is between the data of the events' buffer and the table of the other one. */
#define DAT_MAPS_HEAD	12

/* Where the data of a buffer's CPUs is in the complete file, one behind the other. */
struct dat_layout {
	uint64_t data, end;
	uint64_t *size;			/* one a CPU */
};

int dat_open(struct rec *r);
/* Formats, symbols: what is known before the first event. */
int dat_head(struct rec *r);
/* By the sizes of the raw files, with the table at @at; 0 or -ENOMEM. */
int dat_lay_out(const struct rec *r, int buffer, uint64_t at, struct dat_layout *l);
/* Names, options and data, then the file gets its name. After an error all data is still there. */
int dat_finish(struct rec *r);
/* What is behind the names, options, and the table of the first buffer. @maps may be NULL. */
int dat_move(struct rec *r, struct dat_layout *top, struct dat_layout *maps);
/* Nothing is kept. */
void dat_discard(struct rec *r);

/* ---- names.c ---- */

/* "PID NAME" lines of all tasks; NULL without memory. */
char *dat_comms(void);
struct text;
/* The section of the file: its size, then lines. */
void dat_add_comms(struct text *b, const struct rec *r);

/* ---- resume.c ---- */

/*
 * Go on with a file that is being put together, @head_end being known. False if that has not begun;
 * else @ret is as that of dat_finish().
 */
bool rec_resume(struct rec *r, int *ret);

/* ---- wait.c ---- */

int rec_wait_prepare(void);
/* From here on signals are waited for, until the recording has to end. 0 or an exit code. */
int rec_wait(struct rec *r);
/* The limits that CMD is to have. */
void rec_limits_restore(void);
/* From here on signals end the process again. */
void rec_wait_over(void);
/* Has a signal come that says to end? */
bool rec_wait_interrupted(void);

/* ---- jit.c, summary.c ---- */

/* Looks at what maps there are; to be called just before the first event. */
void jit_begin(struct rec *r);
struct jit_map {
	uint32_t tgid;
	uint64_t from;			/* it names what came later; as time stamps */
	uint64_t stacks, before;	/* of the process in the file, and those before @from */
	bool saved;
};

/* Which of @tgids have a map that can be believed; malloc()ed. */
size_t jit_find(const struct rec *r, const uint32_t *tgids, size_t nr, struct jit_map **maps);
/* Copies these into FILE.jit. */
void jit_save(struct rec *r, struct jit_map *maps, size_t nr);
void jit_end(struct rec *r);
int rec_summary(struct rec *r);

/* ---- free.c ---- */

/* At the end, or after any error: of an r that was zeroed but for descriptors. */
void rec_free(struct rec *r);

#endif
