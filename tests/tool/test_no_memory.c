// SPDX-License-Identifier: GPL-2.0
/*
 * test_no_memory - reads files while one request for memory fails, each request in turn
 *
 * The result is an error, or the answers are those of a machine with enough memory. This program
 * fails the requests of its own code: trace-ustack itself ends with an error after any failure, so
 * tests/tool/no-memory cannot see a wrong answer of the join.
 */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "plugin/recording/scan.h"
#include "trace-cmd-ext/model/model.h"
#include "tests/unit/unit.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
pid_t __real_fork(void);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
pid_t __wrap_fork(void);

static long left = -1;		/* requests until one fails; below 0: none fails */
static bool child_only;		/* from fork() on, the parent's requests do not fail */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

pid_t __wrap_fork(void)
{
	pid_t pid = __real_fork();

	if (pid > 0 && child_only && left >= 0)
		left = LONG_MAX;
	return pid;
}

static const char *const fixtures[] = {
	"came_back", "same_cookie", "clock", "clock_instance", "instances", "refused",
	"refused_instance",
};

#define NR_FIXTURES	(sizeof(fixtures) / sizeof(*fixtures))
#define MANY		100000

static const char *fixture(size_t i)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s.dat", getenv("FIXTURES"), fixtures[i]);
	return path;
}

/* The answers for a file, and what they depend on. */
struct answers {
	struct join_stats stats;
	bool nsec;
};

static void assert_same(const struct answers *a, const struct answers *b, const char *path, long n)
{
	if (memcmp(a, b, sizeof(*a)))
		fail_msg("%s: other answers without the memory of request %ld", path, n);
}

/* Read the file at @path into @a while request @n fails; false if reading is refused. */
static bool ask_model(const char *path, long n, struct answers *a)
{
	struct model_opts opts = {};
	char why[256] = "";
	struct model *m;

	left = n;
	m = model_open(path, &opts, why, sizeof(why));
	memset(a, 0, sizeof(*a));
	if (m) {
		a->stats = model_get_info(m)->join;
		a->nsec = model_get_info(m)->nsec;
	} else {
		assert_string_not_equal(why, "");
	}
	model_close(m);
	return m;
}

static bool ask_plugin(const char *path, long n, struct answers *a)
{
	int fd = open(path, O_RDONLY);
	struct scan scan;
	bool read;

	assert_true(fd >= 0);
	left = n;
	scan_file(&scan, fd);
	read = scan.join;
	memset(a, 0, sizeof(*a));
	if (read)
		join_get_stats(scan.join, &a->stats);
	assert_int_equal(read, !scan.problem);
	if (scan.problem)
		assert_non_null(strstr(scan.problem, "memory"));
	scan_free(&scan);
	close(fd);
	return read;
}

static void sweep(bool (*ask)(const char *path, long n, struct answers *a))
{
	struct answers good, got;
	long n, refused, idle;
	size_t i;

	for (i = 0; i < NR_FIXTURES; i++) {
		assert_true(ask(fixture(i), -1, &good));
		refused = 0;
		for (n = idle = 0; idle < 10; n++) {
			assert_true(n < MANY);
			if (ask(fixture(i), n, &got)) {
				assert_same(&got, &good, fixture(i), n);
				idle = left < 0 ? 0 : idle + 1;	/* below 0: one has failed */
			} else {
				refused++;
				idle = 0;
			}
		}
		left = -1;
		/* and each file needs some */
		assert_true(refused > 3);
	}
}

static void the_tool_answers_right_or_not_at_all(void **state)
{
	(void)state;
	sweep(ask_model);
}

static void the_plugin_answers_right_or_not_at_all(void **state)
{
	(void)state;
	child_only = false;
	sweep(ask_plugin);
}

/* The reading process reports the failure to the answering process. */
static void what_the_child_could_not_keep_is_an_error(void **state)
{
	(void)state;
	child_only = true;
	sweep(ask_plugin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tool_answers_right_or_not_at_all),
		cmocka_unit_test(the_plugin_answers_right_or_not_at_all),
		cmocka_unit_test(what_the_child_could_not_keep_is_an_error),
	};

	return cmocka_run_group_tests_name("no_memory", tests, NULL, NULL);
}
