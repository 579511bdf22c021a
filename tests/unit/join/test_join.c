// SPDX-License-Identifier: GPL-2.0
/*
 * test_join.c - which stack answers which request
 *
 * A request without a stack gets a reason.
 */
#include <errno.h>

#include "join_build.h"

static void a_stack_answers_its_request(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack(cpu0, 10, C1, 200, 0xa);
	finish();
	assert_stack(at(0, 10, 100), 0xa);
}

static void a_stack_may_come_before_its_request(void **state)
{
	(void)state;
	stack(cpu0, 10, C1, 100, 0xa);
	request(cpu0, 10, C1, 200);
	finish();
	assert_stack(at(0, 10, 200), 0xa);
}

static void one_stack_answers_every_request_of_its_cookie(void **state)
{
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C1, 110);
	request(cpu1, 10, C1, 120);
	stack(cpu1, 10, C1, 130, 0xa);
	finish();
	assert_stack(at(0, 10, 105), 0xa);	/* in the run */
	assert_stack(at(0, 10, 110), 0xa);
	assert_stack(at(1, 10, 120), 0xa);
	join_get_stats(j, &st);
	assert_int_equal(st.requests[JOIN_STACK], 3);
	assert_int_equal(st.unclaimed, 0);
}

static void another_task_with_the_same_cookie_is_another_key(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	request(cpu0, 11, C1, 110);
	stack(cpu0, 11, C1, 120, 0xb);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_PENDING);
	assert_stack(at(0, 11, 110), 0xb);
}

static void without_a_later_cookie_the_task_is_still_in_the_kernel(void **state)
{
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C1, 100);
	stack(cpu0, 10, C1, 110, 0xa);
	request(cpu0, 10, C2, 200);
	request(cpu0, 10, C2, 210);
	finish();
	assert_int_equal(at(0, 10, 200).state, JOIN_PENDING);
	join_get_stats(j, &st);
	assert_int_equal(st.requests[JOIN_PENDING], 2);
	assert_int_equal(st.requests[JOIN_STACK], 1);
}

static void the_same_cookie_later_does_not_hide_the_other_between(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 200);
	stack(cpu0, 10, C2, 210, 0xa);
	request(cpu0, 10, C1, 300);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
	assert_int_equal(at(0, 10, 300).state, JOIN_PENDING);
}

static void with_a_later_cookie_and_no_drops_a_stack_was_not_recorded(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack(cpu1, 10, C2, 200, 0xa);		/* a stack shows it, too */
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
}

static void with_a_later_cookie_and_drops_a_stack_is_lost(void **state)
{
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C1, 100);
	join_add_loss(j, cpu1, 7);
	request(cpu0, 10, C2, 200);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_LOST);
	assert_int_equal(at(0, 10, 200).state, JOIN_PENDING);
	join_get_stats(j, &st);
	assert_int_equal(st.losses, 7);
	assert_int_equal(st.requests[JOIN_LOST], 1);
}

static void drops_of_another_buffer_do_not_explain_a_missing_stack(void **state)
{
	uint32_t other;

	(void)state;
	join_add_stream(j, 1, 0, &other);
	join_add_loss(j, other, 7);
	request(cpu0, 10, C1, 100);
	request(cpu0, 10, C2, 200);
	finish();
	join_set_range(j, other, 1, 0);
	assert_int_equal(at(0, 10, 100).state, JOIN_UNRECORDED);
}

static void drops_of_a_buffer_count_before_it_has_a_stream(void **state)
{
	uint32_t other;

	(void)state;
	assert_int_equal(join_set_dropped(j, 1), 0);
	assert_int_equal(join_add_stream(j, 1, 2, &other), 0);
	request(other, 10, C1, 100);
	request(other, 10, C2, 200);
	request(cpu0, 11, C1, 100);
	request(cpu0, 11, C2, 200);
	finish();
	assert_int_equal(at(2, 10, 100).state, JOIN_LOST);
	assert_int_equal(at(0, 11, 100).state, JOIN_UNRECORDED);
}

static void a_join_of_nothing_can_be_asked(void **state)
{
	struct join_stats st;

	(void)state;
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_NONE);
	join_get_stats(j, &st);
	assert_int_equal(st.requests[JOIN_UNRECORDED], 0);
}

