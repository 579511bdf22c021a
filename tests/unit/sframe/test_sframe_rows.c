// SPDX-License-Identifier: GPL-2.0
/* test_sframe_rows.c - decodes the words of SFrame rows, for each architecture and each version */
#include <errno.h>

#include "sframe_build.h"

#define ADDR1		SFRAME_FDE_INFO(SFRAME_FRE_TYPE_ADDR1, 0, 0)
#define FLEX		SFRAME_FDE_TYPE_FLEX
#define INFO(sp, n)	SFRAME_FRE_INFO(sp, n, 0, 0)
#define INFO2(sp, n)	SFRAME_FRE_INFO(sp, n, 1, 0)
#define INFO4(sp, n)	SFRAME_FRE_INFO(sp, n, 2, 0)

static struct build b;
static struct sframe_row row;

static int find_at(u64 pc)
{
	struct build_reader r = { .b = &b };
	struct sframe_table t;
	struct sframe_row other;
	int ret;

	build_end(&b);
	t = build_table(&b);
	assert_int_equal(sframe_open(&t), 0);
	memset(&row, 0xff, sizeof(row));
	ret = sframe_find(&t, pc, &row);
	t = build_read_table(&r);
	assert_int_equal(sframe_open(&t), 0);
	memset(&other, 0xff, sizeof(other));
	assert_int_equal(sframe_find(&t, pc, &other), ret);
	if (!ret)
		assert_memory_equal(&row, &other, sizeof(row));
	return ret;
}

/* One function with one row, and a second function after it */
static int find_words(u8 version, u8 abi, u8 fde_info, u8 info2, u8 info, const s32 *words)
{
	build_free(&b);
	build_init(&b, version, abi);
	build_func(&b, 0x1000, 0x40, fde_info, info2, 0);
	build_row_words(&b, 0, info, words);
	build_func(&b, 0x2000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 0);
	return find_at(0x1010);
}

#define amd64(version, info, ...) \
	find_words(version, SFRAME_ABI_AMD64, ADDR1, 0, info, (const s32[16]) { __VA_ARGS__ })
#define flex(info, ...) \
	find_words(3, SFRAME_ABI_AMD64, ADDR1, FLEX, info, (const s32[16]) { __VA_ARGS__ })
#define arm64(version, info, ...) \
	find_words(version, SFRAME_ABI_ARM64_LE, ADDR1, 0, info, (const s32[16]) { __VA_ARGS__ })
#define s390x(version, info, ...) \
	find_words(version, SFRAME_ABI_S390X, ADDR1, 0, info, (const s32[16]) { __VA_ARGS__ })

static void assert_rule(const struct sframe_rule *r, enum sframe_base base, u8 reg, s32 off,
			bool deref)
{
	assert_int_equal(r->base, base);
	assert_int_equal(r->reg, reg);
	assert_int_equal(r->off, off);
	assert_int_equal(r->deref, deref);
}

#define assert_cfa(base, off)	assert_rule(&row.cfa, base, 0, off, 0)
#define assert_saved(r, off)	assert_rule(&row.r, SFRAME_CFA, 0, off, 1)
#define assert_same(r)		assert_rule(&row.r, SFRAME_SAME, 0, 0, 0)

