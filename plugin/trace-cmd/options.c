// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * options.c - trace-cmd report -O ustack:NAME=VALUE
 *
 * libtraceevent toggles a boolean that is given without a value each time the options are added. So
 * they are added once, whatever the number of files.
 */
#include <string.h>

#include "trace-cmd.h"

enum { OPT_SYMBOLS, OPT_OFFSET, OPT_DEMANGLE, OPT_RAW, OPT_SUMMARY, OPT_SYSROOT, OPT_END };

static char alias[] = "ustack";

#define OPTION(n, on, text)							\
	{ .name = (char *)(n), .plugin_alias = alias, .description = (char *)(text), .set = (on) }

static struct tep_plugin_option options[] = {
	[OPT_SYMBOLS] = OPTION("symbols", 1, "Show user frames as functions (default on)"),
	[OPT_OFFSET] = OPTION("offset", 1, "Show offsets in functions and files (default on)"),
	[OPT_DEMANGLE] = OPTION("demangle", 1, "Demangle C++ and Rust names (default on)"),
	[OPT_RAW] = OPTION("raw", 0, "Show the address of each user frame too"),
	[OPT_SUMMARY] = OPTION("summary", 0, "Count joined and missing stacks on standard error"),
	[OPT_SYSROOT] = {
		.name = (char *)"sysroot",
		.plugin_alias = alias,
		.description = (char *)"Directory that holds the traced machine's files",
		.value = "",
	},
	[OPT_END] = {},
};

static int added;

void options_add(void)
{
	if (!added++)
		tep_plugin_add_options("ustack", options);
}

void options_remove(void)
{
	if (!--added)
		tep_plugin_remove_options(options);
}

/*
 * Is the option ftrace:offset set? It belongs to another plugin, and libtraceevent shows such an
 * option only as text: blocks of "name:<tab>value" lines.
 */
static bool is_kernel_offset_set(void)
{
	bool ftrace = false, offset = false, set = false;
	char *line, *next;
	struct trace_seq s;

	if (!tep_plugin_print_options)
		return false;
	trace_seq_init(&s);
	tep_plugin_print_options(&s);
	trace_seq_terminate(&s);
	for (line = s.buffer; line && *line && !set; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line += strspn(line, " ");
		if (!strncmp(line, "---", 3) || !strncmp(line, "===", 3))
			ftrace = offset = false;
		ftrace |= !strcmp(line, "plugin:\tftrace");
		offset |= !strcmp(line, "option:\toffset");
		set = ftrace && offset && !strcmp(line, "set:\t1");
	}
	trace_seq_destroy(&s);
	return set;
}

void options_read(struct ustack_options *o)
{
	memset(o, 0, sizeof(*o));
	o->frames.no_symbols = !options[OPT_SYMBOLS].set;
	o->frames.no_offsets = !options[OPT_OFFSET].set;
	o->frames.no_demangle = !options[OPT_DEMANGLE].set;
	o->frames.raw = options[OPT_RAW].set;
	o->frames.sysroot = options[OPT_SYSROOT].value;
	o->summary = options[OPT_SUMMARY].set;
	o->kernel_offset = is_kernel_offset_set();
}