static void in_a_damaged_file_what_is_missing_is_lost(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	join_set_damaged(j);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_LOST);
}

static void parts_become_one_stack(void **state)
{
	struct join_answer a;

	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 4, false);
	stack_nr(cpu0, 11, C1, 115, 0, 0x99, 1, false);	/* between them, another task */
	stack_nr(cpu0, 10, C1, 120, STACK_MORE, 0x14, 4, false);
	stack_nr(cpu0, 10, C1, 130, STACK_INCOMPLETE, 0x18, 1, false);
	finish();
	a = at(0, 10, 100);
	assert_stack(a, 0x10);
	assert_int_equal(a.nr, 9);
	assert_int_equal(a.addrs[8], 0x18);
	assert_int_equal(a.flags, STACK_INCOMPLETE);
}

static void a_stack_without_its_last_part_is_cut(void **state)
{
	struct join_answer a;

	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 4, false);
	request(cpu0, 10, C2, 200);
	stack_nr(cpu0, 10, C2, 210, 0, 0x20, 1, false);
	finish();
	a = at(0, 10, 100);
	assert_stack(a, 0x10);
	assert_int_equal(a.flags, STACK_CUT_OUTER);
	assert_int_equal(at(0, 10, 200).flags, 0);
}

static void parts_are_not_put_together_across_dropped_events(void **state)
{
	struct join_answer a;
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 4, false);
	join_add_loss(j, cpu0, 1);
	stack_nr(cpu0, 10, C1, 120, STACK_MORE, 0x18, 4, true);
	stack_nr(cpu0, 10, C1, 130, 0, 0x20, 1, false);
	finish();
	a = at(0, 10, 100);
	assert_int_equal(a.nr, 4);
	assert_int_equal(a.flags, STACK_CUT_OUTER);
	join_get_stats(j, &st);
	assert_int_equal(st.stacks, 1);
	assert_int_equal(st.cut, 2);
}

static void a_loss_on_another_cpu_does_not_cut(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 4, false);
	join_add_loss(j, cpu1, 1);
	stack_nr(cpu0, 10, C1, 120, 0, 0x14, 1, false);
	finish();
	assert_int_equal(at(0, 10, 100).nr, 5);
	assert_int_equal(at(0, 10, 100).flags, 0);
}

static void a_stack_right_after_a_loss_may_lack_its_start(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	join_add_loss(j, cpu0, 1);
	stack_nr(cpu0, 10, C1, 120, 0, 0x14, 1, true);
	finish();
	assert_int_equal(at(0, 10, 100).flags, STACK_NO_INNER);
}

static void a_whole_copy_in_another_buffer_replaces_a_cut_one(void **state)
{
	struct join_answer a;
	uint32_t other;

	(void)state;
	join_add_stream(j, 1, 0, &other);
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 2, false);
	stack_nr(other, 10, C1, 300, 0, 0x10, 4, false);
	finish();
	join_set_range(j, other, 1000, 2000);
	a = at(0, 10, 100);
	assert_int_equal(a.nr, 4);
	assert_int_equal(a.flags, 0);
}

static void a_whole_stack_that_disagrees_does_not_replace_a_cut_one(void **state)
{
	uint32_t other;

	(void)state;
	join_add_stream(j, 1, 0, &other);
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_MORE, 0x10, 2, false);
	stack_nr(other, 10, C1, 300, 0, 0x50, 4, false);
	finish();
	join_set_range(j, other, 1000, 2000);
	assert_int_equal(at(0, 10, 100).flags, STACK_CUT_OUTER);
	assert_int_equal(at(0, 10, 100).addrs[0], 0x10);
}

static void equal_stacks_are_stored_once(void **state)
{
	struct join_stats st;
	uint64_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		request(cpu0, 10, C1 + 2 * i, 100 + 10 * i);
		stack_nr(cpu0, 10, C1 + 2 * i, 105 + 10 * i, 0, i % 3 * 0x100, 5, false);
	}
	finish();
	join_get_stats(j, &st);
	assert_int_equal(st.requests[JOIN_STACK], 1000);
	assert_int_equal(st.stacks, 1000);
	assert_int_equal(st.distinct, 3);
	assert_int_equal(at(0, 10, 100).id, at(0, 10, 130).id);
	assert_int_not_equal(at(0, 10, 100).id, at(0, 10, 110).id);
}

