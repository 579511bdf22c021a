/* SPDX-License-Identifier: GPL-2.0 */
/*
 * impl.h - the data of a recording, and the functions that the files of `trace-ustack record` share
 *
 *	run.c	the order of the steps
 *	wait.c	from the start of recording to its end: signals, CMD, processes, time
 *	tracefs.c	tracefs: found, written to, and the meaning of a failure
 *	events.c	-e: which events it selects, their filters, who gets stacks
 *	own_tasks.c  the recorder's own tasks, left out of the recording
 *	source.c	where user stacks come from: the kernel, BPF programs, frame pointers
 *	bpf_stacks.c user stacks on stock kernels, by BPF programs; record/bpf/ has these
 *	kinds.c	whether an event is a tracepoint, a kprobe or something else
 *	functions.c	-l: which kernel functions it names
 *	formats.c	formats of events that a stock kernel does not have
 *	setup.c	the two instances: made, configured, started, stopped
 *	instances.c	instances of recorders that are gone
 *	guard.c	a second process that finishes when the first one dies
 *	command.c	finds CMD, starts it, waits for it
 *	register.c	unwind tables for what runs and what starts
 *	gate.c	--wait-tables: programs wait at their start for their tables
 *	gate_process.c  the process that lets waiting programs start
 *	libs.c	the libraries that an ELF file names
 *	read.c	from the ring buffers to files, by a few threads
 *	dat.c	trace.dat: its head, and how all parts are put together
 *	names.c	names of tasks for trace.dat
 *	resume.c	files that recorders which are gone did not complete
 *	jit.c	/tmp/perf-PID.map of traced processes, kept next to the file
 *	summary.c	what follows when the file is complete: maps of JIT code, the summary
 *	join.c	joins requests with their stacks, for the summary
 *	json.c	the summary for programs
 *	free.c	frees a recording
 *
 * The recorder changes nothing outside the two instances. So a recorder that ends for any reason
 * leaves only the instances and its unfinished file: the guard completes the file and removes the
 * instances. If the guard was killed too, resume.c and instances.c do it later. Tables are gone
 * when the recorder's descriptor is closed.
 *
 * Why the file is written here: libtracecmd's public interface (3.1.6 to 3.4) reads files and has
 * no function that writes a file. `trace-cmd record` as a child could write the file. But trace-cmd
 * calls die() on each error, counts nothing, and cleans nothing up when it is killed. It also needs
 * a writable sysctl ftrace_enabled, which many containers and virtual machines lack.
 *
 * Functions that return int return 0, or an exit code (enum tool_exit) after they printed the
 * error, unless their comment says otherwise.
 */
#ifndef TRACE_USTACK_RECORD_IMPL_H
#define TRACE_USTACK_RECORD_IMPL_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "record.h"
#include "trace-cmd-ext/record/bpf/bpf.h"
#include "trace-cmd-ext/tool/tool.h"

struct rec_event {
	char *system, *name;
	const struct rec_select *sel;	/* the last -e that selects this event */
	enum bpfsrc_kind kind;		/* with REQUEST_BY_BPF, if it gets stacks */
};

/* How user stacks are asked for. */
enum rec_request {
	REQUEST_BY_OPTION,		/* by the option: all events of the instance */
	REQUEST_BY_TRIGGER,		/* by triggers on some of the events */
	REQUEST_BY_BPF,			/* by BPF programs: a stock kernel */
	REQUEST_BY_FRAME_POINTERS,	/* by options/userstacktrace */
	REQUEST_NONE,			/* no event gets a user stack */
};

/* How far the recorder got, for the guard; in shared memory. */
enum rec_stage {
	STAGE_SETUP,			/* nothing was recorded */
	STAGE_RUNNING,			/* the head of the file is there, data may be */
	STAGE_DONE,			/* the file is complete, or given up; instances are gone */
};

struct rec_shared {
	enum rec_stage stage;
	uint64_t header_end;		/* size of the head in the file, in bytes */
	bool stacks_inserted;		/* with REQUEST_BY_BPF: the user stacks are in the data */
};

