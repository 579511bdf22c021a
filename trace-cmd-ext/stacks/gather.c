// SPDX-License-Identifier: GPL-2.0
/* gather.c - add the wanted events or waits of a recording to a fold. See gather.h. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "gather.h"
#include "paths.h"
#include "libunwind-user/base/base.h"

static const char *const names[] = {
	[GATHER_COUNT] = "count",
	[GATHER_OFF_CPU] = "off-cpu",
	[GATHER_WAKEUP] = "wakeup",
};

struct known_tid {
	uint32_t tid;
	bool wanted;
};

struct gather_state {
	struct model *m;
	const struct gather_opts *o;
	struct fold *f;
	struct paths *p;
	struct gather_stats *st;
	int slot;
	bool alone;
	int (*each)(void *data, const struct wait *w, uint64_t ns);
	void *data;
	VEC(struct known_tid) tids;
	struct hidx idx;
};

bool gather_parse_by(const char *name, enum gather_by *by)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]))
			continue;
		*by = i;
		return true;
	}
	return false;
}

const char *gather_by_to_name(enum gather_by by)
{
	return names[by];
}

const char *gather_get_unit(const struct gather_opts *o, struct model *m)
{
	if (o->by == GATHER_COUNT)
		return "events";
	if (o->numbers)
		return o->by == GATHER_OFF_CPU ? "waits" : "wake-ups";
	return model_get_info(m)->nsec ? "ns" : "clock units";
}

void gather_make_filter(const struct gather_opts *o, struct model_filter *f)
{
	if (o->by == GATHER_COUNT) {
		*f = *o->filter;
		return;
	}
	memset(f, 0, sizeof(*f));
	f->events = waits_events;
	f->nr_events = o->by == GATHER_WAKEUP ? 3 : 1;
}

const char *gather_explain_empty(const struct gather_opts *o)
{
	if (o->by == GATHER_WAKEUP)
		return "it has no events sched:sched_switch and sched:sched_waking, which show who "
		       "waited and who ended it; record with -e sched:sched_switch -e "
		       "sched:sched_waking";
	return "it has no events sched:sched_switch, which show how long a task waited; record "
	       "with -e sched:sched_switch";
}

/* ---- the filter, for waits ---- */

static bool matches_task(const struct model_filter *flt, struct model *m, uint32_t tid)
{
	uint32_t tgid = flt->nr_pids ? model_get_tgid(m, tid) : 0;
	size_t i;
	bool ok = !flt->nr_pids;

	for (i = 0; i < flt->nr_pids && !ok; i++)
		ok = flt->pids[i] == tid || (tgid && flt->pids[i] == tgid);
	if (!ok || !flt->nr_comms)
		return ok;
	for (i = 0; i < flt->nr_comms; i++)
		if (!fnmatch(flt->comms[i], model_get_comm(m, tid), 0))
			return true;
	return false;
}

static bool is_wanted_task(struct gather_state *s, uint32_t tid)
{
	const struct model_filter *flt = s->o->filter;
	struct known_tid *t;

	if (!flt->nr_pids && !flt->nr_comms)
		return true;
	t = vec_find(&s->tids, &s->idx, tid, tid);
	if (t)
		return t->wanted;
	t = vec_get(&s->tids, &s->idx, tid, tid);
	if (!t)
		return matches_task(flt, s->m, tid);
	t->wanted = matches_task(flt, s->m, tid);
	return t->wanted;
}

static bool is_wanted_cpu(const struct model_filter *flt, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < flt->nr_cpus; i++)
		if (flt->cpus[i] == cpu)
			return true;
	return !flt->nr_cpus;
}

/* The part of a wait within the filter's time; false if the wait is outside of it. */
static bool clip_wait(const struct model_filter *flt, const struct wait *w, uint64_t *ns)
{
	uint64_t from = w->from, to = w->from + w->ns;

	if (from < flt->from)
		from = flt->from;
	if (flt->to && to > flt->to)
		to = flt->to;
	*ns = to > from ? to - from : 0;
	return to > from || (!w->ns && from == w->from && to == w->from);
}

static bool is_wanted_wait(struct gather_state *s, const struct wait *w, uint64_t *ns)
{
	const struct model_filter *flt = s->o->filter;

	return is_wanted_task(s, w->tid) && is_wanted_cpu(flt, w->cpu) && clip_wait(flt, w, ns);
}

/* ---- samples ---- */

static int add_sample(struct gather_state *s, const uint32_t seg[FOLD_SEGS], uint64_t weight,
		      uint64_t nr)
{
	uint64_t value[2];

	value[s->slot] = weight;
	value[!s->slot] = s->alone ? 0 : nr;
	s->st->weight += weight;
	s->st->nr += nr;
	return fold_add(s->f, seg, value);
}

