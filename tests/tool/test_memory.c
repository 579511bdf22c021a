// SPDX-License-Identifier: GPL-2.0
/*
 * test_memory - the tool must notice a request that gets no memory, however compilers change the
 * request. The build makes this test twice, with _FORTIFY_SOURCE and without.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "trace-cmd-ext/tool/tool.h"
#include "tests/unit/unit.h"

#define HUGE	(1 << 30)

atomic_bool tool_no_memory;

/* The compiler does not know this value, so it cannot drop a request */
static volatile size_t huge = HUGE;

static int setup(void **state)
{
	struct rlimit limit = { .rlim_cur = HUGE / 2, .rlim_max = RLIM_INFINITY };

	(void)state;
	tool_no_memory = false;
	return setrlimit(RLIMIT_AS, &limit);
}

static void requests_for_memory_are_noted(void **state)
{
	(void)state;
	assert_null(malloc(huge));
	assert_true(tool_no_memory);
	tool_no_memory = false;
	assert_null(calloc(huge, 1));
	assert_true(tool_no_memory);
	tool_no_memory = false;
	assert_null(realloc(NULL, huge));
	assert_true(tool_no_memory);
}

static int format(char **to, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(to, fmt, ap);
	va_end(ap);
	return n;
}

static void a_text_without_room_is_noted(void **state)
{
	char *text;

	(void)state;
	assert_true(asprintf(&text, "%*d", (int)huge, 1) < 0);
	assert_true(tool_no_memory);
	tool_no_memory = false;
	assert_true(format(&text, "%*d", (int)huge, 1) < 0);
	assert_true(tool_no_memory);
}

static void what_there_is_memory_for_is_not_noted(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(asprintf(&text, "%d", 12), 2);
	assert_string_equal(text, "12");
	free(text);
	assert_int_equal(format(&text, "%s", "ab"), 2);
	assert_string_equal(text, "ab");
	free(text);
	text = strdup("x");
	assert_non_null(text);
	free(text);
	assert_false(tool_no_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(requests_for_memory_are_noted, setup),
		cmocka_unit_test_setup(a_text_without_room_is_noted, setup),
		cmocka_unit_test_setup(what_there_is_memory_for_is_not_noted, setup),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
