// SPDX-License-Identifier: GPL-2.0
/* cmd_report - trace-ustack report */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_filter.h"

static const char usage[] =
	"usage: trace-ustack report [OPTION...] [FILE]\n"
	"\n"
	"Print the events of a recording. FILE is trace.dat if left out.\n"
	"\n"
	"  --help             this text\n"
	"\n"
	CMD_FILTER_HELP;

static struct {
	const char *path;
	struct model_opts opts;
} o;

static void frames(struct model *m, const char *what, const uint32_t *v, uint32_t nr)
{
	const struct model_frame *f;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		f = model_frame(m, v[i]);
		printf("\t%s %s+0x%llx (%s)\n", what, f->func ? f->func : "?",
		       (unsigned long long)f->func_offset, f->file ? f->file->path : "");
	}
}

static int event(void *data, const struct model_event *ev)
{
	struct model *m = data;
	const uint32_t *v;
	uint32_t nr;

	printf("%16s-%-5u [%03u] %llu: %s\n", model_comm(m, ev->tid), ev->tid, ev->cpu,
	       (unsigned long long)ev->ts, model_type(m, ev->type)->name);
	v = model_kframes(m, ev->kstack, &nr);
	frames(m, "kernel", v, nr);
	v = model_uframes(m, ev->ustack, &nr);
	frames(m, "user", v, nr);
	return 0;
}

static int run(void *arg)
{
	struct model *m = cmd_open(o.path, &o.opts);
	int ret;

	(void)arg;
	if (!m)
		return CMD_INPUT;
	ret = model_each(m, MODEL_BY_TIME, event, m);
	model_close(m);
	return ret ? CMD_FAIL : CMD_OK;
}

int cmd_report(int argc, char **argv)
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
		ret = cmd_filter_option("report", opt, optarg, &o.opts);
		if (ret)
			return ret;
	}
	ret = cmd_filter_file("report", argc, argv, &o.path);
	if (ret)
		return ret;
	cmd_pager();
	return cmd_guard(o.path, run, NULL);
}
