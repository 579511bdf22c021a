/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.h - reads clocks */
#ifndef UU_CLOCK_H
#define UU_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND	1000000000ull

static inline uint64_t clock_get_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in ms. */
static inline int64_t clock_get_ms(void)
{
	return clock_get_ns(CLOCK_MONOTONIC) / 1000000;
}

static inline double clock_get_seconds(void)
{
	return clock_get_ns(CLOCK_MONOTONIC) / 1e9;
}

#endif
