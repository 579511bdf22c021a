// SPDX-License-Identifier: GPL-2.0
/* none.c - in a build without clang or libbpf: no user stacks by BPF */
#ifdef NO_BPF

#include <errno.h>
#include <stdio.h>

#include "bpf.h"
#include "trace-cmd-ext/tool/tool.h"

int bpf_check(struct tool_why *why)
{
	return tool_set_why(why, -EOPNOTSUPP, "build it with clang and libbpf-dev installed",
			    "this trace-ustack was built without BPF");
}

static int refuse(char *why, size_t size)
{
	struct tool_why refused;
	int ret = bpf_check(&refused);

	snprintf(why, size, "%s", refused.text);
	return ret;
}

bool bpf_tracepoints_migrate(void)
{
	return true;
}

int bpf_check_functions(struct tool_why *why)
{
	return bpf_check(why);
}

int bpf_check_event(const struct bpf_event *event, char *why, size_t size)
{
	(void)event;
	return refuse(why, size);
}

int bpf_open(struct bpf_source **src, const struct bpf_opts *opts, char *why, size_t size)
{
	(void)opts;
	*src = NULL;
	return refuse(why, size);
}

int bpf_add_uprobe(struct bpf_source *src, const struct bpf_event *event,
		   const struct bpf_place *at, char *why, size_t size)
{
	(void)src;
	(void)event;
	(void)at;
	return refuse(why, size);
}

int bpf_add_task(struct bpf_source *src, pid_t tid)
{
	(void)src;
	(void)tid;
	return -EOPNOTSUPP;
}

int bpf_leave_out(struct bpf_source *src, pid_t tid)
{
	return bpf_add_task(src, tid);
}

int bpf_add_table(struct bpf_source *src, int fd, const char *path)
{
	(void)src;
	(void)fd;
	(void)path;
	return -EOPNOTSUPP;
}

int bpf_start(struct bpf_source *src)
{
	(void)src;
	return -EOPNOTSUPP;
}

void bpf_sample(struct bpf_source *src, bool on)
{
	(void)src;
	(void)on;
}

int bpf_stop(struct bpf_source *src)
{
	(void)src;
	return -EOPNOTSUPP;
}

void bpf_get_stats(const struct bpf_source *src, struct bpf_stats *stats)
{
	(void)src;
	*stats = (struct bpf_stats) { 0 };
}

void bpf_add_comms(const struct bpf_source *src, struct text *t)
{
	(void)src;
	(void)t;
}

uint64_t bpf_get_skipped(const struct bpf_source *src, int id)
{
	(void)src;
	(void)id;
	return 0;
}

bool bpf_get_file(const struct bpf_source *src, uint32_t dev_major, uint32_t dev_minor,
		  uint64_t ino, struct bpf_file *file)
{
	(void)src;
	(void)dev_major;
	(void)dev_minor;
	(void)ino;
	*file = (struct bpf_file) { 0 };
	return false;
}

void bpf_close(struct bpf_source *src)
{
	(void)src;
}

#endif
