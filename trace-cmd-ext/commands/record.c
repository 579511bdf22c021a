// SPDX-License-Identifier: GPL-2.0
/* record.c - trace-ustack record: the command line */
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/record/record.h"
#include "trace-cmd-ext/tool/tool.h"

static const char help_text[] =
"usage: trace-ustack record [OPTION...] {-e EVENT | -l FUNCTION | -F HZ}... [CMD [ARGUMENT...]]\n"
"\n"
"Record trace events with complete kernel and user stacks into a trace.dat file, while CMD runs,\n"
"or until Ctrl-C: the events of CMD and of the processes that it starts, or of all tasks.\n"
"\n"
"What to record:\n"
"  -e, --event EVENT     SYSTEM:NAME, NAME or SYSTEM, with shell wildcards; can be repeated\n"
"  --filter EXPR         record the preceding -e only where EXPR holds: --filter 'prio < 100'\n"
"  --stack-if EXPR       record stacks for the preceding -e only where EXPR holds\n"
"  --no-stack            record no stacks for the preceding -e\n"
"  -l, --function NAME   record each call of this kernel function (event function), with shell\n"
"                        wildcards; can be repeated; needs the source bpf\n"
"  -F, --freq HZ         record what each CPU executes, HZ times a second (event cpu_sample);\n"
"                        needs the source bpf\n"
"  -a, --all             record all tasks; the default without CMD and -p\n"
"  -p, --pid PID,...     record these processes and their children, until these processes end\n"
"  -p function           with -l, as trace-cmd record has it: it changes nothing\n"
"  --no-inherit          do not record children of CMD or of -p\n"
"  --python              show the functions of Python 3.12 and newer in the stacks of CMD\n"
"  --node                show the functions of JavaScript (node) in the stacks of CMD\n"
"  --java                let java keep frame pointers in CMD, so that its stacks are complete\n"
"  --erlang              the same for Erlang, with the names of its functions\n"
"  --no-kernel-stack     record no kernel stacks\n"
"  --no-user-stack       record no user stacks\n"
"  --duration SECONDS    end the recording and CMD after this time\n"
"\n"
"How to record:\n"
"  -o, --output FILE     write to FILE instead of trace.dat\n"
"  -b, --buffer-size KB  ring buffer of each CPU; by default 1408 to 8192, by free memory\n"
"  -C, --clock CLOCK     mono (default), local, global, boot, ...: see the file trace_clock\n"
"  --no-tables           register no unwind tables\n"
"  --wait-tables         let programs wait at their start until their tables are made\n"
"  --no-maps-instance    record mappings in the buffer of the events, which can overwrite them;\n"
"                        for trace-cmd report -F, which reads no file with an instance\n"
"  --all-stacks          record each user stack whole, even if its task has had it before\n"
"  --source SOURCE       where user stacks come from: ftrace, a kernel with deferred user stacks;\n"
"                        bpf, programs that walk stacks on other kernels; frame-pointers, 8\n"
"                        frames at most; auto (default), the first of ftrace and bpf that works\n"
"  --fallback            --source frame-pointers\n"
"  --tracefs DIR         use the tracefs at DIR instead of /sys/kernel/tracing\n"
"\n"
"What to print:\n"
"  -x, --exit-code       exit with the exit code of CMD\n"
"  --json[=FILE]         write the summary as one JSON object, to standard output after the\n"
"                        output of CMD, or to FILE\n"
"  -q, --quiet           print no progress and no summary\n"
"  --no-summary          print no summary\n"
"  -v, --verbose         print each change to tracefs, and each file without a table\n"
"  -h, --help            print this text\n"
"\n"
"Examples:\n"
"  trace-ustack record -e sched:sched_switch make\n"
"      what each task waits for while make runs\n"
"  trace-ustack record -a -e sched --duration 10\n"
"      all scheduler events of the machine, for 10 seconds\n"
"  trace-ustack record -F 99 make\n"
"      what make and its children execute: trace-ustack flame shows it\n"
"  trace-ustack record -p 1234 -e 'syscalls:sys_enter_*sync' -o sync.dat\n"
"      which code calls fsync() and its relatives in process 1234\n"
"  trace-ustack record -l vfs_read -l 'tcp_*' CMD\n"
"      which code leads to these kernel functions\n"
"  trace-ustack record -e sched_switch --filter 'prev_state != 0' -e sched_waking --no-stack CMD\n"
"      stacks of the tasks that block, and wake-ups without stacks\n"
"\n"
"Read the file with trace-ustack report, flame or stat, trace-cmd report, or kernelshark.\n"
"\n"
"Exit status: 0 recorded; 1 failed; 2 wrong command line; 4 the file cannot be written;\n"
"126, 127 CMD cannot be executed, or does not exist; with -x the exit code of CMD.\n";

#define MAX_FREQ	10000

