// SPDX-License-Identifier: GPL-2.0
/*
 * samples.c - samples of the CPUs, by a timer
 *
 * The event is perf's cpu-clock: a timer of the kernel, which each machine has. It counts while the
 * CPU is busy. The kernel takes a sample in the timer's interrupt: code that has interrupts off is
 * sampled where it switches them on again.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl.h"

static int attach(struct bpf_attached *a, int cpu, int prog, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = period, .exclude_idle = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), ret;

	/* this CPU is off */
	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	ret = bpf_keep_link(a, fd);
	if (ret)
		return ret;
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
}

int bpf_attach_samples(struct bpf_attached *a, int prog, uint64_t period, char *why, size_t size)
{
	int cpus = libbpf_num_possible_cpus(), cpu, ret = cpus < 0 ? cpus : 0;

	for (cpu = 0; cpu < cpus && !ret; cpu++)
		ret = attach(a, cpu, prog, period);
	if (!ret)
		return 0;
	return bpf_say(why, size, ret, "-F: the kernel does not take samples of the CPUs by "
		       "perf_event_open(2): %s", strerror(-ret));
}
