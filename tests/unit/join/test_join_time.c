// SPDX-License-Identifier: GPL-2.0
/* test_join_time.c - requests and stacks whose cookies are used again or whose clocks differ */
#include "join_build.h"

static void among_equal_cookies_the_nearest_in_time_is_taken(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack(cpu1, 10, C1, 200, 0xa);
	request(cpu0, 10, C2, 300);
	stack(cpu0, 10, C2, 310, 0xc);
	request(cpu0, 10, C1, FAR + 100);
	stack(cpu1, 10, C1, FAR + 200, 0xb);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
	assert_stack(at(0, 10, FAR + 100), 0xb);
}

static void of_two_possible_stacks_the_nearest_is_taken(void **state)
{
	uint32_t cpu2;

	(void)state;
	join_add_stream(j, 0, 2, &cpu2);
	stack(cpu1, 10, C1, 300, 0xb);
	stack(cpu2, 10, C1, 100, 0xa);
	request(cpu0, 10, C1, 120);
	request(cpu0, 11, C2, 125);
	request(cpu0, 10, C2, 200);
	request(cpu0, 10, C1, 290);
	finish();
	assert_stack(at(0, 10, 120), 0xa);
	assert_stack(at(0, 10, 290), 0xb);
}

static void a_stack_past_another_cookie_on_the_same_cpu_is_refused(void **state)
{
	(void)state;
	/* C1's stack is missing; the same cookie comes back right after C2 */
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 110);
	stack(cpu0, 10, C2, 120, 0xc);
	request(cpu0, 10, C1, 130);
	stack(cpu0, 10, C1, 140, 0xb);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
	assert_stack(at(0, 10, 130), 0xb);
}

static void a_far_stack_past_another_cookie_on_another_cpu_is_refused(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 110);
	stack(cpu0, 10, C2, 120, 0xc);
	stack(cpu1, 10, C1, FAR + 100, 0xb);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
}

static void a_cookie_that_came_back_gets_the_stack_of_its_time(void **state)
{
	(void)state;
	/* on CPU 0 nothing lies between the two; on CPU 1 it does */
	request(cpu0, 10, C1, 100);
	stack(cpu0, 10, C1, 150, 0xa);
	request(cpu1, 10, C2, 1000);
	stack(cpu1, 10, C2, 1050, 0xc);
	request_part(cpu0, 10, C1, 60 * FAR, 1);
	stack(cpu1, 10, C1, 60 * FAR + 50, 0xb);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
	assert_stack(at(0, 10, 60 * FAR), 0xb);
}

static void a_cookie_that_came_back_without_its_stack_gets_none(void **state)
{
	(void)state;
	/* the stack of a minute ago is in its own stream, with no other cookie there */
	request(cpu0, 10, C1, 100);
	stack(cpu0, 10, C1, 150, 0xa);
	request(cpu1, 10, C2, 1000);
	request_part(cpu0, 10, C1, 60 * FAR, 1);
	request(cpu1, 10, C2 + 2, 61 * FAR);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
	assert_int_equal(at(0, 10, 60 * FAR).state, JOIN_UNRECORDED);
}

static void another_cookies_stack_between_ends_an_entry_too(void **state)
{
	(void)state;
	/* whose request was dropped */
	request(cpu0, 10, C1, 100);
	stack(cpu1, 10, C2, 1000, 0xc);
	stack(cpu0, 10, C1, FAR + 100, 0xa);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
}

static void the_own_buffer_does_not_go_before_another_entry(void **state)
{
	uint32_t other;

	(void)state;
	/* both are near enough to be meant, but too far from one another to be copies */
	join_add_stream(j, 1, 0, &other);
	stack(cpu1, 10, C1, FAR - JOIN_PERIOD / 4 * 3, 0xb);
	request(cpu1, 10, C2, FAR - JOIN_PERIOD / 2);
	request(cpu0, 10, C1, FAR);
	stack(other, 10, C1, FAR + JOIN_PERIOD / 2, 0xa);
	finish();
	join_set_range(j, other, 1, 2);
	assert_stack(at(0, 10, FAR), 0xa);
}

static void a_whole_stack_of_another_entry_does_not_replace_a_cut_one(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 2, false);
	request(cpu1, 10, C2, FAR);
	stack_nr(cpu1, 10, C1, 2 * FAR, 0, 0x10, 4, false);
	finish();
	assert_int_equal(at(0, 10, 100).nr, 2);
	assert_int_equal(at(0, 10, 100).flags, STACK_CUT_OUTER);
}

static void just_less_than_a_period_is_left_to_the_clocks(void **state)
{
	(void)state;
	/* CPU 1's clock is late or early: by its time the other request is in between */
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 200);
	stack(cpu1, 10, C1, 100 + JOIN_PERIOD - 1, 0xa);
	request(cpu0, 11, C1, 100);
	request(cpu0, 11, C2, 200);
	stack(cpu1, 11, C1, 100 + JOIN_PERIOD, 0xb);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
	assert_int_equal(at(0, 11, 100).state, JOIN_UNRECORDED);
}

static void a_slow_clock_is_believed_at_any_distance(void **state)
{
	(void)state;
	join_set_slow_clock(j);
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 105);
	stack(cpu1, 10, C2, 106, 0xc);
	stack(cpu1, 10, C1, 110, 0xb);
	request(cpu0, 11, C1, 100);
	stack(cpu1, 11, C1, 110, 0xd);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
	assert_stack(at(0, 11, 100), 0xd);
}

static void at_equal_times_nothing_lies_between(void **state)
{
	(void)state;
	join_set_slow_clock(j);
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 100);
	stack(cpu1, 10, C1, 100, 0xa);
	stack(cpu1, 10, C2, 100, 0xc);
	finish();
	assert_stack(at(0, 10, 100), 0xc);
	assert_int_equal(requests_joined(), 2);
}

static void a_task_that_slept_for_long_gets_its_stack(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	request(cpu1, 10, C1, 10 * FAR);	/* still in the same system call */
	stack(cpu1, 10, C1, 10 * FAR + 5, 0xa);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
}

static void a_stack_may_be_on_another_cpu_with_another_clock(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 1000000);
	stack(cpu1, 10, C1, 500, 0xa);
	finish();
	assert_stack(at(0, 10, 1000000), 0xa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(among_equal_cookies_the_nearest_in_time_is_taken),
		T(of_two_possible_stacks_the_nearest_is_taken),
		T(a_stack_past_another_cookie_on_the_same_cpu_is_refused),
		T(a_far_stack_past_another_cookie_on_another_cpu_is_refused),
		T(a_cookie_that_came_back_gets_the_stack_of_its_time),
		T(a_cookie_that_came_back_without_its_stack_gets_none),
		T(another_cookies_stack_between_ends_an_entry_too),
		T(the_own_buffer_does_not_go_before_another_entry),
		T(a_whole_stack_of_another_entry_does_not_replace_a_cut_one),
		T(just_less_than_a_period_is_left_to_the_clocks),
		T(a_slow_clock_is_believed_at_any_distance),
		T(at_equal_times_nothing_lies_between),
		T(a_task_that_slept_for_long_gets_its_stack),
		T(a_stack_may_be_on_another_cpu_with_another_clock),
	};

	return cmocka_run_group_tests_name("join, by time", tests, NULL, NULL);
}
