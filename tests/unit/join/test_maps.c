// SPDX-License-Identifier: GPL-2.0
/* test_maps.c - which file a process had mapped at an address at a time */
#include <stdlib.h>

#include "plugin/join/maps.h"
#include "tests/unit/unit.h"

#define MS	1000000ull

static struct maps *m;

static int setup(void **state)
{
	(void)state;
	m = maps_new();
	return !m;
}

static int teardown(void **state)
{
	(void)state;
	maps_free(m);
	return 0;
}

static void map_on(uint32_t cpu, uint32_t tgid, uint64_t ts, uint64_t start, uint64_t end,
		   uint64_t pgoff, const char *path)
{
	struct maps_rec rec = {
		.start = start, .end = end, .pgoff = pgoff, .ts = ts, .tgid = tgid, .cpu = cpu,
		.path = path,
	};

	assert_int_equal(maps_add(m, &rec), 0);
}

static void map(uint32_t tgid, uint64_t ts, uint64_t start, uint64_t end, const char *path)
{
	map_on(0, tgid, ts, start, end, 0, path);
}

static void finish(void)
{
	assert_int_equal(maps_finish(m), 0);
}

static const char *path_on(uint32_t cpu, uint32_t tgid, uint64_t ts, uint64_t addr)
{
	const struct maps_file *f;
	uint64_t offset;

	f = maps_find_file(m, tgid, ts, cpu, addr, &offset);
	return f ? f->path : "none";
}

static const char *path(uint32_t tgid, uint64_t ts, uint64_t addr)
{
	return path_on(0, tgid, ts, addr);
}

static void the_offset_counts_from_the_start_of_the_file(void **state)
{
	uint64_t offset;

	(void)state;
	map_on(0, 10, 100, 0x1000, 0x3000, 0x28000, "/lib/a");
	finish();
	assert_non_null(maps_find_file(m, 10, 200, 0, 0x1234, &offset));
	assert_int_equal(offset, 0x28234);
}

static void an_address_outside_or_of_another_process_has_no_file(void **state)
{
	(void)state;
	map(10, 100, 0x1000, 0x3000, "/lib/a");
	finish();
	assert_string_equal(path(10, 200, 0xfff), "none");
	assert_string_equal(path(10, 200, 0x1000), "/lib/a");
	assert_string_equal(path(10, 200, 0x2fff), "/lib/a");
	assert_string_equal(path(10, 200, 0x3000), "none");
	assert_string_equal(path(11, 200, 0x1000), "none");
}

static void the_last_mapping_recorded_before_the_stack_counts(void **state)
{
	(void)state;
	map(10, 100 * MS, 0x1000, 0x3000, "/bin/old");
	map(10, 200 * MS, 0x1000, 0x3000, "/bin/new");
	map(10, 300 * MS, 0x1000, 0x3000, "/bin/old");
	finish();
	assert_string_equal(path(10, 150 * MS, 0x1000), "/bin/old");
	assert_string_equal(path(10, 250 * MS, 0x1000), "/bin/new");
	assert_string_equal(path(10, 350 * MS, 0x1000), "/bin/old");
}

static void a_mapping_recorded_only_later_counts_where_there_is_none_before(void **state)
{
	(void)state;
	map(10, 900 * MS, 0x1000, 0x3000, "/lib/b");
	map(10, 800 * MS, 0x1000, 0x3000, "/lib/a");
	finish();
	assert_string_equal(path(10, 100 * MS, 0x1000), "/lib/a");
}

static void near_a_change_another_cpus_clock_decides_nothing(void **state)
{
	(void)state;
	map(10, 100 * MS, 0x1000, 0x3000, "/bin/old");
	map_on(1, 10, 200 * MS, 0x1000, 0x3000, 0, "/bin/new");
	finish();
	/* on the CPU that recorded the change the order is known */
	assert_string_equal(path_on(1, 10, 200 * MS - 1, 0x1000), "/bin/old");
	assert_string_equal(path_on(1, 10, 200 * MS + 1, 0x1000), "/bin/new");
	assert_string_equal(path_on(0, 10, 199 * MS, 0x1000), "none");
	assert_string_equal(path_on(0, 10, 201 * MS, 0x1000), "none");
	assert_string_equal(path_on(0, 10, 180 * MS, 0x1000), "/bin/old");
	assert_string_equal(path_on(0, 10, 220 * MS, 0x1000), "/bin/new");
}

static void a_repeated_record_is_no_change(void **state)
{
	(void)state;
	map(10, 100 * MS, 0x1000, 0x3000, "/bin/old");
	map(10, 200 * MS, 0x1000, 0x3000, "/bin/new");
	map_on(1, 10, 300 * MS, 0x1000, 0x3000, 0, "/bin/new");
	finish();
	assert_string_equal(path_on(0, 10, 299 * MS, 0x1000), "/bin/new");
	assert_string_equal(path_on(0, 10, 301 * MS, 0x1000), "/bin/new");
}

