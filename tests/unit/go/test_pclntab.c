// SPDX-License-Identifier: GPL-2.0
/* The reader accepts Go's own tables as Go's linker writes them, and nothing else. */
#include <errno.h>

#include "go_build.h"

static struct go_table t;
static struct go_func f;

static void open_tab(void)
{
	t = (struct go_table){ .data = tab, .size = tab_size };
	assert_int_equal(go_open(&t), 0);
}

static void two_functions(void)
{
	struct go_built *b;

	start_table();
	text_start = 0x1000;
	b = go_add("main.main", 0x1000, 0);
	put_list(&b->sp, 0, 4, 24, 12, 0, 8, 0, 0);
	put_list(&b->line, 10, 4, 300, 12, 9, 8, 0, 0);
	put_list(&b->file, 0, 24, 0, 0);
	put_list(&b->inlined, -1, 16, 0, 2, -1, 6, 0, 0);
	go_add("runtime.goexit", 0x1020, GO_TOPFRAME | GO_ASM);
	make_tab(0x1030);
}

static void check_functions(void)
{
	open_tab();
	assert_int_equal(t.nr_funcs, 2);
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	assert_int_equal(f.start, 0x1000);
	assert_int_equal(f.end, 0x1020);
	assert_int_equal(f.flags, 0);
	assert_string_equal(go_get_name(&t, f.name), "main.main");
	assert_int_equal(go_get_func(&t, 1, &f), 0);
	assert_int_equal(f.end, 0x1030);
	assert_int_equal(f.flags, GO_TOPFRAME | GO_ASM);
	assert_string_equal(go_get_name(&t, f.name), "runtime.goexit");
	assert_int_equal(go_find_func(&t, 0xfff, &f), -ENOENT);
	assert_int_equal(go_find_func(&t, 0x101f, &f), 0);
	assert_int_equal(f.start, 0x1000);
	assert_int_equal(go_find_func(&t, 0x102f, &f), 0);
	assert_int_equal(f.start, 0x1020);
	assert_int_equal(go_find_func(&t, 0x1030, &f), -ENOENT);
}

static void functions_of_each_version(void **state)
{
	static const uint32_t magics[] = { 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		two_functions();
		magic = magics[i];
		if (i == 0)
			text_start = 0;
		make_tab(0x1030);
		check_functions();
	}
}

static void values_hold_up_to_the_next_pc(void **state)
{
	struct go_pcs p;
	int32_t v;

	(void)state;
	two_functions();
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	go_pcs_start(&p, &t, &f, f.pcsp);
	assert_true(go_pcs_next(&p));
	assert_int_equal(p.value, 0);
	assert_int_equal(p.end, 0x1004);
	assert_true(go_pcs_next(&p));
	assert_int_equal(p.value, 24);
	assert_int_equal(p.start, 0x1004);
	assert_int_equal(p.end, 0x1010);
	assert_true(go_pcs_next(&p));
	assert_int_equal(p.end, 0x1018);
	assert_false(go_pcs_next(&p));
	assert_false(go_pcs_next(&p));
	assert_true(go_pcs_find(&t, &f, f.pcsp, 0x100f, &v));
	assert_int_equal(v, 24);
	assert_false(go_pcs_find(&t, &f, f.pcsp, 0x1018, &v));
	/* no list */
	assert_false(go_pcs_find(&t, &f, 0, 0x1000, &v));
}

static void a_quantum_scales_pcs(void **state)
{
	int32_t v;

	(void)state;
	two_functions();
	quantum = 4;
	make_tab(0x1030);
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	assert_true(go_pcs_find(&t, &f, f.pcsp, 0x100f, &v));
	assert_int_equal(v, 0);
	assert_true(go_pcs_find(&t, &f, f.pcsp, 0x1010, &v));
	assert_int_equal(v, 24);
	/* not over the end of the function */
	assert_false(go_pcs_find(&t, &f, f.pcsp, 0x1020, &v));
}

static void a_pc_has_the_line_and_file_of_the_table(void **state)
{
	const char *file;
	uint32_t line;

	(void)state;
	two_functions();
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	assert_true(go_find_line(&t, &f, 0x1008, &file, &line));
	assert_string_equal(file, "/src/a.go");
	assert_int_equal(line, 300);
	/* line and file are those of an inlined function there */
	assert_false(go_find_line(&t, &f, 0x1010, &file, &line));
	assert_true(go_find_line(&t, &f, 0x1012, &file, &line));
	assert_int_equal(line, 9);
	assert_int_equal(go_get_func(&t, 1, &f), 0);
	assert_false(go_find_line(&t, &f, 0x1020, &file, &line));
}

