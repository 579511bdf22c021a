// SPDX-License-Identifier: GPL-2.0
/*
 * probes.c - attach programs to kprobe events; see probe.bpf.h
 *
 * perf can open any event of ftrace, and attach a program to it. The event need not count or sample
 * for that. The kernel calls the program for each hit on any CPU.
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

static const char *const programs[] = { "on_probe", "walk_probe", "read_probe" };

bool bpf_has_probes(const struct bpf_opts *opts)
{
	size_t i;

	for (i = 0; i < opts->nr_events; i++)
		if (opts->event[i].kind == BPF_KPROBE)
			return true;
	return false;
}

void bpf_choose_probes(struct bpf_object *obj, bool load)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, programs[i]), load);
}

/* The event counts on one CPU, never: perf opens it only for its programs. */
static int open_event(int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id, .disabled = 1,
	};
	int cpus = libbpf_num_possible_cpus(), cpu, fd = -ENODEV;

	/* ENODEV: this CPU is off */
	for (cpu = 0; cpu < cpus && fd == -ENODEV; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

static int read_probe(struct bpf_object *obj, int event, unsigned int place, const char **cause)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "read_probe");
	uint64_t args[] = { event, bpf_object__find_map_fd_by_name(obj, "hits"), place };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));
	int cpus = libbpf_num_possible_cpus(), ret;

	ret = bpf_prog_test_run_opts(bpf_program__fd(prog), &run);
	if (ret) {
		*cause = strerror(-ret);
	} else if ((int)run.retval < 0) {
		*cause = "it has several places in the kernel, and BPF cannot tell which was hit";
		ret = -EOPNOTSUPP;
	} else if ((int)run.retval < cpus) {
		*cause = "this kernel does not count its hits in a way that is known";
		ret = -EOPNOTSUPP;
	}
	return ret;
}

int bpf_attach_probe(struct bpf_attached *a, struct bpf_object *obj, const struct bpf_event *e,
		     unsigned int place, char *why, size_t size)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_probe");
	int event, fd = -EINVAL, ret;
	const char *cause = NULL;

	if (place >= MAX_PROBES)
		return bpf_say(why, size, -E2BIG, "%s:%s: no more than %d kprobe events can have "
			       "user stacks from BPF at a time", e->system, e->name, MAX_PROBES);
	event = open_event(e->id);
	if (event < 0)
		return bpf_say(why, size, event, "%s:%s: perf cannot open it: %s", e->system,
			       e->name, strerror(-event));
	ret = bpf_keep_link(a, event);
	if (!ret)
		ret = read_probe(obj, event, place, &cause);
	if (!ret) {
		fd = bpf_load_copy(prog, e->id, place);
		ret = fd < 0 ? fd : bpf_keep_copy(a, fd, e->id);
	}
	if (!ret && ioctl(event, PERF_EVENT_IOC_SET_BPF, fd))
		ret = -errno;
	if (ret)
		bpf_say(why, size, ret, "%s:%s: a BPF program cannot be attached: %s", e->system,
			e->name, cause ? cause : strerror(-ret));
	return ret;
}