static void amd64_rows_give_cfa_and_fp(void **state)
{
	u8 v;

	(void)state;
	for (v = 1; v <= 3; v++) {
		assert_int_equal(amd64(v, INFO(1, 1), 8), 0);
		assert_cfa(SFRAME_SP, 8);
		assert_saved(ra, -8);
		assert_same(fp);
		assert_int_equal(row.flags, 0);
		assert_int_equal(amd64(v, INFO(0, 2), 16, -16), 0);
		assert_cfa(SFRAME_FP, 16);
		assert_saved(ra, -8);
		assert_saved(fp, -16);
		assert_int_equal(amd64(v, INFO2(1, 2), 0x7ffe, -0x8000), 0);
		assert_cfa(SFRAME_SP, 0x7ffe);
		assert_saved(fp, -0x8000);
		assert_int_equal(amd64(v, INFO4(1, 2), 0x7fffffff, -0x7fffffff - 1), 0);
		assert_cfa(SFRAME_SP, 0x7fffffff);
		assert_saved(fp, -0x7fffffff - 1);
		assert_int_equal(amd64(v, INFO(1, 2), -128, 127), 0);
		assert_cfa(SFRAME_SP, -128);
		assert_saved(fp, 127);
		/* words without a meaning */
		assert_int_equal(amd64(v, INFO(1, 3), 8, -16, -24), -EBADMSG);
		assert_int_equal(amd64(v, INFO(1, 7), 8), -EBADMSG);
		assert_int_equal(amd64(v, INFO(1, 8), 8), -EBADMSG);
		assert_int_equal(amd64(v, INFO(1, 15), 8), -EBADMSG);
		assert_int_equal(amd64(v, SFRAME_FRE_INFO(1, 1, 3, 0), 8), -EBADMSG);
		assert_int_equal(amd64(v, SFRAME_FRE_INFO(1, 1, 0, 1), 8), -EBADMSG);
	}
}

static void arm64_rows_also_give_ra(void **state)
{
	u8 v;

	(void)state;
	for (v = 1; v <= 3; v++) {
		assert_int_equal(arm64(v, INFO(1, 1), 0), 0);
		assert_cfa(SFRAME_SP, 0);
		assert_same(ra);
		assert_same(fp);
		assert_int_equal(arm64(v, SFRAME_FRE_INFO(1, 3, 0, 1), 32, -24, -32), 0);
		assert_cfa(SFRAME_SP, 32);
		assert_saved(ra, -24);
		assert_saved(fp, -32);
		assert_int_equal(row.flags, SFRAME_ROW_MANGLED);
		assert_int_equal(arm64(v, INFO(1, 4), 32, -24, -32, 0), -EBADMSG);
	}
}

/* Big endian, so this is also the other byte order */
static void s390x_rows_are_scaled_and_know_registers(void **state)
{
	(void)state;
	assert_int_equal(s390x(3, INFO(1, 1), 0), 0);
	assert_cfa(SFRAME_SP, 160);
	assert_same(ra);
	assert_int_equal(s390x(3, INFO2(0, 3), 0x102, -48, -72), 0);
	assert_cfa(SFRAME_FP, 0x102 * 8 + 160);
	assert_saved(ra, -48);
	assert_saved(fp, -72);
	assert_int_equal(s390x(3, INFO4(0, 3), 0x10203, 0, -72), 0);
	assert_cfa(SFRAME_FP, 0x10203 * 8 + 160);
	assert_same(ra);
	assert_saved(fp, -72);
	assert_int_equal(s390x(3, INFO4(0, 1), 0x7fffffff), -EBADMSG);

	/* version 2: RA in r14, FP in f0 */
	assert_int_equal(s390x(2, INFO(1, 3), 0, 14 << 1 | 1, 16 << 1 | 1), 0);
	assert_rule(&row.ra, SFRAME_REG, 14, 0, 0);
	assert_rule(&row.fp, SFRAME_REG, 16, 0, 0);
	assert_int_equal(s390x(2, INFO(1, 3), 0, 11 << 1 | 1, -72), 0);
	assert_rule(&row.ra, SFRAME_FP, 0, 0, 0);
	assert_saved(fp, -72);
	assert_int_equal(s390x(2, INFO(1, 3), 0, 15 << 1 | 1, -72), -EBADMSG);
	assert_int_equal(s390x(2, INFO2(1, 3), 0, 0xff << 1 | 1, 0 << 1 | 1), 0);
	assert_rule(&row.ra, SFRAME_REG, 0xff, 0, 0);
	assert_rule(&row.fp, SFRAME_REG, 0, 0, 0);
	assert_int_equal(s390x(2, INFO2(1, 3), 0, -3, -72), -EBADMSG);
	assert_int_equal(s390x(2, INFO2(1, 3), 0, 0x100 << 1 | 1, -72), -EBADMSG);
	/* an odd offset is nothing else in version 3 */
	assert_int_equal(s390x(3, INFO(1, 3), 0, 14 << 1 | 1, -72), 0);
	assert_saved(ra, 29);
}

