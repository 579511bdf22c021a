// SPDX-License-Identifier: GPL-2.0
/* test_sframe_read.c - reads SFrame sections: the header, the function, the row, hostile bytes */
#include <errno.h>

#include "sframe_build.h"

#define ADDR1	SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, 0, 0)
#define ADDR2	SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR2, 0, 0)
#define SP1	SFRAME_FRE_INFO(1, 1, 0, 0)
#define SP2	SFRAME_FRE_INFO(1, 2, 0, 0)

static struct build b;
static struct sframe_row row;

/*
 * Three functions: 0x1000 to 0x103f, 0x1040 to 0x107f, and after a gap 0x2000 to 0x22ff. The CFA
 * offset of a row shows which row it is: hundreds are the function, units the row.
 */
static void three_functions(u8 version, u8 flags)
{
	build_free(&b);
	build_init(&b, version, SFRAME_ABI_AMD64);
	if (flags)
		b.flags = flags;
	build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, SP1, 8);
	build_row(&b, 1, SP2, 16, -16);
	build_row(&b, 0x3f, SP1, 24);
	build_func(&b, 0x1040, 0x40, ADDR1, 0, 0);
	build_row(&b, 4, SFRAME_FRE_INFO(1, 1, 1, 0), 0x1008);
	build_func(&b, 0x2000, 0x300, ADDR2, 0, 0);
	build_row(&b, 0, SFRAME_FRE_INFO(0, 2, 2, 0), 0x20008, -16);
	build_row(&b, 0x2f0, SFRAME_FRE_INFO(0, 2, 2, 0), 0x20010, -24);
	build_end(&b);
}

struct expect {
	u64 pc;
	int ret;
	s32 cfa;
	u64 start, end;
};

#define HOLE(at)	{ .pc = (at), .ret = -ENOENT }
#define NONE(at)	{ .pc = (at), .ret = -ESRCH }

static const struct expect three[] = {
	NONE(0), NONE(0xfff),
	{ 0x1000, 0, 8, 0x1000, 0x1001 },
	{ 0x1001, 0, 16, 0x1001, 0x103f }, { 0x103e, 0, 16, 0x1001, 0x103f },
	{ 0x103f, 0, 24, 0x103f, 0x1040 },
	HOLE(0x1040), HOLE(0x1043),	/* before the first row */
	{ 0x1044, 0, 0x1008, 0x1044, 0x1080 }, { 0x107f, 0, 0x1008, 0x1044, 0x1080 },
	NONE(0x1080), NONE(0x1fff),
	{ 0x2000, 0, 0x20008, 0x2000, 0x22f0 }, { 0x22ef, 0, 0x20008, 0x2000, 0x22f0 },
	{ 0x22f0, 0, 0x20010, 0x22f0, 0x2300 }, { 0x22ff, 0, 0x20010, 0x22f0, 0x2300 },
	NONE(0x2300), NONE(~0ull),
};

static void assert_three_by(const struct sframe_table *t, const struct sframe_index *x, u64 bias)
{
	const struct expect *e;

	for (e = three; e < three + sizeof(three) / sizeof(three[0]); e++) {
		memset(&row, 0xff, sizeof(row));
		assert_int_equal(sframe_find_indexed(t, x, e->pc + bias, &row), e->ret);
		if (e->ret)
			continue;
		assert_int_equal(row.cfa.off, e->cfa);
		assert_int_equal(row.start, e->start + bias);
		assert_int_equal(row.size, e->end - e->start);
		assert_true(sframe_row_holds(&row, e->start + bias));
		assert_true(sframe_row_holds(&row, e->end - 1 + bias));
		assert_false(sframe_row_holds(&row, e->end + bias));
		assert_false(sframe_row_holds(&row, e->start - 1 + bias));
	}
}

static void assert_three(const struct sframe_table *t, u64 bias)
{
	assert_three_by(t, &(struct sframe_index) { .parts = NULL }, bias);
}

static void each_pc_gets_its_row(void **state)
{
	static const struct { u8 version, flags; } kinds[] = {
		{ 1, 1 }, { 1, 3 }, { 2, 1 }, { 2, 3 }, { 2, 5 }, { 2, 7 }, { 3, 5 }, { 3, 1 },
	};
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	u32 nr_rows;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		three_functions(kinds[i].version, kinds[i].flags);
		t = build_table(&b);
		assert_int_equal(sframe_open(&t), 0);
		assert_int_equal(t.version, kinds[i].version);
		assert_int_equal(t.nr_fdes, 3);
		assert_int_equal(sframe_get_nr_rows(&t, &nr_rows), 0);
		assert_int_equal(nr_rows, 6);
		assert_three(&t, 0);
		t = build_read_table(&r);
		assert_int_equal(sframe_open(&t), 0);
		assert_three(&t, 0);
	}
}

