// SPDX-License-Identifier: GPL-2.0
/* test_runs.c - which cookie belongs to which kernel stack */
#include "plugin/join/runs.h"
#include "tests/unit/unit.h"

#define C1	0x100000002ull
#define C2	0x100000004ull

static struct join_run got[64];
static int nr;
static struct runs *r;
static uint64_t pos;

static int keep(void *data, const struct join_run *run)
{
	(void)data;
	assert_true(nr < 64);
	got[nr++] = *run;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	nr = 0;
	pos = 0;
	r = runs_new(keep, NULL);
	return runs_start_stream(r, 0);
}

static int teardown(void **state)
{
	(void)state;
	runs_free(r);
	return 0;
}

static void rec_in(enum runs_kind kind, uint32_t tid, uint32_t flags, uint32_t preempt,
		   uint64_t cookie)
{
	struct runs_rec x = {
		.cookie = cookie, .pos = ++pos, .ts = pos * 10, .tid = tid,
		.flags = flags | preempt << 8, .kind = kind,
	};

	assert_int_equal(runs_add_record(r, &x), 0);
}

static void rec(enum runs_kind kind, uint32_t tid, uint32_t flags, uint64_t cookie)
{
	rec_in(kind, tid, flags, 0, cookie);
}

static void rec_at(enum runs_kind kind, uint32_t tid, uint64_t cookie, uint64_t ts)
{
	struct runs_rec x = {
		.cookie = cookie, .pos = ++pos, .ts = ts, .tid = tid, .kind = kind,
	};

	assert_int_equal(runs_add_record(r, &x), 0);
}

static int cmp(const void *a, const void *b)
{
	const struct join_run *x = a, *y = b;

	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static void end(void)
{
	assert_int_equal(runs_end(r), 0);
	qsort(got, nr, sizeof(*got), cmp);
}

static void assert_run(int i, uint32_t tid, uint64_t p, uint64_t cookie, enum join_form form)
{
	assert_true(i < nr);
	assert_int_equal(got[i].tid, tid);
	assert_int_equal(got[i].pos, p);
	assert_int_equal(got[i].cookie, cookie);
	assert_int_equal(got[i].form, form);
}

static void a_cookie_alone_is_bare(void **state)
{
	(void)state;
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 1);
	assert_run(0, 10, 2, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[0].events, 1);
}

static void a_cookie_right_after_a_kernel_stack_belongs_to_it(void **state)
{
	(void)state;
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 1);
	assert_run(0, 10, 2, C1, JOIN_FORM_KSTACK);
	assert_int_equal(got[0].events, 1);
}

static void an_interrupt_does_not_part_kernel_stack_and_cookie(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_OTHER, 10, TRACE_FL_HARDIRQ, 0);
	rec(RUNS_KERNEL_STACK, 10, TRACE_FL_HARDIRQ, 0);
	rec(RUNS_COOKIE, 10, TRACE_FL_HARDIRQ, C1);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	/* the run that began in the interrupt, and the task's kernel stack before it */
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, C1, JOIN_FORM_KSTACK);
	assert_run(1, 10, 3, C1, JOIN_FORM_KSTACK);
}

/*
 * The first kernel stack has no cookie, which is known only after the run of the interrupt: its run
 * comes late. A later kernel stack without a cookie is not part of that run, because the run of the
 * interrupt lies between them.
 */
static void a_run_that_comes_late_does_not_go_on(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_KERNEL_STACK, 10, TRACE_FL_HARDIRQ, 0);
	rec(RUNS_COOKIE, 10, TRACE_FL_HARDIRQ, C1);
	rec(RUNS_STACK, 10, TRACE_FL_HARDIRQ, 0);
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_OTHER, 10, 0, 0);
	end();
	assert_int_equal(nr, 3);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 2, C1, JOIN_FORM_KSTACK);
	assert_run(2, 10, 5, 0, JOIN_FORM_NO_COOKIE);
}

static void a_preempt_count_below_zero(void **state)
{
	(void)state;
	assert_int_equal(nest_make_flags(0xff, 0xff), 0);
	assert_int_equal(nest_make_flags(0x03, 0xff), 0x04);
	assert_int_equal(nest_make_flags(0x81, 0xfe), 0xfe81);
}

static void the_end_of_an_interrupt_does_not_part_kernel_stack_and_cookie(void **state)
{
	(void)state;
	/* irq_exit: no interrupt by its flags, but interrupts are off, and they were on */
	rec_in(RUNS_KERNEL_STACK, 10, 0, 1, 0);
	rec_in(RUNS_OTHER, 10, TRACE_FL_IRQS_OFF, 3, 0);
	rec_in(RUNS_KERNEL_STACK, 10, TRACE_FL_IRQS_OFF, 3, 0);
	rec_in(RUNS_COOKIE, 10, TRACE_FL_IRQS_OFF, 3, C1);
	rec_in(RUNS_COOKIE, 10, 0, 1, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, C1, JOIN_FORM_KSTACK);
	assert_run(1, 10, 3, C1, JOIN_FORM_KSTACK);
}