static void a_row_without_words_is_the_outermost(void **state)
{
	u8 v;

	(void)state;
	for (v = 2; v <= 3; v++) {
		assert_int_equal(amd64(v, INFO(1, 0), 0), 0);
		assert_rule(&row.ra, SFRAME_UNDEFINED, 0, 0, 0);
		assert_int_equal(row.cfa.base, 0);
		assert_int_equal(row.cfa.off, 0);
	}
	/* version 1 has no such rows */
	assert_int_equal(amd64(1, INFO(1, 0), 0), -EBADMSG);
	assert_int_equal(flex(INFO(1, 0), 0), 0);
	assert_rule(&row.ra, SFRAME_UNDEFINED, 0, 0, 0);
}

static int function_without_rows(u8 version, u8 info)
{
	build_free(&b);
	build_init(&b, version, SFRAME_ABI_AMD64);
	build_func(&b, 0x1000, 0x40, info, 0, 0);
	build_func(&b, 0x2000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 8);
	return find_at(0x1010);
}

static void a_function_without_rows_is_outermost_or_a_signal_frame(void **state)
{
	(void)state;
	assert_int_equal(function_without_rows(3, ADDR1), 0);
	assert_rule(&row.ra, SFRAME_UNDEFINED, 0, 0, 0);
	assert_int_equal(row.start, 0x1000);
	assert_int_equal(row.size, 0x40);
	assert_int_equal(function_without_rows(3, ADDR1 | 0x80), -ENOENT);
	assert_int_equal(function_without_rows(2, ADDR1), -ENOENT);
	assert_int_equal(function_without_rows(1, ADDR1), -ENOENT);
}

#define REG(n)		SFRAME_CTRL(n, 0, 1)
#define AT_REG(n)	SFRAME_CTRL(n, 1, 1)
#define AT_CFA		SFRAME_CTRL(0, 1, 0)
enum { RBX = 3, RBP = 6, RSP = 7, R10 = 10, R11 = 11, R31 = 31 };

static void flexible_rows_take_any_register(void **state)
{
	(void)state;
	assert_int_equal(flex(INFO(0, 2), REG(R10), -8), 0);
	assert_rule(&row.cfa, SFRAME_REG, R10, -8, 0);
	assert_saved(ra, -8);
	assert_same(fp);
	/* DRAP: CFA = *(rbp - 8), RA = *(rbp + ..): what gcc and the generator write */
	assert_int_equal(flex(INFO(0, 5), AT_REG(RBP), -8, 0, AT_REG(RBP), 0), 0);
	assert_rule(&row.cfa, SFRAME_FP, 0, -8, 1);
	assert_saved(ra, -8);
	assert_rule(&row.fp, SFRAME_FP, 0, 0, 1);
	assert_int_equal(flex(INFO(0, 6), REG(RSP), 40, AT_REG(RSP), 32, AT_CFA, -16), 0);
	assert_rule(&row.cfa, SFRAME_SP, 0, 40, 0);
	assert_rule(&row.ra, SFRAME_SP, 0, 32, 1);
	assert_saved(fp, -16);
	assert_int_equal(flex(INFO(0, 4), REG(RSP), 8, REG(RBX), 0), 0);
	assert_rule(&row.ra, SFRAME_REG, RBX, 0, 0);
	/* a control word has no sign, the offset has: register 31 in a byte */
	assert_int_equal(flex(INFO(0, 2), (s8)REG(R31), -1), 0);
	assert_rule(&row.cfa, SFRAME_REG, R31, -1, 0);
	/* the base bit of a flexible row means nothing */
	assert_int_equal(flex(INFO(1, 2), REG(RBP), 16), 0);
	assert_cfa(SFRAME_FP, 16);
	assert_int_equal(flex(INFO2(0, 2), AT_REG(R11), -0x7fff), 0);
	assert_rule(&row.cfa, SFRAME_REG, R11, -0x7fff, 1);
	assert_int_equal(flex(INFO4(0, 2), AT_REG(R11), -0x7fffffff), 0);
	assert_rule(&row.cfa, SFRAME_REG, R11, -0x7fffffff, 1);
	/* padding at the end */
	assert_int_equal(flex(INFO(0, 3), REG(RSP), 8, 0), 0);
	assert_int_equal(flex(INFO(0, 4), REG(RSP), 8, 0, 0), 0);
	assert_saved(ra, -8);
	assert_same(fp);
}

