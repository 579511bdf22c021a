// SPDX-License-Identifier: GPL-2.0
/* report.c - trace-ustack report: the command line */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"
#include "trace-cmd-ext/model/model.h"
#include "trace-cmd-ext/report/report.h"

static const char usage[] =
	"usage: trace-ustack report [OPTION...] [FILE]\n"
	"\n"
	"Print the events of a recording, each with its kernel stack and its user stack: the\n"
	"text of trace-cmd report with the plugin, formatted by several processes at once. The\n"
	"default for FILE is trace.dat.\n"
	"\n"
	"  --json             print one JSON object for each event, each in one line\n"
	"  --lines            print source lines and inlined functions of user frames\n"
	"  -j, --jobs N       format with N processes; by default one for each CPU\n"
	"  -h, --help         print this text\n"
	"\n"
	CMD_FILTER_HELP
	"\n"
	"Examples:\n"
	"  trace-ustack report\n"
	"  trace-ustack report --event sched_switch --process bash trace.dat\n"
	"  trace-ustack report --symbol 'pthread_mutex_*' --time 12.5-13\n"
	"  trace-ustack report --json | jq -r 'select(.user_state == \"lost\") | .comm'\n";

struct report_cmd {
	const char *path;
	struct model_opts opts;
	struct report r;
	uint32_t jobs;
};

static int run_report(void *arg)
{
	struct report_cmd *o = arg;
	int ret;

	o->opts.plugins = !o->r.json;
	o->opts.lines = o->r.lines;
	o->r.m = cmd_open_model(o->path, &o->opts);
	if (!o->r.m)
		return TOOL_INPUT;
	ret = model_check_names(o->r.m, &o->opts.filter);
	if (ret) {
		model_close(o->r.m);
		return ret;
	}
	/* a progress line would disturb the pager */
	if (tool_is_on_terminal())
		tool_disable_progress();
	o->r.filtered = cmd_filter_is_set(&o->opts.filter);
	o->r.print_no_match = cmd_print_no_match;
	o->r.library_reads_ahead = !o->r.json && !o->r.filtered && printer_reads_ahead(o->r.m);
	ret = report_print(&o->r, o->jobs ? o->jobs : report_choose_processes());
	model_close(o->r.m);
	if (ret == REPORT_NO_OUTPUT)
		return TOOL_OUTPUT;
	if (ret)
		tool_error("%s: %s", o->path, ret == -EIO ?
			   "is damaged: libtracecmd stopped reading it" : strerror(-ret));
	return !ret ? TOOL_OK : ret == -EIO ? TOOL_INPUT : TOOL_FAIL;
}

enum { OPT_JSON = 1, OPT_LINES };

int cmd_report(int argc, char **argv)
{
	static struct report_cmd o;		/* its lists stay until the program ends */
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "json", no_argument, NULL, OPT_JSON },
		{ "lines", no_argument, NULL, OPT_LINES },
		{ "jobs", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	uint32_t *jobs = NULL;
	size_t nr = 0;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hj:", longs, NULL)) != -1) {
		switch (opt) {
		case 'h':
			return tool_help(usage);
		case OPT_JSON:
			o.r.json = true;
			break;
		case OPT_LINES:
			o.r.lines = true;
			break;
		case 'j':
			ret = tool_parse_numbers(optarg, &jobs, &nr);
			o.jobs = !ret && nr == 1 && *jobs <= 64 ? *jobs : 0;
			free(jobs);
			jobs = NULL;
			nr = 0;
			if (!o.jobs)
				return tool_usage("report", "'%s' is not a number of processes, "
						  "1 to 64", optarg);
			break;
		default:
			ret = cmd_parse_filter("report", opt, optarg, &o.opts);
			if (ret)
				return ret;
		}
	}
	ret = cmd_parse_file("report", argc, argv, &o.path);
	if (ret)
		return ret;
	tool_start_pager();
	return tool_run_in_child(o.path, run_report, &o);
}
