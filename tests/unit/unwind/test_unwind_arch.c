// SPDX-License-Identifier: GPL-2.0
/*
 * test_unwind_arch.c - uu_unwind() over stacks of arm64 and s390x, on any machine
 *
 * The stacks have leaf functions, signed return addresses and signal frames.
 */
#include "tests/unit/gen/arch_build.h"
#include "libunwind-user/unwind-user.h"

#define BIAS	0x10000000ull
#define MAX	16

static struct uu_unwinder *u;
static uint64_t got[MAX];
static unsigned int nr;

/* The stack, and the code after the bias */
static int read_memory(void *ctx, uint64_t addr, uint64_t *words, unsigned int count)
{
	unsigned int i, b;

	if (addr < BIAS)
		return read_stack(ctx, addr, words, count);
	for (i = 0; i < count; i++, addr += 8) {
		if (addr - BIAS > FILE_SIZE - 8)
			return -EFAULT;
		for (b = 0, words[i] = 0; b < 8; b++)
			words[i] |= (uint64_t)file[addr - BIAS + (e.big_endian ? 7 - b : b)] <<
				    8 * b;
	}
	return 0;
}

static uint64_t link_register;

static int get_reg(void *ctx, unsigned int reg, uint64_t *value)
{
	(void)ctx;
	*value = link_register;
	return reg == (machine == EM_S390 ? 14 : 30) ? 0 : -EINVAL;
}

static void add_file(void)
{
	int fd = open_file();

	u = uu_unwinder_new();
	assert_non_null(u);
	assert_int_equal(uu_unwinder_add(u, fd, BIAS), 0);
	close(fd);
}

static int unwind(uint64_t ip, uint64_t sp, uint64_t fp)
{
	struct uu_start s = {
		.ip = BIAS + ip, .sp = sp, .fp = fp, .read = read_memory, .get_reg = get_reg,
	};
	int ret = uu_unwind(u, &s, got, MAX, &nr);

	uu_unwinder_free(u);
	return ret;
}

static void assert_got(unsigned int i, uint64_t addr)
{
	assert_true(i < nr);
	assert_int_equal(got[i], BIAS + addr);
}

/*
 * A leaf; its caller, whose frame is 168 bytes, was called by a handler, which returns to
 * rt_sigreturn. The code that was interrupted is a leaf too, which keeps FP in f0, and the
 * outermost function called it.
 */
static void s390x_through_a_signal(void **state)
{
	const uint64_t sp = 0x5008, sig = sp + 168, regs = sig + 336;

	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x40, DW_CFA_nop);
	func(0x1100, 0x40, DW_CFA_offset | 11, 9, DW_CFA_offset | 14, 6, DW_CFA_offset | 15, 5,
	     DW_CFA_def_cfa_offset, 0xc8, 2);
	memcpy(file + 0x1200, "\x0a\xad\0\0", 4);
	func(0x1200, 4, DW_CFA_nop);
	func(0x1300, 0x40, DW_CFA_register, 11, 16);
	func(0x1400, 0x40, DW_CFA_undefined, 14);
	add_file();
	memset(stack, 0xee, sizeof(stack));
	link_register = BIAS + 0x1110;
	set_word(sp + 168 + 112, BIAS + 0x1200);
	set_word(sp + 168 + 88, 0x1111);
	set_word(regs + 8, BIAS + 0x1310);
	set_word(regs + 16 + 8 * 14, BIAS + 0x1420);
	set_word(regs + 16 + 8 * 15, 0x5300);
	set_word(regs + 216, 0x2222);
	assert_int_equal(unwind(0x1010, sp, 0x3333), 0);
	assert_int_equal(nr, 5);
	assert_got(1, 0x1110);
	assert_got(2, 0x1200);
	assert_got(3, 0x1310);
	assert_got(4, 0x1420);
}

static void arm64_through_a_signal(void **state)
{
	const uint64_t sp = 0x5010, sig = sp + 32;

	(void)state;
	start_file(EM_AARCH64);
	func(0x1000, 0x40, DW_CFA_nop);
	func(0x1100, 0x40, NEGATE_RA, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4,
	     DW_CFA_offset | 30, 3);
	put(0x1200, 0xd2801168, 4);
	put(0x1204, 0xd4000001, 4);
	func(0x1300, 0x40, NEGATE_RA);
	func(0x1400, 0x40, DW_CFA_undefined, 30);
	add_file();
	memset(stack, 0xee, sizeof(stack));
	link_register = BIAS + 0x1110;
	set_word(sp + 8, (BIAS + 0x1200) | 0x0025ull << 48);
	set_word(sp, 0x1111);
	set_word(sig + 568, BIAS + 0x1310);
	set_word(sig + 560, 0x5300);
	set_word(sig + 544, 0x2222);
	set_word(sig + 552, (BIAS + 0x1420) | 0x7f12ull << 48);
	assert_int_equal(unwind(0x1010, sp, 0x3333), 0);
	assert_int_equal(nr, 5);
	assert_got(1, 0x1110);
	assert_got(2, 0x1200);
	assert_got(3, 0x1310);
	assert_got(4, 0x1420);
}

static void without_the_link_register_a_leaf_has_no_caller(void **state)
{
	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x40, DW_CFA_nop);
	func(0x1100, 0x40, DW_CFA_register, 14, 18);
	add_file();
	link_register = BIAS + 0x1110;
	/* f4 is not known */
	assert_int_equal(unwind(0x1110, 0x5000, 0), -ENODATA);
	assert_int_equal(nr, 1);
}

static void one_unwinder_takes_one_architecture(void **state)
{
	int fd;

	(void)state;
	start_file(EM_S390);
	func(0x1000, 0x40, DW_CFA_nop);
	add_file();
	start_file(EM_AARCH64);
	func(0x1000, 0x40, DW_CFA_nop);
	fd = open_file();
	assert_int_equal(uu_unwinder_add(u, fd, 2 * BIAS), -EOPNOTSUPP);
	close(fd);
	uu_unwinder_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s390x_through_a_signal),
		cmocka_unit_test(arm64_through_a_signal),
		cmocka_unit_test(without_the_link_register_a_leaf_has_no_caller),
		cmocka_unit_test(one_unwinder_takes_one_architecture),
	};

	return cmocka_run_group_tests_name("unwind_arch", tests, NULL, NULL);
}