static void flexible_rows_that_mean_nothing_are_bad(void **state)
{
	(void)state;
	assert_int_equal(flex(INFO(0, 1), REG(RSP)), -EBADMSG);
	assert_int_equal(flex(INFO(0, 1), 0), -EBADMSG);
	assert_int_equal(flex(INFO(0, 2), 0, 8), -EBADMSG);
	assert_int_equal(flex(INFO(0, 2), AT_CFA, 8), -EBADMSG);
	assert_int_equal(flex(INFO(0, 3), REG(RSP), 8, AT_CFA), -EBADMSG);
	assert_int_equal(flex(INFO(0, 5), REG(RSP), 8, 0, AT_CFA, -16, 0), 0);
	assert_int_equal(flex(INFO(0, 6), REG(RSP), 8, 0, AT_CFA, -16, 0), -EBADMSG);
	assert_int_equal(flex(INFO(0, 5), REG(RSP), 8, 0, 0, 0), -EBADMSG);
	/* ADD in a function of the standard; a register without a base; CFA + offset as a value */
	assert_int_equal(flex(INFO(0, 2), REG(RSP) | 4, 8), -EBADMSG);
	assert_int_equal(flex(INFO(0, 2), AT_REG(RSP) | SFRAME_CTRL_ADD, 8), -EBADMSG);
	assert_int_equal(flex(INFO(0, 3), AT_REG(RSP) | SFRAME_CTRL_ADD, 8, 8), -EBADMSG);
	assert_int_equal(flex(INFO(0, 4), REG(RSP), 8, SFRAME_CTRL(3, 1, 0), 0), -EBADMSG);
	assert_int_equal(flex(INFO(0, 4), REG(RSP), 8, SFRAME_CTRL(3, 0, 0), 0), -EBADMSG);
	/* no machine has as many registers */
	assert_int_equal(flex(INFO2(0, 2), REG(0xff), 8), 0);
	assert_rule(&row.cfa, SFRAME_REG, 0xff, 8, 0);
	assert_int_equal(flex(INFO2(0, 2), REG(0x100), 8), -EBADMSG);
	assert_int_equal(flex(INFO4(0, 2), REG(0x10000), 8), -EBADMSG);
}

#define FLEX_ADD	SFRAME_FDE_TYPE_FLEX_ADD
#define ADD_TO(n)	(AT_REG(n) | SFRAME_CTRL_ADD)

static int flex_add(u8 info, const s32 *words)
{
	return find_words(3, SFRAME_ABI_AMD64, ADDR1, FLEX_ADD, info, words);
}

