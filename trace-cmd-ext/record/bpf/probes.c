// SPDX-License-Identifier: GPL-2.0
/*
 * probes.c - attach programs to kprobe events and uprobe events; see probe.bpf.h
 *
 * perf can open a kprobe event of ftrace, and attach a program to it. The event need not count or
 * sample for that. The kernel calls the program for each hit on any CPU. The same holds for the
 * uprobes that perf makes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl.h"

#define UPROBE		"/sys/bus/event_source/devices/uprobe/"
#define CONFIG_RETURN	1ull
#define CONFIG_REF_CTR	32		/* shift; as in UPROBE "format" */

bool bpfsrc_has_kind(const struct bpfsrc_opts *opts, enum bpfsrc_kind kind)
{
	size_t i;

	for (i = 0; i < opts->nr_events; i++)
		if (opts->event[i].kind == kind)
			return true;
	return false;
}

void bpfsrc_choose_probes(struct bpf_object *obj, bool kprobes, bool uprobes)
{
	bpfsrc_set_load(obj, "on_probe", kprobes);
	bpfsrc_set_load(obj, "read_probe", kprobes);
	bpfsrc_set_load(obj, "on_uprobe", uprobes);
	bpfsrc_set_load(obj, "walk_probe", kprobes || uprobes);
}

/* Open the event on one CPU. It never counts: the descriptor only serves to attach programs. */
static int open_event(struct perf_event_attr *attr)
{
	int cpus = libbpf_num_possible_cpus(), cpu, fd = -ENODEV;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	/* ENODEV: this CPU is off */
	for (cpu = 0; cpu < cpus && fd == -ENODEV; cpu++) {
		fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

/* Load a copy of a program, and attach it. */
static int attach_copy(struct bpfsrc_attached *a, const struct bpf_program *prog, int event, int id,
		       unsigned int counter)
{
	int fd = bpfsrc_load_copy(prog, id, counter), ret;

	ret = fd < 0 ? fd : bpfsrc_add_copy(a, fd, id, 0);
	if (!ret && ioctl(event, PERF_EVENT_IOC_SET_BPF, fd))
		ret = -errno;
	return ret;
}

static int read_probe(struct bpf_object *obj, int event, unsigned int counter, const char **cause)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "read_probe");
	uint64_t args[] = { event, bpf_object__find_map_fd_by_name(obj, "counts"), counter };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));
	int cpus = libbpf_num_possible_cpus(), ret;

	ret = bpf_prog_test_run_opts(bpf_program__fd(prog), &run);
	if (ret) {
		*cause = strerror(-ret);
	} else if ((int)run.retval < 0) {
		*cause = "it has several places in the kernel, and BPF does not see which was hit";
		ret = -EOPNOTSUPP;
	} else if ((int)run.retval < cpus) {
		*cause = "this kernel does not count its hits in a way that is known";
		ret = -EOPNOTSUPP;
	}
	return ret;
}

int bpfsrc_attach_probe(struct bpfsrc_attached *a, struct bpf_object *obj,
			const struct bpfsrc_event *e, unsigned int counter, char *why, size_t size)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_probe");
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .config = e->id };
	const char *cause = NULL;
	int event, ret;

	event = open_event(&attr);
	if (event < 0)
		return bpfsrc_set_error(why, size, event, "%s:%s: perf cannot open it: %s",
					e->system, e->name, strerror(-event));
	ret = bpfsrc_add_link(a, event);
	if (!ret)
		ret = read_probe(obj, event, counter, &cause);
	if (!ret)
		ret = attach_copy(a, prog, event, e->id, counter);
	if (ret)
		bpfsrc_set_error(why, size, ret, "%s:%s: a BPF program cannot be attached: %s",
				 e->system, e->name, cause ? cause : strerror(-ret));
	return ret;
}

/* The number of the kind of events that perf's uprobes are, or -errno */
static int read_uprobe_type(void)
{
	FILE *f = fopen(UPROBE "type", "re");
	int type = -ENOENT;

	if (!f)
		return -errno;
	if (fscanf(f, "%d", &type) != 1)
		type = -EINVAL;
	fclose(f);
	return type;
}

int bpfsrc_attach_uprobe(struct bpfsrc_attached *a, struct bpf_object *obj,
			 const struct bpfsrc_event *e, const struct bpfsrc_site *at,
			 char *why, size_t size)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_uprobe");
	struct perf_event_attr attr = {
		.config = at->ref_ctr << CONFIG_REF_CTR | (at->returns ? CONFIG_RETURN : 0),
		.uprobe_path = (uintptr_t)at->path, .probe_offset = at->offset,
	};
	int type = read_uprobe_type(), event = type, ret;

	if (type >= 0) {
		attr.type = type;
		event = open_event(&attr);
	}
	ret = event < 0 ? event : bpfsrc_add_link(a, event);
	if (!ret)
		ret = attach_copy(a, prog, event, e->id, 0);
	if (ret)
		bpfsrc_set_error(why, size, ret, "%s:%s: a BPF program cannot be attached to %s: "
				 "%s", e->system, e->name, at->path, strerror(-ret));
	return ret;
}
