// SPDX-License-Identifier: GPL-2.0
/*
 * test_dwarf.c - debug information that is made to be slow to read
 *
 * The test writes the sections by hand. Every lookup must return, and its work must stay in
 * proportion to the size of the sections. A test that hangs has failed. Some tests also check that
 * the work budget is used up.
 */
#include <dwarf.h>
#include <errno.h>

#include "libunwind-user/dwarf/dwarf.h"
#include "tests/unit/unit.h"

struct bytes {
	uint8_t *p;
	size_t nr, room;
};

static void put(struct bytes *b, uint64_t v, size_t size)
{
	if (b->nr + size > b->room) {
		b->room = 2 * b->room + 4096;
		b->p = realloc(b->p, b->room);
		assert_non_null(b->p);
	}
	memcpy(b->p + b->nr, &v, size);
	b->nr += size;
}

static void puts_(struct bytes *b, const uint8_t *v, size_t n)
{
	while (n--)
		put(b, *v++, 1);
}

#define PUT(b, ...) do { \
		static const uint8_t v_[] = { __VA_ARGS__ }; \
		puts_(b, v_, sizeof(v_)); \
	} while (0)

static struct dw dw;
static struct bytes sec[DW_NR_SECTIONS];

static int setup(void **state)
{
	(void)state;
	memset(&dw, 0, sizeof(dw));
	memset(sec, 0, sizeof(sec));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dw_free(&dw);
	return 0;
}

/* The header of a unit of version 4; returns where its length is. */
static size_t begin_unit(uint32_t abbrev)
{
	struct bytes *b = &sec[DW_INFO];
	size_t at = b->nr;

	put(b, 0, 4);
	put(b, 4, 2);
	put(b, abbrev, 4);
	put(b, 8, 1);
	return at;
}

/* Write the length of what follows, up to the current end, at @at of the section. */
static void end(enum dw_section i, size_t at)
{
	uint32_t len = sec[i].nr - at - 4;

	memcpy(sec[i].p + at, &len, 4);
}

static void end_unit(size_t at)
{
	end(DW_INFO, at);
}

static void ready(void)
{
	int i;

	for (i = 0; i < DW_NR_SECTIONS; i++) {
		if (!sec[i].nr)
			continue;
		/* the sanitizer sees a read past the end */
		dw.owned[i] = realloc(sec[i].p, sec[i].nr);
		assert_non_null(dw.owned[i]);
		dw.sec[i].p = dw.owned[i];
		dw.sec[i].size = sec[i].nr;
	}
	dw_set_budgets(&dw);
}

/* 1: a unit from 0x1000 to 0x9000; 2: a function with ranges; 3: a function of one byte's size */
static void abbrevs(void)
{
	PUT(&sec[DW_ABBREV], 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	    DW_FORM_data4, DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0);
	PUT(&sec[DW_ABBREV], 2, DW_TAG_subprogram, 1, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
	PUT(&sec[DW_ABBREV], 3, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4,
	    DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0, 0);
	PUT(&sec[DW_ABBREV], 4, DW_TAG_lexical_block, 1, 0, 0, 0);
}

static void put_root(void)
{
	put(&sec[DW_INFO], 1, 1);
	put(&sec[DW_INFO], 0x1000, 8);
	put(&sec[DW_INFO], 0x8000, 4);
	put(&sec[DW_INFO], 0, 4);
}

static size_t begin_first_unit(void)
{
	size_t at;

	abbrevs();
	at = begin_unit(0);
	put_root();
	return at;
}

static void put_ranges(int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		put(&sec[DW_RANGES], 2 * i, 8);
		put(&sec[DW_RANGES], 2 * i + 1, 8);
	}
	put(&sec[DW_RANGES], 0, 8);
	put(&sec[DW_RANGES], 0, 8);
}

static void many_functions_with_one_long_list_of_ranges(void **state)
{
	size_t at;
	int i;

	(void)state;
	at = begin_first_unit();
	for (i = 0; i < 20000; i++) {
		put(&sec[DW_INFO], 2, 1);
		put(&sec[DW_INFO], 16, 4);
		put(&sec[DW_INFO], 0, 1);
	}
	end_unit(at);
	put_ranges(20000);
	ready();
	assert_int_equal(dw_read_units(&dw), 0);
	assert_non_null(dw_find_unit_at(&dw, 0x1001));
	assert_int_equal(dw_read_funcs(&dw, dw_find_unit_at(&dw, 0x1001)), -ENOEXEC);
	assert_true(dw.budget < 0);
}