static void a_cfa_may_be_above_a_saved_sp(void **state)
{
	const s32 plain[] = { ADD_TO(RSP), 152, 8 }, fp[] = { ADD_TO(RSP), 16, 80, 0, AT_CFA, -24 };
	const s32 all[] = { ADD_TO(RBX), 8, 255, AT_REG(RSP), 32, AT_CFA, -16 };
	const s32 none[] = { AT_REG(RSP), 16, 0, AT_CFA, -24 };

	(void)state;
	assert_int_equal(flex_add(INFO2(0, 3), plain), 0);
	assert_rule(&row.cfa, SFRAME_SP, 0, 152, 1);
	assert_int_equal(row.cfa.add, 8);
	assert_saved(ra, -8);
	assert_same(fp);
	assert_int_equal(flex_add(INFO(0, 6), fp), 0);
	assert_int_equal(row.cfa.add, 80);
	assert_saved(fp, -24);
	assert_int_equal(flex_add(INFO2(0, 7), all), 0);
	assert_rule(&row.cfa, SFRAME_REG, RBX, 8, 1);
	assert_int_equal(row.cfa.add, 255);
	assert_rule(&row.ra, SFRAME_SP, 0, 32, 1);
	assert_saved(fp, -16);
	/* the other rows of such a function are as in the standard */
	assert_int_equal(flex_add(INFO(0, 5), none), 0);
	assert_int_equal(row.cfa.add, 0);
	assert_saved(fp, -24);
}

static void other_sums_are_bad(void **state)
{
	const s32 value[] = { REG(RSP) | SFRAME_CTRL_ADD, 8, 8 };
	const s32 zero[] = { ADD_TO(RSP), 8, 0 }, less[] = { ADD_TO(RSP), 8, -8 };
	const s32 large[] = { ADD_TO(RSP), 8, 256 }, cut[] = { ADD_TO(RSP), 8 };
	const s32 ra[] = { REG(RSP), 8, ADD_TO(RSP), 8, 8 };
	const s32 fp[] = { REG(RSP), 8, 0, AT_CFA | SFRAME_CTRL_ADD, -16, 8 };
	const s32 no_base[] = { AT_CFA | SFRAME_CTRL_ADD, 8, 8 };
	const s32 many[] = { ADD_TO(RSP), 8, 8, AT_REG(RSP), 32, AT_CFA, -16, 0 };

	(void)state;
	assert_int_equal(flex_add(INFO(0, 3), value), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 3), zero), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 3), less), -EBADMSG);
	assert_int_equal(flex_add(INFO2(0, 3), large), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 2), cut), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 5), ra), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 6), fp), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 3), no_base), -EBADMSG);
	assert_int_equal(flex_add(INFO(0, 8), many), -EBADMSG);
}

static void a_signal_frame_sets_its_flag(void **state)
{
	const s32 words[] = { AT_REG(RSP), 160, AT_REG(RSP), 168, AT_REG(RSP), 120 };

	(void)state;
	assert_int_equal(find_words(3, SFRAME_ABI_AMD64, ADDR1 | 0x80, FLEX, INFO2(0, 6), words),
			 0);
	assert_int_equal(row.flags, SFRAME_ROW_SIGNAL);
	assert_rule(&row.cfa, SFRAME_SP, 0, 160, 1);
	assert_rule(&row.ra, SFRAME_SP, 0, 168, 1);
	assert_rule(&row.fp, SFRAME_SP, 0, 120, 1);
}

static void unknown_kinds_of_functions_are_bad(void **state)
{
	const s32 words[16] = { 8 }, above[] = { ADD_TO(RSP), 8, 8 };
	u32 bits;

	(void)state;
	for (bits = 0; bits < 256; bits++) {
		u8 type = bits & 0xf;

		if (bits & 0x10)
			continue;
		assert_int_equal(find_words(3, SFRAME_ABI_AMD64, bits, 0, INFO(1, 1), words),
				 type > 2 || bits & 0x40 ? -EBADMSG : 0);
		assert_int_equal(find_words(2, SFRAME_ABI_AMD64, type, 0, INFO(1, 1), words),
				 type > 2 ? -EBADMSG : 0);
		assert_int_equal(find_words(3, SFRAME_ABI_AMD64, ADDR1, bits, INFO(1, 1), words),
				 bits ? -EBADMSG : 0);
		assert_int_equal(find_words(3, SFRAME_ABI_AMD64, ADDR1, bits, INFO(1, 3), above),
				 bits == FLEX_ADD ? 0 : -EBADMSG);
	}
	assert_int_equal(find_words(2, SFRAME_ABI_AMD64, 0x80, 0, INFO(1, 1), words), -EBADMSG);
	assert_int_equal(find_words(2, SFRAME_ABI_AMD64, 0x40, 0, INFO(1, 1), words), -EBADMSG);
}

