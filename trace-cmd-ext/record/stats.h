/* SPDX-License-Identifier: GPL-2.0 */
/* stats.h - what a recording holds: counted by summary.c, printed there and by json.c */
#ifndef TRACE_USTACK_STATS_H
#define TRACE_USTACK_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/join/join.h"

struct rec_jit_map;
struct rec;

struct rec_stats {
	uint64_t events, kernel_stacks;
	uint64_t own;			/* events of the recorder's own tasks, counted in @events */
	uint64_t user_stacks;		/* from options/userstacktrace */
	uint64_t bytes;			/* of the pages, without formats and symbols */
	uint64_t lost;			/* records lost in the buffer of the events */
	int jit;			/* processes whose maps were kept and name a stack */
	struct rec_jit_map *map;		/* of JIT code */
	size_t nr_maps;
	bool joined;			/* @join is valid */
	struct join_stats join;
	uint32_t *tgid;			/* traced processes */
	size_t nr_tgids;
};

/* ---- join.c ---- */

struct rec_join;
struct tep_record;

/* NULL if there is not enough memory. */
struct rec_join *rec_join_new(const struct rec *r);
void rec_join_free(struct rec_join *j);
/* Add a record, CPU after CPU, buffer after buffer; 0 or -errno. */
int rec_join_record(struct rec_join *j, int buffer, struct tep_record *rec);
int rec_join_finish(struct rec_join *j, const struct rec *r, struct join_stats *st);

/* Write the summary to the file of --json; 0 or an exit code after printing the error. */
int rec_write_json(const struct rec *r, const struct rec_stats *s);

#endif