static void functions_nested_very_deep(void **state)
{
	struct dw_unit *u;
	size_t at;
	int i;

	(void)state;
	at = begin_first_unit();
	put(&sec[DW_INFO], 2, 1);
	put(&sec[DW_INFO], 0, 4);
	for (i = 0; i < 200000; i++) {
		/* the innermost one is named after itself */
		put(&sec[DW_INFO], 3, 1);
		put(&sec[DW_INFO], sec[DW_INFO].nr - 1 - at, 4);
		put(&sec[DW_INFO], 0x1001, 8);
		put(&sec[DW_INFO], 1, 1);
	}
	end_unit(at);
	/* the first ranges start with 0, 1; the start of the unit is added */
	put(&sec[DW_RANGES], 0, 8);
	put(&sec[DW_RANGES], 16, 8);
	put(&sec[DW_RANGES], 0, 8);
	put(&sec[DW_RANGES], 0, 8);
	ready();
	assert_int_equal(dw_read_units(&dw), 0);
	u = dw_find_unit_at(&dw, 0x1001);
	assert_int_equal(dw_read_funcs(&dw, u), 0);
	assert_int_equal(u->nr_funcs, 200001);
	assert_int_equal(cover_find(&u->cover, 0x1001), 200000);
	assert_int_equal(cover_find(&u->cover, 0x1002), 0);
	assert_null(dw_get_name(&dw, u->funcs[200000].named));
}

static void many_units_with_tables_of_abbreviations_inside_of_one_another(void **state)
{
	int i, bad = 0;
	size_t at;

	(void)state;
	for (i = 0; i < 40000; i++)
		PUT(&sec[DW_ABBREV], 1, DW_TAG_compile_unit, 0, 0, 0);
	for (i = 0; i < 20000; i++) {
		at = begin_unit(5 * i);
		put(&sec[DW_INFO], 1, 1);
		end_unit(at);
	}
	ready();
	/* the same number twice: each is refused, and after some of them unread */
	assert_int_equal(dw_read_units(&dw), 0);
	for (i = 0; i < 20000; i++)
		bad += dw.units[i].error != 0;
	assert_int_equal(bad, 20000);
	assert_true(dw.abbrev_budget < 0);
}

static void many_units_with_one_long_line_table(void **state)
{
	struct bytes *l = &sec[DW_LINE];
	int i, read = 0;
	size_t at;

	(void)state;
	abbrevs();
	for (i = 0; i < 20000; i++) {
		at = begin_unit(0);
		put_root();
		end_unit(at);
	}
	put(l, 0, 4);
	put(l, 2, 2);
	put(l, 8, 4);
	PUT(l, 1, 1, 0xfb, 14, 1, 0, 0, 0);
	PUT(l, 0, 9, DW_LNE_set_address, 0, 0x10, 0, 0, 0, 0, 0, 0);
	for (i = 0; i < 100000; i++)
		put(l, 20, 1);
	PUT(l, 0, 1, DW_LNE_end_sequence);
	end(DW_LINE, 0);
	ready();
	assert_int_equal(dw_read_units(&dw), 0);
	for (i = 0; i < 20000; i++)
		read += !dw_read_lines(&dw, &dw.units[i]);
	assert_in_range(read, 1, 100);
}

static void many_files_in_a_directory_with_a_long_name(void **state)
{
	struct bytes *l = &sec[DW_LINE];
	size_t made = 0, nr = 0, i;
	struct dw_unit *u;

	(void)state;
	end_unit(begin_first_unit());
	put(l, 0, 4);
	put(l, 2, 2);
	put(l, 0, 4);
	PUT(l, 1, 1, 0xfb, 14, 1);
	for (i = 0; i < 50000; i++)
		put(l, 'd', 1);
	put(l, 0, 2);
	for (i = 0; i < 10000; i++)
		PUT(l, 'f', 0, 1, 0, 0);
	put(l, 0, 1);
	end(DW_LINE, 6);
	end(DW_LINE, 0);
	ready();
	assert_int_equal(dw_read_units(&dw), 0);
	u = dw_find_unit_at(&dw, 0x1000);
	assert_non_null(u);
	assert_int_equal(dw_read_lines(&dw, u), 0);
	for (i = 1; i <= 10000; i++) {
		const char *path = dw_get_path(&dw, u, i);

		if (!path)
			continue;
		assert_int_equal(strlen(path), 50002);
		assert_ptr_equal(dw_get_path(&dw, u, i), path);
		made += strlen(path);
		nr++;
	}
	assert_in_range(nr, 1, 100);
	assert_in_range(made, 1, 65536 + 8 * (l->nr + 200));
}