static void overlapping_mappings_are_all_looked_at(void **state)
{
	(void)state;
	map(10, 100 * MS, 0x1000, 0x9000, "/lib/wide");
	map(10, 200 * MS, 0x2000, 0x3000, "/lib/inner");
	map(10, 300 * MS, 0x5000, 0x6000, "/lib/later");
	finish();
	assert_string_equal(path(10, 400 * MS, 0x2800), "/lib/inner");
	assert_string_equal(path(10, 400 * MS, 0x3800), "/lib/wide");
	assert_string_equal(path(10, 400 * MS, 0x5800), "/lib/later");
	assert_string_equal(path(10, 250 * MS, 0x5800), "/lib/wide");
	assert_string_equal(path(10, 150 * MS, 0x2800), "/lib/wide");
}

static void only_a_contested_place_changes_the_epoch(void **state)
{
	bool near;

	(void)state;
	map(10, 100 * MS, 0x1000, 0x3000, "/bin/old");
	map(10, 200 * MS, 0x1000, 0x3000, "/bin/new");
	map(10, 300 * MS, 0x7000, 0x8000, "/lib/c");
	finish();
	assert_int_not_equal(maps_get_epoch(m, 10, 150 * MS, &near),
			     maps_get_epoch(m, 10, 250 * MS, &near));
	assert_int_equal(maps_get_epoch(m, 10, 250 * MS, &near),
			 maps_get_epoch(m, 10, 350 * MS, &near));
	assert_false(near);
	maps_get_epoch(m, 10, 201 * MS, &near);
	assert_true(near);
	assert_int_equal(maps_get_epoch(m, 99, 201 * MS, &near), 0);
}

static void files_with_different_contents_are_different_files(void **state)
{
	struct maps_rec rec = {
		.start = 0x1000, .end = 0x2000, .ts = 1, .tgid = 10, .path = "/lib/a",
		.build_id_size = 2, .build_id = { 1, 2 },
	};
	const struct maps_file *a, *b;
	uint64_t offset;

	(void)state;
	maps_add(m, &rec);
	rec.build_id[1] = 3;
	rec.tgid = 11;
	maps_add(m, &rec);
	rec.tgid = 12;
	maps_add(m, &rec);
	finish();
	a = maps_find_file(m, 10, 1, 0, 0x1000, &offset);
	b = maps_find_file(m, 11, 1, 0, 0x1000, &offset);
	assert_int_not_equal(a->id, b->id);
	assert_int_equal(b->id, maps_find_file(m, 12, 1, 0, 0x1000, &offset)->id);
}

/* The index of the first address that is not code, from the second on. */
static uint32_t outside(uint32_t tgid, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t addrs[] = { tgid == 10 ? 0x1010 : 0x5018, a, b, c };

	return maps_find_outside(m, tgid, addrs, 1, 4);
}

static void an_address_of_no_mapping_is_no_code(void **state)
{
	(void)state;
	map(10, 100, 0x1000, 0x2000, "/a");
	map(10, 900, 0x8000, 0x9000, "/b");	/* whenever */
	map(11, 100, 0x5000, 0x6000, "/c");
	finish();
	assert_int_equal(outside(10, 0x1020, 0x8010, 0x1030), 4);
	assert_int_equal(outside(10, 0x1020, 0x5010, 0x1030), 2);
	assert_int_equal(outside(11, 0x5010, 0x5020, 0x1030), 3);
	/* a call can be the last instruction, with nothing after it */
	assert_int_equal(outside(10, 0x2000, 0x9000, 0x8000), 4);
	assert_int_equal(outside(10, 0x2001, 0x9000, 0x8000), 1);
	/* what was found last is of another process */
	assert_string_equal(path(10, 100, 0x1010), "/a");
	assert_int_equal(outside(11, 0x1020, 0x5010, 0x5010), 1);
}

static void where_no_mapping_is_known_only_the_impossible_is_no_code(void **state)
{
	(void)state;
	map(10, 100, 0x1000, 0x2000, "/a");
	finish();
	assert_int_equal(outside(11, 0x5000, 0x7fffffffffff, 1ull << 55), 4);
	assert_int_equal(outside(11, 0x5000, 0x3, 0x5000), 2);
	assert_int_equal(outside(11, 0x563e444fd79d5700, 0x5000, 0x5000), 1);
	assert_int_equal(outside(11, 0x5000, 0x5000, 0xffffffff81000000), 3);
}

static void where_mappings_may_be_missing_only_the_impossible_is_no_code(void **state)
{
	(void)state;
	map(10, 100, 0x1000, 0x2000, "/a");
	/* any mapping is possible */
	map(10, 100, 1ull << 60, (1ull << 60) + 0x1000, "/high");
	finish();
	maps_set_incomplete(m);
	assert_int_equal(outside(10, 0x5000, (1ull << 60) + 0x10, 0x5000), 4);
	assert_int_equal(outside(10, 0x5000, 0x3, 0x5000), 2);
}

static void a_stack_with_too_many_new_mappings_has_some_recorded_later(void **state)
{
	uint64_t addrs[18], i;

	(void)state;
	for (i = 0; i < 16; i++) {
		map(10, 100, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, "/a");
		addrs[i] = 0x10000 * (i + 1) + 0x10;
	}
	finish();
	addrs[16] = 0x900000;
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 17), 17);
	/* one fewer, often: then this was recorded, too, if there is such a mapping */
	addrs[15] = addrs[14];
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 17), 16);
}