static void a_kernel_stack_with_interrupts_off_needs_the_same_preempt_count(void **state)
{
	(void)state;
	rec_in(RUNS_KERNEL_STACK, 10, 0, 1, 0);
	rec_in(RUNS_OTHER, 10, TRACE_FL_IRQS_OFF, 1, 0);
	rec_in(RUNS_COOKIE, 10, 0, 0, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
}

static void a_kernel_stack_before_another_cookie_is_of_another_entry(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 10, TRACE_FL_IRQS_OFF, C1);
	rec(RUNS_COOKIE, 10, 0, C2);
	end();
	assert_int_equal(nr, 3);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 2, C1, JOIN_FORM_COOKIE_ONLY);
	assert_run(2, 10, 3, C2, JOIN_FORM_COOKIE_ONLY);
}

static void a_task_that_has_left_the_cpu_has_no_open_group(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_OTHER, 11, TRACE_FL_IRQS_OFF, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
}

static void interrupts_on_again_end_what_was_open_with_interrupts_off(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, TRACE_FL_IRQS_OFF, 0);
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_COOKIE, 10, TRACE_FL_IRQS_OFF, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
}

static void a_record_of_the_same_level_parts_kernel_stack_and_cookie(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
}

static void an_interrupts_kernel_stack_never_takes_the_tasks_cookie(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, TRACE_FL_SOFTIRQ, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 2, C1, JOIN_FORM_COOKIE_ONLY);
}

static void an_interrupts_kernel_stack_does_not_wait_for_the_next_interrupt(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, TRACE_FL_HARDIRQ, 0);
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_COOKIE, 10, TRACE_FL_HARDIRQ, C1);
	end();
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
}

static void another_tasks_cookie_is_not_taken(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 11, 0, C1);
	end();
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_run(1, 11, 2, C1, JOIN_FORM_COOKIE_ONLY);
}

static void a_kernel_stack_of_a_trigger_after_the_cookie_adds_nothing(void **state)
{
	(void)state;
	rec(RUNS_COOKIE, 10, 0, C1);
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_OTHER, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 1);
	assert_run(0, 10, 1, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[0].events, 2);
}

static void a_run_lasts_until_the_task_says_something_else(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 50; i++) {
		rec(RUNS_KERNEL_STACK, 10, 0, 0);
		rec(RUNS_COOKIE, 10, 0, C1);
		rec(RUNS_OTHER, 10, 0, 0);
		rec(RUNS_COOKIE, 11, 0, C2);
	}
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C2);
	end();
	assert_int_equal(nr, 3);
	assert_run(0, 10, 1, C1, JOIN_FORM_KSTACK);
	assert_int_equal(got[0].events, 50);
	assert_run(1, 11, 4, C2, JOIN_FORM_COOKIE_ONLY);
	assert_run(2, 10, 201, C2, JOIN_FORM_KSTACK);
}

static void a_run_ends_where_its_cookie_can_have_come_back(void **state)
{
	int i;

	(void)state;
	rec(RUNS_COOKIE, 10, 0, C1);
	rec_at(RUNS_COOKIE, 10, C1, JOIN_PERIOD);
	rec_at(RUNS_COOKIE, 10, C1, 2 * JOIN_PERIOD);
	/* 2^31 and more since the run began, but never since its last request */
	for (i = 1; i < 5; i++)
		rec_at(RUNS_COOKIE, 10, C1, 2 * JOIN_PERIOD + i * (JOIN_PERIOD - 1));
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[0].events, 2);
	assert_run(1, 10, 3, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[1].events, 5);
	assert_int_equal(got[1].ts, 2 * JOIN_PERIOD);
	assert_int_not_equal(got[0].part, got[1].part);
}

static void a_kernel_stack_and_its_cookie_count_by_the_time_of_each(void **state)
{
	(void)state;
	/* so late that the cookie can have come back, too */
	rec_at(RUNS_KERNEL_STACK, 10, 0, 100);
	rec_at(RUNS_COOKIE, 10, C1, 100 + JOIN_PERIOD);
	/* no such time since the last cookie, only since its kernel stack */
	rec_at(RUNS_KERNEL_STACK, 10, 0, 100 + JOIN_PERIOD);
	rec_at(RUNS_COOKIE, 10, C1, 200 + JOIN_PERIOD);
	rec_at(RUNS_KERNEL_STACK, 10, 0, 100 + 2 * JOIN_PERIOD);
	rec_at(RUNS_COOKIE, 10, C1, 100 + 2 * JOIN_PERIOD);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, C1, JOIN_FORM_KSTACK);
	assert_int_equal(got[0].events, 0);
	assert_run(1, 10, 2, C1, JOIN_FORM_KSTACK);
	assert_int_equal(got[1].events, 3);
	assert_int_not_equal(got[0].part, got[1].part);
}

