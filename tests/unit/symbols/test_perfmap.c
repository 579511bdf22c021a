// SPDX-License-Identifier: GPL-2.0
/* test_perfmap.c - names code of JIT compilers, by /tmp/perf-PID.map */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "libunwind-user/unwind-user.h"

#include "tests/unit/unit.h"

static struct uu_symbols *syms;

static int setup(void **state)
{
	(void)state;
	syms = uu_symbols_new(NULL);
	return !syms;
}

static int teardown(void **state)
{
	(void)state;
	uu_symbols_free(syms);
	return 0;
}

static void add(int pid, const char *text)
{
	assert_int_equal(uu_symbols_add_jit(syms, pid, text, strlen(text)), 0);
}

static void assert_at(int pid, uint64_t addr, const char *name, uint64_t start)
{
	struct uu_symbol s;
	int ret = uu_symbols_find_jit(syms, pid, addr, &s);

	if (!name) {
		assert_int_equal(ret, -ENOENT);
		assert_null(s.name);
		return;
	}
	assert_int_equal(ret, 0);
	assert_string_equal(s.name, name);
	assert_int_equal(s.start, start);
}

static void a_function_is_from_start_to_start_and_size(void **state)
{
	(void)state;
	add(1, "7f0000001000 20 LazyCompile:~foo /a b.js:1\n0x7f0000002000 0x10 bar\n");
	assert_at(1, 0x7f0000001000, "LazyCompile:~foo /a b.js:1", 0x7f0000001000);
	assert_at(1, 0x7f000000101f, "LazyCompile:~foo /a b.js:1", 0x7f0000001000);
	assert_at(1, 0x7f0000001020, NULL, 0);
	assert_at(1, 0x7f0000000fff, NULL, 0);
	assert_at(1, 0x7f000000200f, "bar", 0x7f0000002000);
}

static void the_last_line_needs_no_newline(void **state)
{
	(void)state;
	add(1, "1000 10 a\n2000 10 b");
	assert_at(1, 0x2008, "b", 0x2000);
}

static void code_written_later_over_other_code_wins(void **state)
{
	(void)state;
	add(1, "1000 100 old\n1040 20 new\n1050 8 newest\n10f0 20 after\n");
	assert_at(1, 0x1000, "old", 0x1000);
	assert_at(1, 0x1040, "new", 0x1040);
	assert_at(1, 0x1050, "newest", 0x1050);
	assert_at(1, 0x1058, "new", 0x1040);
	assert_at(1, 0x1060, "old", 0x1000);
	assert_at(1, 0x10f0, "after", 0x10f0);
	assert_at(1, 0x110f, "after", 0x10f0);
	assert_at(1, 0x1110, NULL, 0);
	add(1, "1000 10 small\n1000 100 same place\n");
	assert_at(1, 0x1008, "same place", 0x1000);
}

/* In saved text, nothing says which of two functions was at the address at that time. */
static void saved_text_names_what_is_named_once(void **state)
{
	static const char text[] = "1000 100 old\n1040 20 new\n1050 8 old\n2000 20 twice\n"
				   "2000 20 twice\n3000 10 a\n3008 10 a\n4000 10 b\n4000 20 b\n"
				   "5000 10 x\n5000 10 y\n5000 10 x\n6000 10 cu";

	(void)state;
	assert_int_equal(uu_symbols_add_jit_saved(syms, 1, text, strlen(text)), 0);
	assert_at(1, 0x1000, "old", 0x1000);
	assert_at(1, 0x103f, "old", 0x1000);
	assert_at(1, 0x1040, NULL, 0);
	assert_at(1, 0x1050, NULL, 0);
	assert_at(1, 0x105f, NULL, 0);
	assert_at(1, 0x1060, "old", 0x1000);
	assert_at(1, 0x2010, "twice", 0x2000);
	/* nor which of the two starts is right */
	assert_at(1, 0x3007, "a", 0x3000);
	assert_at(1, 0x3008, NULL, 0);
	assert_at(1, 0x3010, "a", 0x3008);
	assert_at(1, 0x4008, "b", 0x4000);
	assert_at(1, 0x4018, "b", 0x4000);
	assert_at(1, 0x5008, NULL, 0);
	assert_at(1, 0x1100, NULL, 0);
	/* its name may have been longer */
	assert_at(1, 0x6000, NULL, 0);
	assert_int_equal(uu_symbols_add_jit_saved(syms, 3, "6000 10 cu", 10), 0);
	assert_at(3, 0x6000, NULL, 0);
}

static void processes_have_maps_of_their_own(void **state)
{
	struct uu_symbol first;

	(void)state;
	add(1, "1000 10 one\n");
	add(2, "1000 10 two\n");
	assert_int_equal(uu_symbols_find_jit(syms, 1, 0x1000, &first), 0);
	assert_at(2, 0x1000, "two", 0x1000);
	/* a later one replaces it, and names that were given out stay */
	add(1, "1000 10 three\n");
	assert_at(1, 0x1000, "three", 0x1000);
	assert_string_equal(first.name, "one");
}

