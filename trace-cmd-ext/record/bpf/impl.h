/* SPDX-License-Identifier: GPL-2.0 */
/*
 * impl.h - what the parts of the source share
 *
 *	check.c		can this kernel and this user do it?
 *	bpf.c		load, attach, start, stop; the thread that writes messages to the file
 *	events.c	which program for which event
 *	probes.c	programs for kprobe events and uprobe events
 *	samples.c	samples of the CPUs, by a timer
 *	functions.c	the program for functions of the kernel
 *	tables.c	tables of files: made, and put where the programs find them
 *	flat.c		the rows of a table
 *	runtime.c	files that make JIT code
 *	python.c	files with an interpreter of Python
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
struct bpf_tables;

/* Write a sentence about @error to @why; returns @error. */
int bpf_set_error(char *why, size_t size, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* -------------------------------- tables.c ------------------------------- */

/*
 * Descriptors of the maps, which stay the caller's. @tasks: -1 if no task is to be left out;
 * @pythons: -1 if functions of Python are not to be read
 */
struct bpf_table_maps {
	int parts, chunks, full_rules, runtimes, pythons, tasks;
};

int bpf_tables_open(const struct bpf_table_maps *maps, struct bpf_tables **tables);
void bpf_tables_close(struct bpf_tables *t);
int bpf_tables_add(struct bpf_tables *t, int fd, const char *path);
/*
 * A mapping of process @tgid is in a stack. If its file is new, a thread makes a table for it; this
 * function does not wait.
 */
void bpf_tables_request(struct bpf_tables *t, uint32_t tgid, const struct msg_code *code);
/* Wait until all programs that run now have ended. */
int bpf_tables_synchronize(struct bpf_tables *t);
void bpf_tables_stop(struct bpf_tables *t);
bool bpf_tables_get(struct bpf_tables *t, uint32_t dev, uint64_t ino, struct bpf_file *file);
void bpf_tables_add_stats(struct bpf_tables *t, struct bpf_stats *stats);

/* ------------------------------- runtime.c ------------------------------- */

/* Is this file a runtime? Fills @r, except for its state. */
bool bpf_runtime_find(int fd, struct runtime *r);

/* -------------------------------- python.c ------------------------------- */

/* Has this file an interpreter of Python that is known? Fills @p. */
bool bpf_python_find(int fd, struct python *p);

/* -------------------------------- events.c ------------------------------- */

/* A copy of a program, for one event */
struct bpf_copy {
	int fd, id;			/* id: of the event */
	unsigned int place;		/* in the map `counts`; 0: none */
};

struct bpf_attached {
	VEC(int) link;
	VEC(struct bpf_copy) copy;
};

/* Attach a program to each event. */
int bpf_attach_events(struct bpf_attached *a, struct bpf_object *obj, struct control *control,
		      const struct bpf_opts *opts, char *why, size_t size);
/*
 * Choose which programs to load. Without @samples, leave out the one that takes samples. Without
 * @functions, leave out programs that are attached to functions, which some kernels forbid. Returns
 * whether there are such programs.
 */
bool bpf_choose_programs(struct bpf_object *obj, bool samples, bool functions);
/* Attach the programs that follow tasks. Call it before bpf_attach_events(). */
int bpf_attach_tasks(struct bpf_attached *a, struct bpf_object *obj, char *why, size_t size);
/* These count the runs of programs that the kernel skipped. */
uint64_t bpf_count_skipped(const struct bpf_attached *a, struct bpf_object *obj);
uint64_t bpf_count_skipped_ends(struct bpf_object *obj);
uint64_t bpf_count_skipped_functions(struct bpf_object *obj);
uint64_t bpf_count_skipped_of(const struct bpf_attached *a, struct bpf_object *obj, int id);
/*
 * Call @fn with the count of skipped runs on each CPU, as a message, if it is more than 0. Stops if
 * @fn returns not 0, or with -errno if not all counts can be read.
 */
int bpf_each_skipped(const struct bpf_attached *a, struct bpf_object *obj,
		     int (*fn)(void *ctx, const struct msg_skipped *m), void *ctx);
void bpf_detach(struct bpf_attached *a);
/* The descriptor of a program, or -ENOENT; it is less than 0 also if the program is not loaded. */
int bpf_prog_fd(const struct bpf_object *obj, const char *name);
/* Load this program with the others, or leave it out. */
void bpf_choose(struct bpf_object *obj, const char *prog, bool load);
/* Take a descriptor, to be closed by bpf_detach(). The second one: of a copy of a program */
int bpf_keep_link(struct bpf_attached *a, int fd);
int bpf_keep_copy(struct bpf_attached *a, int fd, int id, unsigned int place);
/* Load a copy of a program for the event with this id. A descriptor, or -errno */
int bpf_load_copy(const struct bpf_program *prog, int id, unsigned int place);

/* ------------------------------- samples.c ------------------------------- */

/* Run the program @prog on each CPU every @period ns. */
int bpf_attach_samples(struct bpf_attached *a, int prog, uint64_t period, char *why, size_t size);

/* ------------------------------ functions.c ------------------------------ */

/* Write into the program how this kernel counts interrupts, before it is loaded; 0 or -errno. */
int bpf_prepare_functions(struct bpf_object *obj);
/* Run the program @prog at the start of each of these functions. */
int bpf_attach_functions(struct bpf_attached *a, int prog, const struct bpf_opts *opts, char *why,
			 size_t size);

/* -------------------------------- probes.c ------------------------------- */

bool bpf_has_kind(const struct bpf_opts *opts, enum bpf_kind kind);
void bpf_choose_probes(struct bpf_object *obj, bool kprobes, bool uprobes);
/* @place: of this event, in the map `counts` */
int bpf_attach_probe(struct bpf_attached *a, struct bpf_object *obj, const struct bpf_event *e,
		     unsigned int place, char *why, size_t size);
int bpf_attach_uprobe(struct bpf_attached *a, struct bpf_object *obj, const struct bpf_event *e,
		      const struct bpf_place *at, char *why, size_t size);

#endif
