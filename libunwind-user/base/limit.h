/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit.h - limits of a helper process: its CPU time, and the life of its parent */
#ifndef UU_LIMIT_H
#define UU_LIMIT_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* End this process after so many seconds of CPU time, or at a lower limit it has; no core dump. */
static inline void limit_cpu_time(rlim_t seconds)
{
	struct rlimit none = { 0, 0 }, cpu;

	setrlimit(RLIMIT_CORE, &none);
	if (!getrlimit(RLIMIT_CPU, &cpu) && cpu.rlim_cur > seconds) {
		cpu.rlim_cur = seconds;
		cpu.rlim_max = seconds + 1;
		setrlimit(RLIMIT_CPU, &cpu);
	}
}

/*
 * End this process when @parent ends, which forked it. The kernel sends no signal for a parent that
 * ended before the prctl(), so this process then ends at once.
 */
static inline void limit_to_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

#endif
