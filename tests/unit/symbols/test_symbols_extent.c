// SPDX-License-Identifier: GPL-2.0
/*
 * test_symbols_extent.c - which addresses a symbol names
 *
 * A symbol names no address after its end. If the file does not give the end, the symbol names
 * only addresses that are proved to belong to it.
 */
#include "debug_place.h"

static void assemble(const char *name, const char *text)
{
	char file[64];
	FILE *f;

	snprintf(file, sizeof(file), "%s.S", name);
	f = fopen(in_place(file), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	sh("gcc -nostdlib -shared -Wl,--build-id -o %s %s.S && strip -o %s.stripped %s", name, name,
	   name, name);
	begin();
}

/* The name at @at bytes after the symbol @from of the file that is not stripped. */
static const char *name_at(const char *full, const char *file, const char *from, int at)
{
	struct uu_file f = { .path = in_place(file) };
	struct uu_symbol sym;
	uint64_t start = offset_of(full, from);
	int ret = uu_symbols_find(syms, &f, start + at, &sym);

	if (ret) {
		assert_int_equal(ret, -ENOENT);
		return "none";
	}
	assert_true(sym.start <= start + at);
	return sym.name;
}

#define assert_name(full, file, from, at, name) \
	assert_string_equal(name_at(full, file, from, at), name)

/* musl has memset, then clone and the stub of system calls, which are hidden. */
static const char bare[] =
	".globl first, last\n.type first, @function\n.type last, @function\n"
	"first: .fill 16, 1, 0x90\n"
	"hidden: .fill 16, 1, 0x90\n"
	"last: .fill 16, 1, 0x90\n";

static void a_function_without_a_size_ends_where_the_next_one_begins(void **state)
{
	(void)state;
	assemble("bare", bare);
	assert_name("bare", "bare", "first", 0, "first");
	assert_name("bare", "bare", "first", 15, "first");
	assert_name("bare", "bare", "first", 16, "hidden");
	assert_name("bare", "bare", "first", 31, "hidden");
	assert_name("bare", "bare", "last", 15, "last");
}

static void a_sizeless_symbol_of_a_stripped_file_names_one_byte(void **state)
{
	(void)state;
	assemble("bare", bare);
	assert_name("bare", "bare.stripped", "first", 0, "first");
	assert_name("bare", "bare.stripped", "first", 1, "none");
	assert_name("bare", "bare.stripped", "first", 16, "none");
	assert_name("bare", "bare.stripped", "last", 0, "last");
	assert_name("bare", "bare.stripped", "last", 4, "none");
}

static void an_fde_says_where_it_ends(void **state)
{
	(void)state;
	assemble("fde", ".globl first, last\n.type first, @function\n.type last, @function\n"
		 "first: .cfi_startproc\n.fill 16, 1, 0x90\n.cfi_endproc\n"
		 "hidden: .fill 16, 1, 0x90\n"
		 "last: .cfi_startproc\n.fill 16, 1, 0x90\n.cfi_endproc\n");
	assert_name("fde", "fde.stripped", "first", 15, "first");
	assert_name("fde", "fde.stripped", "first", 16, "none");
	assert_name("fde", "fde.stripped", "last", 15, "last");
}

static void an_fde_of_a_function_without_a_symbol_ends_a_function(void **state)
{
	(void)state;
	assemble("next", ".globl first\n.type first, @function\n"
		 "first: .fill 16, 1, 0x90\n"
		 "hidden: .cfi_startproc\n.fill 16, 1, 0x90\n.cfi_endproc\n"
		 "local: .fill 16, 1, 0x90\n");
	sh("objcopy -N hidden next next.without");
	assert_name("next", "next.without", "first", 15, "first");
	assert_name("next", "next.without", "first", 16, "none");
	assert_name("next", "next.without", "local", 0, "local");
}

/* _init was the name of all code up to the first function with a symbol. */
static void a_function_without_a_size_ends_with_its_section(void **state)
{
	(void)state;
	assemble("section", ".section .first, \"ax\"\n.globl first, last\n"
		 ".type first, @function\n.type last, @function\n"
		 "first: .fill 16, 1, 0x90\n"
		 ".section .second, \"ax\"\n"
		 "local: .fill 16, 1, 0x90\n"
		 "last: .fill 16, 1, 0x90\n");
	sh("objcopy -N local section section.without");
	assert_name("section", "section", "first", 15, "first");
	assert_name("section", "section", "last", 15, "last");
	sh("objcopy --add-symbol other=.second:24,local section.without");
	begin();
	assert_name("section", "section.without", "first", 15, "first");
	assert_name("section", "section.without", "first", 16, "none");
	assert_name("section", "section.without", "last", 7, "last");
	assert_name("section", "section.without", "last", 8, "other");
}

static void symbols_that_name_no_function_end_a_function(void **state)
{
	(void)state;
	assemble("marks", bare);
	sh("objcopy -N hidden --add-symbol '$d=.text:16,local' --add-symbol end=.text:40,local "
	   "marks marks.data");
	assert_name("marks", "marks.data", "first", 15, "first");
	assert_name("marks", "marks.data", "first", 16, "none");
	/* alone it does not prove that the other local ones are there */
	sh("objcopy -N hidden --add-symbol '$x=.text:16,local' marks marks.data");
	begin();
	assert_name("marks", "marks.data", "first", 0, "first");
	assert_name("marks", "marks.data", "first", 1, "none");
	sh("objcopy -N hidden --add-symbol 'table=.text:16,local,object' marks marks.data");
	begin();
	assert_name("marks", "marks.data", "first", 15, "first");
	assert_name("marks", "marks.data", "first", 16, "none");
}

static const char nested[] =
	".globl outer, alias, after\n"
	".type outer, @function\n.type alias, @function\n.type inner, @function\n"
	"outer: alias: .fill 8, 1, 0x90\n"
	"label: .fill 8, 1, 0x90\n"
	"inner: .fill 8, 1, 0x90\n.size inner, . - inner\n"
	".fill 8, 1, 0x90\n.size outer, . - outer\n.size alias, 8\n"
	".fill 16, 1, 0x90\n"
	"after: .fill 16, 1, 0x90\n";

static void a_label_in_a_function_is_not_its_rest(void **state)
{
	(void)state;
	assemble("nested", nested);
	assert_name("nested", "nested", "label", 0, "outer");
	assert_name("nested", "nested", "label", 7, "outer");
	assert_name("nested", "nested", "inner", 7, "inner");
	/* after the inner one it is the outer one again, and after that nothing */
	assert_name("nested", "nested", "inner", 8, "outer");
	assert_name("nested", "nested", "inner", 15, "outer");
	assert_name("nested", "nested", "inner", 16, "none");
	assert_name("nested", "nested", "after", -1, "none");
}

/* "alias" is the plain name, and 8 bytes long. */
static void another_name_has_a_size_of_its_own(void **state)
{
	(void)state;
	assemble("alias", ".globl __outer, alias\n"
		 ".type __outer, @function\n.type alias, @function\n"
		 "__outer: alias: .fill 32, 1, 0x90\n.size __outer, 32\n.size alias, 8\n"
		 "local: .fill 16, 1, 0x90\n");
	assert_name("alias", "alias", "alias", 7, "alias");
	assert_name("alias", "alias", "alias", 8, "__outer");
	assert_name("alias", "alias", "alias", 31, "__outer");
}

/* Compilers make such symbols for unreachable code; the next function has the same address. */
static void an_empty_function_does_not_name_the_next_one(void **state)
{
	(void)state;
	assemble("empty", ".globl empty, __next\n"
		 ".type empty, @function\n.type __next, @function\n"
		 "empty: .size empty, 0\n"
		 "__next: .fill 16, 1, 0x90\n.size __next, 16\n"
		 "local: .fill 16, 1, 0x90\n");
	assert_name("empty", "empty", "empty", 0, "__next");
	assert_name("empty", "empty", "empty", 15, "__next");
}

static void debug_data_has_the_functions_that_are_not_exported(void **state)
{
	(void)state;
	assemble("mini", bare);
	sh("echo hidden >list && objcopy -S --keep-symbols=list mini mini.small && "
	   "xz -f mini.small && "
	   "objcopy --add-section .gnu_debugdata=mini.small.xz mini.stripped mini.with");
	assert_name("mini", "mini.with", "first", 15, "first");
	assert_name("mini", "mini.with", "first", 16, "hidden");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_function_without_a_size_ends_where_the_next_one_begins),
		T(a_sizeless_symbol_of_a_stripped_file_names_one_byte),
		T(an_fde_says_where_it_ends),
		T(an_fde_of_a_function_without_a_symbol_ends_a_function),
		T(a_function_without_a_size_ends_with_its_section),
		T(symbols_that_name_no_function_end_a_function),
		T(a_label_in_a_function_is_not_its_rest),
		T(another_name_has_a_size_of_its_own),
		T(an_empty_function_does_not_name_the_next_one),
		T(debug_data_has_the_functions_that_are_not_exported),
	};

	return cmocka_run_group_tests_name("symbols_extent", tests, build_place, remove_place);
}
