// SPDX-License-Identifier: GPL-2.0
/*
 * test_shark - the part of the KernelShark plugin that does not need a window
 *
 * The test reads files with libkshark as KernelShark does, passes their records
 * to the plugin, and checks what the plugin would draw.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libkshark.h>
#include <libkshark-plugin.h>
#include <libkshark-tepdata.h>
#include <unistd.h>

#include "plugin/kernelshark/kernelshark.h"
#include "plugin/recording/scan.h"
#include "tests/unit/unit.h"

int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream);
int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream);

static struct kshark_context *ctx;
static struct kshark_entry **rows;
static ssize_t nr_rows;
static int nr_streams, loaded;

/* The functions that KernelShark calls to draw are in the part that needs a window. */
void shark_draw(struct kshark_cpp_argv *argv, int sd, int val, int action)
{
	(void)argv;
	(void)sd;
	(void)val;
	(void)action;
}

static void free_rows(void)
{
	ssize_t i;

	for (i = 0; i < nr_rows; i++)
		free(rows[i]);
	free(rows);
	rows = NULL;
	nr_rows = 0;
}

/* Load a fixture, or the file at a path, as KernelShark does; the model of its first stream. */
static struct shark_model *load(const char *name)
{
	const char *dir = getenv("FIXTURES");
	char path[4096];
	int sd;

	snprintf(path, sizeof(path), *name == '/' ? "%s%s" : "%2$s/%1$s.dat", name,
		 *name == '/' ? "" : dir ? dir : "build/fixtures");
	assert_true(kshark_instance(&ctx));
	sd = kshark_open(ctx, path);
	assert_int_equal(sd, 0);
	kshark_tep_init_all_buffers(ctx, sd);
	nr_streams = ctx->n_streams;
	loaded = 0;
	for (sd = 0; sd < nr_streams; sd++)
		loaded += KSHARK_PLOT_PLUGIN_INITIALIZER(kshark_get_data_stream(ctx, sd));
	nr_rows = kshark_load_all_entries(ctx, &rows);
	assert_true(nr_rows > 0);
	return shark_get_model(0);
}

static int unload(void **state)
{
	int sd;

	(void)state;
	if (!ctx)
		return 0;
	for (sd = 0; sd < nr_streams; sd++)
		KSHARK_PLOT_PLUGIN_DEINITIALIZER(kshark_get_data_stream(ctx, sd));
	nr_streams = 0;
	assert_null(shark_get_model(0));
	free_rows();
	kshark_close_all(ctx);
	kshark_free(ctx);
	ctx = NULL;
	return 0;
}

static uint64_t count(const struct shark_model *m, enum shark_outcome outcome)
{
	uint64_t nr = 0;
	uint32_t i;

	for (i = 0; shark_get_request(m, i); i++)
		nr += shark_get_request(m, i)->outcome == outcome;
	return nr;
}

static void counts(const struct shark_model *m, uint64_t joined, uint64_t pending,
		   uint64_t unrecorded, uint64_t lost)
{
	assert_int_equal(count(m, SHARK_JOINED), joined);
	assert_int_equal(count(m, SHARK_PENDING), pending);
	assert_int_equal(count(m, SHARK_UNRECORDED), unrecorded);
	assert_int_equal(count(m, SHARK_LOST), lost);
}

/* The request whose cookie was recorded at @ts. */
static uint32_t request_at(const struct shark_model *m, int64_t ts)
{
	uint32_t i;

	for (i = 0; shark_get_request(m, i); i++)
		if (shark_get_request(m, i)->entry->ts == ts)
			return i;
	fail_msg("no request at %lld", (long long)ts);
	return SHARK_NONE;
}

static const char *event_of(const struct kshark_entry *e)
{
	static char name[64];
	char *s = kshark_get_event_name(e);

	snprintf(name, sizeof(name), "%s", s ? s : "");
	free(s);
	return name;
}

static void a_request_finds_its_stack_on_another_cpu(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	const struct shark_request *r;
	const struct shark_stack *s;

	(void)state;
	counts(m, 9, 1, 0, 1);
	r = shark_get_request(m, request_at(m, 1003008000));
	assert_int_equal(r->outcome, SHARK_JOINED);
	assert_int_equal(r->entry->cpu, 0);
	s = shark_get_stack(m, r->stack);
	assert_int_equal(s->entry->ts, 1013400000);
	assert_int_equal(s->entry->cpu, 1);
	assert_int_equal(s->entry->pid, 100);
	assert_true(s->whole);
	assert_string_equal(event_of(s->entry), "ftrace/user_unwind_stack");
}

