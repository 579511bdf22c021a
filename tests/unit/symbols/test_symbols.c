// SPDX-License-Identifier: GPL-2.0
/*
 * test_symbols.c - finds the function at an offset in a file
 *
 * The ELF files are in tests/fixtures/root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "libunwind-user/unwind-user.h"

#include "tests/unit/unit.h"

static struct uu_symbols *syms;
static const char *root;
static char tmp[] = "/tmp/ustack-symbols-XXXXXX";

static const uint8_t id[20] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
};

static int setup(void **state)
{
	static char path[4096];
	struct uu_symbols_opts o = { .size = sizeof(o), .sysroot = path };

	(void)state;
	root = getenv("FIXTURES") ? getenv("FIXTURES") : "build/fixtures";
	snprintf(path, sizeof(path), "%s/root", root);
	syms = uu_symbols_new(&o);
	return !syms;
}

static int teardown(void **state)
{
	(void)state;
	uu_symbols_free(syms);
	return 0;
}

static int find(const char *path, uint64_t offset, struct uu_symbol *sym)
{
	struct uu_file f = { .path = path };

	return uu_symbols_find(syms, &f, offset, sym);
}

static void assert_symbol(uint64_t offset, const char *name, uint64_t start)
{
	struct uu_symbol s;

	assert_int_equal(find("/usr/lib/libdemo.so", offset, &s), 0);
	assert_string_equal(s.name, name);
	assert_int_equal(s.start, start);
}

static void an_offset_goes_through_the_program_headers(void **state)
{
	(void)state;
	/* .text is at 0x1000 in the file and at 0x11000 in memory */
	assert_symbol(0x1105, "outer", 0x1100);
	assert_symbol(0x1100, "outer", 0x1100);
	assert_symbol(0x113f, "outer", 0x1100);
}

static void of_several_names_the_plain_one_is_taken(void **state)
{
	(void)state;
	assert_symbol(0x1000, "read", 0x1000);
}

static void a_label_without_a_size_ends_where_the_next_begins(void **state)
{
	struct uu_symbol s;

	(void)state;
	assert_symbol(0x123f, "asm_label", 0x1200);
	assert_symbol(0x1240, "after_label", 0x1240);
	assert_int_equal(find("/usr/lib/libdemo.so", 0x1250, &s), -ENOENT);
}

static void an_address_between_or_outside_functions_has_no_symbol(void **state)
{
	struct uu_symbol s;

	(void)state;
	assert_int_equal(find("/usr/lib/libdemo.so", 0x1020, &s), -ENOENT);
	assert_null(s.name);
	assert_int_equal(find("/usr/lib/libdemo.so", 0, &s), -ENOENT);
	assert_int_equal(find("/usr/lib/libdemo.so", UINT64_MAX, &s), -ENOENT);
	/* data is not a function */
	assert_int_equal(find("/usr/lib/libdemo.so", 0x1610, &s), -ENOENT);
}

static void names_are_demangled_unless_told_not_to(void **state)
{
	struct uu_symbols_opts o = { .size = sizeof(o), .no_demangle = true };
	char path[4096 + 32];
	struct uu_file f = { .path = path };
	struct uu_symbols *plain;
	struct uu_symbol s;
	char *full;

	(void)state;
	assert_symbol(0x1300, "demo::Queue::push", 0x1300);
	assert_symbol(0x1340, "mycrate::example", 0x1340);
	plain = uu_symbols_new(&o);
	full = realpath(root, NULL);
	snprintf(path, sizeof(path), "%s/root/usr/lib/libdemo.so", full);
	assert_int_equal(uu_symbols_find(plain, &f, 0x1300, &s), 0);
	assert_string_equal(s.name, "_ZN4demo5Queue4pushEi");
	free(full);
	uu_symbols_free(plain);
}

static void a_file_with_another_build_id_is_refused(void **state)
{
	struct uu_file f = {
		.path = "/usr/lib/libdemo.so", .build_id = id, .build_id_size = sizeof(id),
	};
	uint8_t other[20];
	struct uu_symbol s;

	(void)state;
	assert_int_equal(uu_symbols_find(syms, &f, 0x1105, &s), 0);
	memcpy(other, id, sizeof(id));
	other[19] ^= 1;
	f.build_id = other;
	assert_int_equal(uu_symbols_find(syms, &f, 0x1105, &s), -ESTALE);
	f.build_id_size = 19;		/* the beginning alone is not enough */
	assert_int_equal(uu_symbols_find(syms, &f, 0x1105, &s), -ESTALE);
	f.path = "/usr/bin/app";	/* has none */
	assert_int_equal(uu_symbols_find(syms, &f, 0x1000, &s), -ESTALE);
	f.build_id_size = 65;
	assert_int_equal(uu_symbols_find(syms, &f, 0x1000, &s), -EINVAL);
}

static void a_path_that_is_no_regular_file_is_not_opened(void **state)
{
	char fifo[64], cmd[64];
	struct uu_symbol s;
	struct uu_symbols *here = uu_symbols_new(NULL);
	struct uu_file f = { .path = fifo };

	(void)state;
	assert_int_equal(find("[vdso]", 0, &s), -ENODEV);
	assert_int_equal(find("", 0, &s), -ENODEV);
	assert_int_equal(find("usr/bin/app", 0x1000, &s), -ENODEV);
	assert_int_equal(find("/usr/bin", 0, &s), -ENODEV);
	assert_int_equal(find("/nonexistent", 0, &s), -ENODEV);
	/* would wait for a writer for ever */
	assert_non_null(mkdtemp(tmp));
	snprintf(fifo, sizeof(fifo), "%s/fifo", tmp);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(uu_symbols_find(here, &f, 0, &s), -ENODEV);
	uu_symbols_free(here);
	snprintf(cmd, sizeof(cmd), "rm -r %s", tmp);
	assert_int_equal(system(cmd), 0);
}