static void a_run_ends_where_its_stack_is(void **state)
{
	(void)state;
	rec(RUNS_COOKIE, 10, 0, C1);
	rec(RUNS_STACK, 11, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	rec(RUNS_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[0].events, 2);
	assert_run(1, 10, 5, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_not_equal(got[0].part, got[1].part);
}

static void a_kernel_stack_before_a_loss_lost_its_cookie(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	assert_int_equal(runs_add_loss(r), 0);
	assert_true(runs_is_after_loss(r, 10));
	rec(RUNS_COOKIE, 10, 0, C1);
	assert_false(runs_is_after_loss(r, 10));
	end();
	assert_run(0, 10, 1, 0, JOIN_FORM_LOST_COOKIE);
	assert_run(1, 10, 2, C1, JOIN_FORM_COOKIE_ONLY);
}

static void an_interrupts_record_does_not_end_the_doubt_after_a_loss(void **state)
{
	(void)state;
	runs_add_loss(r);
	rec(RUNS_OTHER, 10, TRACE_FL_HARDIRQ, 0);
	assert_true(runs_is_after_loss(r, 10));
	rec(RUNS_OTHER, 10, 0, 0);
	assert_false(runs_is_after_loss(r, 10));
}

static void the_end_of_an_interrupt_does_not_end_the_doubt_after_a_loss(void **state)
{
	(void)state;
	runs_add_loss(r);
	rec(RUNS_OTHER, 10, TRACE_FL_IRQS_OFF, 0);
	rec(RUNS_OTHER, 10, TRACE_FL_HARDIRQ | TRACE_FL_IRQS_OFF, 0);
	assert_true(runs_is_after_loss(r, 10));
	/* a task that runs since then has written its whole stack since then */
	assert_false(runs_is_after_loss(r, 11));
	rec(RUNS_OTHER, 11, TRACE_FL_IRQS_OFF, 0);
	assert_false(runs_is_after_loss(r, 11));
	rec(RUNS_OTHER, 10, TRACE_FL_IRQS_OFF, 0);
	assert_false(runs_is_after_loss(r, 10));
	runs_add_loss(r);
	assert_true(runs_is_after_loss(r, 10));
}

static void a_loss_on_one_stream_is_none_on_the_next(void **state)
{
	(void)state;
	runs_add_loss(r);
	assert_int_equal(runs_start_stream(r, 1), 0);
	assert_false(runs_is_after_loss(r, 10));
}

static void streams_are_kept_apart(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	assert_int_equal(runs_start_stream(r, 1), 0);
	rec(RUNS_COOKIE, 10, 0, C1);
	end();
	assert_int_equal(nr, 2);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
	assert_int_equal(got[0].stream, 0);
	assert_run(1, 10, 2, C1, JOIN_FORM_COOKIE_ONLY);
	assert_int_equal(got[1].stream, 1);
}

static void a_cookie_of_zero_is_no_request(void **state)
{
	(void)state;
	rec(RUNS_KERNEL_STACK, 10, 0, 0);
	rec(RUNS_COOKIE, 10, 0, 0);
	end();
	assert_int_equal(nr, 1);
	assert_run(0, 10, 1, 0, JOIN_FORM_NO_COOKIE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_cookie_alone_is_bare),
		T(a_cookie_right_after_a_kernel_stack_belongs_to_it),
		T(an_interrupt_does_not_part_kernel_stack_and_cookie),
		T(a_run_that_comes_late_does_not_go_on),
		T(a_preempt_count_below_zero),
		T(the_end_of_an_interrupt_does_not_part_kernel_stack_and_cookie),
		T(a_kernel_stack_with_interrupts_off_needs_the_same_preempt_count),
		T(a_kernel_stack_before_another_cookie_is_of_another_entry),
		T(a_task_that_has_left_the_cpu_has_no_open_group),
		T(interrupts_on_again_end_what_was_open_with_interrupts_off),
		T(a_record_of_the_same_level_parts_kernel_stack_and_cookie),
		T(an_interrupts_kernel_stack_never_takes_the_tasks_cookie),
		T(an_interrupts_kernel_stack_does_not_wait_for_the_next_interrupt),
		T(another_tasks_cookie_is_not_taken),
		T(a_kernel_stack_of_a_trigger_after_the_cookie_adds_nothing),
		T(a_run_lasts_until_the_task_says_something_else),
		T(a_run_ends_where_its_cookie_can_have_come_back),
		T(a_kernel_stack_and_its_cookie_count_by_the_time_of_each),
		T(a_run_ends_where_its_stack_is),
		T(a_kernel_stack_before_a_loss_lost_its_cookie),
		T(an_interrupts_record_does_not_end_the_doubt_after_a_loss),
		T(the_end_of_an_interrupt_does_not_end_the_doubt_after_a_loss),
		T(a_loss_on_one_stream_is_none_on_the_next),
		T(streams_are_kept_apart),
		T(a_cookie_of_zero_is_no_request),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