static void the_row_shown_is_the_one_with_the_joined_text(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	const struct shark_request *r;

	(void)state;
	r = shark_get_request(m, request_at(m, 1003008000));
	assert_string_equal(event_of(r->shown), "ftrace/kernel_stack");
	assert_int_equal(r->shown->ts, 1003006000);
	/* poll again has no kernel stack */
	r = shark_get_request(m, request_at(m, 1008214000));
	assert_ptr_equal(r->shown, r->entry);
}

/* interrupts.src: an interrupt between the two, an event without a cookie, one without a stack */
static void a_kernel_stack_goes_with_the_cookie_of_its_level(void **state)
{
	struct shark_model *m = load("interrupts");

	(void)state;
	counts(m, 4, 0, 0, 0);
	assert_int_equal(shark_get_request(m, request_at(m, 1000500))->shown->ts, 1000100);
	assert_int_equal(shark_get_request(m, request_at(m, 1000400))->shown->ts, 1000300);
	assert_int_equal(shark_get_request(m, request_at(m, 1001900))->shown->ts, 1001900);
	assert_int_equal(shark_get_request(m, request_at(m, 1002400))->shown->ts, 1002400);
}

static void outcomes_of_requests_without_a_stack(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	const struct shark_request *r;

	(void)state;
	r = shark_get_request(m, request_at(m, 1015020000));
	assert_int_equal(r->outcome, SHARK_LOST);
	assert_int_equal(r->stack, SHARK_NONE);
	r = shark_get_request(m, request_at(m, 1018426000));
	assert_int_equal(r->outcome, SHARK_PENDING);
	assert_int_equal(r->stack, SHARK_NONE);
}

static void not_recorded_where_nothing_was_dropped(void **state)
{
	struct shark_model *m = load("missing");

	(void)state;
	counts(m, 2, 1, 1, 0);
}

/* The last event of lost.src: its cookie was dropped after the kernel stack. */
static void a_kernel_stack_whose_cookie_was_lost_is_a_lost_request(void **state)
{
	struct shark_model *m = load("lost");
	const struct shark_request *r;
	uint32_t i;

	(void)state;
	counts(m, 1, 1, 0, 2);
	for (i = 0; (r = shark_get_request(m, i)); i++)
		if (!r->cookie)
			break;
	assert_non_null(r);
	assert_string_equal(event_of(r->entry), "ftrace/kernel_stack");
	assert_int_equal(r->outcome, SHARK_LOST);
}

/* dropped.src: after the drop comes a cookie of another task */
static void a_kernel_stack_never_goes_with_the_cookie_of_another_task(void **state)
{
	struct shark_model *m = load("dropped");
	const struct shark_request *r = shark_get_request(m, request_at(m, 1007000));

	(void)state;
	counts(m, 2, 0, 0, 1);
	assert_int_equal(r->tid, 200);
	assert_ptr_equal(r->shown, r->entry);
	r = shark_get_request(m, request_at(m, 1005000));
	assert_int_equal(r->tid, 100);
	assert_int_equal(r->outcome, SHARK_LOST);
}

static bool is_whole(const struct shark_model *m, int64_t ts)
{
	return shark_get_stack(m, shark_get_request(m, request_at(m, ts))->stack)->whole;
}

static void a_stack_by_tables_is_whole_wherever_its_addresses_are(void **state)
{
	struct shark_model *m = load("../kshark/proved");

	(void)state;
	counts(m, 2, 0, 0, 0);
	assert_true(is_whole(m, 1001010));
	assert_false(is_whole(m, 1002030));
}

static void a_stack_in_several_records_is_one(void **state)
{
	struct shark_model *m = load("more");
	uint32_t i, unclaimed = 0;

	(void)state;
	assert_true(count(m, SHARK_JOINED) > 0);
	for (i = 0; shark_get_stack(m, i); i++)
		unclaimed += !shark_get_stack(m, i)->nr_requests;
	assert_int_equal(unclaimed, 0);
}

