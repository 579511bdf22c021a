// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * view.c - the part of the model that one plot shows
 *
 * A plot has as many bins as pixels, and a bin may hold thousands of requests. All requests of a
 * bin become one mark, which shows the worst outcome among them, because a reader must not miss it.
 * A wait is drawn once for each pair of bins. Where there are too many waits, only the longest are
 * drawn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark.h>

#include "kernelshark.h"
#include "libunwind-user/base/base.h"

/* Colours of Okabe and Ito's palette, which people with any colour blindness can distinguish. */
static const uint32_t colours[SHARK_NR_OUTCOMES] = {
	[SHARK_JOINED] = 0x009e73,
	[SHARK_PENDING] = 0xe69f00,
	[SHARK_UNRECORDED] = 0x7f7f7f,
	[SHARK_LOST] = 0xd01c4b,
};

uint32_t shark_get_colour(enum shark_outcome outcome)
{
	return outcome < SHARK_NR_OUTCOMES ? colours[outcome] : 0;
}

char *shark_format_duration(int64_t ns, char *buf, size_t size)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	const char *sign = ns < 0 ? "-" : "";
	double v = ns < 0 ? -(double)ns : (double)ns;
	int u = 0, digits;

	/* 999.5 would print as 1000 */
	while (u < 3 && v >= 999.5) {
		v /= 1000;
		u++;
	}
	digits = u == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	snprintf(buf, size, "%s%.*f %s", sign, digits, v, unit[u]);
	return buf;
}

/* The bin of a time, as ksmodel_get_bin() counts: -1 before the window, n_bins after it. */
static int get_bin(const struct shark_window *win, int64_t ts)
{
	int64_t bin;

	if (ts < win->min)
		return -1;
	if (ts > win->max)
		return win->n_bins;
	bin = (ts - win->min) / win->bin_size;
	return bin < win->n_bins ? bin : win->n_bins - 1;
}

/* The index of the list's first element at or after @ts. */
static size_t find_first(const struct shark_list *list, int64_t ts,
			 const struct kshark_entry *(*entry)(const struct shark_model *, uint32_t),
			 const struct shark_model *m)
{
	size_t i;

	bisect(i, list->nr, entry(m, list->v[i])->ts >= ts);
	return i;
}

static const struct kshark_entry *get_request_entry(const struct shark_model *m, uint32_t i)
{
	return shark_get_request(m, i)->entry;
}

static const struct kshark_entry *get_stack_entry(const struct shark_model *m, uint32_t i)
{
	return shark_get_stack(m, i)->entry;
}

/* Do the user's filters hide this entry? */
static bool is_hidden(const struct kshark_entry *e)
{
	return !(e->visible & KS_GRAPH_VIEW_FILTER_MASK);
}

typedef VEC(struct shark_mark) marks_t;
typedef VEC(struct shark_wait) waits_t;

static int add_mark(marks_t *marks, int bin, uint32_t index, uint8_t outcome)
{
	struct shark_mark *mark = marks->nr ? &marks->v[marks->nr - 1] : NULL;

	if (!mark || mark->bin != bin) {
		mark = vec_add(marks);
		if (!mark)
			return -ENOMEM;
		mark->bin = bin;
		mark->index = index;
		mark->outcome = outcome;
	}
	mark->nr++;
	if (outcome > mark->outcome) {
		mark->outcome = outcome;
		mark->index = index;
	}
	return 0;
}

static int add_wait(waits_t *waits, const struct shark_wait *w)
{
	struct shark_wait *last = waits->nr ? &waits->v[waits->nr - 1] : NULL;

	/* waits between the same two bins look the same, so keep the longest */
	if (last && last->from == w->from && last->to == w->to && last->outcome == w->outcome &&
	    last->elsewhere == w->elsewhere) {
		if (w->ns > last->ns)
			*last = *w;
		return 0;
	}
	last = vec_add(waits);
	if (!last)
		return -ENOMEM;
	*last = *w;
	return 0;
}

