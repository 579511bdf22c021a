// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_hash.c - the hash from hashes to indices, and the search in sorted arrays
 *
 * A search finds every index, even if all hashes collide. A near search looks at HIDX_PROBES
 * places at most, so it can miss an index if the input makes hashes collide.
 */
#include "libunwind-user/base/base.h"

#include "tests/unit/unit.h"

#define MANY	10000

static bool has(const struct hidx *h, uint64_t hash, uint32_t want)
{
	uint32_t i;
	size_t pos;

	for_each_hidx(h, hash, pos, i)
		if (i == want)
			return true;
	return false;
}

static bool has_near(const struct hidx *h, uint64_t hash, uint32_t want, uint32_t *looked)
{
	uint32_t i;
	size_t pos;

	*looked = 0;
	for_each_hidx_bounded(h, hash, pos, i) {
		++*looked;
		if (i == want)
			return true;
	}
	return false;
}

static void every_index_is_found_whatever_collides(void **state)
{
	struct hidx h = {};
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_int_equal(hidx_add(&h, 7, i), 0);
	for (i = 0; i < 1000; i++)
		assert_true(has(&h, 7, i));
	assert_false(has(&h, 8, 0));
	hidx_free(&h);
}

static void a_near_search_finds_what_does_not_collide(void **state)
{
	struct hidx h = {};
	uint32_t i, looked;

	(void)state;
	for (i = 0; i < MANY; i++)
		assert_int_equal(hidx_add_bounded(&h, hash64(i), i), 0);
	for (i = 0; i < MANY; i++)
		assert_true(has_near(&h, hash64(i), i, &looked));
	hidx_free(&h);
}

static void a_near_search_of_colliding_hashes_has_an_end(void **state)
{
	struct hidx h = {};
	uint32_t i, looked;

	(void)state;
	for (i = 0; i < MANY; i++) {
		assert_int_equal(hidx_add_bounded(&h, 7, i), 0);
		assert_true(has_near(&h, 7, i, &looked));
		assert_true(looked <= HIDX_PROBES);
	}
	assert_false(has_near(&h, 7, HIDX_PROBES + 1, &looked));
	hidx_free(&h);
}

/* Every number of elements, and every place where the first one can be. */
static void the_first_element_is_found_wherever_it_is(void **state)
{
	uint32_t nr, first, i;

	(void)state;
	for (nr = 0; nr < 40; nr++) {
		for (first = 0; first <= nr; first++) {
			bisect(i, nr, (assert_true(i < nr), i >= first));
			assert_int_equal(i, first);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_is_found_whatever_collides),
		cmocka_unit_test(a_near_search_finds_what_does_not_collide),
		cmocka_unit_test(a_near_search_of_colliding_hashes_has_an_end),
		cmocka_unit_test(the_first_element_is_found_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