/* The events in the file that a stock kernel does not have. */
enum format {
	FORMAT_COOKIE, FORMAT_STACK, FORMAT_MAP,
	FORMAT_FTRACE,			/* the ones before it are of the system ftrace */
	FORMAT_SAMPLE = FORMAT_FTRACE,	/* -F */
	FORMAT_NR
};

/* Options, and for the first one also a trigger, of kernels with the kernel-patches */
#define DEFERRED	"userstacktrace_deferred"
#define MAPS		"userstacktrace_maps"
#define ONCE		"userstacktrace_once"

#define SAMPLE_SYSTEM	"ustack"	/* of the samples */

struct bpfsrc_stats;
struct insert_stats;
struct rec_jit;
struct rec_reader;
struct rec_bpf;
struct rec_stream;
struct rec_registration;
struct tables_summary;
struct text;

struct rec_buffer {
	struct tracefs_instance *instance;
	char name[64];
	const char *label;		/* its name in the file; "": the top buffer */
	int lock;			/* descriptor of its directory; held until the end */
	struct rec_stream *stream;	/* one per CPU, while recording */
	bool recorded;			/* the files of its CPUs exist */
	char **stats;			/* per_cpu/cpuN/stats at the end, one per CPU */
	uint64_t data;			/* offset of the first CPU's data in the complete file */
	uint64_t *size;			/* bytes of each CPU's data, one after the other */
};

enum { BUF_EVENTS, BUF_MAPS, NR_BUFS };

struct rec {
	struct rec_opts opts;
	enum source source;		/* SOURCE_AUTO until it is chosen */
	enum rec_request request_by;
	bool triggers;			/* some events get no stack, or get one only sometimes */
	int format_id[FORMAT_NR];	/* with REQUEST_BY_BPF */
	struct rec_bpf *bpf;		/* with REQUEST_BY_BPF, from rec_bpf_open() on */
	struct rec_event *event;
	size_t nr_events;
	uint64_t *function;		/* addresses of those that -l names, as in ftrace */
	size_t nr_functions;
	struct rec_buffer buf[NR_BUFS];
	int nr_cpus;
	unsigned int page_size;		/* of the ring buffers */
	unsigned long buffer_kb;	/* size of the events' buffer, KB per CPU */
	char part[PATH_MAX];		/* the file until it is complete */
	int out_fd;			/* descriptor of @part */
	uint64_t id;			/* TRACEID of the recording, random; 0: none */
	struct rec_shared *shared;
	pid_t guard;
	int guard_pipe;			/* the recorder's end; closes when the recorder dies */
	pid_t child;			/* process of CMD, 0: none */
	pid_t *own;			/* the recorder's own tasks, while recording */
	size_t nr_own;
	int start_pipe;			/* a write to this pipe starts CMD */
	int child_status;		/* from waitpid(), valid if child_ended */
	bool child_ended;
	int reader_failed;		/* eventfd: a reader cannot go on */
	int stop;			/* eventfd: readers must end */
	struct rec_reader *reader;	/* threads, while recording */
	int nr_readers;
	struct rec_registration *tables;
	struct rec_gate *gate;
	struct rec_jit *jit;		/* NULL before rec_jit_start() */
	double seconds;			/* duration of the recording */
	bool disk_full;
	bool cut;			/* the last records of a CPU could not be written */
	char *comms;			/* "PID NAME" lines, from the start of the recording */
};

/* ---- events.c ---- */

int rec_select_events(struct rec *r);
/* Set filters, triggers or options in the events' instance, before any event is enabled. */
int rec_configure_events(struct rec *r);
int rec_enable_events(struct rec *r);
/* Add the condition @own to the filters of an event and its stacks. -errno: nothing changed. */
int rec_restrict_event(struct rec *r, const struct rec_event *ev, const char *own);

/* ---- own_tasks.c ---- */

