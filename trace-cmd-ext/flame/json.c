// SPDX-License-Identifier: GPL-2.0
/* json.c - write the contents of a flame graph as JSON, for flame --json */
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/stacks/stacks.h"

static int compare_weights(const void *a, const void *b)
{
	const struct flame_missing *x = a, *y = b;

	return cmp_int(y->weight, x->weight);
}

size_t flame_find_missing(const struct flame *fl, struct flame_missing *v)
{
	const struct fold_sample *s;
	const struct fold_name *n;
	const uint32_t *names;
	size_t i, k, found = 0;
	uint32_t nr;

	for (i = 0; i < fold_get_nr_samples(fl->fold); i++) {
		s = fold_get_sample(fl->fold, i);
		names = fold_get_names(fl->fold, s->seg[SEG_USER], &nr);
		if (nr != 1)
			continue;
		n = fold_get_name(fl->fold, names[0]);
		if (n->kind != FOLD_NOTE)
			continue;
		for (k = 0; k < found && v[k].why != n->text; k++)
			;
		if (k == FLAME_MISSING)
			continue;
		if (k == found) {
			v[found].why = n->text;
			v[found++].weight = 0;
		}
		v[k].weight += s->value[1];
	}
	qsort(v, found, sizeof(*v), compare_weights);
	return found;
}

static void put_time(struct jsonw *j, const char *name, uint64_t nr, uint64_t ns)
{
	jsonw_object(j, name);
	jsonw_number(j, "nr", nr);
	jsonw_number(j, "time", ns);
	jsonw_end(j);
}

static void put_waits(struct jsonw *j, const struct gather_stats *g, enum gather_by by)
{
	const struct waits_stats *w = &g->waits;

	jsonw_object(j, "waits");
	put_time(j, "complete", w->nr, w->ns);
	jsonw_number(j, "began_before", w->started_before);
	put_time(j, "not_over", w->not_over, w->not_over_ns);
	put_time(j, "uncertain", w->uncertain, w->uncertain_ns);
	jsonw_number(j, "disordered", w->disordered);
	jsonw_number(j, "ended_tasks", w->ended);
	jsonw_number(j, "gaps", w->gaps);
	jsonw_bool(j, "refused_events", w->refused);
	jsonw_number(j, "other_buffers", w->other_buffers);
	jsonw_end(j);
	if (by != GATHER_WAKEUP)
		return;
	jsonw_object(j, "wakeups");
	jsonw_number(j, "nr", w->wakeups);
	jsonw_number(j, "time", w->wakeups_ns);
	jsonw_number(j, "uncertain", w->wakeups_uncertain);
	jsonw_number(j, "unknown", w->wakeups_unknown);
	jsonw_end(j);
}

static void put_file(struct jsonw *j, const char *name, const struct flame *fl, int i)
{
	const struct gather_stats *g = &fl->stats[i];

	jsonw_object(j, name);
	jsonw_string(j, "path", fl->path[i]);
	jsonw_number(j, "weight", g->weight);
	jsonw_number(j, "samples", g->nr);
	if (fl->gather.by != GATHER_COUNT)
		put_waits(j, g, fl->gather.by);
	jsonw_end(j);
}

void flame_write_json(FILE *out, const struct flame *fl)
{
	struct flame_missing v[FLAME_MISSING];
	size_t nr = flame_find_missing(fl, v), i;
	struct jsonw j = { .file = out };

	jsonw_object(&j, NULL);
	jsonw_string(&j, "by", gather_by_to_name(fl->gather.by));
	jsonw_string(&j, "unit", fl->unit);
	jsonw_number(&j, "paths", fold_get_nr_samples(fl->fold));
	put_file(&j, "file", fl, 1);
	if (fl->diff)
		put_file(&j, "before", fl, 0);
	jsonw_object(&j, "missing_user_stacks");
	for (i = 0; i < nr; i++) {
		jsonw_name(&j, v[i].why, strlen(v[i].why));
		jsonw_number(&j, NULL, v[i].weight);
	}
	jsonw_end(&j);
	jsonw_end(&j);
	fputc('\n', out);
}