static void a_stack_in_another_buffer_is_found(void **state)
{
	struct shark_model *m = load("instances");
	const struct shark_request *r;
	uint32_t i;
	bool other = false;

	(void)state;
	/* each buffer is a stream; one model serves them all */
	assert_int_equal(nr_streams, 3);
	assert_int_equal(loaded, 3);
	assert_ptr_equal(shark_get_model(1), m);
	assert_ptr_equal(shark_get_model(2), m);
	counts(m, 4, 0, 0, 0);
	for (i = 0; (r = shark_get_request(m, i)); i++) {
		assert_int_not_equal(r->stack, SHARK_NONE);
		/* the copy in its own buffer, if there is one */
		if (r->sd == 0 && r->cookie == 0x100000002)
			assert_int_equal(shark_get_stack(m, r->stack)->sd, 0);
		other |= shark_get_stack(m, r->stack)->sd != r->sd;
	}
	assert_true(other);
}

/* copies.src: two buffers with the same stack at the same time */
static void of_equal_stacks_that_of_the_own_buffer_is_taken(void **state)
{
	struct shark_model *m = load("copies");
	const struct shark_request *r;
	uint32_t i;

	(void)state;
	counts(m, 2, 0, 0, 0);
	for (i = 0; (r = shark_get_request(m, i)); i++)
		assert_int_equal(shark_get_stack(m, r->stack)->sd, r->sd);
}

/* Count the fixtures of a directory for which KernelShark shows what the join says */
static int directory_as_the_join_counts_it(const char *directory)
{
	const char *fixtures = getenv("FIXTURES");
	char path[4096], name[300];
	struct join_stats st;
	struct shark_model *m;
	struct dirent *de;
	struct scan scan;
	int fd, nr = 0;
	DIR *dir;

	fixtures = fixtures ? fixtures : "build/fixtures";
	snprintf(path, sizeof(path), "%s/%s", fixtures, directory);
	dir = opendir(path);
	assert_non_null(dir);
	while ((de = readdir(dir))) {
		char *end = strrchr(de->d_name, '.');

		/* where positions coincide, a record can be unsure although its request is not */
		if (!end || strcmp(end, ".dat") || !strcmp(de->d_name, "coinciding.dat"))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", fixtures, directory, de->d_name);
		fd = open(path, O_RDONLY);
		scan_file(&scan, fd);
		close(fd);
		assert_non_null(scan.join);
		join_get_stats(scan.join, &st);
		scan_free(&scan);
		*end = '\0';
		snprintf(name, sizeof(name), "%s%s", directory, de->d_name);
		m = load(name);
		if (m) {
			counts(m, st.requests[JOIN_STACK], st.requests[JOIN_PENDING],
			       st.requests[JOIN_UNRECORDED], st.requests[JOIN_LOST]);
			nr++;
		}
		unload(NULL);
	}
	closedir(dir);
	return nr;
}

static void all_fixtures_as_the_join_counts_them(void **state)
{
	int nr = directory_as_the_join_counts_it("");

	(void)state;
	assert_true(nr > 15);
	/* and in the other byte order */
	assert_int_equal(directory_as_the_join_counts_it("big/"), nr);
}

static void loading_again_forgets_the_rows_before(void **state)
{
	struct shark_model *m = load("instances");

	(void)state;
	free_rows();
	nr_rows = kshark_load_all_entries(ctx, &rows);
	assert_true(nr_rows > 0);
	m = shark_get_model(0);
	counts(m, 4, 0, 0, 0);
	assert_int_equal(shark_get_request(m, 0)->entry->stream_id, shark_get_request(m, 0)->sd);
	assert_null(shark_get_request(m, 4));
}

static void without_its_file_nothing_is_guessed(void **state)
{
	char copy[] = "/tmp/test_shark.XXXXXX.dat", cmd[4200];
	const char *dir = getenv("FIXTURES");
	struct shark_model *m;
	int fd = mkstemps(copy, 4);

	(void)state;
	assert_true(fd >= 0);
	snprintf(cmd, sizeof(cmd), "cp %s/missing.dat %s", dir ? dir : "build/fixtures", copy);
	assert_int_equal(system(cmd), 0);
	close(fd);
	/* the first plot is drawn after it was removed */
	assert_true(kshark_instance(&ctx));
	assert_int_equal(kshark_open(ctx, copy), 0);
	assert_int_equal(KSHARK_PLOT_PLUGIN_INITIALIZER(ctx->stream[0]), 1);
	nr_streams = 1;
	nr_rows = kshark_load_all_entries(ctx, &rows);
	unlink(copy);
	m = shark_get_model(0);
	counts(m, 0, 0, 0, 0);
	assert_null(shark_get_request(m, 0));
	assert_non_null(strstr(shark_get_problem(m), copy));
	assert_non_null(strstr(shark_get_problem(m), "check that the file still exists"));
}