static void a_table_is_where_it_is_deemed_to_be(void **state)
{
	struct sframe_table t;

	(void)state;
	three_functions(3, 0);
	t = build_table(&b);
	t.base += 0x7f1200000000;
	t.text_start += 0x7f1200000000;
	assert_int_equal(sframe_open(&t), 0);
	assert_three(&t, 0x7f1200000000);
}

static void nothing_outside_the_text_is_looked_up(void **state)
{
	struct sframe_table t;

	(void)state;
	three_functions(3, 0);
	t = build_table(&b);
	t.text_start = 0x1001;
	t.text_size = 0x10;
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(sframe_find(&t, 0x1000, &row), -ESRCH);
	assert_int_equal(sframe_find(&t, 0x1001, &row), 0);
	assert_int_equal(sframe_find(&t, 0x1010, &row), 0);
	assert_int_equal(sframe_find(&t, 0x1011, &row), -ESRCH);
	t = build_table(&b);
	t.text_size = 0;
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(sframe_find(&t, 0, &row), -ESRCH);
}

static void functions_can_be_listed(void **state)
{
	struct sframe_table t;
	struct sframe_func f;
	int version;

	(void)state;
	for (version = 1; version <= 3; version++) {
		three_functions(version, 0);
		t = build_table(&b);
		assert_int_equal(sframe_open(&t), 0);
		assert_int_equal(sframe_get_func(&t, 2, &f), 0);
		assert_int_equal(f.start, 0x2000);
		assert_int_equal(f.size, 0x300);
		assert_int_equal(f.nr_fres, 2);
		assert_int_equal(f.info, ADDR2);
		assert_int_equal(sframe_find_row(&t, &f, 0x22f0, &row), 0);
		assert_int_equal(row.cfa.off, 0x20010);
		assert_int_equal(sframe_find_row(&t, &f, 0x2300, &row), -ESRCH);
		assert_int_equal(sframe_find_row(&t, &f, 0x1fff, &row), -ESRCH);
		assert_int_equal(sframe_get_func(&t, 3, &f), -ENOENT);
		assert_int_equal(sframe_get_func(&t, ~0u, &f), -ENOENT);
	}
}

static int open_with(u32 off, u64 value, u32 size)
{
	struct sframe_table t;

	three_functions(3, 0);
	build_put(&b, b.sec + off, value, size);
	t = build_table(&b);
	return sframe_open(&t);
}

static void a_wrong_header_is_refused(void **state)
{
	(void)state;
	assert_int_equal(open_with(SFRAME_HDR_MAGIC_OFF, 0xdee2, 2), 0);
	assert_int_equal(open_with(SFRAME_HDR_MAGIC_OFF, 0xdee3, 2), -EINVAL);
	/* the other byte order is read, but amd64 has only one */
	assert_int_equal(open_with(SFRAME_HDR_MAGIC_OFF, 0xe2de, 2), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_VERSION_OFF, 0, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_VERSION_OFF, 4, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FLAGS_OFF, 4, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FLAGS_OFF, 7, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FLAGS_OFF, 0x85, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_ABI_OFF, 0, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_ABI_OFF, 5, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_ABI_OFF, SFRAME_ABI_S390X, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FIXED_FP_OFF, 0xf0, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FIXED_RA_OFF, 0, 1), -EOPNOTSUPP);
	assert_int_equal(open_with(SFRAME_HDR_FIXED_RA_OFF, 0xf0, 1), -EOPNOTSUPP);
}

