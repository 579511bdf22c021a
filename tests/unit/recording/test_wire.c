// SPDX-License-Identifier: GPL-2.0
/* test_wire.c - the pipe from the process that reads a file to the process that prints */
#include <errno.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "libunwind-user/base/base.h"
#include "plugin/recording/wire.h"

static int pipefd[2];
static struct wire w;
static struct sink out, in;
static struct sink_target target;

static int setup(void **state)
{
	(void)state;
	target.join = join_new();
	target.maps = maps_new();
	sink_set_to_join(&in, &target);
	if (pipe(pipefd))
		return -1;
	wire_make_sink(&out, &w, pipefd[1]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(pipefd[0]);
	join_free(target.join);
	maps_free(target.maps);
	return 0;
}

static void say_all(void)
{
	uint64_t addrs[] = { 0x1000, 0x2000 };
	struct join_run r = { .cookie = 2, .pos = 10, .ts = 10, .tid = 7, .events = 1 };
	struct join_stack s = {
		.cookie = 2, .pos = 20, .ts = 20, .addrs = addrs, .nr = 2, .tid = 7,
	};
	struct join_stack again = {
		.cookie = 4, .pos = 22, .ts = 22, .addrs = &s.cookie, .nr = 1, .tid = 7,
		.flags = STACK_AGAIN,
	};
	struct maps_rec m = { .start = 0x1000, .end = 0x3000, .tgid = 7, .path = "/bin/x" };

	assert_int_equal(out.stream(out.data, 0, 3), 0);
	assert_int_equal(out.run(out.data, &r), 0);
	assert_int_equal(out.stack(out.data, &s), 0);
	r.cookie = 4;
	r.pos = r.ts = 21;
	assert_int_equal(out.run(out.data, &r), 0);
	assert_int_equal(out.stack(out.data, &again), 0);
	assert_int_equal(out.loss(out.data, 0, 5), 0);
	assert_int_equal(out.map(out.data, &m), 0);
	assert_int_equal(out.range(out.data, 0, 10, 22), 0);
}

static int listen(void)
{
	close(pipefd[1]);
	return wire_read_all(pipefd[0], &in, clock_get_ms() + 10000);
}

static void answers_stacks_and_maps_arrive(void **state)
{
	const struct maps_file *f;
	struct join_answer a;
	struct join_stats st;
	uint64_t offset;

	(void)state;
	say_all();
	assert_int_equal(wire_write_end(&w, 0), 0);
	assert_int_equal(listen(), 0);
	assert_int_equal(join_finish(target.join), 0);
	assert_int_equal(maps_finish(target.maps), 0);
	join_find_answer(target.join, &(struct join_question){ 3, 7, 10, 10, 0 }, &a);
	assert_int_equal(a.state, JOIN_STACK);
	assert_int_equal(a.nr, 2);
	assert_int_equal(a.addrs[1], 0x2000);
	join_find_answer(target.join, &(struct join_question){ 3, 7, 21, 21, 0 }, &a);
	assert_int_equal(a.nr, 2);
	join_get_stats(target.join, &st);
	assert_int_equal(st.losses, 5);
	f = maps_find_file(target.maps, 7, 0, 0, 0x1500, &offset);
	assert_non_null(f);
	assert_string_equal(f->path, "/bin/x");
}

static void a_writer_that_dies_is_noticed(void **state)
{
	(void)state;
	say_all();
	assert_int_equal(write(pipefd[1], w.buf, w.used - 3), w.used - 3);
	assert_int_equal(listen(), -EPIPE);
}

static void a_file_not_read_to_its_end_is_an_error(void **state)
{
	(void)state;
	say_all();
	assert_int_equal(wire_write_end(&w, -EILSEQ), 0);
	assert_int_equal(listen(), -EPIPE);
}

static void lack_of_memory_differs_from_damage(void **state)
{
	(void)state;
	say_all();
	assert_int_equal(wire_write_end(&w, -ENOMEM), 0);
	assert_int_equal(listen(), -ENOMEM);
}

/* The writer lives and holds the pipe: no byte will ever come. */
static void a_writer_that_says_nothing_more_is_given_up(void **state)
{
	int64_t start = clock_get_ms();

	(void)state;
	alarm(120);
	assert_int_equal(wire_read_all(pipefd[0], &in, start + 200), -ETIMEDOUT);
	say_all();
	assert_int_equal(write(pipefd[1], w.buf, w.used), w.used);
	assert_int_equal(wire_read_all(pipefd[0], &in, clock_get_ms() + 200), -ETIMEDOUT);
	/* nor does the reader wait for a time that has passed */
	assert_int_equal(wire_wait(pipefd[0], start), -ETIMEDOUT);
	assert_true(clock_get_ms() - start >= 400);
	alarm(0);
	close(pipefd[1]);
}

/* The writer may have been taken over: whatever it sends, there is an error or a result. */
static void any_bytes_do_no_harm(void **state)
{
	char good[4096];
	unsigned int seed = 7;
	size_t used;
	int i, k, ret, refused = 0;

	(void)state;
	say_all();
	used = w.used;
	memcpy(good, w.buf, used);
	close(pipefd[1]);
	close(pipefd[0]);
	for (i = 0; i < 5000; i++) {
		char bad[4096];

		memcpy(bad, good, used);
		for (k = 0; k <= i % 5; k++)
			bad[(size_t)rand_r(&seed) % used] = rand_r(&seed);
		join_free(target.join);
		maps_free(target.maps);
		target.join = join_new();
		target.maps = maps_new();
		assert_int_equal(pipe(pipefd), 0);
		assert_int_equal(write(pipefd[1], bad, used), used);
		ret = listen();
		assert_true(ret < 0);
		refused += ret != -EPIPE;
		close(pipefd[0]);
		assert_int_equal(join_finish(target.join), 0);
		assert_int_equal(maps_finish(target.maps), 0);
	}
	assert_true(refused > 100);
	assert_int_equal(pipe(pipefd), 0);
	close(pipefd[1]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(answers_stacks_and_maps_arrive),
		T(a_writer_that_dies_is_noticed),
		T(a_file_not_read_to_its_end_is_an_error),
		T(lack_of_memory_differs_from_damage),
		T(a_writer_that_says_nothing_more_is_given_up),
		T(any_bytes_do_no_harm),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