enum {
	OPT_FILTER = 256, OPT_STACK_IF, OPT_NO_STACK, OPT_NO_INHERIT, OPT_NO_KERNEL, OPT_NO_USER,
	OPT_DURATION, OPT_NO_TABLES, OPT_NO_MAPS, OPT_ALL_STACKS, OPT_FALLBACK, OPT_TRACEFS,
	OPT_NO_SUMMARY, OPT_JSON, OPT_SOURCE, OPT_PYTHON, OPT_NODE, OPT_JAVA, OPT_ERLANG,
	OPT_WAIT_TABLES,
};

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "stack-if", required_argument, NULL, OPT_STACK_IF },
	{ "no-stack", no_argument, NULL, OPT_NO_STACK },
	{ "function", required_argument, NULL, 'l' },
	{ "freq", required_argument, NULL, 'F' },
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "no-inherit", no_argument, NULL, OPT_NO_INHERIT },
	{ "python", no_argument, NULL, OPT_PYTHON },
	{ "node", no_argument, NULL, OPT_NODE },
	{ "java", no_argument, NULL, OPT_JAVA },
	{ "erlang", no_argument, NULL, OPT_ERLANG },
	{ "no-kernel-stack", no_argument, NULL, OPT_NO_KERNEL },
	{ "no-user-stack", no_argument, NULL, OPT_NO_USER },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "output", required_argument, NULL, 'o' },
	{ "buffer-size", required_argument, NULL, 'b' },
	{ "clock", required_argument, NULL, 'C' },
	{ "no-tables", no_argument, NULL, OPT_NO_TABLES },
	{ "wait-tables", no_argument, NULL, OPT_WAIT_TABLES },
	{ "no-maps-instance", no_argument, NULL, OPT_NO_MAPS },
	{ "all-stacks", no_argument, NULL, OPT_ALL_STACKS },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "fallback", no_argument, NULL, OPT_FALLBACK },
	{ "tracefs", required_argument, NULL, OPT_TRACEFS },
	{ "exit-code", no_argument, NULL, 'x' },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "no-summary", no_argument, NULL, OPT_NO_SUMMARY },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static int add_select(struct rec_opts *o, const char *pattern)
{
	struct rec_select *sel = array_add(o->sel, o->nr_sel);

	if (!sel)
		return tool_report_no_memory();
	sel->pattern = pattern;
	return 0;
}

static int add_function(struct rec_opts *o, const char *name)
{
	const char **function = array_add(o->functions, o->nr_functions);

	if (!function)
		return tool_report_no_memory();
	*function = name;
	return 0;
}

/* Set an option of the -e before it. */
static int set_event_option(struct rec_opts *o, int c, const char *arg)
{
	struct rec_select *s = o->nr_sel ? &o->sel[o->nr_sel - 1] : NULL;

	if (!s)
		return tool_usage("record", "%s needs an -e before it, as it is about that event",
				  c == OPT_FILTER ? "--filter" : c == OPT_STACK_IF ? "--stack-if" :
				  "--no-stack");
	if (c == OPT_FILTER)
		s->filter = arg;
	else if (c == OPT_STACK_IF)
		s->stack_if = arg;
	else
		s->no_stack = true;
	return 0;
}

static int parse_number(const char *arg, const char *option, double least, double most, double *val)
{
	char *end;

	*val = strtod(arg, &end);
	if (end != arg && !*end && *val >= least && *val <= most)
		return 0;
	return tool_usage("record", "%s '%s' is not a number from %.10g to %.10g", option, arg,
			  least, most);
}

/* Options that rec_opts does not have */
struct given {
	bool no_user, tracer;
};

/* Options that set one member of rec_opts */
static const struct flag {
	int option;
	bool value;
	size_t offset;
} flags[] = {
	{ 'a', true, offsetof(struct rec_opts, all) },
	{ OPT_NO_INHERIT, false, offsetof(struct rec_opts, inherit) },
	{ OPT_NO_KERNEL, false, offsetof(struct rec_opts, kernel_stack) },
	{ OPT_NO_TABLES, false, offsetof(struct rec_opts, tables) },
	{ OPT_WAIT_TABLES, true, offsetof(struct rec_opts, wait_tables) },
	{ OPT_NO_MAPS, false, offsetof(struct rec_opts, maps) },
	{ OPT_ALL_STACKS, false, offsetof(struct rec_opts, once) },
	{ 'x', true, offsetof(struct rec_opts, pass_exit) },
	{ 'q', true, offsetof(struct rec_opts, quiet) },
	{ OPT_NO_SUMMARY, false, offsetof(struct rec_opts, summary) },
	{ 'v', true, offsetof(struct rec_opts, verbose) },
};

static bool set_flag(struct rec_opts *o, int c)
{
	const struct flag *flag;

	for (flag = flags; flag < flags + ARRAY_SIZE(flags); flag++) {
		if (flag->option == c) {
			*(bool *)((char *)o + flag->offset) = flag->value;
			return true;
		}
	}
	return false;
}

