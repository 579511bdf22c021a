/* SPDX-License-Identifier: GPL-2.0 */
/* join_build.h - fills a join by hand; test_join.c and test_join_time.c share it */
#ifndef JOIN_BUILD_H
#define JOIN_BUILD_H

#include "plugin/join/join.h"
#include "tests/unit/unit.h"

#define C1	0x100000002ull
#define C2	0x100000004ull
#define FAR	(1ull << 32)	/* further apart than a cookie takes to come back */

static struct join *j;
static uint32_t cpu0, cpu1;	/* streams of buffer 0 */

static inline int setup(void **state)
{
	(void)state;
	j = join_new();
	return join_add_stream(j, 0, 0, &cpu0) || join_add_stream(j, 0, 1, &cpu1);
}

static inline int teardown(void **state)
{
	(void)state;
	join_free(j);
	return 0;
}

/* Positions: the time, unless a test says otherwise. */
static inline void request_at(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts,
			      uint64_t pos)
{
	struct join_run r = {
		.cookie = cookie, .pos = pos, .ts = ts, .tid = tid, .stream = stream, .events = 1,
	};

	assert_int_equal(join_add_run(j, &r), 0);
}

/*
 * A request in another part of the stream: the join decides whether it is of the same kernel entry.
 */
static inline void request_part(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts,
				uint32_t part)
{
	struct join_run r = {
		.cookie = cookie, .pos = ts, .ts = ts, .tid = tid, .stream = stream, .events = 1,
		.part = part,
	};

	assert_int_equal(join_add_run(j, &r), 0);
}

static inline void request(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts)
{
	request_at(stream, tid, cookie, ts, ts);
}

static inline void stack_nr(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts,
			    uint32_t flags, uint64_t addr, uint32_t nr, bool after_loss)
{
	uint64_t addrs[8];
	struct join_stack s = {
		.cookie = cookie, .pos = ts, .ts = ts, .addrs = addrs, .nr = nr, .tid = tid,
		.tgid = tid, .flags = flags, .stream = stream, .after_loss = after_loss,
	};
	uint32_t i;

	for (i = 0; i < nr; i++)
		addrs[i] = addr + i;
	assert_int_equal(join_add_stack(j, &s), 0);
}

static inline void stack(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts,
			 uint64_t addr)
{
	stack_nr(stream, tid, cookie, ts, 0, addr, 1, false);
}

/* A record that stands for the stack that was recorded under the cookie @first. */
static inline void again(uint32_t stream, uint32_t tid, uint64_t cookie, uint64_t ts,
			 uint64_t first)
{
	stack_nr(stream, tid, cookie, ts, STACK_AGAIN, first, 1, false);
}

static inline void finish(void)
{
	assert_int_equal(join_finish(j), 0);
}

static inline struct join_answer at(uint32_t cpu, uint32_t tid, uint64_t ts)
{
	struct join_answer a;

	join_find_answer(j, &(struct join_question){ cpu, tid, ts, ts, 0 }, &a);
	return a;
}

static inline uint64_t requests_joined(void)
{
	struct join_stats st;

	join_get_stats(j, &st);
	return st.requests[JOIN_STACK];
}

static inline void assert_stack(struct join_answer a, uint64_t addr)
{
	assert_int_equal(a.state, JOIN_STACK);
	assert_true(a.nr > 0);
	assert_int_equal(a.addrs[0], addr);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