/* List the recorder's threads and processes in r->own. All threads must run by now. */
void own_tasks_find(struct rec *r);
bool own_tasks_has(const struct rec *r, pid_t tid);
/*
 * Is this event about two tasks? Then ftrace may drop the event because of the other task: by a
 * filter of own_tasks_leave_out(), or by the list of tasks.
 */
bool rec_event_names_two_tasks(const struct rec_event *ev);
/* Leave out the events of the recorder's tasks, and events about no other task; 0 or -errno. */
int own_tasks_leave_out(struct rec *r);

/* ---- source.c ---- */

/* Can this kernel do what the options ask for? Sets r->source, r->request_by and r->triggers. */
int rec_choose_source(struct rec *r);

/* ---- formats.c ---- */

const char *format_get_name(enum format f);
/* With REQUEST_BY_BPF: choose ids that no event of the recording has. */
int format_choose_ids(struct rec *r);
/* The id of the event in this recording; -1 if there is none. */
int format_get_id(const struct rec *r, enum format f);
/* The text of the format, malloc()ed; NULL if there is none. @size may be NULL. */
char *format_read(const struct rec *r, enum format f, size_t *size);

/* ---- bpf_stacks.c: without REQUEST_BY_BPF, these do nothing ---- */

/* Load and attach the programs, before any event is on. */
int rec_bpf_open(struct rec *r);
int rec_bpf_start(struct rec *r);
/* Samples and functions belong to the time in which ftrace records. */
void rec_bpf_set_sampling(struct rec *r, bool on);
/* Trace this task, or leave it out of a recording of all tasks; 0 or -errno. */
int rec_bpf_add_task(struct rec *r, pid_t tid);
int rec_bpf_leave_out(struct rec *r, pid_t tid);
/* Only with REQUEST_BY_BPF: give the programs a table for this file; 0 or -errno. */
int rec_bpf_add_table(struct rec *r, int fd, const char *path);
/* Stop the programs, and add the stacks to what was recorded. */
int rec_bpf_finish(struct rec *r);
/* Unload the programs; then free the memory. */
void rec_bpf_close(struct rec *r);
void rec_bpf_free(struct rec *r);
/* The counts of what was added; NULL without REQUEST_BY_BPF. */
const struct insert_stats *rec_bpf_get_stats(const struct rec *r, const struct bpfsrc_stats **bpf);
/* Add a line "TID NAME" for each task in a sample or a function. */
void rec_bpf_add_comms(const struct rec *r, struct text *t);
/* The path of the message file; false if it is too long. */
bool rec_bpf_get_path(const struct rec *r, char path[PATH_MAX]);

/* ---- kinds.c ---- */

enum bpfsrc_kind rec_find_event_kind(const char *system, const char *name);
#define MAX_SITES	128		/* of a uprobe event: MAX_TRACE_ARGS of the kernel */
/* The sites of a uprobe event, and how many; the caller frees *@text with their paths. */
size_t rec_find_uprobe_sites(const char *system, const char *name, char **text,
			     struct bpfsrc_site site[MAX_SITES]);

/* ---- functions.c ---- */

/* Find the functions that -l names, before anything is recorded. */
int rec_find_functions(struct rec *r);

/* ---- setup.c ---- */

int rec_make_instances(struct rec *r);
/* Set the names of the instances of the recorder @pid. */
void rec_name_instances(struct rec *r, pid_t pid);
/* Open the instances that the recorder has made, for the guard. */
void rec_adopt_instances(struct rec *r);
int rec_configure(struct rec *r);
/* Choose the tasks whose events are recorded. */
int rec_choose_tasks(struct rec *r);
int rec_start(struct rec *r);
/* Stop the events, then the records. */
void rec_stop(struct rec *r);
void rec_read_stats(struct rec *r);
/* Remove both instances; prints an error if that fails. */
int rec_remove_instances(struct rec *r);

/* ---- instances.c ---- */

/*
 * Lock the directory of an instance: shared as one of its owners (@own), or exclusively to find out
 * that nobody owns it. A descriptor, or -errno.
 */
int instance_lock(const char *name, bool own);