/* A PLT: 10 entries of 16 bytes, the last one cut short */
static void plt(u8 version, u8 rep)
{
	build_free(&b);
	build_init(&b, version, SFRAME_ABI_AMD64);
	build_func(&b, 0x1000, 9 * 16 + 12, ADDR1 | 0x10, 0, rep);
	build_row(&b, 0, INFO(1, 1), 8);
	build_row(&b, 11, INFO(1, 1), 16);
}

static void a_repeated_block_has_the_same_rows(void **state)
{
	u32 off;
	u8 v;

	(void)state;
	for (v = 2; v <= 3; v++) {
		plt(v, 16);
		for (off = 0; off < 9 * 16 + 12; off++) {
			assert_int_equal(find_at(0x1000 + off), 0);
			assert_cfa(SFRAME_SP, off % 16 < 11 ? 8 : 16);
			assert_int_equal(row.start,
					 0x1000 + (off & ~15u) + (off % 16 < 11 ? 0 : 11));
			assert_int_equal(row.size, off % 16 < 11 ? 11 : off < 9 * 16 ? 5 : 1);
		}
		assert_int_equal(find_at(0x1000 + off), -ESRCH);
		plt(v, 0);
		assert_int_equal(find_at(0x1000), -EBADMSG);
		/* rows beyond the block never hold */
		plt(v, 5);
		assert_int_equal(find_at(0x1000 + 14), 0);
		assert_cfa(SFRAME_SP, 8);
		assert_int_equal(row.start, 0x100a);
		assert_int_equal(row.size, 5);
	}
	plt(1, 16);
	assert_int_equal(find_at(0x1000), -ENOENT);
}

static void starts_have_one_two_or_four_bytes(void **state)
{
	static const u32 starts[] = { 0xff, 0xfffe, 0x12345678 };
	u8 type, v;

	(void)state;
	for (v = 1; v <= 3; v++) {
		for (type = 0; type <= 2; type++) {
			build_free(&b);
			build_init(&b, v, SFRAME_ABI_AMD64);
			build_func(&b, 0x1000, 0x20000000, type, 0, 0);
			build_row(&b, 0, INFO4(1, 2), 8, -16);
			build_row(&b, starts[type], INFO4(1, 2), 24, -24);
			assert_int_equal(find_at(0x1000 + starts[type] - 1), 0);
			assert_cfa(SFRAME_SP, 8);
			assert_int_equal(row.size, starts[type]);
			assert_int_equal(find_at(0x1000 + starts[type]), 0);
			assert_cfa(SFRAME_SP, 24);
			assert_int_equal(row.start, 0x1000 + starts[type]);
			assert_int_equal(row.size, 0x20000000 - starts[type]);
		}
	}
}

static void rows_out_of_order_are_bad(void **state)
{
	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 8);
	build_row(&b, 8, INFO(1, 1), 16);
	build_row(&b, 7, INFO(1, 1), 24);
	/* rows after the end of the function never hold */
	build_row(&b, 0x50, INFO(1, 1), 32);
	assert_int_equal(find_at(0x1007), 0);
	assert_int_equal(find_at(0x1008), -EBADMSG);
	assert_int_equal(find_at(0x103f), -EBADMSG);
}

static void the_last_row_at_a_start_holds(void **state)
{
	(void)state;
	build_free(&b);
	build_init(&b, 3, SFRAME_ABI_AMD64);
	build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 8);
	build_row(&b, 8, INFO(1, 1), 16);
	build_row(&b, 8, INFO(1, 1), 24);
	build_row(&b, 0x50, INFO(1, 1), 32);
	assert_int_equal(find_at(0x1008), 0);
	assert_cfa(SFRAME_SP, 24);
	assert_int_equal(row.size, 0x38);
}

