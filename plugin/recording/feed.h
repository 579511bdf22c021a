/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * feed.h - from the records of a trace to the calls that fill the join and the maps
 *
 * The feed passes its results to a sink, because another process reads the file. In that process
 * the sink is a pipe (wire.c). At the other end of the pipe, and in the tests, the sink is the join
 * itself (sink_set_to_join()).
 */
#ifndef USTACK_FEED_H
#define USTACK_FEED_H

#include "decode.h"
#include "plugin/join/join.h"

/* Each returns 0 or a negative errno, which stops the feeding. */
struct sink {
	/* streams are numbered from 0 in the order they are announced */
	int (*stream)(void *data, uint32_t buffer, uint32_t cpu);
	/* at a stream's end: positions of its first and last record; 1 and 0 without records */
	int (*range)(void *data, uint32_t stream, uint64_t first, uint64_t last);
	int (*run)(void *data, const struct join_run *run);
	int (*stack)(void *data, const struct join_stack *stack);
	/* before the next record of the stream, @events were lost; 0: an unknown number */
	int (*loss)(void *data, uint32_t stream, uint64_t events);
	/* events of @buffer were dropped at unknown positions */
	int (*dropped)(void *data, uint32_t buffer);
	/* in an instance: position and time (ns) of a record each 4 KiB, and of the last one */
	int (*position)(void *data, uint32_t stream, uint64_t pos, uint64_t ts);
	int (*map)(void *data, const struct maps_rec *rec);
	void *data;
};

struct feed;

/* @tep and @sink must outlive the feed. NULL if there is not enough memory. */
struct feed *feed_new(struct tep_handle *tep, const struct sink *sink);
void feed_free(struct feed *f);
/* Does the file have user_unwind_* events at all? */
bool feed_has_events(const struct feed *f);
/* End the last stream, and start that of this CPU and buffer. */
int feed_start_stream(struct feed *f, uint32_t buffer, uint32_t cpu);
/* Feed the next record. -EILSEQ: its position is not after that of the last record. */
int feed_record(struct feed *f, const struct tep_record *rec);
/* Feed the next record, whose common fields the caller has read already. */
int feed_decoded_record(struct feed *f, const struct tep_record *rec,
			const struct decode_common *c);
/* Feed the end of the stream. */
int feed_end_stream(struct feed *f);

/* Where the sink of sink_set_to_join() puts everything */
struct sink_target {
	struct join *join;
	struct maps *maps;
};
void sink_set_to_join(struct sink *sink, struct sink_target *target);

#endif
