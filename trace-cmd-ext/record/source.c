// SPDX-License-Identifier: GPL-2.0
/*
 * source.c - where user stacks come from, and which source a recording takes
 *
 *	ftrace		the kernel has options/userstacktrace_deferred: it records them itself
 *	bpf		BPF programs walk the stacks (bpf_stacks.c), on other kernels that allow it
 *	frame-pointers	options/userstacktrace: 8 frames at most, where code keeps frame pointers
 *
 * ftrace and bpf leave the same records in the file, so the rest of the tool need not distinguish
 * them.
 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "impl.h"
#include "trace-cmd-ext/record/bpf/bpf.h"

#define PATCHES		"boot a kernel with the kernel-patches of trace-ustack"

static const char *const names[] = {
	[SOURCE_AUTO] = "auto", [SOURCE_FTRACE] = "ftrace", [SOURCE_BPF] = "bpf",
	[SOURCE_FRAME_POINTERS] = "frame-pointers",
};

const char *source_get_name(enum source s)
{
	return names[s];
}

int source_parse(const char *name, enum source *s)
{
	for (*s = 0; *s < SOURCE_NONE; ++*s)
		if (!strcmp(name, names[*s]))
			return 0;
	return -EINVAL;
}

/* ---------------------------- what a kernel can do ------------------------ */

/* BPF programs run in this kernel, even if --tracefs names files of another one. */
static bool is_tracefs(void)
{
	const char *dir = tracefs_tracing_dir();
	struct statfs fs;

	return dir && !statfs(dir, &fs) && fs.f_type == TRACEFS_MAGIC;
}

int source_check(enum source s, struct tool_why *why)
{
	struct tool_why other;

	switch (s) {
	case SOURCE_FTRACE:
		if (rec_tracefs_exists("options/" DEFERRED))
			return 0;
		return tool_set_why(why, -EOPNOTSUPP, PATCHES, "options/" DEFERRED
				    " is missing: no deferred user stacks");
	case SOURCE_BPF:
		if (!is_tracefs())
			return tool_set_why(why, -EOPNOTSUPP, NULL, "%s is not a tracefs of "
					    "the running kernel", tracefs_tracing_dir());
		return bpfsrc_check(why);
	case SOURCE_FRAME_POINTERS:
		if (rec_tracefs_exists("options/userstacktrace"))
			return 0;
		return tool_set_why(why, -EOPNOTSUPP,
				    "boot a kernel with CONFIG_USER_STACKTRACE_SUPPORT=y",
				    "options/userstacktrace is missing");
	default:
		if (!source_check(SOURCE_FTRACE, why))
			return 0;
		if (!source_check(SOURCE_BPF, &other))
			return 0;
		return tool_set_why(why, -EOPNOTSUPP, PATCHES, "options/" DEFERRED " is missing: "
				    "no deferred user stacks, and BPF programs cannot replace them "
				    "(%s)", other.text);
	}
}

enum source source_choose(void)
{
	struct tool_why why;

	if (!source_check(SOURCE_FTRACE, &why))
		return SOURCE_FTRACE;
	return source_check(SOURCE_BPF, &why) ? SOURCE_NONE : SOURCE_BPF;
}

/* ------------------------------ one recording ----------------------------- */

static int use_ftrace(struct rec *r)
{
	r->request_by = r->triggers ? REQUEST_BY_TRIGGER : REQUEST_BY_OPTION;
	if (r->opts.maps && !rec_tracefs_exists("options/" MAPS)) {
		tool_error("options/" MAPS " is missing: this kernel does not say which files "
			   "addresses are in; stacks will have no symbols");
		r->opts.maps = false;
	}
	if (r->opts.runtimes & RUNTIME_PYTHON)
		tool_error("--python: this kernel cannot walk through the trampolines of Python, "
			   "so its stacks will be incomplete or marked; --source bpf can");
	return 0;
}

/* Refuse all that does not work before anything is recorded. */
static int use_bpf(struct rec *r)
{
	struct bpfsrc_event event;
	struct rec_event *ev;
	char why[512];

	r->request_by = REQUEST_BY_BPF;
	r->opts.maps = false;
	if (r->opts.nr_functions && rec_find_functions(r))
		return TOOL_FAIL;
	if (strcmp(r->opts.clock, "mono")) {
		tool_error("--clock %s: BPF programs have the clock mono only, and stacks find "
			   "their events by it; leave --clock out, or take another --source",
			   r->opts.clock);
		return TOOL_FAIL;
	}
	for (ev = r->event; ev < r->event + r->nr_events; ev++) {
		if (ev->sel->no_stack)
			continue;
		if (ev->sel->stack_if) {
			tool_error("--stack-if: the source bpf cannot tell from a record whether a "
				   "condition held; use --filter, or a kernel with the "
				   "kernel-patches of trace-ustack");
			return TOOL_FAIL;
		}
		ev->kind = rec_find_event_kind(ev->system, ev->name);
		event = (struct bpfsrc_event){
			.system = ev->system, .name = ev->name, .kind = ev->kind,
		};
		if (bpfsrc_check_event(&event, why, sizeof(why))) {
			tool_error("%s:%s: %s; --no-stack after its -e records it without stacks",
				   ev->system, ev->name, why);
			return TOOL_FAIL;
		}
	}
	return 0;
}

static int use_frame_pointers(struct rec *r)
{
	struct utsname u;

	uname(&u);
	r->request_by = REQUEST_BY_FRAME_POINTERS;
	r->opts.maps = r->opts.tables = false;
	tool_error("kernel %s: by options/userstacktrace, user stacks end where code keeps no "
		   "frame pointers, and after 8 frames", u.release);
	return 0;
}

static int report_no_source(const struct rec *r, const char *why)
{
	bool frame_pointers = rec_tracefs_exists("options/userstacktrace");
	struct utsname u;

	uname(&u);
	if (r->opts.source == SOURCE_FRAME_POINTERS || !frame_pointers)
		tool_error("kernel %s: %s; --no-user-stack records kernel stacks alone", u.release,
			   why);
	else
		tool_error("kernel %s: %s, or use --source frame-pointers to record at most 8 "
			   "frames by frame pointers; trace-ustack check explains the causes",
			   u.release, why);
	return TOOL_FAIL;
}

int rec_choose_source(struct rec *r)
{
	enum source s = r->opts.source;
	bool needs_bpf = r->opts.freq || r->opts.nr_functions, any_stack = needs_bpf;
	struct tool_why why;
	size_t i;

	for (i = 0; i < r->nr_events; i++) {
		if (!r->event[i].sel->no_stack)
			any_stack = true;
		if (r->event[i].sel->no_stack || r->event[i].sel->stack_if)
			r->triggers = true;
	}
	if (!any_stack) {
		r->source = SOURCE_NONE;
		r->request_by = REQUEST_NONE;
		r->triggers = r->opts.maps = r->opts.tables = false;
		return 0;
	}
	if (needs_bpf && s == SOURCE_AUTO)
		s = SOURCE_BPF;
	if (source_check(s, &why))
		return report_no_source(r, why.text);
	if (s == SOURCE_AUTO)
		s = source_choose();
	r->source = s;
	return s == SOURCE_FTRACE ? use_ftrace(r) : s == SOURCE_BPF ? use_bpf(r) :
	       use_frame_pointers(r);
}
