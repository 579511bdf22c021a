// SPDX-License-Identifier: GPL-2.0
/* stat.c - trace-ustack stat: the command line */
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"
#include "trace-cmd-ext/stat/stat.h"

static const char usage[] =
	"usage: trace-ustack stat [OPTION...] [FILE]\n"
	"\n"
	"Count the events of a recording and their user stacks, and the missing and incomplete\n"
	"stacks by reason and by process. Count the frames by file, with the unwind table that\n"
	"each file had. The default for FILE is trace.dat.\n"
	"\n"
	"  --json             print one JSON object\n"
	"  --all              list all processes, files and events, not only the top 20\n"
	"  -h, --help         print this text\n"
	"\n"
	CMD_FILTER_HELP
	"\n"
	"Examples:\n"
	"  trace-ustack stat\n"
	"  trace-ustack stat --process git trace.dat\n"
	"  trace-ustack stat --json | jq .requests.lost\n"
	"  trace-ustack stat --json | jq '.by_file[] | select(.incomplete > 0)'\n";

struct stat_cmd {
	const char *path;
	struct model_opts opts;
	bool json, all;
};

static int run_stat(void *arg)
{
	struct stat_cmd *o = arg;
	struct stat_counts s = {};
	struct model *m;
	int ret;

	o->opts.counts = cmd_filter_is_set(&o->opts.filter);
	m = cmd_open_model(o->path, &o->opts);
	if (!m)
		return TOOL_INPUT;
	ret = model_check_names(m, &o->opts.filter);
	if (ret)
		goto out;
	ret = stat_count(&s, m, cmd_filter_is_set(&o->opts.filter));
	if (!ret)
		ret = stat_count_files(&s, m, o->path);
	tool_end_progress();
	if (ret) {
		tool_error("%s: %s", o->path, strerror(-ret));
		ret = ret == -EIO ? TOOL_INPUT : TOOL_FAIL;
		goto out;
	}
	if (s.filtered && !s.events)
		cmd_print_no_match(o->path);
	if (o->json)
		stat_print_json(m, &s, o->path);
	else
		stat_print(m, &s, o->path, o->all);
out:
	stat_free(&s);
	model_close(m);
	return ret;
}

enum { OPT_JSON = 1, OPT_ALL };

int cmd_stat(int argc, char **argv)
{
	static struct stat_cmd o;		/* its lists stay until the program ends */
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "json", no_argument, NULL, OPT_JSON },
		{ "all", no_argument, NULL, OPT_ALL },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 'h':
			return tool_help(usage);
		case OPT_JSON:
			o.json = true;
			break;
		case OPT_ALL:
			o.all = true;
			break;
		default:
			ret = cmd_parse_filter("stat", opt, optarg, &o.opts);
			if (ret)
				return ret;
		}
	}
	ret = cmd_parse_file("stat", argc, argv, &o.path);
	if (ret)
		return ret;
	tool_start_pager();
	return tool_run_in_child(o.path, run_stat, &o);
}
