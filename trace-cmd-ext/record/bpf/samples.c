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
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl.h"

#define MAX_RATE	"kernel/perf_event_max_sample_rate"
#define NSEC_PER_SEC	1000000000ull

static int attach_to_cpu(struct bpfsrc_attached *a, int cpu, int prog, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = period, .exclude_idle = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), ret;

	/* this CPU is off */
	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	ret = bpfsrc_add_link(a, fd);
	if (ret)
		return ret;
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
}

/* The kernel drops samples beyond this number a second and CPU, and says so nowhere. */
static int check_rate(uint64_t period, char *why, size_t size)
{
	FILE *f = fopen("/proc/sys/" MAX_RATE, "re");
	unsigned long max;
	bool known;

	if (!f)
		return 0;
	known = fscanf(f, "%lu", &max) == 1;
	fclose(f);
	if (!known || NSEC_PER_SEC / period <= max)
		return 0;
	return bpfsrc_set_error(why, size, -EINVAL, "-F: this kernel takes at most %lu samples a "
				"second: ask for fewer, or raise the limit in /proc/sys/" MAX_RATE,
				max);
}

int bpfsrc_attach_samples(struct bpfsrc_attached *a, int prog, uint64_t period, char *why,
			  size_t size)
{
	int cpus = libbpf_num_possible_cpus(), cpu, ret = check_rate(period, why, size);

	if (ret)
		return ret;
	if (cpus < 0)
		ret = cpus;
	for (cpu = 0; cpu < cpus && !ret; cpu++)
		ret = attach_to_cpu(a, cpu, prog, period);
	if (!ret)
		return 0;
	return bpfsrc_set_error(why, size, ret, "-F: the kernel does not take samples of the CPUs "
				"by perf_event_open(2): %s", strerror(-ret));
}
