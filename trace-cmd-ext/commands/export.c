// SPDX-License-Identifier: GPL-2.0
/* export.c - trace-ustack export: the command line */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"
#include "trace-cmd-ext/export/export.h"
#include "trace-cmd-ext/stacks/stacks.h"

static const char usage[] =
	"usage: trace-ustack export --format FORMAT [OPTION...] [FILE]\n"
	"\n"
	"Write the events and their stacks for other tools. The default for FILE is trace.dat.\n"
	"\n"
	"  --format FORMAT    one of\n"
	"                     folded       one stack a line: flamegraph.pl, inferno, speedscope\n"
	"                     perf-script  text of perf script: stackcollapse-perf.pl and others\n"
	"                     firefox      profiler.firefox.com\n"
	"                     perfetto     ui.perfetto.dev\n"
	"                     pprof        go tool pprof, and stores that take its profiles\n"
	"  --by WHAT          with folded: count, off-cpu or wakeup, as in trace-ustack flame\n"
	"  --lines            also write inlined functions (folded: with _[i] at their end), and,\n"
	"                     except in folded and perf-script, source files and lines\n"
	"  -o, --output PATH  write to PATH instead of standard output\n"
	"  -h, --help         print this text\n"
	"\n"
	CMD_FILTER_HELP
	"\n"
	"Examples:\n"
	"  trace-ustack export --format pprof -o waits.pb.gz && go tool pprof -top waits.pb.gz\n"
	"  trace-ustack export --format perfetto -o trace.pftrace\n"
	"  trace-ustack export --format perf-script | stackcollapse-perf.pl\n";

enum { OPT_FORMAT = 1, OPT_BY, OPT_LINES };

static int export_folded(struct export *e);

static const struct format {
	const char *name;
	bool binary;
	bool counts;			/* of events, not each of them */
	int (*run)(struct export *e);
} formats[] = {
	{ "folded", false, true, export_folded },
	{ "perf-script", false, false, export_perf },
	{ "firefox", false, false, export_firefox },
	{ "perfetto", true, false, export_perfetto },
	{ "pprof", true, true, export_pprof },
};

struct export_options {
	const struct format *format;
	struct gather_opts gather;
	struct model_opts opts;
	const char *path, *output;
	bool by;
};

static int export_folded(struct export *e)
{
	struct fold *f = fold_new();
	struct gather_stats st;
	int ret = f ? gather_samples(e->m, e->gather, f, 1, true, &st) : -ENOMEM;

	e->nothing = !ret && !st.nr;
	/* leave before more memory is needed */
	model_close(e->m);
	e->m = NULL;
	if (!ret)
		ret = fold_finish(f);
	if (!ret)
		ret = folded_write(e->out, f, 1, false);
	fold_free(f);
	return ret;
}

static int end_export(const struct export_options *o, int ret, bool damaged)
{
	if (!ret)
		return TOOL_OK;
	if (damaged)		/* the error was printed; the missing events may have matched */
		return TOOL_INPUT;
	if (ret == -ENODATA)
		tool_error("%s: %s", o->path, gather_explain_empty(&o->gather));
	else if (ret == -ENOMEM)
		tool_error("%s: needs more memory for its stacks than there is", o->path);
	else
		tool_error("%s: cannot be exported to its end: %s", o->path, strerror(-ret));
	return TOOL_FAIL;
}

static int run_export(void *arg)
{
	struct export_options *o = arg;
	struct export e = { .path = o->path, .opts = &o->opts, .gather = &o->gather };
	struct model_opts mo = o->opts;
	struct output out;
	bool damaged;
	int ret;

	o->gather.filter = &o->opts.filter;
	o->gather.file = o->path;
	gather_make_filter(&o->gather, &mo.filter);
	mo.counts = o->format->counts && o->gather.by == GATHER_COUNT;
	e.m = cmd_open_model(o->path, &mo);
	if (!e.m)
		return TOOL_INPUT;
	ret = model_check_names(e.m, &o->opts.filter);
	if (ret) {
		model_close(e.m);
		return ret;
	}
	damaged = model_get_info(e.m)->damaged;
	ret = output_open(&out, o->output);
	if (!ret) {
		e.out = out.f;
		ret = o->format->run(&e);
		/* output_close() prints why it cannot be written */
		if (!ret && cmd_filter_is_set(&o->opts.filter) &&
		    (e.m ? !model_has_passed_events(e.m) : e.nothing))
			cmd_print_no_match(o->path);
		ret = ret && ferror(out.f) ? TOOL_OUTPUT : end_export(o, ret, damaged);
		ret = output_close(&out, ret);
	}
	export_free(&e);
	model_close(e.m);
	return ret;
}

static const struct format *find_format(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int parse_option(struct export_options *o, int opt, const char *arg)
{
	switch (opt) {
	case OPT_FORMAT:
		o->format = find_format(arg);
		if (!o->format)
			return tool_usage("export", "there is no format '%s'", arg);
		return 0;
	case OPT_BY:
		o->by = true;
		if (!gather_parse_by(arg, &o->gather.by))
			return tool_usage("export", "--by is count, off-cpu or wakeup, not '%s'",
					  arg);
		return 0;
	case OPT_LINES:
		o->gather.lines = o->opts.lines = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	default:
		return cmd_parse_filter("export", opt, arg, &o->opts);
	}
}

static int check_options(const struct export_options *o)
{
	if (!o->format)
		return tool_usage("export", "--format is missing");
	if (o->by && o->format->run != export_folded)
		return tool_usage("export", "--by needs --format folded; the other formats "
				  "contain all events");
	if (o->gather.by != GATHER_COUNT && o->opts.filter.nr_events)
		return tool_usage("export", "--event needs --by count; waits have their own "
				  "events");
	if (output_is_input(o->output, o->path))
		return tool_usage("export", "%s is the recording itself; give another file with -o",
				  o->output);
	if (o->format->binary && !o->output && isatty(STDOUT_FILENO))
		return tool_usage("export", "%s is not text; give a file with -o", o->format->name);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "by", required_argument, NULL, OPT_BY },
		{ "lines", no_argument, NULL, OPT_LINES },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	static struct export_options o;		/* its lists stay until the program ends */
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) {
		if (opt == 'h')
			return tool_help(usage);
		ret = parse_option(&o, opt, optarg);
		if (ret)
			return ret;
	}
	ret = cmd_parse_file("export", argc, argv, &o.path);
	if (!ret)
		ret = check_options(&o);
	if (ret)
		return ret;
	if (!o.output && !o.format->binary)
		tool_start_pager();
	return tool_run_in_child(o.path, run_export, &o);
}
