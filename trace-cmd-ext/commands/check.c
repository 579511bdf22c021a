// SPDX-License-Identifier: GPL-2.0
/* check.c - trace-ustack check: what can be recorded here, and how to fix the rest */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "commands.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/check/check.h"
#include "trace-cmd-ext/tool/tool.h"
#include "trace-cmd-ext/record/record.h"

static const char help_text[] =
"usage: trace-ustack check [OPTION...] [PID|FILE...]\n"
"       trace-ustack check --repair [OPTION...] [FILE.part*...]\n"
"\n"
"Say what this kernel, its configuration and your permissions allow, and which of the running\n"
"programs have unwind tables, symbols and debug files. Each finding that is not in order says\n"
"what to do. With arguments, look only at these processes or ELF files.\n"
"\n"
"  -r, --repair       complete the recordings FILE.part* that killed recorders left, here or as\n"
"                     arguments, and remove the tracefs instances of these recorders\n"
"  -j, --json         print one JSON object\n"
"  -v, --verbose      also list the files that are in order\n"
"  --tracefs DIR      use the tracefs at DIR instead of /sys/kernel/tracing\n"
"  -h, --help         print this text\n"
"\n"
"Examples:\n"
"  trace-ustack check\n"
"      before recording\n"
"  trace-ustack check 1234 /usr/bin/python3\n"
"      do these have tables and symbols?\n"
"  trace-ustack check --repair\n"
"      after a recorder was killed\n"
"  trace-ustack check --json | jq '.findings[] | select(.state == \"missing\")'\n"
"\n"
"Exit status: 0 nothing is missing; 1 something is missing; 2 wrong command line.\n";

enum { OPT_TRACEFS = 256 };

static const struct option options[] = {
	{ "repair", no_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "tracefs", required_argument, NULL, OPT_TRACEFS },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const char *const states[] = {
	[CHECK_OK] = "ok", [CHECK_NOTE] = "note", [CHECK_MISSING] = "missing",
};

/* -------------------------------- printing ------------------------------- */

static void print_safely(const char *s)
{
	for (; s && *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			printf("\\%03o", (unsigned char)*s);
		else
			putchar(*s);
	}
}

static void print_finding(const struct check_finding *f, bool colour)
{
	static const char *const colours[] = {
		[CHECK_OK] = "\033[32m", [CHECK_NOTE] = "\033[33m", [CHECK_MISSING] = "\033[31m",
	};

	printf("  %s%-7s%s  ", colour ? colours[f->level] : "", states[f->level],
	       colour ? "\033[0m" : "");
	print_safely(f->name);
	fputs(": ", stdout);
	print_safely(f->text);
	putchar('\n');
	if (f->remedy) {
		fputs("           -> ", stdout);
		print_safely(f->remedy);
		putchar('\n');
	}
}

static void print_text(const struct check *c)
{
	const char *group = "";
	bool colour = tool_use_colour();
	size_t i;

	for (i = 0; i < c->nr; i++) {
		const struct check_finding *f = &c->finding[i];

		if (f->level == CHECK_OK && !strcmp(f->group, "files") && !c->verbose)
			continue;
		if (strcmp(group, f->group)) {
			group = f->group;
			printf("%s:\n", group);
		}
		print_finding(f, colour);
	}
}

/* Print what the findings mean for a recording. */
static void print_meaning(const struct check *c)
{
	puts("Result:");
	if (!c->traces) {
		puts("  nothing can be recorded here");
		return;
	}
	printf("  trace-ustack record %s\n", c->source ? "works" :
	       c->frame_pointers ? "works with --source frame-pointers only" :
	       "works with --no-user-stack only");
	if (c->source)
		printf("  source of user stacks: %s (this kernel has %s user stacks)\n",
		       c->source, c->user_stacks ? "deferred" : "no deferred");
	printf("  kernel stacks: %s\n", c->kernel_stacks ? "yes" : "no");
	printf("  user stacks: %s\n", c->user_stacks && c->tables ? "complete, by unwind tables" :
	       c->user_stacks ? "complete where code keeps frame pointers" :
	       c->bpf ? "complete, by unwind tables and BPF programs" :
	       c->frame_pointers ? "8 frames at most, and only where code keeps frame pointers" :
	       "no");
	printf("  functions in user stacks: %s\n", (c->user_stacks ? c->maps : c->bpf) ? "yes" :
	       "no, as it is not recorded which files are mapped");
}

static void print_json(const struct check *c, bool ok, bool all)
{
	struct jsonw j = { .file = stdout };
	struct utsname u;
	size_t i;

	uname(&u);
	jsonw_object(&j, NULL);
	jsonw_bool(&j, "ok", ok);
	if (all) {
		jsonw_string(&j, "kernel", u.release);
		jsonw_string(&j, "machine", u.machine);
		jsonw_object(&j, "can");
		jsonw_bool(&j, "trace", c->traces);
		jsonw_bool(&j, "kernel_stacks", c->kernel_stacks);
		jsonw_bool(&j, "user_stacks", c->user_stacks);
		jsonw_bool(&j, "unwind_tables", c->tables);
		jsonw_bool(&j, "maps", c->maps);
		jsonw_bool(&j, "frame_pointers", c->frame_pointers);
		jsonw_bool(&j, "bpf", c->bpf);
		jsonw_string(&j, "source", c->source);
		jsonw_end(&j);
	}
	jsonw_array(&j, "findings");
	for (i = 0; i < c->nr; i++) {
		const struct check_finding *f = &c->finding[i];

		jsonw_object(&j, NULL);
		jsonw_string(&j, "group", f->group);
		jsonw_string(&j, "name", f->name);
		jsonw_string(&j, "state", states[f->level]);
		jsonw_string(&j, "text", f->text);
		jsonw_string(&j, "remedy", f->remedy);
		jsonw_end(&j);
	}
	jsonw_end(&j);
	jsonw_end(&j);
	putchar('\n');
}

static void free_findings(struct check *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++) {
		free(c->finding[i].name);
		free(c->finding[i].text);
		free(c->finding[i].remedy);
	}
	free(c->finding);
}