/* ---- guard.c ---- */

int rec_guard_start(struct rec *r);
/* Ignore signals, and start a session: Ctrl-C does not reach this process. @name is for ps. */
void rec_leave_session(const char *name);
/* Report to the guard that the instances exist and are locked. */
int rec_guard_report_instances(struct rec *r);
/* The recorder has finished: end the guard. */
void rec_guard_stop(struct rec *r);

/* ---- command.c ---- */

/* The path of @name, as a shell would find it: 0, or 126 or 127 after printing the error. */
int command_find(const char *name, char path[PATH_MAX]);
/* Make the process of CMD, which waits for command_start(). */
int command_prepare(struct rec *r);
/* Let the process execute CMD: 0; 126 or 127 if CMD cannot be executed. */
int command_start(struct rec *r);
/* Ask the process of CMD to end, and wait some seconds for its end. */
void command_stop(struct rec *r);
/* The exit code of CMD, as a shell reports it. */
int command_get_exit_code(const struct rec *r);

/* ---- register.c ---- */

/* Register the tables that are needed before the first event. */
int rec_tables_start(struct rec *r);
/* From now on, while recording, a thread registers the other tables. */
void rec_tables_add_rest(struct rec *r);
/* Write FILE.tables: the files, and whether they had tables. Removes an earlier one first. */
void rec_tables_save(struct rec *r);
/* Print to standard error which files were covered. */
void rec_tables_print_summary(struct rec *r);
/* Get the figures of that summary; false if there are no tables. */
bool rec_tables_get_summary(const struct rec *r, struct tables_summary *sum);
/* The session of libunwind-user that has the tables */
struct tables_session *rec_tables_get_session(const struct rec *r);
void rec_tables_stop(struct rec *r);

/* ---- gate.c, gate_process.c ---- */

#define GATE_MAX_NS		5000000000ull	/* nothing waits longer */

/* The recorder and the gate share this memory. */
struct gate_shared {
	unsigned int programs;		/* programs that waited for their tables */
	unsigned int released_early;	/* programs released before their tables were made */
	uint64_t longest;		/* the longest wait, ns */
	pid_t child;			/* CMD */
	int error;			/* why the gate ended */
};

/* The gate sends this with the descriptor of the file. */
struct gate_question {
	uint64_t id;
	pid_t pid;			/* the task that executes the file */
};

struct gate_answer {
	uint64_t id;
	bool elf, known;		/* known: never ask about this file again */
};

/*
 * With --wait-tables: fork the gate, which lets programs wait at their start until their tables are
 * there. Call it before the recorder has a thread.
 */
int rec_gate_prepare(struct rec *r);
/* From now on, each recorded program waits at its start for its tables. */
int rec_gate_start(struct rec *r);
/* Close fanotify in a process that was forked between rec_gate_prepare() and rec_gate_start(). */
void rec_gate_close_inherited(const struct rec *r);
void rec_gate_stop(struct rec *r);
/* -1 without a gate */
pid_t rec_gate_get_pid(const struct rec *r);
/* NULL without --wait-tables */
const struct gate_shared *rec_gate_get_shared(const struct rec *r);
void rec_gate_free(struct rec *r);

/* In a process of its own: answer the questions of @fanotify until the socket @recorder closes. */
void gate_run(const struct rec *r, int fanotify, int recorder, struct gate_shared *shared)
	__attribute__((noreturn));

/* ---- libs.c ---- */

/* Read up to @len bytes of a file at @at; 0 also after an error. */
ssize_t libs_read(int fd, void *buf, size_t len, off_t at);
/* Read the header of an ELF file into the 64-bit form; false: it is not an ELF file. */
bool libs_read_ehdr(int fd, Elf64_Ehdr *eh);
/* Read its program header number @i into the 64-bit form. */
bool libs_read_phdr(int fd, const Elf64_Ehdr *eh, unsigned int i, Elf64_Phdr *ph);

/* Is the file on a local file system: its files come neither from a server nor from a process? */
bool libs_is_local(int fd);