/* The header of a position-independent program, or of Go 1.26, has no text_start. */
static void the_entry_tells_where_the_code_starts(void **state)
{
	(void)state;
	start_table();
	go_add("main.main", 0, 0);
	go_add("_rt0_amd64_linux_lib", 0x20, 0);
	go_add("_rt0_amd64_linux", 0x40, 0);
	make_tab(0x60);
	open_tab();
	assert_int_equal(t.text_start, 0);
	assert_int_equal(go_find_text_by_entry(&t, 0x401040), 0x401000);
	assert_int_equal(go_find_text_field(&t), 24);
}

static void refused(void)
{
	t = (struct go_table){ .data = tab, .size = tab_size };
	assert_int_equal(go_open(&t), -EINVAL);
}

static void other_headers_are_refused(void **state)
{
	(void)state;
	two_functions();
	put(0, 0xfffffffb, 4);		/* Go 1.2 */
	refused();
	two_functions();
	tab[6] = 3;
	refused();
	two_functions();
	tab[7] = 4;			/* 32 bits */
	refused();
	two_functions();
	put(8, 1u << 30, 8);
	refused();
	two_functions();
	put(64, tab_size + 1, 8);
	refused();
}

static void functions_out_of_order_are_refused(void **state)
{
	uint64_t functab;

	(void)state;
	two_functions();
	memcpy(&functab, tab + 64, 8);
	put(functab + 8, 0, 4);
	open_tab();
	assert_int_equal(go_get_func(&t, 1, &f), -EINVAL);
	/* an offset of a struct that is another function's, or none */
	two_functions();
	put(functab + 4, 0x30, 4);
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), -EINVAL);
	put(functab + 4, 0xfffffff0, 4);
	assert_int_equal(go_get_func(&t, 0, &f), -EINVAL);
}

/* A list that goes on without moving would cost the whole table for each function */
static void lists_without_an_end(void **state)
{
	struct go_pcs p;
	struct go_built *b;

	(void)state;
	start_table();
	text_start = 0x1000;
	b = go_add("main.main", 0x1000, 0);
	memset(b->sp.bytes, 0xff, 100);
	b->sp.nr = 100;
	make_tab(0x1030);
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	go_pcs_start(&p, &t, &f, f.pcsp);
	assert_false(go_pcs_next(&p));
	b->sp.bytes[0] = 2;
	b->sp.bytes[1] = 0;
	make_tab(0x1030);
	open_tab();
	assert_int_equal(go_get_func(&t, 0, &f), 0);
	go_pcs_start(&p, &t, &f, f.pcsp);
	assert_false(go_pcs_next(&p));
}

static void read_all(void)
{
	const char *file;
	struct go_pcs p;
	uint32_t i, line;

	if (go_open(&t))
		return;
	go_find_text_by_entry(&t, 0x2000);
	for (i = 0; i < t.nr_funcs; i++) {
		if (go_get_func(&t, i, &f))
			continue;
		go_get_name(&t, f.name);
		go_pcs_start(&p, &t, &f, f.pcsp);
		while (go_pcs_next(&p))
			go_find_line(&t, &f, p.start, &file, &line);
	}
}

/* No read goes outside of the table, wherever it is cut and whichever byte changes. */
static void damaged_tables(void **state)
{
	size_t n, at;
	uint8_t *copy;

	(void)state;
	two_functions();
	for (n = 0; n <= tab_size; n++) {
		copy = malloc(n ? n : 1);
		memcpy(copy, tab, n);
		t = (struct go_table){ .data = copy, .size = n };
		read_all();
		free(copy);
	}
	copy = malloc(tab_size);
	for (at = 0; at < tab_size; at++) {
		for (n = 0; n < 4; n++) {
			memcpy(copy, tab, tab_size);
			copy[at] = "\xff\x80\x01\x7f"[n];
			t = (struct go_table){ .data = copy, .size = tab_size };
			read_all();
		}
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_each_version),
		cmocka_unit_test(values_hold_up_to_the_next_pc),
		cmocka_unit_test(a_quantum_scales_pcs),
		cmocka_unit_test(a_pc_has_the_line_and_file_of_the_table),
		cmocka_unit_test(the_entry_tells_where_the_code_starts),
		cmocka_unit_test(other_headers_are_refused),
		cmocka_unit_test(functions_out_of_order_are_refused),
		cmocka_unit_test(lists_without_an_end),
		cmocka_unit_test(damaged_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
