// SPDX-License-Identifier: GPL-2.0
/* flame.c - trace-ustack flame: the command line, the picture's texts */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"
#include "trace-cmd-ext/flame/flame.h"
#include "trace-cmd-ext/stacks/stacks.h"

static const char usage[] =
	"usage: trace-ustack flame [OPTION...] [FILE]\n"
	"\n"
	"Draw a flame graph of kernel and user stacks, as an SVG picture with search and zoom in\n"
	"a browser. The default for FILE is trace.dat. Without -o the picture goes to standard\n"
	"output, or to flame.svg if standard output is a terminal.\n"
	"\n"
	"  --by WHAT          the width of a frame:\n"
	"                     count    events (the default)\n"
	"                     off-cpu  time off the CPU, with the stack that blocked\n"
	"                     wakeup   time until a wake-up, also with the stack of the waker\n"
	"  --numbers          off-cpu, wakeup: count waits instead of their time\n"
	"  --threads          draw each thread by itself, not all with the same name together\n"
	"  --lines            draw inlined functions too, as paler frames; _[i] in text\n"
	"  --diff OTHER       show in colours what is more or less in FILE than in OTHER\n"
	"  --normalize        with --diff, compare shares, as if both had the same total\n"
	"  --folded           print text for flamegraph.pl, one stack a line\n"
	"  --json             print only the sums, and what could not be counted\n"
	"  -o, --output PATH  write to PATH\n"
	"  --title TEXT       headline of the picture\n"
	"  --icicle           draw the outermost frames at the top\n"
	"  --width N          width in pixels where no browser adapts it (1200)\n"
	"  --max-frames N     draw at most the N widest frames (6000)\n"
	"  --min-percent P    draw no frame that is narrower than this share (0.02)\n"
	"  -h, --help         print this text\n"
	"\n"
	CMD_FILTER_HELP
	"\n"
	"Examples:\n"
	"  trace-ustack flame --event sched_switch -o events.svg\n"
	"  trace-ustack flame --by off-cpu --process git -o waits.svg trace.dat\n"
	"  trace-ustack flame --by off-cpu --diff before.dat after.dat -o diff.svg\n";

enum {
	OPT_BY = 1,
	OPT_NUMBERS,
	OPT_THREADS,
	OPT_LINES,
	OPT_DIFF,
	OPT_NORMALIZE,
	OPT_FOLDED,
	OPT_JSON,
	OPT_TITLE,
	OPT_ICICLE,
	OPT_WIDTH,
	OPT_MAX,
	OPT_MIN,
};

struct flame_cmd {
	struct flame fl;
	struct model_opts opts;
	const char *output, *title;
	bool folded, json, icicle;
	uint32_t width, max_frames;
	double min_percent;
};

/* ---- gathering ---- */

static int gather_recording(struct flame_cmd *o, int which)
{
	const char *path = o->fl.path[which];
	struct model_opts mo = o->opts;
	struct model *m;
	int ret;

	o->fl.gather.filter = &o->opts.filter;
	o->fl.gather.file = path;
	gather_make_filter(&o->fl.gather, &mo.filter);
	mo.counts = o->fl.gather.by == GATHER_COUNT;
	m = cmd_open_model(path, &mo);
	if (!m)
		return TOOL_INPUT;
	/* one of the two files may lack a name that the other has */
	ret = o->fl.diff ? 0 : model_check_names(m, &o->opts.filter);
	if (ret) {
		model_close(m);
		return ret;
	}
	ret = gather_samples(m, &o->fl.gather, o->fl.fold, which, o->fl.diff, &o->fl.stats[which]);
	o->fl.unit = gather_get_unit(&o->fl.gather, m);
	/* only if it matters, because it counts all requests */
	o->fl.nsec = o->fl.gather.by == GATHER_COUNT || model_get_info(m)->nsec;
	o->fl.damaged |= model_get_info(m)->damaged;
	if (ret && o->fl.damaged)
		ret = TOOL_INPUT;	/* the unread part may have had matching events */
	else if (ret == -ENODATA)
		tool_error("%s: %s", path, gather_explain_empty(&o->fl.gather));
	else if (ret)
		tool_error("%s: cannot be read to its end: %s", path, strerror(-ret));
	model_close(m);
	return ret < 0 ? TOOL_FAIL : ret;
}