static void a_deleted_file_is_looked_for_by_its_name(void **state)
{
	struct uu_symbol s;

	(void)state;
	assert_int_equal(find("/usr/bin/app (deleted)", 0x1010, &s), 0);
	assert_string_equal(s.name, "main");
}

static void a_signal_trampoline_is_known_by_its_code(void **state)
{
	struct uu_file f = { .path = "/usr/lib/libdemo.so" };

	(void)state;
	assert_true(uu_symbols_is_signal_return(syms, &f, 0x1700));
	assert_false(uu_symbols_is_signal_return(syms, &f, 0x1701));
	assert_false(uu_symbols_is_signal_return(syms, &f, 0x1100));
	assert_false(uu_symbols_is_signal_return(syms, &f, UINT64_MAX));
}

/* Open the files of the big-endian machine. */
static struct uu_symbols *big_endian(void)
{
	static char path[4096];
	struct uu_symbols_opts o = { .size = sizeof(o), .sysroot = path };

	snprintf(path, sizeof(path), "%s/big/root", root);
	return uu_symbols_new(&o);
}

static void other_trampolines_are_known_by_their_code(void **state)
{
	struct uu_file arm64 = { .path = "/usr/lib/libarm64.so" };
	struct uu_file s390x = { .path = "/usr/lib/libs390x.so" };
	struct uu_symbols *big = big_endian();

	(void)state;
	assert_true(uu_symbols_is_signal_return(syms, &arm64, 0x1700));
	assert_false(uu_symbols_is_signal_return(syms, &arm64, 0x1704));
	assert_true(uu_symbols_is_signal_return(big, &s390x, 0x1700));
	assert_true(uu_symbols_is_signal_return(big, &s390x, 0x1720));
	assert_false(uu_symbols_is_signal_return(big, &s390x, 0x1702));
	/* in a function with another name, these bytes mean nothing */
	assert_false(uu_symbols_is_signal_return(big, &s390x, 0x1100));
	uu_symbols_free(big);
}

static void files_of_the_other_byte_order_are_read(void **state)
{
	struct uu_file f = {
		.path = "/usr/lib/libdemo.so", .build_id = id, .build_id_size = sizeof(id)
	};
	struct uu_symbols *big = big_endian();
	struct uu_symbol s;

	(void)state;
	assert_int_equal(uu_symbols_find(big, &f, 0x1010, &s), 0);
	assert_string_equal(s.name, "read");
	uu_symbols_free(big);
}

static void write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/* Every prefix and thousands of damaged copies get an answer, without a report of the sanitizer. */
static void a_hostile_file_does_no_harm(void **state)
{
	static uint8_t buf[65536], bad[65536];
	char path[4096], file[] = "/tmp/ustack-elf-XXXXXX";
	struct uu_file f = { .path = file };
	unsigned int seed = 1;
	struct uu_symbols *s;
	struct uu_symbol sym;
	ssize_t len;
	int fd, i, k;

	(void)state;
	snprintf(path, sizeof(path), "%s/root/usr/lib/libdemo.so", root);
	fd = open(path, O_RDONLY);
	len = read(fd, buf, sizeof(buf));
	close(fd);
	assert_true(len > 0x4000);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	for (i = 0; i < 4000; i++) {
		size_t size = len;

		memcpy(bad, buf, len);
		if (i % 4 == 0)
			size = (size_t)rand_r(&seed) % len;
		for (k = 0; k < 1 + i % 6; k++) {
			/* headers and section headers more often than the middle */
			size_t at = (size_t)rand_r(&seed) %
				    (k % 3 == 0 ? 256 : k % 3 == 1 ? 0x300 : (size_t)len);

			if (k % 3 == 1)
				at = len - 1 - at;
			bad[at] = (i + k) % 3 ? rand_r(&seed) : 0xff;
		}
		write_file(file, bad, size);
		s = uu_symbols_new(NULL);
		for (k = 0; k < 0x4000; k += 0x80)
			if (!uu_symbols_find(s, &f, k, &sym))
				assert_non_null(sym.name);
		uu_symbols_is_signal_return(s, &f, 0x1700);
		uu_symbols_free(s);
	}
	unlink(file);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_offset_goes_through_the_program_headers),
		T(of_several_names_the_plain_one_is_taken),
		T(a_label_without_a_size_ends_where_the_next_begins),
		T(an_address_between_or_outside_functions_has_no_symbol),
		T(names_are_demangled_unless_told_not_to),
		T(a_file_with_another_build_id_is_refused),
		T(a_path_that_is_no_regular_file_is_not_opened),
		T(a_deleted_file_is_looked_for_by_its_name),
		T(a_signal_trampoline_is_known_by_its_code),
		T(other_trampolines_are_known_by_their_code),
		T(files_of_the_other_byte_order_are_read),
		T(a_hostile_file_does_no_harm),
	};

	return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