static void print_findings(const struct check *c, bool ok, bool all)
{
	if (c->json) {
		print_json(c, ok, all);
		return;
	}
	tool_start_pager();
	print_text(c);
	if (all)
		print_meaning(c);
}

/* 0, -1 if --help was answered, or an exit code. */
static int parse_options(struct check *check, int argc, char **argv, const char **tracefs)
{
	int c, i;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "rjvh", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			check->repair = true;
			break;
		case 'j':
			check->json = true;
			break;
		case 'v':
			check->verbose = true;
			break;
		case OPT_TRACEFS:
			*tracefs = optarg;
			break;
		case 'h':
			return tool_help(help_text) ? TOOL_OUTPUT : -1;
		default:
			return tool_bad_option("check");
		}
	}
	for (i = optind; check->repair && i < argc; i++)
		if (!unfinished_is_name(argv[i]))
			return tool_usage("check", "--repair takes recordings that are not "
					  "complete, FILE.part*: '%s' is not one", argv[i]);
	return 0;
}

int cmd_check(int argc, char **argv)
{
	const char *tracefs = NULL;
	struct check check = {};
	struct tool_why why;
	bool ok = true, all;
	size_t k;
	int i, ret;

	ret = parse_options(&check, argc, argv, &tracefs);
	if (ret)
		return ret < 0 ? TOOL_OK : ret;
	all = optind == argc;
	/* the instances of its recorder may hold the rest of such a recording */
	if (check.repair && !all)
		check.traces = rec_tracefs_find(tracefs, true, &why);
	if (all) {
		check_kernel(&check, tracefs);
		check_recorders(&check);
		check_running(&check);
	}
	/* print also good findings about a file that the user named */
	check.verbose |= !all;
	for (i = optind; i < argc; i++)
		if (!check_unfinished(&check, argv[i]))
			check_argument(&check, argv[i]);
	tool_end_progress();
	for (k = 0; k < check.nr; k++)
		ok &= check.finding[k].level != CHECK_MISSING;
	print_findings(&check, ok, all);
	free_findings(&check);
	if (tool_no_memory) {
		ok = false;
		tool_error("not enough memory: findings are missing");
	}
	return tool_finish(ok ? TOOL_OK : TOOL_FAIL);
}
