// SPDX-License-Identifier: GPL-2.0
/*
 * test_flame - unit tests of a flame graph's parts: folding, frames and their places, text,
 * colours, messages
 */
#include <math.h>

#include "tests/unit/unit.h"

#include "trace-cmd-ext/flame/colour.h"
#include "trace-cmd-ext/stacks/fold.h"
#include "trace-cmd-ext/stacks/folded.h"
#include "trace-cmd-ext/export/proto.h"
#include "trace-cmd-ext/stacks/strtab.h"
#include "trace-cmd-ext/flame/svg.h"
#include "trace-cmd-ext/stacks/tree.h"

/* "a;b c;d" to a segment of user, "k" frames of the kernel in @kernel */
static uint32_t seg(struct fold *f, enum fold_kind kind, const char *s)
{
	uint32_t names[64], nr = 0;
	char buf[256], *p, *save;

	snprintf(buf, sizeof(buf), "%s", s);
	for (p = strtok_r(buf, ";", &save); p; p = strtok_r(NULL, ";", &save))
		names[nr++] = fold_add_name(f, kind, p, FOLD_NONE);
	return fold_add_seg(f, names, nr);
}

static void add(struct fold *f, const char *task, const char *user, const char *kernel, uint64_t a,
		uint64_t b)
{
	uint32_t segs[FOLD_SEGS] = { seg(f, FOLD_TASK, task), seg(f, FOLD_USER, user),
				     seg(f, FOLD_KERNEL, kernel) };
	uint64_t value[2] = { a, b };

	assert_int_equal(fold_add(f, segs, value), 0);
}

static char *text_of(struct fold *f, int by, bool diff)
{
	char *s = NULL;
	size_t len;
	FILE *out = open_memstream(&s, &len);

	assert_int_equal(fold_finish(f), 0);
	assert_int_equal(folded_write(out, f, by, diff), 0);
	fclose(out);
	return s;
}

static void expect_text(struct fold *f, int by, bool diff, const char *want)
{
	char *s = text_of(f, by, diff);

	assert_string_equal(s, want);
	free(s);
}

static void equal_paths_are_added_up_and_sorted(void **state)
{
	struct fold *f = fold_new();

	(void)state;
	add(f, "b", "main;z", "k", 1, 10);
	add(f, "a", "main;y", "k", 2, 20);
	add(f, "b", "main;z", "k", 4, 40);
	add(f, "a", "main", "k", 8, 80);
	add(f, "a", "main", "", 16, 0);
	expect_text(f, 0, false, "a;main 16\na;main;k_[k] 8\na;main;y;k_[k] 2\nb;main;z;k_[k] 5\n");
	expect_text(f, 1, false,
		    "a;main 0\na;main;k_[k] 80\na;main;y;k_[k] 20\nb;main;z;k_[k] 50\n");
	expect_text(f, 0, true,
		    "a;main 16 0\na;main;k_[k] 8 80\na;main;y;k_[k] 2 20\nb;main;z;k_[k] 5 50\n");
	/* add more after the end */
	add(f, "a", "main;y", "k", 1, 1);
	expect_text(f, 0, false, "a;main 16\na;main;k_[k] 8\na;main;y;k_[k] 3\nb;main;z;k_[k] 5\n");
	fold_free(f);
}

static void same_names_of_other_kinds_stay_apart(void **state)
{
	struct fold *f = fold_new();
	uint32_t one = fold_add_file(f, "/a"), two = fold_add_file(f, "/b");

	(void)state;
	assert_int_not_equal(one, two);
	assert_int_equal(one, fold_add_file(f, "/a"));
	assert_int_not_equal(fold_add_name(f, FOLD_USER, "x", one),
			     fold_add_name(f, FOLD_USER, "x", two));
	assert_int_not_equal(fold_add_name(f, FOLD_USER, "x", one),
			     fold_add_name(f, FOLD_KERNEL, "x", one));
	assert_int_equal(fold_add_name(f, FOLD_USER, "x", one),
			 fold_add_name(f, FOLD_USER, "x", one));
	assert_string_equal(fold_get_path(f, two), "/b");
	assert_int_equal(fold_add_name(f, FOLD_USER, "x", UINT32_MAX), UINT32_MAX);
	fold_free(f);
}