/* The whole of waits.src in @bins bins. */
static struct shark_window window(int bins)
{
	struct shark_window win = { .min = 1000000000, .max = 1024000000, .end = 1023208000 };

	win.n_bins = bins;
	win.bin_size = (win.max - win.min) / bins;
	return win;
}

static void a_cpu_shows_its_requests_stacks_and_waits(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	struct shark_window win = window(2400);		/* 10 us each */
	struct shark_view v;
	size_t i;
	int found = 0;

	(void)state;
	assert_int_equal(shark_make_view(m, 0, false, 0, &win, &v), 0);
	assert_int_equal(v.nr_requests, 8);
	assert_int_equal(v.nr_stacks, 4);
	for (i = 0; i < v.nr_waits; i++) {
		const struct shark_wait *w = &v.waits[i];

		if (w->from == 300) {		/* app, comes back on CPU 1 */
			assert_int_equal(w->to, 1340);
			assert_int_equal(w->ns, 10392000);
			assert_true(w->elsewhere);
			assert_int_equal(w->outcome, SHARK_JOINED);
			found++;
		} else if (w->from == 401) {	/* server */
			assert_int_equal(w->ns, 7302000);
			assert_false(w->elsewhere);
			found++;
		} else if (w->from == 1842) {	/* worker, until the end of the recording */
			assert_int_equal(w->ns, 1023208000 - 1018426000);
			assert_int_equal(w->outcome, SHARK_PENDING);
			found++;
		}
	}
	assert_int_equal(found, 3);
	shark_free_view(&v);
	/* the same wait on the task's own plot goes nowhere else */
	assert_int_equal(shark_make_view(m, 0, true, 100, &win, &v), 0);
	assert_int_equal(v.nr_requests, 4);
	assert_int_equal(v.nr_stacks, 4);
	for (i = 0; i < v.nr_waits; i++)
		assert_false(v.waits[i].elsewhere);
	shark_free_view(&v);
	/* no event of another stream */
	assert_int_equal(shark_make_view(m, 1, false, 0, &win, &v), 0);
	assert_int_equal(v.nr_requests + v.nr_stacks + v.nr_waits, 0);
	shark_free_view(&v);
}

static void a_bin_shows_the_worst_in_it(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	struct shark_window win = window(1);
	struct shark_view v;

	(void)state;
	assert_int_equal(shark_make_view(m, 0, false, 0, &win, &v), 0);
	assert_int_equal(v.nr_requests, 1);
	assert_int_equal(v.requests[0].nr, 8);
	assert_int_equal(v.requests[0].outcome, SHARK_LOST);
	assert_int_equal(shark_get_request(m, v.requests[0].index)->outcome, SHARK_LOST);
	assert_int_equal(v.nr_stacks, 1);
	assert_int_equal(v.stacks[0].nr, 4);
	shark_free_view(&v);
	/* CPU 1: joined only, and a truncated stack */
	assert_int_equal(shark_make_view(m, 0, false, 1, &win, &v), 0);
	assert_int_equal(v.requests[0].outcome, SHARK_JOINED);
	assert_int_equal(v.stacks[0].outcome, 1);
	assert_false(shark_get_stack(m, v.stacks[0].index)->whole);
	shark_free_view(&v);
}

static void a_wait_that_began_before_the_window_is_seen(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	struct shark_window win = { 1010000000, 1012000000, 1000, 1023208000, 2000 };
	struct shark_view v;
	size_t i;
	int before = 0, behind = 0;

	(void)state;
	assert_int_equal(shark_make_view(m, 0, true, 100, &win, &v), 0);
	assert_int_equal(v.nr_requests, 0);
	assert_int_equal(v.nr_waits, 1);
	assert_int_equal(v.waits[0].from, -1);
	assert_int_equal(v.waits[0].to, 2000);
	shark_free_view(&v);
	assert_int_equal(shark_make_view(m, 0, true, 200, &win, &v), 0);
	for (i = 0; i < v.nr_waits; i++) {
		before += v.waits[i].from == -1;
		behind += v.waits[i].to == 2000;
	}
	/* two requests of poll have one stack: one line for both, the longer */
	assert_int_equal(before, 1);
	assert_int_equal(behind, 0);
	assert_int_equal(v.waits[0].ns, 7302000);
	shark_free_view(&v);
}

