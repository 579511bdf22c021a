// SPDX-License-Identifier: GPL-2.0
/*
 * names.c - check that the file has the names of a filter
 *
 * A name that matches nothing in the file is an error, because an empty report would say that
 * nothing happened. The message has similar names. The scan finds all events, tasks and CPUs of the
 * file. The functions are known only after the lookup of all stacks; the lookup stops as soon as
 * each pattern has a function.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "impl.h"

struct check_filter {
	struct model *m;
	const struct model_filter *f;
	bool failed;
};

static void report_missing(struct check_filter *c, const char *option, const char *pattern,
			   const char *what, const struct near *near)
{
	char list[NEAR_LIST];

	c->failed = true;
	if (near_list(near, list))
		tool_error("%s: --%s %s: the file has no such %s; similar: %s", c->m->path, option,
			   pattern, what, list);
	else
		tool_error("%s: --%s %s: the file has no such %s; trace-ustack %s shows all names",
			   c->m->path, option, pattern, what,
			   strcmp(option, "symbol") ? "stat --all" : "flame");
}

/* A name can come from --process or --comm: print the option that the user typed. */
static const char *comm_option(const char *pattern)
{
	char **arg;

	for (arg = tool_argv; *arg; arg++) {
		const char *typed = arg != tool_argv && pattern == *arg ? arg[-1] : *arg;

		if (pattern >= *arg && pattern <= *arg + strlen(*arg))
			return strncmp(typed, "--p", 3) ? "comm" : "process";
	}
	return "comm";
}

/* An event without a record counts as present if the file has its format. */
static bool has_event(struct check_filter *c, const char *pattern, struct near *near)
{
	struct tep_event *const *events = (struct tep_event *const *)
		tep_list_events(c->m->tep, TEP_EVENT_SORT_ID);
	char full[256];
	size_t i;

	for (i = 0; i < c->m->types.nr; i++)
		if (!fnmatch(pattern, c->m->types.v[i].pub.name, 0))
			return true;
	for (; events && *events; events++) {
		snprintf(full, sizeof(full), "%s:%s", (*events)->system, (*events)->name);
		if (!fnmatch(pattern, (*events)->name, 0) || !fnmatch(pattern, full, 0))
			return true;
		if (strcmp((*events)->system, "ftrace"))
			near_consider(near, pattern, full);
	}
	return false;
}

static bool has_comm(struct check_filter *c, const char *pattern, struct near *near)
{
	const char *comm;
	size_t i;

	for (i = 0; i < c->m->tasks.nr; i++) {
		comm = model_get_comm(c->m, c->m->tasks.v[i].tid);
		if (!fnmatch(pattern, comm, 0))
			return true;
		near_consider(near, pattern, comm);
	}
	return false;
}

static void check_pids(struct check_filter *c)
{
	const struct model_filter *f = c->f;
	uint32_t tid, tgid;
	size_t i, k;

	for (i = 0; i < c->m->tasks.nr; i++) {
		tid = c->m->tasks.v[i].tid;
		tgid = model_get_tgid(c->m, tid);
		for (k = 0; k < f->nr_pids; k++)
			if (f->pids[k] == tid || (tgid && f->pids[k] == tgid))
				return;
	}
	c->failed = true;
	tool_error("%s: --process or --pid %u%s: the file has no such process or thread; "
		   "trace-ustack stat --all shows what it has", c->m->path, f->pids[0],
		   f->nr_pids > 1 ? ",..." : "");
}

static void check_cpus(struct check_filter *c)
{
	uint32_t cpus = c->m->info.cpus;
	size_t i;

	for (i = 0; i < c->f->nr_cpus; i++)
		if (c->f->cpus[i] < cpus)
			return;
	c->failed = true;
	tool_error("%s: --cpu %u%s: the file has CPUs 0 to %u", c->m->path, c->f->cpus[0],
		   c->f->nr_cpus > 1 ? ",..." : "", cpus ? cpus - 1 : 0);
}

/* The times of the filter are in the units of the clock, as in the model. */
static void check_time(struct check_filter *c)
{
	const struct model_info *i = &c->m->info;
	unsigned long long unit = i->nsec ? 1000000000 : 1, first = i->first_ts, last = i->last_ts;
	uint64_t from = i->nsec ? c->f->from : c->f->from / 1000000000;
	uint64_t to = i->nsec ? c->f->to : c->f->to / 1000000000;

	if (!i->records || (from <= last && (!c->f->to || to >= first)))
		return;
	c->failed = true;
	if (i->nsec)
		tool_error("%s: --time: the file is from %llu.%09llu to %llu.%09llu", c->m->path,
			   first / unit, first % unit, last / unit, last % unit);
	else
		tool_error("%s: --time: the file is from %llu to %llu", c->m->path, first, last);
}

