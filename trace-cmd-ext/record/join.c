// SPDX-License-Identifier: GPL-2.0
/*
 * join.c - the answers to the requests of a recording, in memory
 *
 * For the summary, this file joins the records of the file that was just made, as every reader will
 * join them (plugin/recording/feed.h). A reader has to parse the symbols of the kernel first, tens
 * of thousands of lines that the join does not need. A reader also uses a process of its own,
 * because it cannot know who made the file. Here the pages came from the kernel a moment ago.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin/recording/recording.h"
#include "impl.h"
#include "stats.h"

struct rec_join {
	struct tep_handle *tep;
	struct sink sink;
	struct sink_target target;
	struct feed *feed;
	int buffer, cpu;		/* of the last record; -1: no record so far */
};

static void add_format(struct tep_handle *tep, char *text, size_t size)
{
	if (text)
		tep_parse_event(tep, text, size, "ftrace");
	free(text);
}

void rec_join_free(struct rec_join *j)
{
	if (!j)
		return;
	feed_free(j->feed);
	join_free(j->target.join);
	maps_free(j->target.maps);
	tep_free(j->tep);
	free(j);
}

struct rec_join *rec_join_new(const struct rec *r)
{
	struct rec_join *j = calloc(1, sizeof(*j));
	enum format f;
	size_t size;
	char *text;

	if (!j)
		return NULL;
	j->buffer = -1;
	j->tep = tep_alloc();
	j->target.join = join_new();
	j->target.maps = maps_new();
	if (!j->tep || !j->target.join || !j->target.maps)
		goto fail;
	tep_set_long_size(j->tep, sizeof(long));
	tep_set_file_bigendian(j->tep, tep_is_bigendian());
	tep_set_local_bigendian(j->tep, tep_is_bigendian());
	text = rec_tracefs_read(NULL, "events/ftrace/kernel_stack/format", &size);
	add_format(j->tep, text, size);
	text = rec_tracefs_read(NULL, "events/ftrace/user_unwind_again/format", &size);
	add_format(j->tep, text, size);
	for (f = 0; f < FORMAT_FTRACE; f++) {
		text = format_read(r, f, &size);
		add_format(j->tep, text, size);
	}
	sink_set_to_join(&j->sink, &j->target);
	j->feed = feed_new(j->tep, &j->sink);
	if (j->feed)
		return j;
fail:
	rec_join_free(j);
	return NULL;
}

int rec_join_record(struct rec_join *j, int buffer, struct tep_record *rec)
{
	int ret = 0;

	if (buffer != j->buffer || rec->cpu != j->cpu)
		ret = feed_start_stream(j->feed, buffer, rec->cpu);
	j->buffer = buffer;
	j->cpu = rec->cpu;
	return ret ? ret : feed_record(j->feed, rec);
}

static bool has_dropped(const struct rec *r, int buffer)
{
	static const char line[] = "dropped events: ";
	const char *text, *at;
	int cpu;

	for (cpu = 0; r->buf[buffer].stats && cpu < r->nr_cpus; cpu++) {
		text = r->buf[buffer].stats[cpu];
		at = text ? strstr(text, line) : NULL;
		if (at && strtoull(at + strlen(line), NULL, 10))
			return true;
	}
	return false;
}

int rec_join_finish(struct rec_join *j, const struct rec *r, struct join_stats *st)
{
	int buffer, ret = feed_end_stream(j->feed);

	if (sections_is_slow_clock(r->opts.clock))
		join_set_slow_clock(j->target.join);
	for (buffer = 0; !ret && buffer < NR_BUFS; buffer++)
		if (has_dropped(r, buffer))
			ret = join_set_dropped(j->target.join, buffer);
	if (!ret)
		ret = join_finish(j->target.join);
	if (!ret)
		join_get_stats(j->target.join, st);
	return ret;
}