static void counts_and_offsets_beyond_the_end_are_refused(void **state)
{
	static const u8 fields[] = {
		SFRAME_HDR_NUM_FDES_OFF, SFRAME_HDR_FRE_LEN_OFF, SFRAME_HDR_FDEOFF_OFF,
		SFRAME_HDR_FREOFF_OFF,
	};
	static const u64 values[] = { 0x1000, 0x7fffffff, 0x80000000, 0xffffffff, 0x0fffffff };
	size_t f, v;

	(void)state;
	for (f = 0; f < sizeof(fields); f++) {
		for (v = 0; v < sizeof(values) / sizeof(values[0]); v++)
			assert_int_equal(open_with(fields[f], values[v], 4), -EBADMSG);
	}
	assert_int_equal(open_with(SFRAME_HDR_NUM_FRES_OFF, 0xffffffff, 4), 0);
	assert_int_equal(open_with(SFRAME_HDR_FRE_LEN_OFF, b.rows_len + 1, 4), -EBADMSG);
	assert_int_equal(open_with(SFRAME_HDR_AUXHDR_LEN_OFF, 1, 1), -EBADMSG);
}

static void a_table_cut_at_any_byte_is_refused(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	int version;
	u32 size;

	(void)state;
	for (version = 1; version <= 3; version++) {
		three_functions(version, 0);
		for (size = 0; size < b.size; size++) {
			t = build_table(&b);
			t.size = size;
			assert_int_equal(sframe_open(&t), -EBADMSG);
			t = build_read_table(&r);
			t.size = size;
			assert_int_equal(sframe_open(&t), -EBADMSG);
		}
	}
}

static void a_size_too_large_is_corrected(void **state)
{
	struct sframe_table t;

	(void)state;
	three_functions(3, 0);
	t = build_table(&b);
	t.size += 34;
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(t.size, b.size);
}

static void an_address_space_has_an_end(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;

	(void)state;
	three_functions(3, 0);
	t = build_table(&b);
	t.base = -(u64)b.size + 1;
	assert_int_equal(sframe_open(&t), -ERANGE);
	t = build_table(&b);
	t.text_start = -t.text_size + 1;
	assert_int_equal(sframe_open(&t), -ERANGE);
	t = build_read_table(&r);
	t.addr = -(u64)b.size + 1;
	assert_int_equal(sframe_open(&t), -ERANGE);
}

static void an_auxiliary_header_is_skipped(void **state)
{
	struct sframe_table t;

	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	b.auxhdr_len = 255;
	build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, SP1, 40);
	build_end(&b);
	t = build_table(&b);
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(sframe_find(&t, 0x1000, &row), 0);
	assert_int_equal(row.cfa.off, 40);
}

static void an_empty_table_is_a_hole(void **state)
{
	struct sframe_table t;

	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	build_end(&b);
	t = build_table(&b);
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(sframe_find(&t, 0, &row), -ESRCH);
}

/* Every number of functions up to 40, so that the halves of the search are of every shape */
static void the_search_finds_each_of_many(void **state)
{
	struct sframe_table t;
	u32 n, i;

	(void)state;
	for (n = 1; n <= 40; n++) {
		build_free(&b);
		build_init(&b, 3, SFRAME_ABI_AMD64);
		for (i = 0; i < n; i++) {
			build_func(&b, 0x1000 + 16 * i, 12, ADDR1, 0, 0);
			build_row(&b, 0, SFRAME_FRE_INFO(1, 1, 2, 0), 8 * (i + 1));
		}
		build_end(&b);
		t = build_table(&b);
		assert_int_equal(sframe_open(&t), 0);
		assert_int_equal(sframe_find(&t, 0xfff, &row), -ESRCH);
		for (i = 0; i < n; i++) {
			assert_int_equal(sframe_find(&t, 0x1000 + 16 * i, &row), 0);
			assert_int_equal(row.cfa.off, 8 * (i + 1));
			assert_int_equal(sframe_find(&t, 0x100b + 16 * i, &row), 0);
			assert_int_equal(row.cfa.off, 8 * (i + 1));
			assert_int_equal(sframe_find(&t, 0x100c + 16 * i, &row), -ESRCH);
		}
	}
}

