/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reader.h - the raw records of a trace.dat, stream by stream
 *
 * A stream is one CPU of one buffer. Formats, names and the list of buffers come from libtracecmd.
 * The records come straight from the ring-buffer pages in the file if these are stored plainly
 * (raw.c, several times faster). Otherwise, in compressed files and files whose time stamps are
 * converted, the records come from libtracecmd.
 *
 * After fork() parent and child may both read, the child from the start: see reader_rewind().
 */
#ifndef TRACE_USTACK_READER_H
#define TRACE_USTACK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/recording/recording.h"

/* So many records of a stream stay valid: the last one read and those before it. A power of two. */
#define READER_KEEP	64

struct reader;

struct reader_stream {
	uint32_t buffer;		/* 0: the top one */
	uint32_t cpu;
	uint64_t bytes;			/* of its records in the file; 0: not known */
};

struct reader_opts {
	bool plugins;			/* let libtraceevent load its plugins, for printing */
	bool no_raw;			/* all through libtracecmd */
};

/* NULL on failure, with a sentence "cause; remedy" in @why. */
struct reader *reader_open(const char *path, const struct reader_opts *opts, char *why,
			   size_t size);
void reader_close(struct reader *r);

struct tep_handle *reader_tep(struct reader *r);
/* The handle that the records are read with: reader_rewind() may give another one. */
struct tep_handle *reader_data_tep(struct reader *r);
/* A descriptor of the file, the reader's; read with pread(). */
int reader_fd(struct reader *r);
uint64_t reader_bytes(struct reader *r);
int reader_version(struct reader *r);
/* The random number that tells this recording from others, 0 without one. */
uint64_t reader_trace_id(struct reader *r);
bool reader_is_raw(struct reader *r);
/* Was something met that cannot be, so that records may be missing? */
bool reader_damaged(struct reader *r);
uint32_t reader_buffers(struct reader *r);
const char *reader_buffer(struct reader *r, uint32_t buffer);
uint32_t reader_cpus(struct reader *r);
uint32_t reader_nr_streams(struct reader *r);
const struct reader_stream *reader_stream(struct reader *r, uint32_t stream);

/*
 * The next record of a stream, NULL at its end. Valid for READER_KEEP calls of the same stream, or
 * as many as reader_keep() said; the reader's.
 */
struct tep_record *reader_next(struct reader *r, uint32_t stream);
/* @nr records stay valid at least, those that are valid now among them. 0 or -ENOMEM. */
int reader_keep(struct reader *r, uint32_t stream, size_t nr);
/*
 * All records by time as libtracecmd iterates over them, from the begin: for what prints a record
 * and reads on by itself. Once; nothing can be read afterwards. 0, what @event returned, or a
 * negative errno.
 */
void reader_will_iterate(struct reader *r);	/* before reader_rewind() */
int reader_iterate(struct reader *r, int (*event)(void *data, uint32_t buffer,
						   struct tep_record *rec), void *data);
/* All streams begin again; 0 or a negative errno. A forked child does this first. */
int reader_rewind(struct reader *r);

#endif