/* ---- the picture ---- */

static char notes[SVG_NOTES - 1][512];

static const char *format_quantity(const struct flame_cmd *o, char *buf, size_t size, uint64_t n)
{
	char a[64], b[64];

	if (!strcmp(o->fl.unit, "ns"))
		snprintf(buf, size, "%s (%s ns)", svg_format_time(a, n), svg_format_number(b, n));
	else
		snprintf(buf, size, "%s %s", svg_format_number(a, n), o->fl.unit);
	return buf;
}

/* A sum of times, in the clock's units if these are not nanoseconds */
static const char *format_waited(const struct flame_cmd *o, char *buf, uint64_t n)
{
	return o->fl.nsec ? svg_format_time(buf, n) : svg_format_number(buf, n);
}

/* Write into @buf which waits no frame shows. */
static void describe_hidden_waits(const struct flame_cmd *o, char *buf, size_t size)
{
	const struct waits_stats *w = &o->fl.stats[1].waits;
	char a[64], b[64];
	size_t len = 0;

#define SAY(...) (len += len < size ? snprintf(buf + len, size - len, __VA_ARGS__) : 0)
	if (w->not_over)
		SAY("%s not over at the end (%s), ", svg_format_number(a, w->not_over),
		    format_waited(o, b, w->not_over_ns));
	if (w->started_before)
		SAY("%s started before the recording, ", svg_format_number(a, w->started_before));
	if (w->uncertain)
		SAY("%s with dropped events between (%s), ", svg_format_number(a, w->uncertain),
		    format_waited(o, b, w->uncertain_ns));
	if (w->disordered)
		SAY("%s whose events do not fit together, ", svg_format_number(a, w->disordered));
	if (o->fl.gather.by == GATHER_WAKEUP && w->wakeups_uncertain + w->wakeups_unknown)
		SAY("%s wake-ups of tasks not known to wait, ",
		    svg_format_number(a, w->wakeups_uncertain + w->wakeups_unknown));
#undef SAY
	if (len > 2 && len < size)
		buf[len - 2] = '\0';
}

static void make_notes(const struct flame_cmd *o, struct svg_opts *so, const struct tree *t)
{
	struct flame_missing missing[FLAME_MISSING];
	const struct gather_stats *g = o->fl.stats;
	char a[128], b[128], waits[400] = "";
	size_t n = 0, nr, i, len;

	if (o->fl.diff)
		snprintf(notes[n++], sizeof(*notes), "%s: %s; before, %s: %s%s", o->fl.path[1],
			 format_quantity(o, a, sizeof(a), g[1].weight), o->fl.path[0],
			 format_quantity(o, b, sizeof(b), g[0].weight),
			 o->fl.normalize ? "; shares are compared" : "");
	else if (so->other_unit)
		snprintf(notes[n++], sizeof(*notes), "%s in %s %s; %s",
			 format_quantity(o, a, sizeof(a), g[1].weight),
			 svg_format_number(b, g[1].nr), so->other_unit, o->fl.path[1]);
	else
		snprintf(notes[n++], sizeof(*notes), "%s; %s",
			 format_quantity(o, a, sizeof(a), g[1].weight), o->fl.path[1]);
	nr = o->fl.diff ? 0 : flame_find_missing(&o->fl, missing);
	len = nr ? snprintf(notes[n], sizeof(*notes), "Without a user stack: ") : 0;
	for (i = 0; i < nr && len < sizeof(*notes); i++)
		len += snprintf(notes[n] + len, sizeof(*notes) - len, "%s%.1f%% %s",
				i ? ", " : "", 100.0 * missing[i].weight / g[1].weight,
				missing[i].why);
	n += nr > 0;
	if (o->fl.gather.by != GATHER_COUNT)
		describe_hidden_waits(o, waits, sizeof(waits));
	if (*waits)
		snprintf(notes[n++], sizeof(*notes), "Waits that no frame shows: %s", waits);
	if (g[1].waits.refused)
		snprintf(notes[n++], sizeof(*notes), "A full buffer dropped events at unknown "
			 "places: one wait can be several waits");
	if (o->fl.damaged)
		snprintf(notes[n++], sizeof(*notes),
			 "The file is damaged and was not read to its end");
	if (t->hidden)
		snprintf(notes[n++], sizeof(*notes), "%s frames narrower than %.2g%% are not drawn",
			 svg_format_number(a, t->hidden), 100.0 * t->least / t->total[1]);
	for (i = 0; i < n; i++)
		so->notes[i] = notes[i];
}

