// SPDX-License-Identifier: GPL-2.0
/* cmd_stat - trace-ustack stat */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_filter.h"

static const char usage[] =
	"usage: trace-ustack stat [OPTION...] [FILE]\n"
	"\n"
	"Count the events of a recording, their user stacks, and the stacks that are missing, by\n"
	"cause and by process. FILE is trace.dat if left out.\n"
	"\n"
	"  --help             this text\n"
	"\n"
	CMD_FILTER_HELP;

static struct {
	const char *path;
	struct model_opts opts;
} o;

static int run(void *arg)
{
	struct model *m = cmd_open(o.path, &o.opts);
	const struct model_info *info;

	(void)arg;
	if (!m)
		return CMD_INPUT;
	info = model_info(m);
	printf("records %llu joined %llu\n", (unsigned long long)info->records,
	       (unsigned long long)info->join.requests[JOIN_STACK]);
	model_close(m);
	return CMD_OK;
}

int cmd_stat(int argc, char **argv)
{
	static const struct option longs[] = {
		CMD_FILTER_OPTIONS,
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(usage);
		ret = cmd_filter_option("stat", opt, optarg, &o.opts);
		if (ret)
			return ret;
	}
	ret = cmd_filter_file("stat", argc, argv, &o.path);
	if (ret)
		return ret;
	cmd_pager();
	return cmd_guard(o.path, run, NULL);
}
