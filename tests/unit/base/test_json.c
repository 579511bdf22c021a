// SPDX-License-Identifier: LGPL-2.1-or-later
/* test_json.c - the JSON writer: commas, nesting, numbers, escapes, and bytes that are not text */
#include "libunwind-user/base/base.h"

#include "tests/unit/unit.h"

static void is(struct jsonw *j, const char *want)
{
	assert_string_equal(j->text->v, want);
	vec_free(j->text);
	free(j);
}

static struct jsonw *writer(void)
{
	static struct text text;
	struct jsonw *j = calloc(1, sizeof(*j));

	j->text = &text;
	return j;
}

static void commas_are_between_members_only(void **state)
{
	struct jsonw *j = writer();

	(void)state;
	jsonw_object(j, NULL);
	jsonw_number(j, "a", 1);
	jsonw_object(j, "b");
	jsonw_end(j);
	jsonw_array(j, "c");
	jsonw_number(j, NULL, 2);
	jsonw_array(j, NULL);
	jsonw_null(j, NULL);
	jsonw_end(j);
	jsonw_bool(j, NULL, true);
	jsonw_end(j);
	jsonw_bool(j, "d", false);
	jsonw_end(j);
	is(j, "{\"a\":1,\"b\":{},\"c\":[2,[null],true],\"d\":false}");
}

static void numbers_are_exact(void **state)
{
	struct jsonw *j = writer();

	(void)state;
	jsonw_array(j, NULL);
	jsonw_number(j, NULL, 0);
	jsonw_number(j, NULL, UINT64_MAX);
	jsonw_signed(j, NULL, INT64_MIN);
	jsonw_real(j, NULL, 1.5, 2);
	jsonw_address(j, NULL, 0xffffffff81000000);
	jsonw_hex(j, NULL, (const uint8_t *)"\x00\xfa", 2);
	jsonw_end(j);
	is(j, "[0,18446744073709551615,-9223372036854775808,1.50,\"0xffffffff81000000\",\"00fa\"]");
}

static void a_byte_that_is_no_text_is_replaced(void **state)
{
	struct jsonw *j = writer();

	(void)state;
	jsonw_array(j, NULL);
	jsonw_string(j, NULL, "a\"\\\n\x7f");
	jsonw_string(j, NULL, "\xc3\xa9\xff\xc3");
	jsonw_string(j, NULL, NULL);
	jsonw_bytes(j, NULL, "x\0y", 3);
	jsonw_end(j);
	is(j, "[\"a\\\"\\\\\\u000a\\u007f\","
	   "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\",null,\"x\\u0000y\"]");
}

static void a_name_may_need_escapes(void **state)
{
	struct jsonw *j = writer();

	(void)state;
	jsonw_object(j, NULL);
	jsonw_name(j, "a\"b", 3);
	jsonw_number(j, NULL, 1);
	jsonw_name(j, "c", 1);
	jsonw_array(j, NULL);
	jsonw_end(j);
	jsonw_end(j);
	is(j, "{\"a\\\"b\":1,\"c\":[]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_are_between_members_only),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(a_byte_that_is_no_text_is_replaced),
		cmocka_unit_test(a_name_may_need_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