/* With an index of any size, each pc gets the same row as without an index */
static void an_index_changes_no_result(void **state)
{
	struct sframe_table t;
	struct sframe_index x;
	struct sframe_row other;
	u32 mem[64 + 1], n, i, nr;
	u64 pc;
	int ret;

	(void)state;
	for (n = 0; n <= 20; n += 5) {
		build_free(&b);
		build_init(&b, 3, SFRAME_ABI_AMD64);
		for (i = 0; i < n; i++) {
			build_func(&b, 0x1000 + i * i * 4, 4 + 2 * i, ADDR1, 0, 0);
			build_row(&b, 0, SFRAME_FRE_INFO(1, 1, 2, 0), 8 * (i + 1));
		}
		build_end(&b);
		for (nr = 0; nr <= 64; nr++) {
			t = build_table(&b);
			t.text_start = 0xff0 + nr % 17 * 3;
			t.text_size = 0x600 - nr % 13 * 16;
			assert_int_equal(sframe_open(&t), 0);
			mem[nr] = 0x12345678;
			assert_int_equal(sframe_make_index(&t, &x, mem, nr), 0);
			assert_int_equal(mem[nr], 0x12345678);
			assert_int_equal(x.parts == mem, n && nr >= 3);
			for (pc = 0xfe0; pc < 0x1700; pc++) {
				ret = sframe_find_indexed(&t, &x, pc, &row);
				assert_int_equal(ret, sframe_find(&t, pc, &other));
				if (!ret)
					assert_memory_equal(&row, &other, sizeof(row));
			}
		}
	}
}

static void an_index_goes_over_the_largest_text(void **state)
{
	struct sframe_table t;
	struct sframe_index x;
	u32 mem[8], nr;

	(void)state;
	three_functions(3, 0);
	for (nr = 0; nr <= 8; nr++) {
		t = build_table(&b);
		t.text_size = ~0ull;
		assert_int_equal(sframe_open(&t), 0);
		assert_int_equal(sframe_make_index(&t, &x, mem, nr), 0);
		assert_three_by(&t, &x, 0);
		t.text_start = 0x1000;
		t.text_size = ~0ull - 0x1000;
		assert_int_equal(sframe_make_index(&t, &x, mem, nr), 0);
		assert_three_by(&t, &x, 0);
	}
}

static void an_index_makes_lookups_short(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	struct sframe_index x;
	u32 mem[1024], i;

	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	for (i = 0; i < 1024; i++) {
		build_func(&b, 0x1000 + 16 * i, 16, ADDR1, 0, 0);
		build_row(&b, 0, SP1, 8);
	}
	build_end(&b);
	t = build_read_table(&r);
	t.text_start = 0x1000;
	t.text_size = 16 * 1024;
	assert_int_equal(sframe_open(&t), 0);
	r.calls = 0;
	assert_int_equal(sframe_find(&t, 0x3000, &row), 0);
	assert_int_equal(r.calls, 10 + 2);
	assert_int_equal(sframe_make_index(&t, &x, mem, 1024), 0);
	for (i = 0; i < 1024; i++) {
		r.calls = 0;
		assert_int_equal(sframe_find_indexed(&t, &x, 0x1000 + 16 * i, &row), 0);
		assert_in_range(r.calls, 2, 2 + 2);
	}
	r.calls = 0;
	r.fail_at = 500;
	assert_int_equal(sframe_make_index(&t, &x, mem, 1024), -EFAULT);
	assert_null(x.parts);
	r.fail_at = 0;
	assert_int_equal(sframe_find_indexed(&t, &x, 0x3000, &row), 0);
}

/* A table that falsely claims to be sorted loses functions, but no pc gets a wrong row */
static void unsorted_functions_are_holes_at_worst(void **state)
{
	struct sframe_table t;
	u32 i, j;

	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	for (i = 0; i < 31; i++) {
		j = i * 7 % 31;
		build_func(&b, 0x1000 + 16 * j, 16, ADDR1, 0, 0);
		build_row(&b, 0, SFRAME_FRE_INFO(1, 1, 2, 0), 8 * (j + 1));
	}
	build_end(&b);
	t = build_table(&b);
	assert_int_equal(sframe_open(&t), 0);
	for (i = 0; i < 31; i++) {
		if (!sframe_find(&t, 0x1000 + 16 * i, &row))
			assert_int_equal(row.cfa.off, 8 * (i + 1));
	}
}

static void work_is_bounded(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	u32 i;

	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	build_func(&b, 0x1000, 0x10000, ADDR2, 0, 0);
	for (i = 0; i < 0xffff; i++)
		build_row(&b, i, SP1, 8);
	build_end(&b);
	t = build_read_table(&r);
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(sframe_find(&t, 0x1000 + SFRAME_MAX_FRES - 2, &row), 0);
	assert_int_equal(row.start, 0x1000 + SFRAME_MAX_FRES - 2);
	r.calls = 0;
	assert_int_equal(sframe_find(&t, 0x10ffe, &row), -EBADMSG);
	assert_in_range(r.calls, 100, SFRAME_MAX_FRES / 4);
}