static void what_filters_hide_is_not_drawn(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	struct shark_window win = window(2400);
	struct shark_view v;
	ssize_t i;

	(void)state;
	for (i = 0; i < nr_rows; i++)
		if (!strcmp(event_of(rows[i]), "ftrace/user_unwind_cookie"))
			rows[i]->visible &= ~KS_GRAPH_VIEW_FILTER_MASK;
	assert_int_equal(shark_make_view(m, 0, false, 0, &win, &v), 0);
	assert_int_equal(v.nr_requests, 0);
	assert_int_equal(v.nr_waits, 0);
	assert_int_equal(v.nr_stacks, 4);
	shark_free_view(&v);
}

static void a_double_click_goes_to_the_stack_and_back(void **state)
{
	struct shark_model *m = load("../kshark/waits");
	uint32_t first = request_at(m, 1004012000), second = request_at(m, 1008214000);
	uint32_t stack = shark_get_request(m, first)->stack;
	const struct kshark_entry *last = NULL;
	struct shark_jump j;

	(void)state;
	shark_jump_from_request(m, first, &j);
	assert_ptr_equal(j.a, shark_get_request(m, first)->shown);
	assert_ptr_equal(j.b, shark_get_stack(m, stack)->entry);
	assert_false(j.a_last);
	/* back: the last request first, then the one before, then over again */
	assert_int_equal(shark_get_stack(m, stack)->nr_requests, 2);
	shark_jump_from_stack(m, stack, last, &j);
	assert_ptr_equal(j.a, shark_get_request(m, second)->shown);
	assert_ptr_equal(j.b, shark_get_stack(m, stack)->entry);
	assert_true(j.a_last);
	shark_jump_from_stack(m, stack, j.a, &j);
	assert_ptr_equal(j.a, shark_get_request(m, first)->shown);
	shark_jump_from_stack(m, stack, j.a, &j);
	assert_ptr_equal(j.a, shark_get_request(m, second)->shown);
	/* no stack: only A */
	shark_jump_from_request(m, request_at(m, 1015020000), &j);
	assert_non_null(j.a);
	assert_null(j.b);
	assert_true(j.a_last);
}

static void durations_have_three_digits(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} t[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 12345, "12.3 us" },
		{ 999499, "999 us" }, { 999500, "1.00 ms" }, { 10392000, "10.4 ms" },
		{ 9995000, "10.0 ms" }, { 99950000, "100 ms" }, { 2500000000, "2.50 s" },
		{ 3600000000000, "3600 s" }, { -1500, "-1.50 us" },
	};
	char buf[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(*t); i++)
		assert_string_equal(shark_format_duration(t[i].ns, buf, sizeof(buf)), t[i].text);
}

static void outcomes_differ_in_colour(void **state)
{
	int i, j;

	(void)state;
	for (i = 0; i < SHARK_NR_OUTCOMES; i++) {
		assert_int_not_equal(shark_get_colour(i), SHARK_STACK_COLOUR);
		for (j = 0; j < i; j++)
			assert_int_not_equal(shark_get_colour(i), shark_get_colour(j));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, unload)
	const struct CMUnitTest tests[] = {
		TEST(a_request_finds_its_stack_on_another_cpu),
		TEST(the_row_shown_is_the_one_with_the_joined_text),
		TEST(a_kernel_stack_goes_with_the_cookie_of_its_level),
		TEST(outcomes_of_requests_without_a_stack),
		TEST(not_recorded_where_nothing_was_dropped),
		TEST(a_kernel_stack_whose_cookie_was_lost_is_a_lost_request),
		TEST(a_kernel_stack_never_goes_with_the_cookie_of_another_task),
		TEST(a_stack_by_tables_is_whole_wherever_its_addresses_are),
		TEST(a_stack_in_several_records_is_one),
		TEST(a_stack_in_another_buffer_is_found),
		TEST(of_equal_stacks_that_of_the_own_buffer_is_taken),
		TEST(all_fixtures_as_the_join_counts_them),
		TEST(loading_again_forgets_the_rows_before),
		TEST(without_its_file_nothing_is_guessed),
		TEST(a_cpu_shows_its_requests_stacks_and_waits),
		TEST(a_bin_shows_the_worst_in_it),
		TEST(a_wait_that_began_before_the_window_is_seen),
		TEST(what_filters_hide_is_not_drawn),
		TEST(a_double_click_goes_to_the_stack_and_back),
		TEST(durations_have_three_digits),
		TEST(outcomes_differ_in_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
