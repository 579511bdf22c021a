/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reader.h - the raw records of a trace.dat, stream by stream
 *
 * A stream is one CPU of one buffer. Formats, names and the list of buffers come from libtracecmd.
 * If the file has plain ring-buffer pages, raw.c reads the records from the pages, which is several
 * times faster. For compressed files, and files whose time stamps are converted, libtracecmd reads
 * the records.
 *
 * After fork() parent and child may both read, the child from the start: see reader_rewind().
 */
#ifndef TRACE_USTACK_READER_H
#define TRACE_USTACK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/recording/recording.h"

/* This many records of a stream stay valid, up to the last one read. A power of two. */
#define READER_HELD	64

struct reader;

struct reader_stream {
	uint32_t buffer;		/* 0: the top buffer */
	uint32_t cpu;
	uint64_t bytes;			/* size of its records in the file; 0: not known */
};

struct reader_opts {
	bool plugins;			/* let libtraceevent load its plugins, for printing */
	bool no_raw;			/* read everything through libtracecmd */
};

/* NULL on failure, with a sentence "cause; remedy" in @why. */
struct reader *reader_open(const char *path, const struct reader_opts *opts, char *why,
			   size_t size);
void reader_close(struct reader *r);

struct tep_handle *reader_get_tep(struct reader *r);
/* The handle that reads the records. reader_rewind() may change it. */
struct tep_handle *reader_get_data_tep(struct reader *r);
/* A descriptor of the file, owned by the reader. Use pread(). */
int reader_get_fd(struct reader *r);
uint64_t reader_get_bytes(struct reader *r);
int reader_get_version(struct reader *r);
/* The random ID of the recording (TRACEID); 0 if it has none. */
uint64_t reader_get_trace_id(struct reader *r);
/* Did the reader find data that no kernel writes? Then records may be missing. */
bool reader_is_damaged(struct reader *r);
uint32_t reader_get_nr_buffers(struct reader *r);
const char *reader_get_buffer_name(struct reader *r, uint32_t buffer);
uint32_t reader_get_nr_cpus(struct reader *r);
uint32_t reader_get_nr_streams(struct reader *r);
const struct reader_stream *reader_get_stream(struct reader *r, uint32_t stream);

/*
 * The next record of a stream, NULL at its end. The reader owns it. It stays valid for READER_HELD
 * calls for the same stream, or for as many calls as reader_hold_records() asked for.
 */
struct tep_record *reader_next(struct reader *r, uint32_t stream);
/* From now on at least @nr records stay valid, also those that are valid now. 0 or -ENOMEM. */
int reader_hold_records(struct reader *r, uint32_t stream, size_t nr);
/*
 * Walk all records by time, from the start, with libtracecmd's iterator. It is for printers that
 * read further records by themselves. Call it once; nothing can be read afterwards. 0, the result
 * of @event, or a negative errno.
 */
void reader_will_iterate(struct reader *r);	/* before reader_rewind() */
int reader_iterate(struct reader *r, int (*event)(void *data, uint32_t buffer,
						   struct tep_record *rec), void *data);
/* Start all streams again; 0 or a negative errno. A forked child does this first. */
int reader_rewind(struct reader *r);

#endif
