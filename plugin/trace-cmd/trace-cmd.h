/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace-cmd.h - the plugin for trace-cmd and for other programs that print with libtraceevent
 *
 * trace-ustack report prints with the same handlers, over a join that it has made itself.
 */
#ifndef USTACK_TRACE_CMD_H
#define USTACK_TRACE_CMD_H

#include "plugin/join/join.h"
#include "plugin/recording/recording.h"
#include "libunwind-user/base/base.h"

#define NR_KERNEL_LINES 4096

struct kernel_line {
	unsigned long long addr;
	uint32_t len;			/* 0: free */
	char line[116];
};

/*
 * One opened trace.dat. Its tep handle serves all its buffer instances, so everything here is about
 * the whole file.
 */
struct ustack_file {
	struct ustack_file *next;
	struct tep_handle *tep;
	int fd;			/* the file, opened by the plugin; -1 after the scan */
	char *path;		/* for messages */
	bool scanned;		/* scan is valid, frames may be NULL */
	struct decode dec;
	struct scan scan;
	struct frames *frames;
	struct text text;
	struct kernel_line kernel_lines[NR_KERNEL_LINES];
};

/* The options as the user set them (trace-cmd/options.c). */
struct ustack_options {
	struct frames_opts frames;
	bool summary;		/* counts on standard error when the file is closed */
	bool kernel_offset;	/* ftrace:offset of another plugin, for kernel stacks */
};

void options_add(void);
void options_remove(void);
void options_read(struct ustack_options *opts);

/* trace-cmd/handlers.c */
void handlers_register(struct ustack_file *u);
/* Unregister the handlers, print the summary if the options ask for it, and free @u. */
void ustack_file_close(struct ustack_file *u);
/* Make the frames of a file whose scan was not made from it: for tests. */
int ustack_file_make_frames(struct ustack_file *u);

#endif