static void separators_in_names_are_replaced(void **state)
{
	struct fold *f = fold_new();
	uint32_t names[2] = { fold_add_name(f, FOLD_USER, "a;b\nc", 0),
			      fold_add_name(f, FOLD_USER, "", 0) };
	uint32_t segs[FOLD_SEGS] = { fold_add_seg(f, names, 2) };
	uint64_t value[2] = { UINT64_MAX, 0 };

	(void)state;
	assert_int_equal(fold_add(f, segs, value), 0);
	expect_text(f, 0, false, "a:b c;? 18446744073709551615\n");
	fold_free(f);
}

static void many_samples_are_sorted_like_their_text(void **state)
{
	struct fold *f = fold_new();
	unsigned int i, x = 1;
	char task[16], user[64], kernel[64], *s, *line, *next, last[200] = "";
	uint64_t total = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		x = x * 1103515245 + 12345;
		snprintf(task, sizeof(task), "t%c", 'a' + (x >> 16) % 5);
		snprintf(user, sizeof(user), "m;%c;u%02u", 'a' + (x >> 20) % 7, (x >> 8) % 90 + 10);
		snprintf(kernel, sizeof(kernel), "s;k%02u", (x >> 24) % 90 + 10);
		add(f, task, user, kernel, x >> 20, 1);
		total += x >> 20;
	}
	s = text_of(f, 0, false);
	for (line = s; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		total -= strtoull(strrchr(line, ' '), NULL, 10);
		*strrchr(line, ' ') = '\0';
		assert_true(strcmp(last, line) < 0);
		snprintf(last, sizeof(last), "%s", line);
	}
	assert_int_equal(total, 0);
	free(s);
	fold_free(f);
}

/* The ids of six segments, each in the thousands, do not fit into one key. */
static void long_keys_are_sorted_too(void **state)
{
	struct fold *f = fold_new();
	char name[16], *s, *line, *next, last[200] = "";
	uint32_t segs[FOLD_SEGS], id;
	uint64_t value[2] = { 1, 1 };
	unsigned int i, k, x = 7, nr = 0;

	(void)state;
	for (i = 0; i < 30000; i++) {
		for (k = 0; k < FOLD_SEGS; k++) {
			x = x * 1103515245 + 12345;
			snprintf(name, sizeof(name), "n%04u",
				 i % 2 && k < 5 ? 5000 : (x >> 8) % 5000);
			id = fold_add_name(f, FOLD_USER, name, FOLD_NONE);
			segs[k] = fold_add_seg(f, &id, 1);
		}
		assert_int_equal(fold_add(f, segs, value), 0);
	}
	s = text_of(f, 0, false);
	for (line = s; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		nr += atoi(strrchr(line, ' '));
		*strrchr(line, ' ') = '\0';
		assert_true(strcmp(last, line) < 0);
		snprintf(last, sizeof(last), "%s", line);
	}
	assert_int_equal(nr, 30000);
	free(s);
	fold_free(f);
}

static void frames_stand_on_one_another(void **state)
{
	static const struct {
		const char *name;
		uint32_t depth;
		uint64_t start, value;
	} want[] = {
		{ "a", 0, 0, 7 }, { "b", 0, 7, 3 }, { "x", 1, 1, 6 }, { "x", 1, 7, 3 },
		{ "k", 2, 1, 1 }, { "y", 2, 2, 5 }, { "k", 2, 7, 3 }, { "k", 3, 5, 2 },
	};
	struct fold *f = fold_new();
	struct tree t;
	size_t i;

	(void)state;
	add(f, "a", "x", "k", 1, 0);
	add(f, "a", "x;y", "k", 2, 0);
	add(f, "a", "x;y", "", 3, 0);
	add(f, "a", "", "", 1, 0);
	add(f, "b", "x", "k", 3, 0);
	assert_int_equal(fold_finish(f), 0);
	assert_int_equal(tree_make(&t, f, 0, 100, 0), 0);
	assert_int_equal(t.total[0], 10);
	assert_int_equal(t.depth, 4);
	assert_int_equal(t.hidden, 0);
	assert_int_equal(t.nr, sizeof(want) / sizeof(*want));
	for (i = 0; i < t.nr; i++) {
		struct tree_node *n = &t.nodes[i];

		assert_string_equal(fold_get_name(f, n->name)->text, want[i].name);
		assert_int_equal(n->depth, want[i].depth);
		/* the end of a path comes first, then the paths that go on from there */
		assert_int_equal(n->start, want[i].start);
		assert_int_equal(n->value[0], want[i].value);
	}
	free(t.nodes);
	fold_free(f);
}

