// SPDX-License-Identifier: GPL-2.0
/* none.c - in a build without clang or libbpf: no user stacks by BPF */
#ifdef NO_BPF

#include <errno.h>
#include <stdio.h>

#include "bpf.h"
#include "trace-cmd-ext/tool/tool.h"

int bpfsrc_check(struct tool_why *why)
{
	return tool_set_why(why, -EOPNOTSUPP, "build it with clang and libbpf-dev installed",
			    "this trace-ustack was built without BPF");
}

static int refuse(char *why, size_t size)
{
	struct tool_why refused;
	int ret = bpfsrc_check(&refused);

	snprintf(why, size, "%s", refused.text);
	return ret;
}

bool bpfsrc_tracepoints_migrate(void)
{
	return true;
}

int bpfsrc_check_functions(struct tool_why *why)
{
	return bpfsrc_check(why);
}

int bpfsrc_check_event(const struct bpfsrc_event *event, char *why, size_t size)
{
	(void)event;
	return refuse(why, size);
}

int bpfsrc_open(struct bpfsrc **src, const struct bpfsrc_opts *opts, char *why, size_t size)
{
	(void)opts;
	*src = NULL;
	return refuse(why, size);
}

int bpfsrc_add_uprobe(struct bpfsrc *src, const struct bpfsrc_event *event,
		      const struct bpfsrc_site *at, char *why, size_t size)
{
	(void)src;
	(void)event;
	(void)at;
	return refuse(why, size);
}

int bpfsrc_add_task(struct bpfsrc *src, pid_t tid)
{
	(void)src;
	(void)tid;
	return -EOPNOTSUPP;
}

int bpfsrc_leave_out(struct bpfsrc *src, pid_t tid)
{
	return bpfsrc_add_task(src, tid);
}

int bpfsrc_add_table(struct bpfsrc *src, int fd, const char *path)
{
	(void)src;
	(void)fd;
	(void)path;
	return -EOPNOTSUPP;
}

int bpfsrc_start(struct bpfsrc *src)
{
	(void)src;
	return -EOPNOTSUPP;
}

void bpfsrc_set_sampling(struct bpfsrc *src, bool on)
{
	(void)src;
	(void)on;
}

int bpfsrc_stop(struct bpfsrc *src)
{
	(void)src;
	return -EOPNOTSUPP;
}

void bpfsrc_get_stats(const struct bpfsrc *src, struct bpfsrc_stats *stats)
{
	(void)src;
	*stats = (struct bpfsrc_stats) { 0 };
}

void bpfsrc_add_comms(const struct bpfsrc *src, struct text *t)
{
	(void)src;
	(void)t;
}

uint64_t bpfsrc_get_skipped(const struct bpfsrc *src, int id)
{
	(void)src;
	(void)id;
	return 0;
}

bool bpfsrc_get_file(const struct bpfsrc *src, uint32_t dev_major, uint32_t dev_minor,
		     uint64_t ino, struct bpfsrc_file *file)
{
	(void)src;
	(void)dev_major;
	(void)dev_minor;
	(void)ino;
	*file = (struct bpfsrc_file) { 0 };
	return false;
}

void bpfsrc_close(struct bpfsrc *src)
{
	(void)src;
}

#endif
