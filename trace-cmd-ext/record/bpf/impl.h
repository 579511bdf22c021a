/* SPDX-License-Identifier: GPL-2.0 */
/*
 * impl.h - what the parts of the source share
 *
 *	check.c		can this kernel and this user do it?
 *	bpf.c		load, attach, start, stop; the thread that writes messages to the file
 *	events.c	which program for which event
 *	probes.c	programs for kprobe events and uprobe events
 *	samples.c	samples of the CPUs, by a timer
 *	functions.c	the program for kernel functions
 *	tables.c	tables of files: made, and put where the programs find them
 *	flat.c		the rows of a table
 *	runtime.c	files that make JIT code
 *	python.c	files with a Python interpreter
 */
#ifndef TRACE_USTACK_RECORD_BPF_IMPL_H
#define TRACE_USTACK_RECORD_BPF_IMPL_H

#include <pthread.h>
#include <stdio.h>

#include "bpf.h"
#include "libunwind-user/base/base.h"
#include "msg.h"
#include "rule.h"

struct bpf_object;
struct bpf_program;
struct bpfsrc_tables;

/* Write a sentence about @error to @why; returns @error. */
int bpfsrc_set_error(char *why, size_t size, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* -------------------------------- tables.c ------------------------------- */

/*
 * Descriptors of the maps, which stay the caller's. @tasks: -1 if no task is to be left out;
 * @pythons: -1 if functions of Python are not to be read
 */
struct bpfsrc_table_maps {
	int parts, chunks, full_rules, runtimes, pythons, tasks;
};

int bpfsrc_tables_open(const struct bpfsrc_table_maps *maps, struct bpfsrc_tables **tables);
void bpfsrc_tables_close(struct bpfsrc_tables *t);
int bpfsrc_tables_add(struct bpfsrc_tables *t, int fd, const char *path);
/* A mapping in a stack of @tgid: a thread makes the table of a new file, later. */
void bpfsrc_tables_request(struct bpfsrc_tables *t, uint32_t tgid, const struct msg_code *code);
/* Wait until all programs that run now have ended. */
int bpfsrc_tables_synchronize(struct bpfsrc_tables *t);
void bpfsrc_tables_stop(struct bpfsrc_tables *t);
bool bpfsrc_tables_get(struct bpfsrc_tables *t, uint32_t dev, uint64_t ino,
		       struct bpfsrc_file *file);
void bpfsrc_tables_add_stats(struct bpfsrc_tables *t, struct bpfsrc_stats *stats);

/* ------------------------------- runtime.c ------------------------------- */

/* Is this file a runtime? Fills @r, except for its state. */
bool bpfsrc_find_runtime(int fd, struct runtime *r);

/* -------------------------------- python.c ------------------------------- */

/* Has this file a Python interpreter that is known? Fills @p. */
bool bpfsrc_find_python(int fd, struct python_layout *p);

/* -------------------------------- events.c ------------------------------- */

/* A copy of a program, for one event */
struct bpfsrc_copy {
	int fd, id;			/* id: of the event */
	unsigned int counter;		/* in the map `counts`; 0: runs are not counted */
};

struct bpfsrc_attached {
	VEC(int) link;
	VEC(struct bpfsrc_copy) copy;
};

/* Attach a program to each event. */
int bpfsrc_attach_events(struct bpfsrc_attached *a, struct bpf_object *obj, struct control *control,
			 const struct bpfsrc_opts *opts, char *why, size_t size);
/*
 * Choose which programs to load. Without @samples, leave out the one that takes samples. Without
 * @functions, leave out programs that are attached to functions, which some kernels forbid. Returns
 * whether there are such programs.
 */
bool bpfsrc_choose_programs(struct bpf_object *obj, bool samples, bool functions);
/* Attach the programs that follow tasks. Call it before bpfsrc_attach_events(). */
int bpfsrc_attach_tasks(struct bpfsrc_attached *a, struct bpf_object *obj, char *why, size_t size);
/*
 * How many runs the kernel skipped: of all programs for events, of those that save the stacks of
 * ending tasks, of the program for functions, of the program for the event with this id.
 */
uint64_t bpfsrc_count_skipped(const struct bpfsrc_attached *a, struct bpf_object *obj);
uint64_t bpfsrc_count_skipped_ends(struct bpf_object *obj);
uint64_t bpfsrc_count_skipped_functions(struct bpf_object *obj);
uint64_t bpfsrc_count_skipped_event(const struct bpfsrc_attached *a, struct bpf_object *obj,
				    int id);
/*
 * Call @fn with the count of skipped runs on each CPU, as a message, if it is more than 0. Stops if
 * @fn returns not 0, or with -errno if not all counts can be read.
 */
int bpfsrc_for_each_skipped(const struct bpfsrc_attached *a, struct bpf_object *obj,
			    int (*fn)(void *ctx, const struct msg_skipped *m), void *ctx);
void bpfsrc_detach(struct bpfsrc_attached *a);
/* The descriptor of a program; less than 0 if there is no such program, or if it is not loaded. */
int bpfsrc_get_prog_fd(const struct bpf_object *obj, const char *name);
/* Shall this program be loaded with the others, or left out? */
void bpfsrc_set_load(struct bpf_object *obj, const char *prog, bool load);
/* Take a descriptor, to be closed by bpfsrc_detach(): any, or that of a copy of a program. */
int bpfsrc_add_link(struct bpfsrc_attached *a, int fd);
int bpfsrc_add_copy(struct bpfsrc_attached *a, int fd, int id, unsigned int counter);
/* Load a copy of a program for the event with this id. A descriptor, or -errno */
int bpfsrc_load_copy(const struct bpf_program *prog, int id, unsigned int counter);

/* ------------------------------- samples.c ------------------------------- */

/* Run the program @prog on each CPU every @period ns. */
int bpfsrc_attach_samples(struct bpfsrc_attached *a, int prog, uint64_t period, char *why,
			  size_t size);

/* ------------------------------ functions.c ------------------------------ */

/* Write into the program how this kernel counts interrupts, before it is loaded; 0 or -errno. */
int bpfsrc_prepare_functions(struct bpf_object *obj);
/* Run the program @prog at the start of each of these functions. */
int bpfsrc_attach_functions(struct bpfsrc_attached *a, int prog, const struct bpfsrc_opts *opts,
			    char *why, size_t size);

/* -------------------------------- probes.c ------------------------------- */

bool bpfsrc_has_kind(const struct bpfsrc_opts *opts, enum bpfsrc_kind kind);
void bpfsrc_choose_probes(struct bpf_object *obj, bool kprobes, bool uprobes);
/* @counter: the element of this event in the map `counts` */
int bpfsrc_attach_probe(struct bpfsrc_attached *a, struct bpf_object *obj,
			const struct bpfsrc_event *e, unsigned int counter, char *why, size_t size);
int bpfsrc_attach_uprobe(struct bpfsrc_attached *a, struct bpf_object *obj,
			 const struct bpfsrc_event *e, const struct bpfsrc_site *at,
			 char *why, size_t size);

#endif