/* If each read is a call, a short function takes two reads after the search of the function. */
static void reads_are_few(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;

	(void)state;
	three_functions(3, 0);
	t = build_read_table(&r);
	assert_int_equal(sframe_open(&t), 0);
	assert_int_equal(r.calls, 1);
	r.calls = 0;
	assert_int_equal(sframe_find(&t, 0x103f, &row), 0);
	assert_int_equal(r.calls, 2 + 2);
}

static void a_read_that_fails_fails_the_lookup(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	int version, ret;
	u32 n;

	(void)state;
	for (version = 1; version <= 3; version++) {
		three_functions(version, 0);
		r.fail_at = 1;
		r.calls = 0;
		t = build_read_table(&r);
		assert_int_equal(sframe_open(&t), -EFAULT);
		r.fail_at = 0;
		t = build_read_table(&r);
		assert_int_equal(sframe_open(&t), 0);
		for (n = 1; ; n++) {
			r.calls = 0;
			r.fail_at = n;
			ret = sframe_find(&t, 0x22f0, &row);
			if (!ret)
				break;
			assert_int_equal(ret, -EFAULT);
		}
		assert_true(n > 3);
	}
}

static u64 seed = 1;

static u32 random_below(u32 n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

/*
 * Random changes: the sanitizer sees no read out of bounds, the two sources agree, and a row that
 * is found holds for its pc and is a rule.
 */
static void hostile_bytes_do_no_harm(void **state)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t, u;
	struct sframe_index x;
	struct sframe_row other;
	u32 round, i, mem[16], found = 0;
	int ret;

	(void)state;
	for (round = 0; round < 3000; round++) {
		three_functions(1 + round % 3, 0);
		for (i = 1 + random_below(6); i; i--)
			b.sec[4 + random_below(b.size - 4)] = random_below(256);
		t = build_table(&b);
		u = build_read_table(&r);
		ret = sframe_open(&t);
		assert_int_equal(ret, sframe_open(&u));
		if (ret)
			continue;
		x = (struct sframe_index) { .parts = NULL };
		if (round % 2) {
			/* the bytes may change after the index was made */
			assert_int_equal(sframe_make_index(&t, &x, mem, 16), 0);
			b.sec[b.fde_off + random_below(b.size - b.fde_off)] = random_below(256);
		}
		for (i = 0; i < sizeof(three) / sizeof(three[0]); i++) {
			memset(&row, 0, sizeof(row));
			memset(&other, 0, sizeof(other));
			ret = sframe_find_indexed(&t, &x, three[i].pc, &row);
			assert_int_equal(ret, sframe_find_indexed(&u, &x, three[i].pc, &other));
			if (ret) {
				assert_true(ret == -ESRCH || ret == -ENOENT ||
					    ret == -EBADMSG);
				continue;
			}
			assert_memory_equal(&row, &other, sizeof(row));
			assert_true(sframe_row_holds(&row, three[i].pc));
			assert_true(row.cfa.base >= SFRAME_SP || row.ra.base == SFRAME_UNDEFINED);
			found++;
		}
	}
	assert_true(found > 1000);
}

static int teardown(void **state)
{
	(void)state;
	build_free(&b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pc_gets_its_row),
		cmocka_unit_test(a_table_is_where_it_is_deemed_to_be),
		cmocka_unit_test(nothing_outside_the_text_is_looked_up),
		cmocka_unit_test(functions_can_be_listed),
		cmocka_unit_test(a_wrong_header_is_refused),
		cmocka_unit_test(counts_and_offsets_beyond_the_end_are_refused),
		cmocka_unit_test(a_table_cut_at_any_byte_is_refused),
		cmocka_unit_test(a_size_too_large_is_corrected),
		cmocka_unit_test(an_address_space_has_an_end),
		cmocka_unit_test(an_auxiliary_header_is_skipped),
		cmocka_unit_test(an_empty_table_is_a_hole),
		cmocka_unit_test(the_search_finds_each_of_many),
		cmocka_unit_test(an_index_changes_no_result),
		cmocka_unit_test(an_index_goes_over_the_largest_text),
		cmocka_unit_test(an_index_makes_lookups_short),
		cmocka_unit_test(unsorted_functions_are_holes_at_worst),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(reads_are_few),
		cmocka_unit_test(a_read_that_fails_fails_the_lookup),
		cmocka_unit_test(hostile_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
