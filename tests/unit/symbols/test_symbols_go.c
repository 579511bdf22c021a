// SPDX-License-Identifier: GPL-2.0
/* A Go program without symbols has names and lines, from its own table. */
#include <errno.h>

#include "libunwind-user/unwind-user.h"
#include "tests/unit/go/go_file.h"

static char path[64];
static struct uu_symbols *syms;

static int fresh(void **state)
{
	struct go_built *b;

	(void)state;
	start_file();
	b = func("main.(*tree).insert", 0x1000, 0, "90 90 c3");
	put_list(&b->sp, 0, 3, 0, 0);
	put_list(&b->line, 23, 2, 40, 1, 0, 0);
	put_list(&b->file, 0, 3, 0, 0);
	put_list(&b->inlined, -1, 1, 0, 1, -1, 1, 0, 0);
	func("_rt0_amd64_linux", 0x1020, GO_ASM, "c3");
	make_tab(0x1040);
	return 0;
}

static void open_symbols(bool lines)
{
	struct uu_symbols_opts opts = { .size = sizeof(opts) };
	int fd = make_file();

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	syms = lines ? uu_symbols_new_debug(&opts) : uu_symbols_new(&opts);
	assert_non_null(syms);
}

static void close_symbols(void)
{
	uu_symbols_free(syms);
	close(atoi(path + strlen("/proc/self/fd/")));
}

static void assert_name(uint64_t offset, const char *name)
{
	struct uu_file file = { .path = path };
	struct uu_symbol sym;

	assert_int_equal(uu_symbols_find(syms, &file, offset, &sym), 0);
	assert_string_equal(sym.name, name);
}

static void assert_line(uint64_t offset, const char *name, const char *source, unsigned int line)
{
	struct uu_file file = { .path = path };
	const struct uu_frame *frames;
	size_t nr;

	assert_int_equal(uu_symbols_lines(syms, &file, offset, &frames, &nr), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(frames->name, name);
	assert_int_equal(frames->line, line);
	if (source)
		assert_string_equal(frames->file, source);
	else
		assert_null(frames->file);
}

static void functions_of_go_have_names(void **state)
{
	(void)state;
	open_symbols(false);
	assert_name(0x1000, "main.(*tree).insert");
	assert_name(0x101f, "main.(*tree).insert");
	assert_name(0x1020, "_rt0_amd64_linux");
	close_symbols();
}

static void lines_but_not_of_inlined_functions(void **state)
{
	(void)state;
	open_symbols(true);
	assert_line(0x1000, "main.(*tree).insert", "/src/a.go", 23);
	assert_line(0x1001, "main.(*tree).insert", NULL, 0);
	assert_line(0x1002, "main.(*tree).insert", "/src/a.go", 40);
	assert_line(0x1020, "_rt0_amd64_linux", NULL, 0);
	close_symbols();
}

static void a_table_in_relro_with_its_start_in_a_relocation(void **state)
{
	(void)state;
	how = IN_RELRO;
	put(24, 0, 8);
	relocated_text = TEXT;
	open_symbols(false);
	assert_name(0x1001, "main.(*tree).insert");
	close_symbols();
}

static void no_other_relocation_has_the_start(void **state)
{
	struct uu_file file = { .path = path };
	struct uu_symbol sym;

	(void)state;
	how = IN_RELRO;
	put(24, 0, 8);
	relocated_text = TEXT;
	relocation = R_X86_64_64;
	open_symbols(false);
	assert_int_equal(uu_symbols_find(syms, &file, 0x1001, &sym), -ENOENT);
	close_symbols();
}

static void the_start_by_the_entry(void **state)
{
	(void)state;
	how = IN_RELRO;
	put(24, 0, 8);
	entry = 0x1020;
	open_symbols(false);
	assert_name(0x1001, "main.(*tree).insert");
	close_symbols();
}

static void damaged_tables(void **state)
{
	struct uu_file file = { .path = path };
	const struct uu_frame *frames;
	size_t at, nr;

	(void)state;
	for (at = 0; at < tab_size; at += 3) {
		tab[at] ^= 0xff;
		open_symbols(true);
		uu_symbols_lines(syms, &file, 0x1001, &frames, &nr);
		close_symbols();
		tab[at] ^= 0xff;
	}
}

#define go_test(name)	cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		go_test(functions_of_go_have_names),
		go_test(lines_but_not_of_inlined_functions),
		go_test(a_table_in_relro_with_its_start_in_a_relocation),
		go_test(no_other_relocation_has_the_start),
		go_test(the_start_by_the_entry),
		go_test(damaged_tables),
	};

	return cmocka_run_group_tests_name("symbols_go", tests, NULL, NULL);
}