static int gather_wait(void *data, const struct wait *w)
{
	struct gather_state *s = data;
	uint32_t seg[FOLD_SEGS] = { 0 };
	uint64_t ns;

	if (!is_wanted_wait(s, w, &ns) || !paths_have_symbol(s->p, w->kstack, w->ustack))
		return 0;
	seg[SEG_TASK] = paths_get_task(s->p, w->tid);
	seg[SEG_USER] = paths_get_user(s->p, w->ustack, w->kstack);
	seg[SEG_KERNEL] = paths_get_kernel(s->p, w->kstack);
	return add_sample(s, seg, s->o->numbers ? 1 : ns, 1);
}

static int gather_wake(void *data, const struct wait *w, const struct waker *by)
{
	struct gather_state *s = data;
	uint32_t seg[FOLD_SEGS];
	uint64_t ns;

	if (!is_wanted_wait(s, w, &ns) || (!paths_have_symbol(s->p, w->kstack, w->ustack) &&
					   !paths_have_symbol(s->p, by->kstack, by->ustack)))
		return 0;
	paths_get_wake_up(s->p, w, by, seg);
	return add_sample(s, seg, s->o->numbers ? 1 : ns, 1);
}

static int gather_events(struct gather_state *s)
{
	const struct model_count *v;
	uint32_t seg[FOLD_SEGS] = { 0 }, first = UINT32_MAX;
	bool several = false;
	size_t nr, i;
	int ret = model_get_counts(s->m, &v, &nr);

	if (!ret)
		ret = fold_reserve(s->f, nr);
	for (i = 0; i < nr && !several; i++) {
		several = first != UINT32_MAX && first != v[i].type;
		first = v[i].type;
	}
	for (i = 0; i < nr && !ret; i++) {
		seg[SEG_TASK] = paths_get_task(s->p, v[i].tid);
		seg[SEG_USER] = paths_get_user(s->p, v[i].ustack, v[i].kstack);
		seg[SEG_KERNEL] = paths_get_kernel(s->p, v[i].kstack);
		/* the name of the event, if there are events of several types */
		seg[SEG_EVENT] = several ? paths_get_event(s->p, v[i].type) : FOLD_NONE;
		ret = add_sample(s, seg, v[i].nr, v[i].nr);
	}
	return ret;
}

int gather_samples(struct model *m, const struct gather_opts *o, struct fold *f, int slot,
		   bool alone, struct gather_stats *st)
{
	struct gather_state s = { .m = m, .o = o, .f = f, .st = st, .slot = slot, .alone = alone };
	struct waits_opts wo = { .file = o->file, .data = &s };
	struct paths_opts po = { .threads = o->threads, .lines = o->lines };
	int ret;

	memset(st, 0, sizeof(*st));
	if (o->by != GATHER_COUNT) {
		po.symbols = o->filter->symbols;
		po.nr_symbols = o->filter->nr_symbols;
	}
	s.p = paths_new(m, f, &po);
	if (!s.p)
		return -ENOMEM;
	if (o->by == GATHER_COUNT) {
		ret = gather_events(&s);
	} else {
		wo.wakers = o->by == GATHER_WAKEUP;
		wo.wait = wo.wakers ? NULL : gather_wait;
		wo.wake = wo.wakers ? gather_wake : NULL;
		ret = waits_for_each(m, &wo, &st->waits);
	}
	paths_free(s.p);
	vec_free(&s.tids);
	hidx_free(&s.idx);
	return ret;
}

static int pass_wait(void *data, const struct wait *w)
{
	struct gather_state *s = data;
	uint64_t ns;

	if (!is_wanted_wait(s, w, &ns) || !paths_have_symbol(s->p, w->kstack, w->ustack))
		return 0;
	return s->each(s->data, w, ns);
}

int gather_waits(struct model *m, const struct gather_opts *o,
		 int (*each)(void *data, const struct wait *w, uint64_t ns), void *data,
		 struct waits_stats *st)
{
	struct gather_state s = { .m = m, .o = o, .each = each, .data = data };
	struct waits_opts wo = { .file = o->file, .wait = pass_wait, .data = &s };
	struct paths_opts po = { .symbols = o->filter->symbols,
				 .nr_symbols = o->filter->nr_symbols };
	int ret;

	s.p = paths_new(m, NULL, &po);
	ret = s.p ? waits_for_each(m, &wo, st) : -ENOMEM;
	paths_free(s.p);
	vec_free(&s.tids);
	hidx_free(&s.idx);
	return ret;
}