/* Rows of every length, so that each lies across an edge of what is read at once */
static void rows_are_found_across_window_edges(void **state)
{
	u32 round, i;

	(void)state;
	for (round = 0; round < 29; round++) {
		build_free(&b);
		build_init(&b, 3, SFRAME_ABI_AMD64);
		build_func(&b, 0x1000, 0x100, ADDR1, FLEX, 0);
		for (i = 0; i < 100; i++) {
			u8 n = (i + round) % 3 * 2;

			build_row(&b, i, SFRAME_FRE_INFO(0, n, i % 3, 0), REG(R10), i + 1,
				  AT_CFA, -8);
		}
		for (i = 0; i < 100; i++) {
			assert_int_equal(find_at(0x1000 + i), 0);
			assert_int_equal(row.size, i == 99 ? 0x100 - 99 : 1);
			if ((i + round) % 3)
				assert_rule(&row.cfa, SFRAME_REG, R10, i + 1, 0);
			else
				assert_int_equal(row.ra.base, SFRAME_UNDEFINED);
		}
	}
}

/* The rows of the last function reach the end of the section: cut them there byte by byte */
static void rows_that_reach_beyond_the_section_are_bad(void **state)
{
	struct sframe_table t;
	u32 cut, rows;
	u8 v;

	(void)state;
	for (v = 1; v <= 3; v++) {
		build_free(&b);
		build_init(&b, v, SFRAME_ABI_AMD64);
		build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
		build_row(&b, 0, INFO4(1, 2), 8, -16);
		build_row(&b, 4, INFO4(1, 2), 16, -16);
		rows = b.rows_len;
		for (cut = 1; cut <= rows; cut++) {
			b.rows_len = rows - cut;
			build_end(&b);
			t = build_table(&b);
			assert_int_equal(sframe_open(&t), 0);
			assert_int_equal(sframe_find(&t, 0x1004, &row), -EBADMSG);
			assert_int_equal(sframe_find(&t, 0x1000, &row), cut < 9 ? 0 : -EBADMSG);
		}
		b.rows_len = rows;
		b.funcs[0].fre_off = rows;
		assert_int_equal(find_at(0x1000), -EBADMSG);
		b.funcs[0].fre_off = 0xffffffff;
		assert_int_equal(find_at(0x1000), -EBADMSG);
	}
}

/* Two functions; rows 1 and 2 of the first save register @reg at CFA - 24. */
static void two_that_keep(u8 version, u8 abi, u8 reg)
{
	u32 i;

	build_free(&b);
	build_init(&b, version, abi);
	b.auxhdr_len = SFRAME_AUX_SIZE;
	b.kept_reg = reg;
	b.kept_slot = 3;
	b.kept_rows = 0x8006;
	build_func(&b, 0x1000, 0x40, ADDR1, 0, 0);
	for (i = 0; i < 20; i++)
		build_row(&b, i, INFO(1, 1), abi == SFRAME_ABI_S390X ? 0 : 8);
	b.kept_slot = SFRAME_KEPT_IN_REG;
	b.kept_rows = 0;
	build_func(&b, 0x2000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 8);
	b.kept_slot = SFRAME_KEPT_UNKNOWN;
	b.kept_rows = 0xffff;
	build_func(&b, 0x3000, 0x40, ADDR1, 0, 0);
	build_row(&b, 0, INFO(1, 1), 8);
}

static u32 kept_at(u64 pc)
{
	assert_int_equal(find_at(pc), 0);
	assert_int_equal(row.flags & 0xff, 0);
	return SFRAME_ROW_KEPT(row.flags);
}