static int set_option(struct rec_opts *o, int c, struct given *given)
{
	double val;
	int ret = 0;

	switch (c) {
	case 'e':
		return add_select(o, optarg);
	case OPT_FILTER:
	case OPT_STACK_IF:
	case OPT_NO_STACK:
		return set_event_option(o, c, optarg);
	case 'l':
		return add_function(o, optarg);
	case 'F':
		ret = parse_number(optarg, "-F", 1, MAX_FREQ, &val);
		o->freq = val;
		break;
	case 'p':
		if (!strcmp(optarg, "function"))
			given->tracer = true;
		else if (tool_parse_numbers(optarg, &o->pids, &o->nr_pids))
			return tool_usage("record", "-p '%s' is not a list of process ids", optarg);
		break;
	case OPT_PYTHON:
		o->runtimes |= RUNTIME_PYTHON;
		break;
	case OPT_NODE:
		o->runtimes |= RUNTIME_NODE;
		break;
	case OPT_JAVA:
		o->runtimes |= RUNTIME_JAVA;
		break;
	case OPT_ERLANG:
		o->runtimes |= RUNTIME_ERLANG;
		break;
	case OPT_NO_USER:
		given->no_user = true;
		break;
	case OPT_DURATION:
		return parse_number(optarg, "--duration", 0.001, 1e9, &o->duration);
	case 'o':
		o->out = optarg;
		break;
	case 'b':
		ret = parse_number(optarg, "-b", 1, 1e9, &val);
		o->kb = val;
		break;
	case 'C':
		o->clock = optarg;
		break;
	case OPT_FALLBACK:
		o->source = SOURCE_FRAME_POINTERS;
		break;
	case OPT_SOURCE:
		if (source_parse(optarg, &o->source))
			return tool_usage("record", "--source '%s' is not one of auto, ftrace, bpf "
					  "and frame-pointers", optarg);
		break;
	case OPT_TRACEFS:
		o->tracefs = optarg;
		break;
	case OPT_JSON:
		o->json = optarg ? optarg : "";
		break;
	}
	return ret;
}

/* 0, or an exit code after a message about options that do not go together. */
static int check_options(const struct rec_opts *o, const struct given *given)
{
	bool not_bpf = given->no_user || (o->source != SOURCE_AUTO && o->source != SOURCE_BPF);

	if (given->tracer && !o->nr_functions)
		return tool_usage("record", "-p function needs -l NAME: every call of every kernel "
				  "function is too much; name some, as in -l vfs_read -l 'tcp_*'");
	if (!o->nr_sel && !o->freq && !o->nr_functions)
		return tool_usage("record", "nothing to record: give -e EVENT, -l FUNCTION or "
				  "-F HZ");
	if (o->nr_functions && not_bpf)
		return tool_usage("record", "-l needs the source bpf, and user stacks; with "
				  "deferred user stacks, the function tracer has "
				  "options/func_userstack_deferred, see docs/kernel-abi.md");
	if (o->freq && not_bpf)
		return tool_usage("record", "-F needs the source bpf, and user stacks");
	if (o->runtimes && !o->cmd)
		return tool_usage("record", "--python, --node, --java and --erlang need a command: "
				  "they set variables in its environment");
	if (o->runtimes && given->no_user)
		return tool_usage("record", "--python, --node, --java and --erlang need user "
				  "stacks");
	if (o->wait_tables && !o->tables)
		return tool_usage("record", "--wait-tables and --no-tables exclude each other");
	if (o->wait_tables && given->no_user)
		return tool_usage("record", "--wait-tables needs user stacks");
	if (o->cmd && o->nr_pids)
		return tool_usage("record", "-p and CMD exclude each other");
	if (o->nr_pids && o->all)
		return tool_usage("record", "-p and -a exclude each other");
	if (o->pass_exit && !o->cmd)
		return tool_usage("record", "-x needs a CMD");
	return 0;
}

/* Returns 0, or -1 if --help was answered, or an exit code. */
static int parse_options(struct rec_opts *o, int argc, char **argv)
{
	struct given given = {};
	int c, ret;
	size_t i;

	*o = (struct rec_opts){
		.out = "trace.dat", .clock = "mono", .kernel_stack = true, .tables = true,
		.inherit = true, .maps = true, .once = true, .summary = true,
	};
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+e:l:F:ap:o:b:C:xqvh", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help(help_text) ? TOOL_OUTPUT : -1;
		if (c == '?')
			return tool_bad_option("record");
		ret = set_flag(o, c) ? 0 : set_option(o, c, &given);
		if (ret)
			return ret;
	}
	if (optind < argc)
		o->cmd = argv + optind;
	ret = check_options(o, &given);
	if (ret)
		return ret;
	if (!o->cmd && !o->nr_pids)
		o->all = true;
	for (i = 0; given.no_user && i < o->nr_sel; i++)
		o->sel[i].no_stack = true;
	return 0;
}

int cmd_record(int argc, char **argv)
{
	struct rec_opts opts;
	int ret;

	ret = parse_options(&opts, argc, argv);
	if (!ret) {
		if (opts.quiet)
			tool_disable_progress();
		ret = record_run(&opts);
	} else if (ret < 0) {
		ret = TOOL_OK;
	}
	if (!ret && tool_no_memory) {
		tool_error("not enough memory: the recording may lack something, such as names");
		ret = TOOL_FAIL;
	}
	free(opts.sel);
	free(opts.functions);
	free(opts.pids);
	return ret;
}