static void only_the_heaviest_frames_are_kept(void **state)
{
	struct fold *f = fold_new();
	struct tree all, some;
	char user[16];
	size_t i;

	(void)state;
	for (i = 1; i <= 1000; i++) {
		snprintf(user, sizeof(user), "f%zu", i);
		add(f, "a", user, "k", i * i, 0);
	}
	assert_int_equal(fold_finish(f), 0);
	assert_int_equal(tree_make(&all, f, 0, 100000, 0), 0);
	assert_int_equal(all.nr, 2001);
	assert_int_equal(tree_make(&some, f, 0, 100, 0), 0);
	assert_true(some.nr <= 100 && some.nr > 50);
	assert_int_equal(some.nr + some.hidden, all.nr);
	for (i = 0; i < some.nr; i++)
		assert_true(some.nodes[i].value[0] >= some.least);
	free(some.nodes);
	assert_int_equal(tree_make(&some, f, 0, 100000, 0.001), 0);
	for (i = 0; i < some.nr; i++)
		assert_true(some.nodes[i].value[0] >= 0.001 * some.total[0] - 1);
	assert_true(some.nr < all.nr);
	free(all.nodes);
	free(some.nodes);
	fold_free(f);
}

static void nothing_is_a_tree_too(void **state)
{
	struct fold *f = fold_new();
	struct tree t;

	(void)state;
	assert_int_equal(fold_finish(f), 0);
	assert_int_equal(tree_make(&t, f, 0, 10, 0), 0);
	assert_int_equal(t.nr, 0);
	free(t.nodes);
	add(f, "a", "x", "", 0, 0);
	assert_int_equal(fold_finish(f), 0);
	assert_int_equal(tree_make(&t, f, 0, 10, 0), 0);
	assert_int_equal(t.nr, 0);
	free(t.nodes);
	fold_free(f);
}

static double linear(uint8_t v)
{
	double c = v / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Contrast with black, as WCAG 2 defines it: 1 to 21. */
static double contrast(struct colour c)
{
	double l = 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);

	return (l + 0.05) / 0.05;
}

static void black_can_be_read_on_every_colour(void **state)
{
	uint32_t hue, shade;
	int kind, i;

	(void)state;
	for (kind = 0; kind < FOLD_NR_KINDS; kind++)
		for (hue = 0; hue < COLOUR_FILES; hue++)
			for (shade = 0; shade < 4; shade++)
				assert_true(contrast(colour_frame(kind, hue, shade)) >= 7);
	for (i = 0; i <= 100; i++) {
		assert_true(contrast(colour_diff(i, 100)) >= 7);
		assert_true(contrast(colour_diff(100, i)) >= 7);
	}
	assert_true(contrast(colour_unknown()) >= 7);
	assert_true(contrast((struct colour){ 0, 0, 0 }) < 1.01);
	assert_true(contrast((struct colour){ 255, 255, 255 }) > 20.9);
}

static void kernel_and_user_differ_in_colour(void **state)
{
	struct colour k = colour_frame(FOLD_KERNEL, 0, 0), u;
	uint32_t hue;

	(void)state;
	assert_true(k.b > k.r + 40);
	for (hue = 0; hue < COLOUR_FILES; hue++) {
		u = colour_frame(FOLD_USER, hue, 0);
		assert_false(u.b > u.r + 40 && u.b > u.g + 20);
	}
	u = colour_diff(1, 2);
	assert_true(u.r > u.b);
	u = colour_diff(2, 1);
	assert_true(u.b > u.r);
}

static void expect_xml(const char *in, const char *want)
{
	char *s = NULL;
	size_t len;
	FILE *out = open_memstream(&s, &len);

	svg_put_text(out, in);
	fclose(out);
	assert_string_equal(s, want);
	free(s);
}

