/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the reader share. */
#ifndef TRACE_USTACK_READER_INT_H
#define TRACE_USTACK_READER_INT_H

#include "reader.h"
#include "vec.h"

struct tracecmd_input;

/* A file opened by libtracecmd: the top buffer's handle, then the instances', some NULL. */
struct reader_set {
	int fd;				/* the top handle's, which closes it */
	VEC(struct tracecmd_input *) handles;
};

struct stream {
	struct reader_stream pub;
	int index;			/* libtracecmd's number of the CPU */
	struct tep_record *ahead;	/* read, and not yet passed on */
	struct tep_record *keep[READER_KEEP];
	size_t nr;			/* records passed on */
};

struct reader {
	struct reader_opts opts;
	int fd, version;
	uint64_t bytes;
	uint32_t cpus;
	bool raw;
	struct tep_handle *tep;
	struct reader_set data;		/* the one that is read from */
	struct reader_set meta;		/* the first one, once rewound: has @tep */
	VEC(struct stream) streams;
};

#endif
