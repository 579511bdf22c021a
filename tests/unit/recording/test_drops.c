// SPDX-License-Identifier: GPL-2.0
/*
 * test_drops.c - reads the drop statistics of a trace.dat
 *
 * Some files only look like a trace.dat. Such files must do no harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/recording/sections.h"
#include "tests/unit/unit.h"

static char found[256];
static int stop_with;

static int keep(void *data, const char *buffer)
{
	(void)data;
	strncat(found, "[", sizeof(found) - strlen(found) - 1);
	strncat(found, buffer, sizeof(found) - strlen(found) - 1);
	strncat(found, "]", sizeof(found) - strlen(found) - 1);
	return stop_with;
}

static int open_fixture(const char *name)
{
	const char *dir = getenv("FIXTURES") ? getenv("FIXTURES") : "build/fixtures";
	char path[4096];

	*found = '\0';
	stop_with = 0;
	snprintf(path, sizeof(path), "%s/%s.dat", dir, name);
	return open(path, O_RDONLY);
}

static void a_refused_event_counts_for_its_buffer(void **state)
{
	int fd = open_fixture("refused");

	(void)state;
	assert_int_equal(sections_read_drops(fd, keep, NULL), 0);
	assert_string_equal(found, "[]");
	close(fd);
}

static void an_overwritten_event_counts_for_its_instance(void **state)
{
	int fd = open_fixture("refused_instance");

	(void)state;
	assert_int_equal(sections_read_drops(fd, keep, NULL), 0);
	assert_string_equal(found, "[other]");
	close(fd);
}

static void the_byte_order_is_that_of_the_file(void **state)
{
	int fd = open_fixture("bigendian");

	(void)state;
	assert_int_equal(sections_read_drops(fd, keep, NULL), 0);
	assert_string_equal(found, "[]");
	close(fd);
}

static void without_statistics_nothing_is_found(void **state)
{
	int fd = open_fixture("kernel_stack");

	(void)state;
	assert_int_equal(sections_read_drops(fd, keep, NULL), 0);
	assert_string_equal(found, "");
	close(fd);
}

static void an_error_of_the_caller_ends_the_search(void **state)
{
	int fd = open_fixture("refused");

	(void)state;
	stop_with = -ENOMEM;
	assert_int_equal(sections_read_drops(fd, keep, NULL), -ENOMEM);
	close(fd);
}

/* The file position is the caller's. */
static void the_file_is_not_moved(void **state)
{
	int fd = open_fixture("refused");

	(void)state;
	lseek(fd, 13, SEEK_SET);
	sections_read_drops(fd, keep, NULL);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 13);
	close(fd);
}

static void a_hostile_file_does_no_harm(void **state)
{
	static uint8_t orig[65536], bad[65536];
	int in = open_fixture("refused"), fd = memfd_create("drops", 0), i, k, refused = 0;
	ssize_t len = read(in, orig, sizeof(orig));
	unsigned int seed = 3;

	(void)state;
	close(in);
	assert_true(len > 4096);
	for (i = 0; i < 20000; i++) {
		size_t size = i % 5 ? len : rand_r(&seed) % len;

		memcpy(bad, orig, len);
		for (k = 0; k <= i % 4; k++)
			bad[rand_r(&seed) % 4096] = i % 3 ? rand_r(&seed) : 0xff;
		if (i % 7 == 0)
			bad[10] = '7';
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bad, size, 0), size);
		*found = '\0';
		refused += sections_read_drops(fd, keep, NULL) == -EINVAL;
	}
	assert_true(refused > 1000);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_event_counts_for_its_buffer),
		cmocka_unit_test(an_overwritten_event_counts_for_its_instance),
		cmocka_unit_test(the_byte_order_is_that_of_the_file),
		cmocka_unit_test(without_statistics_nothing_is_found),
		cmocka_unit_test(an_error_of_the_caller_ends_the_search),
		cmocka_unit_test(the_file_is_not_moved),
		cmocka_unit_test(a_hostile_file_does_no_harm),
	};

	return cmocka_run_group_tests_name("drops", tests, NULL, NULL);
}
