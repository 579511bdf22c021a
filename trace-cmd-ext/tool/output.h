/* SPDX-License-Identifier: GPL-2.0 */
/*
 * output.h - the file that a picture or an export is written to
 *
 * With a path, the output goes to a new file next to it, which takes its place when all is written:
 * a run that fails leaves the old file. Without a path, the output goes to standard output.
 */
#ifndef TRACE_USTACK_OUTPUT_H
#define TRACE_USTACK_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *f;
	const char *path;		/* NULL: standard output */
	char *temporary;
};

/* Would the output @path take the place of the recording @input? Either may be NULL. */
bool output_is_input(const char *path, const char *input);
/* 0, or TOOL_OUTPUT after printing the error. */
int output_open(struct output *o, const char *path);
/* Keep the output if @code is TOOL_OK, or remove it. Returns @code; TOOL_OUTPUT after an error. */
int output_close(struct output *o, int code);

#endif