static void a_stack_that_comes_again_answers(void **state)
{
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_INCOMPLETE, 0xa, 3, false);
	request(cpu0, 10, C2, 200);
	again(cpu1, 10, C2, 210, C1);
	finish();
	assert_stack(at(0, 10, 200), 0xa);
	assert_int_equal(at(0, 10, 200).nr, 3);
	assert_int_equal(at(0, 10, 200).ts, 210);
	assert_int_equal(at(0, 10, 200).cpu, 1);
	assert_int_equal(at(0, 10, 200).tgid, 10);
	assert_int_equal(at(0, 10, 200).flags, STACK_INCOMPLETE);
	assert_int_equal(at(0, 10, 200).id, at(0, 10, 100).id);
	join_get_stats(j, &st);
	assert_int_equal(st.stacks, 2);
	assert_int_equal(st.distinct, 1);
	assert_int_equal(st.incomplete, 2);
	assert_int_equal(st.unclaimed, 0);
}

static void a_stack_comes_again_in_its_task_only(void **state)
{
	(void)state;
	stack(cpu0, 11, C1, 110, 0xa);
	request(cpu0, 10, C2, 200);
	again(cpu0, 10, C2, 210, C1);
	finish();
	assert_int_equal(at(0, 10, 200).state, JOIN_LOST);
}

/* The cookie of a stack that is much older or newer means another one by then. */
static void a_stack_comes_again_soon(void **state)
{
	(void)state;
	stack(cpu0, 10, C1, 100, 0xa);
	request(cpu0, 10, C2, 200 + JOIN_PERIOD);
	again(cpu0, 10, C2, 210 + JOIN_PERIOD, C1);
	stack(cpu0, 10, C1, 300 + 2 * JOIN_PERIOD, 0xb);
	finish();
	assert_int_equal(at(0, 10, 200 + JOIN_PERIOD).state, JOIN_LOST);
}

static void a_stack_that_came_again_is_not_referred_to(void **state)
{
	(void)state;
	stack(cpu0, 10, C1, 100, 0xa);
	again(cpu0, 10, C2, 200, C1);
	request(cpu0, 10, C1 + 8, 300);
	again(cpu0, 10, C1 + 8, 310, C2);
	finish();
	assert_int_equal(at(0, 10, 300).state, JOIN_LOST);
}

static void a_stack_that_comes_again_is_best_of_its_buffer(void **state)
{
	uint32_t other;

	(void)state;
	assert_int_equal(join_add_stream(j, 1, 0, &other), 0);
	stack_nr(cpu0, 10, C1, 100, 0, 0xa, 3, false);
	stack_nr(other, 10, C1, 110, 0, 0xa, 2, false);
	request(cpu0, 10, C2, 200);
	again(cpu0, 10, C2, 210, C1);
	finish();
	assert_int_equal(at(0, 10, 200).nr, 3);
}

static void a_malformed_stack_that_comes_again_is_refused(void **state)
{
	uint64_t first[2] = { C1, C1 };
	struct join_stack s = { .cookie = C2, .tid = 10, .addrs = first, .flags = STACK_AGAIN,
				.stream = cpu0 };

	(void)state;
	assert_int_equal(join_add_stack(j, &s), -EINVAL);
	s.nr = 2;
	assert_int_equal(join_add_stack(j, &s), -EINVAL);
	s.nr = 1;
	s.flags |= STACK_MORE;
	assert_int_equal(join_add_stack(j, &s), -EINVAL);
}

static void a_stack_comes_again_as_it_was_last(void **state)
{
	(void)state;
	stack(cpu0, 10, C1, 100, 0xa);
	stack(cpu0, 10, C1, 100 + FAR, 0xb);
	request(cpu0, 10, C2, 200 + FAR);
	again(cpu0, 10, C2, 210 + FAR, C1);
	stack(cpu0, 10, C1, 300 + FAR, 0xc);
	finish();
	assert_stack(at(0, 10, 200 + FAR), 0xb);
}

static void a_stack_comes_again_though_its_clock_is_ahead(void **state)
{
	(void)state;
	stack(cpu1, 10, C1, 500, 0xa);
	request(cpu0, 10, C2, 200);
	again(cpu0, 10, C2, 210, C1);
	finish();
	assert_stack(at(0, 10, 200), 0xa);
}