static void lines_that_make_no_sense_are_skipped(void **state)
{
	(void)state;
	add(1, "\n"
	       " \n"
	       "xyz 10 a\n"
	       "1000 10\n"
	       "1000 10 \n"
	       "1000 0 empty\n"
	       "1000  10 two blanks\n"
	       "fffffffffffffff0 20 around the end\n"
	       "11111111111111111 10 too many digits\n"
	       "-1000 10 negative\n"
	       "0x 10 no digits\n"
	       "1000\t10\ttabs\n"
	       "3000 10 good\n");
	assert_at(1, 0x1000, NULL, 0);
	assert_at(1, 0xfffffffffffffff8, NULL, 0);
	assert_at(1, 0x3000, "good", 0x3000);
}

static void control_characters_do_not_reach_a_terminal(void **state)
{
	(void)state;
	add(1, "1000 10 a\033[2Jb\tc\n");
	assert_at(1, 0x1000, "a?[2Jb?c", 0x1000);
}

static void names_are_demangled(void **state)
{
	(void)state;
	add(1, "1000 10 _ZN4demo5Queue4pushEi\n2000 10 _Z\n");
	assert_at(1, 0x1000, "demo::Queue::push", 0x1000);
	assert_at(1, 0x2000, "_Z", 0x2000);
}

/* A mangled name that stands for one of many gigabytes. */
static void a_name_that_explodes_stays_as_it_is(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct uu_symbol s;
	char text[1024], *p;
	int i, n;

	(void)state;
	/* Each A is two of the previous one, so twice as long: 35 need more memory than there is */
	for (n = 5; n <= 35; n += 15) {
		p = stpcpy(text, "1000 10 _Z1fI1a1AIS0_S0_E");
		for (i = 2; i < n; i++)
			p += sprintf(p, "S1_IS%c_S%c_E", digits[i], digits[i]);
		strcpy(p, "Evv\n");
		add(n, text);
		assert_int_equal(uu_symbols_find_jit(syms, n, 0x1000, &s), 0);
		assert_int_equal(strncmp(s.name, "_Z", 2) == 0, n > 5);
		assert_true(strlen(s.name) < 1024);
	}
}

static void hostile_text_does_no_harm(void **state)
{
	static const char pieces[] = "0123456789abcdefx \n\n  \0\xff-zZ_";
	unsigned int seed = 1;
	char text[4096];
	struct uu_symbol s;
	int i, k;

	(void)state;
	for (i = 0; i < 500; i++) {
		for (k = 0; k < (int)sizeof(text); k++)
			text[k] = pieces[rand_r(&seed) % (sizeof(pieces) - 1)];
		assert_int_equal(uu_symbols_add_jit(syms, i, text, rand_r(&seed) % sizeof(text)),
				 0);
		for (k = 0; k < 64; k++)
			if (!uu_symbols_find_jit(syms, i, rand_r(&seed) % 4096, &s))
				assert_true(strlen(s.name) > 0);
	}
	assert_int_equal(uu_symbols_add_jit(syms, 7, "", 0), 0);
	assert_at(7, 0, NULL, 0);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void the_file_of_a_living_process_is_read(void **state)
{
	char path[64], link[64];
	struct uu_symbol s;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_text(path, "1000 10 mine\n");
	assert_at(getpid(), 0x1000, "mine", 0x1000);
	/* it is read once */
	assert_int_equal(unlink(path), 0);
	assert_at(getpid(), 0x1000, "mine", 0x1000);
	assert_int_equal(uu_symbols_find_jit(syms, 999999999, 0x1000, &s), -ENODEV);
	/* not the file of another user through a link, and not a pipe that waits */
	uu_symbols_free(syms);
	syms = uu_symbols_new(NULL);
	snprintf(link, sizeof(link), "/tmp/ustack-map-%d", getpid());
	write_text(link, "1000 10 linked\n");
	assert_int_equal(symlink(link, path), 0);
	assert_int_equal(uu_symbols_find_jit(syms, getpid(), 0x1000, &s), -ENODEV);
	unlink(path);
	unlink(link);
	uu_symbols_free(syms);
	syms = uu_symbols_new(NULL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(uu_symbols_find_jit(syms, getpid(), 0x1000, &s), -ENODEV);
	unlink(path);
}

static void another_users_file_is_refused(void **state)
{
	struct uu_symbol s;
	char path[64];

	(void)state;
	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_text(path, "1000 10 theirs\n");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(uu_symbols_find_jit(syms, getpid(), 0x1000, &s), -EACCES);
	unlink(path);
}

static void a_perf_map_is_found_below_a_sysroot(void **state)
{
	char dir[] = "/tmp/ustack-map-XXXXXX", path[64];
	struct uu_symbols_opts o = { .size = sizeof(o), .sysroot = dir };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/tmp", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", dir);
	write_text(path, "1000 10 there\n");
	uu_symbols_free(syms);
	syms = uu_symbols_new(&o);
	assert_at(1, 0x1000, "there", 0x1000);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(dir);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_function_is_from_start_to_start_and_size),
		T(the_last_line_needs_no_newline),
		T(code_written_later_over_other_code_wins),
		T(saved_text_names_what_is_named_once),
		T(processes_have_maps_of_their_own),
		T(lines_that_make_no_sense_are_skipped),
		T(control_characters_do_not_reach_a_terminal),
		T(names_are_demangled),
		T(a_name_that_explodes_stays_as_it_is),
		T(hostile_text_does_no_harm),
		T(the_file_of_a_living_process_is_read),
		T(another_users_file_is_refused),
		T(a_perf_map_is_found_below_a_sysroot),
	};

	return cmocka_run_group_tests_name("perfmap", tests, NULL, NULL);
}
