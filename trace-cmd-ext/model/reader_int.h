/* SPDX-License-Identifier: GPL-2.0 */
/* reader_int.h - the data of the reader, shared by reader.c and raw.c */
#ifndef TRACE_USTACK_READER_INT_H
#define TRACE_USTACK_READER_INT_H

#include "reader.h"
#include "libunwind-user/base/base.h"

struct tracecmd_input;

/* A file opened by libtracecmd: the handle of the top buffer, then those of the instances. */
struct reader_set {
	int fd;				/* the top handle's, which closes it */
	VEC(struct tracecmd_input *) handles;	/* some are NULL */
};

/* The position of a stream in a mapped file (raw.c). */
struct raw_stream {
	uint64_t offset, size;		/* its pages in the file */
	uint64_t page;			/* offset of the next page */
	uint64_t base;			/* offset of the current page */
	uint64_t dropped;		/* pages before this offset were returned to the system */
	uint64_t ts;
	const unsigned char *first, *next, *end;	/* entries of the page */
	int64_t missed;			/* events dropped before the page */
	uint32_t page_size;
};

struct input_stream {
	struct reader_stream pub;
	int index;			/* libtracecmd's number of the CPU */
	struct tep_record *ahead;	/* a record that was read and not passed on yet */
	/* rings with @room slots: the records of libtracecmd, and the memory for those of raw.c */
	struct tep_record **lib_records, **raw_records;
	size_t room;
	size_t nr;			/* records passed on */
	struct raw_stream raw;
	VEC(struct tep_record *) blocks;	/* that @raw_records points into */
};

struct reader {
	struct reader_opts opts;
	int fd, version;
	uint64_t bytes;
	uint32_t cpus;
	uint32_t page_size;
	int long_size;
	bool big_endian, swap;
	bool raw;			/* records come from @map */
	bool iterate;			/* see reader_iterate() */
	bool damaged;			/* @map holds data that no ring buffer writes */
	unsigned char *map;
	struct tep_handle *tep;
	struct reader_set data;		/* the handles that are read */
	struct reader_set meta;		/* after a rewind: the first handles, which own @tep */
	VEC(struct input_stream) streams;
};

/* raw.c: raw_open() sets r->raw if it can read the file */
void raw_open(struct reader *r);
void raw_close(struct reader *r);
void raw_rewind(struct reader *r);
struct tep_record *raw_next(struct reader *r, uint32_t stream);

#endif