/* The task has left the kernel, and its stack was recorded. */
static void a_stack_that_the_file_lacks_is_lost(void **state)
{
	struct join_stats st;

	(void)state;
	request(cpu0, 10, C2, 200);
	again(cpu0, 10, C2, 210, C1);
	finish();
	assert_int_equal(at(0, 10, 200).state, JOIN_LOST);
	join_get_stats(j, &st);
	assert_int_equal(st.requests[JOIN_LOST], 1);
	assert_int_equal(st.distinct, 0);
}

static void a_cut_stack_does_not_come_again(void **state)
{
	(void)state;
	stack_nr(cpu0, 10, C1, 100, STACK_MORE, 0xa, 2, false);
	again(cpu0, 10, C1, 110, C2);
	request(cpu0, 10, C2, 200);
	again(cpu0, 10, C2, 210, C1);
	finish();
	assert_int_equal(at(0, 10, 200).state, JOIN_LOST);
}

static void a_stack_without_frames_is_an_answer(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	stack_nr(cpu0, 10, C1, 110, STACK_INCOMPLETE, 0, 0, false);
	finish();
	assert_int_equal(at(0, 10, 100).state, JOIN_STACK);
	assert_int_equal(at(0, 10, 100).nr, 0);
}

static void an_unknown_task_or_place_has_no_request(void **state)
{
	(void)state;
	request(cpu0, 10, C1, 100);
	finish();
	assert_int_equal(at(0, 11, 100).state, JOIN_NONE);
	assert_int_equal(at(1, 10, 100).state, JOIN_NONE);
	assert_int_equal(at(0, 10, 99).state, JOIN_NONE);
}

static void positions_shared_by_two_buffers_are_told_apart(void **state)
{
	struct join_answer a;
	uint32_t one, two;

	(void)state;
	join_add_stream(j, 1, 0, &one);
	join_add_stream(j, 2, 0, &two);
	request_at(one, 10, C1, 1000, 50);
	request_at(two, 10, C2, 1500, 50);
	join_add_position(j, one, 50, 1000);
	join_add_position(j, one, 60, 1900);
	join_add_position(j, two, 50, 1500);
	join_add_position(j, two, 60, 5000);
	stack(cpu1, 10, C1, 1010, 0xa);
	stack(cpu1, 10, C2, 2010, 0xb);
	finish();
	join_set_range(j, cpu0, 1, 0);
	/* only the first has this time there */
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 1200, 0 }, &a);
	assert_stack(a, 0xa);
	/* only the second */
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 2000, 0 }, &a);
	assert_stack(a, 0xb);
	/* the very record */
	join_find_answer(j, &(struct join_question){ 0, 10, 50, 1500, 0 }, &a);
	assert_stack(a, 0xb);
	/* both do, and they differ */
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 1600, 0 }, &a);
	assert_int_equal(a.state, JOIN_UNSURE);
	/* neither does: a clock was shifted */
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 9999, 0 }, &a);
	assert_int_equal(a.state, JOIN_UNSURE);
	/* the cookie shows it */
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 1600, C1 }, &a);
	assert_stack(a, 0xa);
	join_find_answer(j, &(struct join_question){ 0, 10, 52, 1600, 77 }, &a);
	assert_int_equal(a.state, JOIN_NONE);
}

static void positions_must_rise(void **state)
{
	(void)state;
	assert_int_equal(join_add_position(j, cpu0, 50, 1000), 0);
	assert_int_equal(join_add_position(j, cpu0, 50, 1000), -EINVAL);
	assert_int_equal(join_add_position(j, 99, 60, 1000), -EINVAL);
	finish();
}

static void a_stream_that_was_not_added_is_refused(void **state)
{
	struct join_run r = { .cookie = C1, .stream = 99 };
	struct join_stack s = { .cookie = C1, .stream = 99 };

	(void)state;
	assert_int_equal(join_add_run(j, &r), -EINVAL);
	assert_int_equal(join_add_stack(j, &s), -EINVAL);
	assert_int_equal(join_add_loss(j, 99, 1), -EINVAL);
	assert_int_equal(join_set_range(j, 99, 1, 2), -EINVAL);
	finish();
}

