// SPDX-License-Identifier: GPL-2.0
/* flame_json - what a flame graph is made of, for programs */
#include <stdlib.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "flame.h"
#include "trace-cmd-ext/stacks/stacks.h"

typedef unsigned long long ull;

static int heavier(const void *a, const void *b)
{
	const struct flame_missing *x = a, *y = b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

size_t flame_missing(const struct flame *fl, struct flame_missing *v)
{
	const struct fold_sample *s;
	const struct fold_name *n;
	const uint32_t *names;
	size_t i, k, found = 0;
	uint32_t nr;

	for (i = 0; i < fold_nr(fl->fold); i++) {
		s = fold_sample(fl->fold, i);
		names = fold_names(fl->fold, s->seg[SEG_USER], &nr);
		if (nr != 1)
			continue;
		n = fold_name_of(fl->fold, names[0]);
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
	qsort(v, found, sizeof(*v), heavier);
	return found;
}

static void one_file(FILE *out, const struct flame *fl, int i)
{
	const struct gather_stats *g = &fl->stats[i];
	const struct waits_stats *w = &g->waits;

	fputs("{\"path\": ", out);
	cmd_json_string(out, fl->path[i], strlen(fl->path[i]));
	fprintf(out, ", \"weight\": %llu, \"samples\": %llu", (ull)g->weight, (ull)g->nr);
	if (fl->gather.by != GATHER_COUNT) {
		fprintf(out, ", \"waits\": {\"complete\": {\"nr\": %llu, \"time\": %llu}, "
			"\"began_before\": %llu, \"not_over\": {\"nr\": %llu, \"time\": %llu}, "
			"\"uncertain\": {\"nr\": %llu, \"time\": %llu}, \"disordered\": %llu, "
			"\"ended_tasks\": %llu, \"gaps\": %llu, \"refused_events\": %s, "
			"\"other_buffers\": %u}",
			(ull)w->nr, (ull)w->ns, (ull)w->began_before, (ull)w->not_over,
			(ull)w->not_over_ns, (ull)w->uncertain, (ull)w->uncertain_ns,
			(ull)w->disordered, (ull)w->ended, (ull)w->gaps,
			w->refused ? "true" : "false", w->other_buffers);
		if (fl->gather.by == GATHER_WAKEUP)
			fprintf(out, ", \"wakeups\": {\"nr\": %llu, \"time\": %llu, "
				"\"uncertain\": %llu, \"unknown\": %llu}", (ull)w->wakeups,
				(ull)w->wakeups_ns, (ull)w->wakeups_uncertain,
				(ull)w->wakeups_unknown);
	}
	fputc('}', out);
}

void flame_json(FILE *out, const struct flame *fl)
{
	struct flame_missing v[FLAME_MISSING];
	size_t nr = flame_missing(fl, v), i;

	fprintf(out, "{\"by\": \"%s\", \"unit\": \"%s\", \"paths\": %zu, \"file\": ",
		gather_name(fl->gather.by), fl->unit, fold_nr(fl->fold));
	one_file(out, fl, 1);
	if (fl->diff) {
		fputs(", \"before\": ", out);
		one_file(out, fl, 0);
	}
	fputs(", \"missing_user_stacks\": {", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : "", out);
		cmd_json_string(out, v[i].why, strlen(v[i].why));
		fprintf(out, ": %llu", (ull)v[i].weight);
	}
	fputs("}}\n", out);
}