static const char *choose_title(const struct flame_cmd *o)
{
	static const char *const titles[] = {
		[GATHER_COUNT] = "Events",
		[GATHER_OFF_CPU] = "Off-CPU time",
		[GATHER_WAKEUP] = "Waiting, and who ended it",
	};

	return o->title ? o->title : titles[o->fl.gather.by];
}

static int draw_picture(struct flame_cmd *o, FILE *out)
{
	struct svg_opts so = { .title = choose_title(o), .unit = o->fl.unit, .width = o->width,
			       .icicle = o->icicle, .diff = o->fl.diff, .scale = o->fl.scale,
			       .by = 1 };
	struct tree t;
	int ret = tree_make(&t, o->fl.fold, 1, o->max_frames, o->min_percent / 100);

	if (ret)
		return ret;
	if (o->fl.gather.by != GATHER_COUNT && !o->fl.gather.numbers && !o->fl.diff)
		so.other_unit = o->fl.gather.by == GATHER_OFF_CPU ? "waits" : "wake-ups";
	make_notes(o, &so, &t);
	svg_write(out, &t, o->fl.fold, &so);
	free(t.nodes);
	return 0;
}

/* ---- the command ---- */

static int write_flame(struct flame_cmd *o)
{
	struct output out;
	int ret = output_open(&out, o->output);

	if (ret)
		return ret;
	if (o->json)
		flame_write_json(out.f, &o->fl);
	else if (o->folded)
		ret = folded_write(out.f, o->fl.fold, 1, o->fl.diff);
	else
		ret = draw_picture(o, out.f);
	if (ret)
		tool_error("%s: needs more memory for its stacks than there is", o->fl.path[1]);
	return output_close(&out, ret ? TOOL_FAIL : TOOL_OK);
}

static int run_flame(void *arg)
{
	struct flame_cmd *o = arg;
	const struct gather_stats *g = o->fl.stats;
	int ret = TOOL_OK;

	o->fl.fold = fold_new();
	if (!o->fl.fold)
		return tool_report_no_memory();
	if (o->fl.diff)
		ret = gather_recording(o, 0);
	if (!ret)
		ret = gather_recording(o, 1);
	if (!ret && fold_finish(o->fl.fold)) {
		tool_error("%s: needs more memory for its stacks than there is", o->fl.path[1]);
		ret = TOOL_FAIL;
	}
	if (!ret && !o->json && !g[1].nr && o->fl.damaged) {
		ret = TOOL_INPUT;
	} else if (!ret && !o->json && !g[1].nr) {
		tool_error("%s: no event matches these options; trace-ustack stat shows what the "
			   "recording contains", o->fl.path[1]);
		ret = TOOL_FAIL;
	}
	o->fl.scale = o->fl.normalize && g[0].weight ? (double)g[1].weight / g[0].weight : 1;
	if (!ret)
		ret = write_flame(o);
	fold_free(o->fl.fold);
	return ret;
}

static int parse_number(const char *arg, uint32_t min, uint32_t max, uint32_t *n)
{
	uint32_t *v = NULL;
	size_t nr = 0;
	int ret = tool_parse_numbers(arg, &v, &nr);

	if (!ret && nr == 1 && v[0] >= min && v[0] <= max)
		*n = v[0];
	else
		ret = tool_usage("flame", "'%s' is not a number from %u to %u", arg, min, max);
	free(v);
	return ret;
}