static void functions_of_python_are_no_mappings_of_a_stack(void **state)
{
	uint64_t addrs[40], i;

	(void)state;
	map(10, 100, 0x10000, 0x11000, "/a");
	addrs[0] = 0x10010;
	for (i = 1; i < 38; i++) {
		addrs[i] = MAPS_PYTHON_BASE + 2 * i + 1;
		map(10, 100, addrs[i] - 1, addrs[i] + 1, "[python] f (/f)");
	}
	finish();
	/* without a mapping, it is a function whose record is missing */
	addrs[38] = MAPS_PYTHON_END - 1;
	addrs[39] = 0x900000;
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 40), 39);
	addrs[37] = MAPS_PYTHON_END;
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 40), 37);
}

/* The stack of an execve(): by then the process has the mappings of another program */
static void where_the_tasks_own_mapping_is_missing_only_the_impossible_is_no_code(void **state)
{
	const uint64_t addrs[] = { 0x7010, 0x7020, 0x1020, 0x9010, 0x3 };

	(void)state;
	map(10, 100, 0x1000, 0x2000, "/new");
	finish();
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 4), 4);
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, 5), 4);
}

static void a_search_of_half_a_million_frames_is_short(void **state)
{
	const uint32_t nr = 1 << 19;
	uint64_t *addrs = calloc(nr, sizeof(*addrs)), i;

	(void)state;
	for (i = 0; i < nr; i++)
		addrs[i] = 0x900000 + i;
	addrs[0] = 0x10010;
	for (i = 0; i < 16; i++) {
		map(10, 100, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, "/a");
		addrs[nr - 1 - i] = 0x10000 * (i + 1) + 0x10;
	}
	finish();
	/* searching all of it for each address would take hours */
	assert_int_equal(maps_find_outside(m, 10, addrs, 1, nr), nr);
	free(addrs);
}

/* A Python function is a file of its own, and an offset in it stands for a line. */
static void a_function_of_python_has_a_name_a_file_and_a_line(void **state)
{
	static const char *const paths[][3] = {
		{ "[python] outer (/tmp/a.py)", "outer", "/tmp/a.py" },
		{ "[python] f.<locals>.g (<string>)", "f.<locals>.g", "<string>" },
		{ "[python] f (/a (b).py)", "f", "/a (b).py" },
		{ "[python] f ()", "f", "" },
		{ "[python] <functions not known>", "<functions not known>", "" },
		{ "[python] f (/cut", "f (/cut", "" },
		{ "[python] ", "", "" },
		{ "[pythonic", NULL, "[pythonic" },
	};
	const struct maps_file *f;
	uint64_t offset, i, at;

	(void)state;
	for (i = 0; i < 8; i++) {
		at = 0x10000 + 2 * i;
		/* twice the same: one file */
		map_on(0, 10, 100, at, at + 2, maps_make_python_offset(7 + i), paths[i][0]);
		map_on(0, 11, 100, at, at + 2, maps_make_python_offset(70 + i), paths[i][0]);
	}
	finish();
	for (i = 0; i < 8; i++) {
		at = 0x10000 + 2 * i;
		f = maps_find_file(m, 10, 200, 0, at + 1, &offset);
		assert_non_null(f);
		assert_string_equal(f->path, paths[i][2]);
		if (paths[i][1])
			assert_string_equal(f->python, paths[i][1]);
		else
			assert_null(f->python);
		assert_int_equal(maps_get_python_line(offset), 7 + i);
		/* where a return address is looked up */
		assert_ptr_equal(maps_find_file(m, 10, 200, 0, at, &offset), f);
		assert_int_equal(maps_get_python_line(offset), 7 + i);
		assert_ptr_equal(maps_find_file(m, 11, 200, 0, at, &offset), f);
		assert_int_equal(maps_get_python_line(offset), 70 + i);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_offset_counts_from_the_start_of_the_file),
		T(an_address_outside_or_of_another_process_has_no_file),
		T(the_last_mapping_recorded_before_the_stack_counts),
		T(a_mapping_recorded_only_later_counts_where_there_is_none_before),
		T(near_a_change_another_cpus_clock_decides_nothing),
		T(a_repeated_record_is_no_change),
		T(overlapping_mappings_are_all_looked_at),
		T(only_a_contested_place_changes_the_epoch),
		T(files_with_different_contents_are_different_files),
		T(an_address_of_no_mapping_is_no_code),
		T(where_no_mapping_is_known_only_the_impossible_is_no_code),
		T(where_mappings_may_be_missing_only_the_impossible_is_no_code),
		T(a_stack_with_too_many_new_mappings_has_some_recorded_later),
		T(functions_of_python_are_no_mappings_of_a_stack),
		T(where_the_tasks_own_mapping_is_missing_only_the_impossible_is_no_code),
		T(a_search_of_half_a_million_frames_is_short),
		T(a_function_of_python_has_a_name_a_file_and_a_line),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
