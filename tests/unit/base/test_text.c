// SPDX-License-Identifier: GPL-2.0
/*
 * test_text.c - strings that grow
 *
 * A string is never cut. Text that finds no memory is left out whole, and the string is marked as
 * failed.
 */
#include "libunwind-user/base/base.h"
#include "tests/unit/unit.h"

static void formatted_text_of_any_length_is_kept(void **state)
{
	char want[1000];
	struct text t = {};
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(want); len++) {
		memset(want, 'x', len);
		want[len] = '\0';
		text_clear(&t);
		text_add(&t, "<");
		text_addf(&t, "%s", want);
		text_add(&t, ">");
		assert_false(t.failed);
		assert_int_equal(t.nr, len + 2);
		assert_int_equal(strlen(t.v), t.nr);
		assert_int_equal(strspn(t.v + 1, "x"), len);
		assert_true(t.v[t.nr - 1] == '>');
	}
	free(t.v);
}

static void text_without_memory_is_left_out_and_marked(void **state)
{
	/* so full that one more of these fits in no memory */
	struct text full = { .nr = SIZE_MAX / 2 - 200 }, t = full;
	char name[201];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	text_addf(&t, "%s", name);
	assert_true(t.failed);
	assert_int_equal(t.nr, full.nr);
	t = full;
	text_add(&t, name);
	assert_true(t.failed);
	/* nor is later text appended in the wrong place */
	t = (struct text){ .failed = true };
	text_addf(&t, "%s", name);
	text_addf(&t, "%d", 1);
	assert_null(t.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formatted_text_of_any_length_is_kept),
		cmocka_unit_test(text_without_memory_is_left_out_and_marked),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