/* Offsets in .debug_rnglists that lead to before and after it */
static void a_list_of_ranges_that_is_nowhere(void **state)
{
	static const int64_t offs[] = { -1, -2000000000, INT64_MIN, 72, 73, INT64_MAX };
	struct bytes *b = &sec[DW_INFO];
	size_t i;

	for (i = 0; i < sizeof(offs) / sizeof(*offs); i++) {
		PUT(&sec[DW_ABBREV], 1, DW_TAG_compile_unit, 0, DW_AT_ranges, DW_FORM_rnglistx,
		    DW_AT_rnglists_base, DW_FORM_sec_offset, 0, 0, 0);
		/* 64-bit DWARF 5 */
		put(b, 0xffffffff, 4);
		put(b, 22, 8);
		put(b, 5, 2);
		put(b, DW_UT_compile, 1);
		put(b, 8, 1);
		put(b, 0, 8);
		put(b, 1, 1);
		put(b, 0, 1);
		put(b, 0, 8);
		put(&sec[DW_RNGLISTS], offs[i], 8);
		sec[DW_RNGLISTS].nr += 64;
		memset(sec[DW_RNGLISTS].p + 8, DW_RLE_start_length, 64);
		ready();
		assert_int_equal(dw_read_units(&dw), 0);
		assert_int_equal(dw.nr_units, 1);
		assert_int_equal(dw.units[0].error, 0);
		assert_int_equal(dw.cover.nr, 0);
		teardown(state);
		setup(state);
	}
}

static void a_name_that_leads_in_a_cycle(void **state)
{
	size_t at, die;

	(void)state;
	at = begin_first_unit();
	put(&sec[DW_INFO], 2, 1);
	put(&sec[DW_INFO], 0, 4);
	die = sec[DW_INFO].nr;
	put(&sec[DW_INFO], 3, 1);
	put(&sec[DW_INFO], die - at, 4);
	put(&sec[DW_INFO], 0x1001, 8);
	put(&sec[DW_INFO], 1, 1);
	end_unit(at);
	ready();
	assert_int_equal(dw_read_units(&dw), 0);
	assert_null(dw_get_name(&dw, die));
	/* into the header, past the end, into a common file that does not exist */
	assert_null(dw_get_name(&dw, at + 3));
	assert_null(dw_get_name(&dw, sec[DW_INFO].nr));
	assert_null(dw_get_name(&dw, DW_IN_ALT | die));
}

static void of_overlapping_intervals_the_highest_rank_wins(void **state)
{
	struct cover_in in[300];
	unsigned int seed = 1;
	struct cover c;
	uint32_t want;
	int n, i, nr;
	uint64_t at;

	(void)state;
	for (n = 0; n < 300; n++) {
		nr = rand_r(&seed) % 300;
		for (i = 0; i < nr; i++) {
			in[i].lo = rand_r(&seed) % 200;
			in[i].hi = in[i].lo + rand_r(&seed) % 40;
			in[i].rank = i * 7919 % 1009;
			in[i].owner = i;
		}
		assert_int_equal(cover_make(&c, in, nr), 0);
		for (at = 0; at < 250; at++) {
			uint64_t best = 0;

			want = COVER_NONE;
			for (i = 0; i < nr; i++) {
				if (at < in[i].lo || at >= in[i].hi ||
				    (want != COVER_NONE && in[i].rank < best))
					continue;
				want = in[i].owner;
				best = in[i].rank;
			}
			assert_int_equal(cover_find(&c, at), want);
		}
		free(c.v);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(many_functions_with_one_long_list_of_ranges),
		T(functions_nested_very_deep),
		T(many_units_with_tables_of_abbreviations_inside_of_one_another),
		T(many_units_with_one_long_line_table),
		T(many_files_in_a_directory_with_a_long_name),
		T(a_list_of_ranges_that_is_nowhere),
		T(a_name_that_leads_in_a_cycle),
		T(of_overlapping_intervals_the_highest_rank_wins),
	};

	return cmocka_run_group_tests_name("dwarf", tests, NULL, NULL);
}