/* ---- functions ---- */

struct wanted_symbols {
	const struct model_filter *f;
	bool *found;
	size_t left;			/* patterns that no function has matched yet */
	uint32_t seen;			/* frames that were looked at */
};

static void match_new_frames(struct wanted_symbols *w, struct model *m)
{
	const char *func;
	size_t i;

	for (; w->seen < m->frames.nr && w->left; w->seen++) {
		func = m->frames.v[w->seen].pub.func;
		for (i = 0; func && i < w->f->nr_symbols; i++) {
			if (w->found[i] || fnmatch(w->f->symbols[i], func, 0))
				continue;
			w->found[i] = true;
			w->left--;
		}
	}
}

static int match_user_stacks(struct wanted_symbols *w, struct model *m)
{
	uint32_t i, ustack, nr;

	for (i = 0; i < join_get_nr_runs(m->join) && w->left; i++) {
		ustack = model_get_run_ustack(m, i);
		if (ustack == MODEL_NONE || m->ustacks.v[ustack].frames != NOT_MADE)
			continue;
		if (!model_get_uframes(m, ustack, &nr))
			return -ENOMEM;
		match_new_frames(w, m);
	}
	return 0;
}

/* The scan does not keep kernel stacks, so this reads the file once more. */
static int match_kernel_stacks(struct wanted_symbols *w, struct model *m)
{
	uint32_t i, kstack, nr, type;
	struct decode_common c;
	struct tep_record *rec;
	int ret = w->left ? model_rewind(m) : 0;

	for (i = 0; i < reader_get_nr_streams(m->reader) && w->left && !ret; i++) {
		while (w->left && (rec = reader_next(m->reader, i))) {
			decode_read_common(&m->dec, rec, &c);
			type = model_find_type_of(m, &c);
			if (type == NO_TYPE || m->types.v[type].kind != RECORD_KSTACK)
				continue;
			kstack = model_intern_kstack(m, rec);
			if (kstack == MODEL_NONE || m->kstacks.v[kstack].frames != NOT_MADE)
				continue;
			if (!model_get_kframes(m, kstack, &nr))
				return -ENOMEM;
			match_new_frames(w, m);
		}
	}
	return ret;
}

static void report_symbols(struct check_filter *c, const struct wanted_symbols *w)
{
	size_t i, k;

	for (i = 0; i < c->f->nr_symbols; i++) {
		struct near near = {};

		if (w->found[i])
			continue;
		for (k = 0; k < c->m->frames.nr; k++)
			if (c->m->frames.v[k].pub.func)
				near_consider(&near, c->f->symbols[i], c->m->frames.v[k].pub.func);
		report_missing(c, "symbol", c->f->symbols[i], "function in its stacks", &near);
	}
}

static int check_symbols(struct check_filter *c)
{
	struct wanted_symbols w = { .f = c->f, .left = c->f->nr_symbols };
	int ret;

	w.found = calloc(c->f->nr_symbols, sizeof(*w.found));
	if (!w.found)
		return -ENOMEM;
	ret = match_user_stacks(&w, c->m);
	/* other stacks may already have frames */
	match_new_frames(&w, c->m);
	if (!ret)
		ret = match_kernel_stacks(&w, c->m);
	if (!ret && w.left)
		report_symbols(c, &w);
	free(w.found);
	return ret;
}

int model_check_names(struct model *m, const struct model_filter *f)
{
	struct check_filter c = { .m = m, .f = f };
	size_t i;
	int ret = 0;

	for (i = 0; i < f->nr_events; i++) {
		struct near near = {};

		if (!has_event(&c, f->events[i], &near))
			report_missing(&c, "event", f->events[i], "event", &near);
	}
	for (i = 0; i < f->nr_comms; i++) {
		struct near near = {};

		if (!has_comm(&c, f->comms[i], &near))
			report_missing(&c, comm_option(f->comms[i]), f->comms[i], "thread name",
				       &near);
	}
	if (f->nr_pids)
		check_pids(&c);
	if (f->nr_cpus)
		check_cpus(&c);
	if (f->from || f->to)
		check_time(&c);
	if (f->nr_symbols && !c.failed)
		ret = check_symbols(&c);
	if (ret)
		tool_error("%s: %s", m->path, strerror(-ret));
	return c.failed || ret ? TOOL_FAIL : TOOL_OK;
}