static int make_wait(const struct shark_model *m, uint32_t request, bool task,
		     const struct shark_window *win, waits_t *waits)
{
	const struct shark_request *r = shark_get_request(m, request);
	const struct shark_stack *s = shark_get_stack(m, r->stack);
	struct shark_wait w = { .request = request, .outcome = r->outcome };
	int64_t end;

	if (s) {
		if (is_hidden(s->entry))
			return 0;
		end = s->entry->ts;
		w.elsewhere = s->sd != r->sd || (!task && s->entry->cpu != r->entry->cpu);
	} else if (r->outcome == SHARK_PENDING) {
		end = win->end;
	} else {
		return 0;
	}
	w.ns = end - r->entry->ts;
	w.from = get_bin(win, r->entry->ts);
	w.to = get_bin(win, end);
	/* outside of the window, or within one mark */
	if (w.from == w.to && (!w.elsewhere || w.from < 0 || w.from == win->n_bins))
		return 0;
	return add_wait(waits, &w);
}

static int compare_waits(const void *a, const void *b)
{
	const struct shark_wait *x = a, *y = b;

	RETURN_IF_DIFFERENT(y->ns, x->ns);
	return cmp_int(x->request, y->request);
}

int shark_make_view(const struct shark_model *m, int sd, bool task, int val,
		    const struct shark_window *win, struct shark_view *view)
{
	marks_t requests = {}, stacks = {};
	struct shark_list list;
	waits_t waits = {};
	int64_t from;
	int ret = 0;
	size_t i;

	memset(view, 0, sizeof(*view));
	if (win->n_bins <= 0 || win->bin_size <= 0)
		return 0;
	shark_get_requests(m, sd, task, val, &list);
	from = list.longest > win->min ? INT64_MIN : win->min - list.longest;
	i = find_first(&list, from, get_request_entry, m);
	for (; i < list.nr && !ret; i++) {
		const struct shark_request *r = shark_get_request(m, list.v[i]);

		if (r->entry->ts > win->max)
			break;
		if (is_hidden(r->entry))
			continue;
		if (r->entry->ts >= win->min)
			ret = add_mark(&requests, get_bin(win, r->entry->ts), list.v[i],
				       r->outcome);
		if (!ret)
			ret = make_wait(m, list.v[i], task, win, &waits);
	}
	shark_get_stacks(m, sd, task, val, &list);
	i = find_first(&list, win->min, get_stack_entry, m);
	for (; i < list.nr && !ret; i++) {
		const struct shark_stack *s = shark_get_stack(m, list.v[i]);

		if (s->entry->ts > win->max)
			break;
		if (!is_hidden(s->entry))
			ret = add_mark(&stacks, get_bin(win, s->entry->ts), list.v[i], !s->whole);
	}
	if (waits.nr > SHARK_MAX_WAITS) {
		qsort(waits.v, waits.nr, sizeof(*waits.v), compare_waits);
		waits.nr = SHARK_MAX_WAITS;
	}
	view->requests = requests.v;
	view->nr_requests = requests.nr;
	view->stacks = stacks.v;
	view->nr_stacks = stacks.nr;
	view->waits = waits.v;
	view->nr_waits = waits.nr;
	return ret;
}

void shark_free_view(struct shark_view *view)
{
	free(view->requests);
	free(view->stacks);
	free(view->waits);
	memset(view, 0, sizeof(*view));
}

void shark_jump_from_request(const struct shark_model *m, uint32_t request, struct shark_jump *jump)
{
	const struct shark_request *r = shark_get_request(m, request);
	const struct shark_stack *s = r ? shark_get_stack(m, r->stack) : NULL;

	memset(jump, 0, sizeof(*jump));
	if (!r)
		return;
	jump->a = r->shown;
	jump->b = s ? s->entry : NULL;
	jump->a_last = !s;
}

void shark_jump_from_stack(const struct shark_model *m, uint32_t stack,
			   const struct kshark_entry *last, struct shark_jump *jump)
{
	const struct shark_stack *s = shark_get_stack(m, stack);
	const struct shark_request *r;
	uint32_t n;

	memset(jump, 0, sizeof(*jump));
	if (!s)
		return;
	jump->b = s->entry;
	if (!s->nr_requests)
		return;
	jump->a_last = true;
	for (n = s->nr_requests - 1; n > 0; n--) {
		r = shark_get_request(m, shark_get_nth_request(m, stack, n));
		if (r && r->shown == last) {
			n = shark_get_nth_request(m, stack, n - 1);
			jump->a = shark_get_request(m, n)->shown;
			return;
		}
	}
	r = shark_get_request(m, shark_get_nth_request(m, stack, s->nr_requests - 1));
	jump->a = r->shown;
}
