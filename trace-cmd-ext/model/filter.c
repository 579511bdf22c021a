// SPDX-License-Identifier: GPL-2.0
/*
 * filter.c - decide which events the filter wants
 *
 * The filter is applied once to each type, task, stack and frame, and the answer is stored.
 */
#include <fnmatch.h>
#include <stdio.h>

#include "impl.h"

static bool matches_any(const char **patterns, size_t nr, const char *s)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!fnmatch(patterns[i], s, 0))
			return true;
	return false;
}

bool filter_wants_type(struct model *m, const struct model_type *t)
{
	const struct model_filter *f = &m->opts.filter;
	char full[256];

	if (!f->nr_events || matches_any(f->events, f->nr_events, t->name))
		return true;
	snprintf(full, sizeof(full), "%s:%s", t->system, t->name);
	return matches_any(f->events, f->nr_events, full);
}

static bool has_number(const uint32_t *v, size_t nr, uint32_t x)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (v[i] == x)
			return true;
	return false;
}

/* The task @tid is being added, so its tgid must be found without adding the task again. */
bool filter_wants_task(struct model *m, uint32_t tid, uint32_t tgid)
{
	const struct model_filter *f = &m->opts.filter;

	if (f->nr_pids && !has_number(f->pids, f->nr_pids, tid) &&
	    !(tgid && has_number(f->pids, f->nr_pids, tgid)))
		return false;
	return !f->nr_comms || matches_any(f->comms, f->nr_comms, model_get_comm(m, tid));
}

bool filter_wants_cpu(struct model *m, uint32_t cpu)
{
	const struct model_filter *f = &m->opts.filter;

	return !f->nr_cpus || has_number(f->cpus, f->nr_cpus, cpu);
}

bool filter_wants_time(struct model *m, uint64_t ts)
{
	const struct model_filter *f = &m->opts.filter;

	return ts >= f->from && (!f->to || ts <= f->to);
}

static bool has_matching_frame(struct model *m, const uint32_t *frames, uint32_t nr)
{
	const struct model_filter *f = &m->opts.filter;
	struct frame_info *fr;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		fr = &m->frames.v[frames[i]];
		if (!fr->matches)
			fr->matches = fr->pub.func &&
				      matches_any(f->symbols, f->nr_symbols, fr->pub.func) ?
				      MATCH_YES : MATCH_NO;
		if (fr->matches == MATCH_YES)
			return true;
	}
	return false;
}

bool filter_wants_symbols(struct model *m, const struct model_event *ev)
{
	const uint32_t *frames;
	uint32_t nr;

	if (!m->opts.filter.nr_symbols)
		return true;
	if (ev->kstack != MODEL_NONE) {
		if (!m->kstacks.v[ev->kstack].matches) {
			frames = model_get_kframes(m, ev->kstack, &nr);
			m->kstacks.v[ev->kstack].matches =
				frames && has_matching_frame(m, frames, nr) ? MATCH_YES : MATCH_NO;
		}
		if (m->kstacks.v[ev->kstack].matches == MATCH_YES)
			return true;
	}
	if (ev->ustack == MODEL_NONE)
		return false;
	if (!m->ustacks.v[ev->ustack].matches) {
		frames = model_get_uframes(m, ev->ustack, &nr);
		m->ustacks.v[ev->ustack].matches =
			frames && has_matching_frame(m, frames, nr) ? MATCH_YES : MATCH_NO;
	}
	return m->ustacks.v[ev->ustack].matches == MATCH_YES;
}