static void text_is_escaped_for_xml(void **state)
{
	(void)state;
	expect_xml("<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
	expect_xml("]]></script>", "]]&gt;&lt;/script&gt;");
	expect_xml("\1\x1f\x7f", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect_xml("\xc3\xa4\xff\xc3", "\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd");
	expect_xml("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd",
		   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect_xml("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void numbers_are_grouped_and_times_have_units(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(svg_format_number(buf, 0), "0");
	assert_string_equal(svg_format_number(buf, 999), "999");
	assert_string_equal(svg_format_number(buf, 1000), "1,000");
	assert_string_equal(svg_format_number(buf, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(svg_format_time(buf, 9999), "9999 ns");
	assert_string_equal(svg_format_time(buf, 12300), "12.3 us");
	assert_string_equal(svg_format_time(buf, 12300000), "12.3 ms");
	assert_string_equal(svg_format_time(buf, 12340000000), "12.34 s");
}

/* examples of the encoding's own documentation, and the limits */
static void messages_are_encoded(void **state)
{
	static const uint64_t list[] = { 3, 270, 86942 };
	struct text t = { 0 }, m = { 0 };

	(void)state;
	proto_number(&t, 1, 150);
	assert_int_equal(t.nr, 3);
	assert_memory_equal(t.v, "\x08\x96\x01", 3);
	text_clear(&t);
	proto_string(&t, 2, "testing");
	assert_memory_equal(t.v, "\x12\x07testing", 9);
	text_clear(&t);
	proto_number(&m, 1, 150);
	proto_message(&t, 3, &m);
	assert_int_equal(t.nr, 5);
	assert_memory_equal(t.v, "\x1a\x03\x08\x96\x01", 5);
	assert_int_equal(m.nr, 0);
	text_clear(&t);
	proto_packed(&t, 6, list, 3);
	assert_int_equal(t.nr, 8);
	assert_memory_equal(t.v, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
	text_clear(&t);
	proto_number(&t, 1, UINT64_MAX);
	assert_int_equal(t.nr, 11);
	assert_memory_equal(t.v, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	text_clear(&t);
	proto_string(&t, 1, "a\xff");
	assert_int_equal(t.nr, 6);
	assert_memory_equal(t.v, "\x0a\x04" "a\xef\xbf\xbd", 6);
	text_clear(&t);
	proto_message(&t, 66, &m);
	assert_memory_equal(t.v, "\x92\x04\x00", 3);
	vec_free(&t);
	vec_free(&m);
}

static void strings_are_there_once(void **state)
{
	struct strtab t = { 0 };
	char name[16];
	uint32_t i;
	size_t len;
	int round;

	(void)state;
	for (round = 0; round < 2; round++) {
		assert_int_equal(strtab_add(&t, "", 0), 0);
		for (i = 1; i < 3000; i++) {
			snprintf(name, sizeof(name), "n%u", i);
			assert_int_equal(strtab_add(&t, name, strlen(name)), i);
		}
		for (i = 1; i < 3000; i++) {
			snprintf(name, sizeof(name), "n%u", i);
			assert_int_equal(strtab_add(&t, name, strlen(name)), i);
			assert_string_equal(strtab_get(&t, i, &len), name);
			assert_int_equal(len, strlen(name));
		}
		assert_int_equal(strtab_add(&t, "n12", 1), 3000);
		assert_int_equal(strtab_add(&t, "n\0", 2), 3001);
		assert_string_equal(strtab_get(&t, 0, &len), "");
		assert_int_equal(len, 0);
		strtab_clear(&t);
	}
	strtab_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_paths_are_added_up_and_sorted),
		cmocka_unit_test(same_names_of_other_kinds_stay_apart),
		cmocka_unit_test(separators_in_names_are_replaced),
		cmocka_unit_test(many_samples_are_sorted_like_their_text),
		cmocka_unit_test(long_keys_are_sorted_too),
		cmocka_unit_test(frames_stand_on_one_another),
		cmocka_unit_test(only_the_heaviest_frames_are_kept),
		cmocka_unit_test(nothing_is_a_tree_too),
		cmocka_unit_test(black_can_be_read_on_every_colour),
		cmocka_unit_test(kernel_and_user_differ_in_colour),
		cmocka_unit_test(text_is_escaped_for_xml),
		cmocka_unit_test(numbers_are_grouped_and_times_have_units),
		cmocka_unit_test(messages_are_encoded),
		cmocka_unit_test(strings_are_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
