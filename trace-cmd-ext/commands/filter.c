// SPDX-License-Identifier: GPL-2.0
/* filter.c - read the options that choose events. See filter.h. */
#include <ctype.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "filter.h"

static int add_pattern(const char *cmd, const char ***v, size_t *nr, const char *arg)
{
	const char **new;

	if (!*arg)
		return tool_usage(cmd, "an empty name matches nothing");
	new = array_add(*v, *nr);
	if (!new)
		return tool_report_no_memory();
	*new = arg;
	return 0;
}

int cmd_parse_filter(const char *cmd, int opt, const char *arg, struct model_opts *o)
{
	struct model_filter *f = &o->filter;

	switch (opt) {
	case CMD_OPT_SYSROOT:
		o->sysroot = arg;
		return 0;
	case CMD_OPT_EVENT:
		return add_pattern(cmd, &f->events, &f->nr_events, arg);
	case CMD_OPT_COMM:
		return add_pattern(cmd, &f->comms, &f->nr_comms, arg);
	case CMD_OPT_SYMBOL:
		return add_pattern(cmd, &f->symbols, &f->nr_symbols, arg);
	case CMD_OPT_PROCESS:
		if (!isdigit((unsigned char)*arg) || arg[strspn(arg, "0123456789,-")])
			return add_pattern(cmd, &f->comms, &f->nr_comms, arg);
		/* fallthrough */
	case CMD_OPT_PID:
		if (tool_parse_numbers(arg, &f->pids, &f->nr_pids))
			return tool_usage(cmd, "'%s' is not a list of ids, such as 12,20-29", arg);
		return 0;
	case CMD_OPT_CPU:
		if (tool_parse_numbers(arg, &f->cpus, &f->nr_cpus))
			return tool_usage(cmd, "'%s' is not a list of CPUs, such as 0,2-3", arg);
		return 0;
	case CMD_OPT_TIME:
		if (tool_parse_times(arg, &f->from, &f->to))
			return tool_usage(cmd, "'%s' is not a time, such as 12.5-13 or 12.5-", arg);
		return 0;
	default:
		return tool_bad_option(cmd);
	}
}

bool cmd_filter_is_set(const struct model_filter *f)
{
	return f->nr_events || f->nr_pids || f->nr_comms || f->nr_cpus || f->nr_symbols ||
	       f->from || f->to;
}

int cmd_parse_file(const char *cmd, int argc, char **argv, const char **path)
{
	if (argc - optind > 1)
		return tool_usage(cmd, "one file at a time, not also '%s'", argv[optind + 1]);
	*path = argc > optind ? argv[optind] : "trace.dat";
	return 0;
}

struct model *cmd_open_model(const char *path, const struct model_opts *opts)
{
	struct model_opts o = *opts;
	char why[512] = "";
	struct model *m;

	if (!o.progress)
		o.progress = tool_show_progress;
	m = model_open(path, &o, why, sizeof(why));
	if (!m)
		tool_error("%s: %s", path, why);
	else if (model_get_info(m)->damaged)
		tool_note_incomplete(path);
	return m;
}

void cmd_print_no_match(const char *path)
{
	tool_error("%s: no event matches all of these options, though each of them alone matches "
		   "some", path);
}
