// SPDX-License-Identifier: GPL-2.0
/*
 * formats.c - the formats of user_unwind_cookie, user_unwind_stack, user_unwind_map, cpu_sample
 *
 * A kernel with deferred user stacks has these events, except cpu_sample. For a stock kernel this
 * file writes their formats. The formats have the common fields of that kernel's own records, and
 * ids that no event of the file has. record/bpf/insert.c writes the records.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

static const struct {
	const char *name, *rest;
} formats[FORMAT_NR] = {
	[FORMAT_COOKIE] = { "user_unwind_cookie",
		"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"cookie=%llx\", REC->cookie\n" },
	[FORMAT_STACK] = { "user_unwind_stack",
		"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u32 tgid;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 flags;\toffset:20;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc unsigned long[] stack;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"cookie=%llx tgid=%u flags=%x stack=%s\", REC->cookie, REC->tgid, "
		"REC->flags, __print_array(__get_dynamic_array(stack), "
		"__get_dynamic_array_len(stack) / 8, 8)\n" },
	[FORMAT_MAP] = { "user_unwind_map",
		"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 end;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 pgoff;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 ino;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:u32 tgid;\toffset:40;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 dev_major;\toffset:44;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 dev_minor;\toffset:48;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 build_id_size;\toffset:52;\tsize:4;\tsigned:0;\n"
		"\tfield:u8 build_id[20];\toffset:56;\tsize:20;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:76;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"%llx-%llx %llx %x:%x %llu tgid=%u %s\", REC->start, REC->end, "
		"REC->pgoff, REC->dev_major, REC->dev_minor, REC->ino, REC->tgid, "
		"__get_str(path)\n" },
	[FORMAT_SAMPLE] = { "cpu_sample",
		"\tfield:u64 period;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"period=%llu\", REC->period\n" },
};

const char *format_get_name(enum format f)
{
	return formats[f].name;
}

/* The lines of the common fields, with the empty line after them; malloc()ed. */
static char *read_common_fields(void)
{
	static const char *const wanted[] = {
		" common_type;\toffset:0;\tsize:2;", " common_flags;\toffset:2;\tsize:1;",
		" common_preempt_count;\toffset:3;\tsize:1;", " common_pid;\toffset:4;\tsize:4;",
	};
	char *text = rec_tracefs_read(NULL, "events/ftrace/kernel_stack/format", NULL), *from, *end;
	char *common = NULL;
	size_t i;

	if (!text)
		text = rec_tracefs_read(NULL, "events/ftrace/print/format", NULL);
	from = text ? strstr(text, "format:\n") : NULL;
	end = from ? strstr(from, "\n\n") : NULL;
	if (end) {
		end[2] = '\0';
		common = strdup(from + strlen("format:\n"));
	}
	for (i = 0; common && i < ARRAY_SIZE(wanted); i++) {
		if (!strstr(common, wanted[i])) {
			free(common);
			common = NULL;
		}
	}
	free(text);
	return common;
}

static bool is_id_used(const struct rec *r, char *const *ftrace, int id)
{
	size_t i;

	for (i = 0; ftrace && ftrace[i]; i++)
		if (rec_tracefs_read_id("ftrace", ftrace[i]) == id)
			return true;
	for (i = 0; i < r->nr_events; i++)
		if (rec_tracefs_read_id(r->event[i].system, r->event[i].name) == id)
			return true;
	return false;
}

/* The layout that record/bpf/insert.c writes for samples and functions */
static int check_layout(const char *event, const char *option, const char *first,
			const char *second)
{
	char path[64], *text;
	bool known;

	snprintf(path, sizeof(path), "events/ftrace/%s/format", event);
	text = rec_tracefs_read(NULL, path, NULL);
	known = text && strstr(text, first) && strstr(text, second);
	free(text);
	if (known)
		return 0;
	tool_error("%s/events/ftrace/%s: trace-ustack does not know this kernel's layout of these "
		   "records; leave %s out", tracefs_tracing_dir(), event, option);
	return TOOL_FAIL;
}

int format_choose_ids(struct rec *r)
{
	char *common = read_common_fields(), **ftrace;
	int id = UINT16_MAX, f;

	if (!common) {
		tool_error("%s/events/ftrace: the records of this kernel have other common fields "
			   "than trace-ustack knows; --source frame-pointers needs none",
			   tracefs_tracing_dir());
		return TOOL_FAIL;
	}
	free(common);
	if ((r->opts.freq || r->nr_functions) &&
	    check_layout("kernel_stack", r->opts.freq ? "-F" : "-l",
			 " size;\toffset:8;\tsize:4;", " caller[8];\toffset:16;\tsize:64;"))
		return TOOL_FAIL;
	if (r->nr_functions &&
	    check_layout("function", "-l", " ip;\toffset:8;\tsize:8;",
			 " parent_ip;\toffset:16;\tsize:8;"))
		return TOOL_FAIL;
	/* the kernel gives out ids from the lowest on */
	ftrace = tracefs_system_events(tracefs_tracing_dir(), "ftrace");
	for (f = 0; f < FORMAT_NR; f++) {
		while (is_id_used(r, ftrace, id))
			id--;
		r->format_id[f] = id--;
	}
	tracefs_list_free(ftrace);
	return 0;
}

int format_get_id(const struct rec *r, enum format f)
{
	if (r->request_by == REQUEST_BY_BPF)
		return r->format_id[f];
	return rec_tracefs_read_id("ftrace", formats[f].name);
}

char *format_read(const struct rec *r, enum format f, size_t *size)
{
	struct text t = {};
	char file[64], *common;

	if (r->request_by != REQUEST_BY_BPF) {
		snprintf(file, sizeof(file), "events/ftrace/%s/format", formats[f].name);
		return rec_tracefs_read(NULL, file, size);
	}
	common = read_common_fields();
	if (!common)
		return NULL;
	text_addf(&t, "name: %s\nID: %d\nformat:\n", formats[f].name, r->format_id[f]);
	text_add(&t, common);
	text_add(&t, formats[f].rest);
	free(common);
	if (t.failed) {
		free(t.v);
		return NULL;
	}
	if (size)
		*size = t.nr;
	return t.v;
}