static void rows_tell_where_one_register_is_kept(void **state)
{
	(void)state;
	two_that_keep(3, SFRAME_ABI_AMD64, 3);
	assert_int_equal(kept_at(0x1000), SFRAME_KEPT_IN_REG);
	assert_int_equal(kept_at(0x1001), 3);
	assert_int_equal(kept_at(0x1002), 3);
	assert_int_equal(kept_at(0x1003), SFRAME_KEPT_IN_REG);
	assert_int_equal(kept_at(0x100e), SFRAME_KEPT_IN_REG);
	assert_int_equal(kept_at(0x100f), 3);
	/* there is no number for the seventeenth */
	assert_int_equal(kept_at(0x1010), SFRAME_KEPT_UNKNOWN);
	assert_int_equal(kept_at(0x103f), SFRAME_KEPT_UNKNOWN);
	assert_int_equal(kept_at(0x2000), SFRAME_KEPT_IN_REG);
	assert_int_equal(kept_at(0x3000), SFRAME_KEPT_UNKNOWN);
	two_that_keep(3, SFRAME_ABI_S390X, 12);
	assert_int_equal(kept_at(0x1000), SFRAME_KEPT_IN_REG);
	assert_int_equal(kept_at(0x1001), 3);
	assert_int_equal(kept_at(0x1003), SFRAME_KEPT_IN_REG);
}

static void a_kept_register_needs_the_right_auxiliary_header(void **state)
{
	(void)state;
	/* another register, architectures without one, another version */
	two_that_keep(3, SFRAME_ABI_AMD64, 12);
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
	two_that_keep(3, SFRAME_ABI_ARM64_LE, 19);
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
	two_that_keep(3, SFRAME_ABI_S390X, 3);
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
	two_that_keep(2, SFRAME_ABI_AMD64, 3);
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
	/* a header of another size is another header */
	two_that_keep(3, SFRAME_ABI_AMD64, 3);
	b.auxhdr_len = 5;
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
	b.auxhdr_len = 3;
	assert_int_equal(kept_at(0x1001), SFRAME_KEPT_UNKNOWN);
}

static void bytes_of_the_kept_register_lie_within_the_section(void **state)
{
	u32 rows;

	(void)state;
	two_that_keep(3, SFRAME_ABI_AMD64, 3);
	rows = b.rows_len;
	for (b.funcs[0].fre_off = 0; b.funcs[0].fre_off < SFRAME_KEPT_SIZE; b.funcs[0].fre_off++)
		assert_int_equal(find_at(0x1001), -EBADMSG);
	/* in front of an attribute that is cut, or not there, or far away */
	for (b.funcs[0].fre_off = rows - 4; b.funcs[0].fre_off < rows + 8; b.funcs[0].fre_off++)
		assert_int_equal(find_at(0x1001), -EBADMSG);
	b.funcs[0].fre_off = 0xffffffff;
	assert_int_equal(find_at(0x1001), -EBADMSG);
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
		cmocka_unit_test(amd64_rows_give_cfa_and_fp),
		cmocka_unit_test(arm64_rows_also_give_ra),
		cmocka_unit_test(s390x_rows_are_scaled_and_know_registers),
		cmocka_unit_test(a_row_without_words_is_the_outermost),
		cmocka_unit_test(a_function_without_rows_is_outermost_or_a_signal_frame),
		cmocka_unit_test(flexible_rows_take_any_register),
		cmocka_unit_test(flexible_rows_that_mean_nothing_are_bad),
		cmocka_unit_test(a_cfa_may_be_above_a_saved_sp),
		cmocka_unit_test(other_sums_are_bad),
		cmocka_unit_test(a_signal_frame_sets_its_flag),
		cmocka_unit_test(unknown_kinds_of_functions_are_bad),
		cmocka_unit_test(a_repeated_block_has_the_same_rows),
		cmocka_unit_test(starts_have_one_two_or_four_bytes),
		cmocka_unit_test(rows_out_of_order_are_bad),
		cmocka_unit_test(the_last_row_at_a_start_holds),
		cmocka_unit_test(rows_are_found_across_window_edges),
		cmocka_unit_test(rows_that_reach_beyond_the_section_are_bad),
		cmocka_unit_test(rows_tell_where_one_register_is_kept),
		cmocka_unit_test(a_kept_register_needs_the_right_auxiliary_header),
		cmocka_unit_test(bytes_of_the_kept_register_lie_within_the_section),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