static void the_order_of_feeding_changes_nothing(void **state)
{
	struct join *first = j;
	struct join_answer a, b;
	uint64_t i;
	int round;

	(void)state;
	for (round = 0; round < 2; round++) {
		if (round) {
			j = join_new();
			join_add_stream(j, 0, 0, &cpu0);
			join_add_stream(j, 0, 1, &cpu1);
		}
		for (i = 0; i < 200; i++) {
			uint64_t k = round ? (i * 37 + 11) % 200 : i;

			request(k % 2 ? cpu0 : cpu1, 10 + k % 3, C1 + 2 * k, 100 * k + 1);
			if (k % 5)
				stack(k % 7 ? cpu0 : cpu1, 10 + k % 3, C1 + 2 * k, 100 * k + 50, k);
		}
		finish();
	}
	for (i = 0; i < 200; i++) {
		join_find_answer(first, &(struct join_question){
			i % 2 ? 0 : 1, 10 + i % 3, 100 * i + 1, 0, 0 }, &a);
		join_find_answer(j, &(struct join_question){
			i % 2 ? 0 : 1, 10 + i % 3, 100 * i + 1, 0, 0 }, &b);
		assert_int_equal(a.state, b.state);
		assert_int_equal(a.state, i % 5 ? JOIN_STACK : JOIN_UNRECORDED);
		if (a.state == JOIN_STACK)
			assert_int_equal(a.addrs[0], b.addrs[0]);
	}
	join_free(first);
}

static void a_table_covers_each_address_of_a_stack_without_flags(void **state)
{
	struct join_answer ans = { .tgid = 10, .tid = 11, .nr = 5 };

	(void)state;
	assert_int_equal(join_find_unproved(&ans), 5);
	ans.flags = STACK_COMPAT;
	assert_int_equal(join_find_unproved(&ans), 5);
	ans.flags = STACK_FRAME_POINTER;
	assert_int_equal(join_find_unproved(&ans), 1);
	ans.flags |= STACK_NO_INNER;
	assert_int_equal(join_find_unproved(&ans), 0);
	/* without the field tgid, a stack may have been walked by other means */
	ans = (struct join_answer){ .tid = 11, .nr = 5 };
	assert_int_equal(join_find_unproved(&ans), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_stack_answers_its_request),
		T(a_stack_may_come_before_its_request),
		T(one_stack_answers_every_request_of_its_cookie),
		T(another_task_with_the_same_cookie_is_another_key),
		T(without_a_later_cookie_the_task_is_still_in_the_kernel),
		T(the_same_cookie_later_does_not_hide_the_other_between),
		T(with_a_later_cookie_and_no_drops_a_stack_was_not_recorded),
		T(with_a_later_cookie_and_drops_a_stack_is_lost),
		T(drops_of_another_buffer_do_not_explain_a_missing_stack),
		T(drops_of_a_buffer_count_before_it_has_a_stream),
		T(in_a_damaged_file_what_is_missing_is_lost),
		T(a_join_of_nothing_can_be_asked),
		T(parts_become_one_stack),
		T(a_stack_without_its_last_part_is_cut),
		T(parts_are_not_put_together_across_dropped_events),
		T(a_loss_on_another_cpu_does_not_cut),
		T(a_stack_right_after_a_loss_may_lack_its_start),
		T(a_whole_copy_in_another_buffer_replaces_a_cut_one),
		T(a_whole_stack_that_disagrees_does_not_replace_a_cut_one),
		T(equal_stacks_are_stored_once),
		T(a_stack_that_comes_again_answers),
		T(a_stack_comes_again_in_its_task_only),
		T(a_stack_comes_again_soon),
		T(a_stack_that_came_again_is_not_referred_to),
		T(a_stack_that_comes_again_is_best_of_its_buffer),
		T(a_malformed_stack_that_comes_again_is_refused),
		T(a_stack_comes_again_as_it_was_last),
		T(a_stack_comes_again_though_its_clock_is_ahead),
		T(a_stack_that_the_file_lacks_is_lost),
		T(a_cut_stack_does_not_come_again),
		T(a_stack_without_frames_is_an_answer),
		T(an_unknown_task_or_place_has_no_request),
		T(positions_shared_by_two_buffers_are_told_apart),
		T(positions_must_rise),
		T(a_table_covers_each_address_of_a_stack_without_flags),
		T(a_stream_that_was_not_added_is_refused),
		T(the_order_of_feeding_changes_nothing),
	};

	return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