struct libs_calls {
	void (*add)(void *ctx, int fd, const char *path);	/* must not close @fd */
	bool (*more)(void *ctx);				/* is there time for more? */
	void *ctx;
};

/*
 * Call add() for each library that the ELF file names, and for each library that those libraries
 * name, if the library exists below the directory @root. @path is the path of the ELF file there,
 * for $ORIGIN. Returns false if more() ended the search.
 */
bool libs_for_each(int fd, const char *path, int root, const struct libs_calls *calls);

/* ---- read.c ---- */

/* Open all streams; with @threads, read them until rec_read_stop(). */
int rec_read_start(struct rec *r, bool threads);
/* Read all that is left and close the files. */
int rec_read_stop(struct rec *r);
/* The path of the file with the raw data of a CPU, until the data is in the recording. */
void rec_get_raw_path(const struct rec *r, int buffer, int cpu, char path[PATH_MAX]);

/* ---- dat.c ---- */

/* The gap between the data of the events' buffer and the table of the other buffer. */
#define DAT_MAPS_HEAD	12

/* Where the data of a buffer is in the complete file, one CPU after the other. */
struct dat_layout {
	uint64_t data, end;
	uint64_t *size;			/* one per CPU */
};

int dat_open(struct rec *r);
/* Write what is known before the first event: formats, symbols. */
int dat_write_header(struct rec *r);
/* Lay out the data by the sizes of the raw files, with the table at @at; 0 or -ENOMEM. */
int dat_lay_out(const struct rec *r, int buffer, uint64_t at, struct dat_layout *l);
/*
 * Write names, options and data, then give the file its final name. After an error, all recorded
 * data is in this file or in the raw files.
 */
int dat_finish(struct rec *r);
/* Write what follows the names, options, and the table of the first buffer. @maps may be NULL. */
int dat_move_data(struct rec *r, struct dat_layout *top, struct dat_layout *maps);
/* Remove the file and the raw data. */
void dat_discard(struct rec *r);

/* ---- names.c ---- */

/* "PID NAME" lines of all tasks; NULL if there is not enough memory. */
char *names_read(void);
/* Add the section of the file: its size, then the lines. */
void names_add_section(struct text *b, const struct rec *r);

/* ---- resume.c ---- */

/*
 * Complete a file whose data was being moved, given r->shared->header_end. False if the move had
 * not started; otherwise *@ret is as the result of dat_finish().
 */
bool rec_resume(struct rec *r, int *ret);

/* ---- wait.c ---- */

int rec_wait_prepare(void);
/* Wait for signals and the other reasons that end the recording. 0 or an exit code. */
int rec_wait_for_end(struct rec *r);
/* In CMD: set the limits back to those that the recorder had at its start. */
void rec_limits_restore(void);
/* Let signals end the process again. */
void rec_unblock_signals(void);
/* Has a signal come that says to end? */
bool rec_wait_interrupted(void);

/* ---- jit.c ---- */

/* Note which maps exist. Call this function just before the first event. */
void rec_jit_start(struct rec *r);
struct rec_jit_map {
	uint32_t tgid;
	uint64_t from;			/* time stamp: the map names later code */
	uint64_t stacks, before;	/* of the process: in the whole file, before @from */
	bool saved;
};

/* The processes among @tgids whose map is their own; *@maps is malloc()ed. */
size_t rec_jit_find_maps(const struct rec *r, const uint32_t *tgids, size_t nr,
			 struct rec_jit_map **maps);
/* Copy these maps into FILE.jit. */
void rec_jit_save_maps(struct rec *r, struct rec_jit_map *maps, size_t nr);
void rec_jit_stop(struct rec *r);

/* ---- summary.c ---- */

/* Read the complete file: save the maps of JIT code, print the summary, and write --json. */
int rec_finish_file(struct rec *r);

/* ---- free.c ---- */

/* Call it at the end, or after any error. @r must have been zeroed at first, except descriptors. */
void rec_free(struct rec *r);

#endif