static int parse_option(struct flame_cmd *o, int opt, const char *arg)
{
	char *end;

	switch (opt) {
	case OPT_BY:
		if (!gather_parse_by(arg, &o->fl.gather.by))
			return tool_usage("flame", "--by is count, off-cpu or wakeup, not '%s'",
					  arg);
		return 0;
	case OPT_NUMBERS:
		o->fl.gather.numbers = true;
		return 0;
	case OPT_THREADS:
		o->fl.gather.threads = true;
		return 0;
	case OPT_LINES:
		o->fl.gather.lines = o->opts.lines = true;
		return 0;
	case OPT_DIFF:
		o->fl.diff = true;
		o->fl.path[0] = arg;
		return 0;
	case OPT_NORMALIZE:
		o->fl.normalize = true;
		return 0;
	case OPT_FOLDED:
		o->folded = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case OPT_TITLE:
		o->title = arg;
		return 0;
	case OPT_ICICLE:
		o->icicle = true;
		return 0;
	case OPT_WIDTH:
		return parse_number(arg, 200, 20000, &o->width);
	case OPT_MAX:
		return parse_number(arg, 1, 1000000, &o->max_frames);
	case OPT_MIN:
		o->min_percent = strtod(arg, &end);
		if (end == arg || *end || !(o->min_percent >= 0 && o->min_percent <= 100))
			return tool_usage("flame", "'%s' is not a number from 0 to 100", arg);
		return 0;
	default:
		return cmd_parse_filter("flame", opt, arg, &o->opts);
	}
}

static int check_options(const struct flame_cmd *o)
{
	if (o->fl.normalize && !o->fl.diff)
		return tool_usage("flame", "--normalize needs --diff");
	if (o->json && o->folded)
		return tool_usage("flame", "--json and --folded exclude one another");
	if (output_is_input(o->output, o->fl.path[0]) || output_is_input(o->output, o->fl.path[1]))
		return tool_usage("flame", "%s is the recording itself; give another file with -o",
				  o->output);
	if (o->fl.gather.by == GATHER_COUNT && o->fl.gather.numbers)
		return tool_usage("flame", "--numbers needs --by off-cpu or --by wakeup");
	if (o->fl.gather.by != GATHER_COUNT && o->opts.filter.nr_events)
		return tool_usage("flame", "--event needs --by count; waits have their own "
				  "events");
	return 0;
}

int cmd_flame(int argc, char **argv)
{
	/* its lists stay until the program ends */
	static struct flame_cmd o = { .width = 1200, .max_frames = 6000, .min_percent = 0.02 };
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "by", required_argument, NULL, OPT_BY },
		{ "numbers", no_argument, NULL, OPT_NUMBERS },
		{ "threads", no_argument, NULL, OPT_THREADS },
		{ "lines", no_argument, NULL, OPT_LINES },
		{ "diff", required_argument, NULL, OPT_DIFF },
		{ "normalize", no_argument, NULL, OPT_NORMALIZE },
		{ "folded", no_argument, NULL, OPT_FOLDED },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, OPT_TITLE },
		{ "icicle", no_argument, NULL, OPT_ICICLE },
		{ "width", required_argument, NULL, OPT_WIDTH },
		{ "max-frames", required_argument, NULL, OPT_MAX },
		{ "min-percent", required_argument, NULL, OPT_MIN },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) {
		if (opt == 'h')
			return tool_help(usage);
		ret = parse_option(&o, opt, optarg);
		if (ret)
			return ret;
	}
	ret = cmd_parse_file("flame", argc, argv, &o.fl.path[1]);
	if (!ret)
		ret = check_options(&o);
	if (ret)
		return ret;
	if (o.folded || o.json)
		tool_start_pager();
	else if (!o.output && isatty(STDOUT_FILENO))
		o.output = "flame.svg";
	ret = tool_run_in_child(o.fl.path[1], run_flame, &o);
	if (!ret && o.output && !strcmp(o.output, "flame.svg"))
		fprintf(stderr, "trace-ustack: wrote %s; open it in a browser\n", o.output);
	return ret;
}
