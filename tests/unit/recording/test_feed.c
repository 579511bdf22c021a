// SPDX-License-Identifier: GPL-2.0
/*
 * test_feed.c - feeds the records of a trace to the join and the maps, by the formats of its events
 */
#include <errno.h>

#include "plugin/recording/feed.h"
#include "tests/unit/unit.h"

#define COMMON								\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char *const formats[] = {
	"name: user_unwind_cookie\nID: 21\nformat:\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->cookie\n",
	"name: user_unwind_stack\nID: 22\nformat:\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc unsigned long[] stack;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->cookie\n",
	/* and ours, with flags */
	"name: user_unwind_stack\nID: 22\nformat:\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc unsigned long[] stack;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 flags;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->cookie\n",
	"name: user_unwind_again\nID: 23\nformat:\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 first;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->cookie\n",
};

struct cookie_rec {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint64_t cookie;
};

struct stack_rec {
	struct cookie_rec head;
	uint32_t loc;
	uint32_t flags;
	uint64_t addrs[2];
};

static struct tep_handle *tep;
static struct sink_target target;
static struct sink sink;
static struct feed *feed;

static int setup_formats(size_t stack)
{
	tep = tep_alloc();
	tep_set_long_size(tep, 8);
	if (tep_parse_event(tep, formats[0], strlen(formats[0]), "ftrace") ||
	    tep_parse_event(tep, formats[stack], strlen(formats[stack]), "ftrace") ||
	    tep_parse_event(tep, formats[3], strlen(formats[3]), "ftrace"))
		return -1;
	target.join = join_new();
	target.maps = maps_new();
	sink_set_to_join(&sink, &target);
	feed = feed_new(tep, &sink);
	return feed_start_stream(feed, 0, 3);
}

static int setup(void **state)
{
	(void)state;
	return setup_formats(1);
}

static int setup_flags(void **state)
{
	(void)state;
	return setup_formats(2);
}

static int teardown(void **state)
{
	(void)state;
	feed_free(feed);
	join_free(target.join);
	maps_free(target.maps);
	tep_free(tep);
	return 0;
}

static int feed_missed(void *data, int size, uint64_t offset, int missed)
{
	struct tep_record rec = {
		.ts = offset, .offset = offset, .data = data, .size = size, .missed_events = missed,
	};

	return feed_record(feed, &rec);
}

static int feed_bytes(void *data, int size, uint64_t offset)
{
	return feed_missed(data, size, offset, 0);
}

static struct cookie_rec cookie = { .type = 21, .pid = 10, .cookie = 2 };
static struct stack_rec stack = {
	.head = { .type = 22, .pid = 10, .cookie = 2 },
	.loc = 24 | 16 << 16, .addrs = { 0x1000, 0x2000 },
};

static struct join_answer at(uint64_t pos)
{
	struct join_answer a;

	assert_int_equal(feed_end_stream(feed), 0);
	assert_int_equal(join_finish(target.join), 0);
	join_find_answer(target.join, &(struct join_question){ 3, 10, pos, pos, 0 }, &a);
	return a;
}

static void records_reach_the_join(void **state)
{
	struct join_answer a;

	(void)state;
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), 0);
	assert_int_equal(feed_bytes(&stack, sizeof(stack), 200), 0);
	a = at(100);
	assert_int_equal(a.state, JOIN_STACK);
	assert_int_equal(a.nr, 2);
	assert_int_equal(a.addrs[1], 0x2000);
	assert_int_equal(a.tgid, 0);
}

static void a_stack_that_comes_again_reaches_the_join(void **state)
{
	struct cookie_rec next = cookie;
	struct {
		struct cookie_rec head;
		uint64_t first;
	} again = { { .type = 23, .pid = 10, .cookie = 4 }, 2 };
	struct join_answer a;

	(void)state;
	next.cookie = 4;
	assert_int_equal(feed_bytes(&stack, sizeof(stack), 100), 0);
	assert_int_equal(feed_bytes(&next, sizeof(next), 200), 0);
	assert_int_equal(feed_bytes(&again, sizeof(again), 300), 0);
	/* without its last field it is nothing */
	assert_int_equal(feed_bytes(&again, sizeof(again) - 1, 400), 0);
	a = at(200);
	assert_int_equal(a.state, JOIN_STACK);
	assert_int_equal(a.nr, 2);
	assert_int_equal(a.addrs[1], 0x2000);
}

/* A damaged file can make libtracecmd read the same page for ever. */
static void records_out_of_order_are_refused(void **state)
{
	(void)state;
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), 0);
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), -EILSEQ);
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 50), -EILSEQ);
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 101), 0);
}

static void a_stack_that_reaches_out_of_its_record_is_no_stack(void **state)
{
	struct stack_rec bad = stack;
	struct join_stats st;

	(void)state;
	bad.loc = 24 | 24 << 16;
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), 0);
	assert_int_equal(feed_bytes(&bad, sizeof(bad), 200), 0);
	bad.loc = 0xffff | 8 << 16;
	assert_int_equal(feed_bytes(&bad, sizeof(bad), 300), 0);
	assert_int_equal(feed_bytes(&stack, 17, 400), 0);
	assert_int_equal(at(100).state, JOIN_PENDING);
	join_get_stats(target.join, &st);
	assert_int_equal(st.stacks, 0);
}

static void zeros_at_the_end_are_no_frames(void **state)
{
	struct stack_rec zero = stack;

	(void)state;
	zero.addrs[1] = 0;
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), 0);
	assert_int_equal(feed_bytes(&zero, sizeof(zero), 200), 0);
	assert_int_equal(at(100).nr, 1);
}

/* A cookie, dropped events and a stack; its flags. @late: with another record of the task first */
static uint32_t flags_after_loss(bool late)
{
	assert_int_equal(feed_bytes(&cookie, sizeof(cookie), 100), 0);
	if (late)
		assert_int_equal(feed_missed(&cookie, sizeof(cookie), 150, -1), 0);
	assert_int_equal(feed_missed(&stack, sizeof(stack), 200, late ? 0 : -1), 0);
	return at(100).flags;
}

static void a_stack_right_after_dropped_events_may_lack_its_start(void **state)
{
	(void)state;
	assert_int_equal(flags_after_loss(false) & STACK_NO_INNER, STACK_NO_INNER);
}

static void a_stack_that_was_begun_after_dropped_events_has_its_start(void **state)
{
	(void)state;
	assert_int_equal(flags_after_loss(true) & STACK_NO_INNER, 0);
}

/* There is no MORE, so each stack is one record. */
static void a_stack_without_flags_has_its_start_whatever_was_dropped(void **state)
{
	(void)state;
	assert_int_equal(flags_after_loss(false) & STACK_NO_INNER, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define T_FLAGS(name) cmocka_unit_test_setup_teardown(name, setup_flags, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_reach_the_join),
		T(a_stack_that_comes_again_reaches_the_join),
		T(records_out_of_order_are_refused),
		T(a_stack_that_reaches_out_of_its_record_is_no_stack),
		T(zeros_at_the_end_are_no_frames),
		T_FLAGS(a_stack_right_after_dropped_events_may_lack_its_start),
		T_FLAGS(a_stack_that_was_begun_after_dropped_events_has_its_start),
		T(a_stack_without_flags_has_its_start_whatever_was_dropped),
	};

	return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
