/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit.h - limits of a process that reads a file from elsewhere */
#ifndef UU_LIMIT_H
#define UU_LIMIT_H

#include <sys/resource.h>

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

#endif
