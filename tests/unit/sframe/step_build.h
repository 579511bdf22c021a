/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step_build.h - rows for tests of the step, one step, and the frame that it has to lead to
 *
 * A test includes it after read_stack(), get_reg() and read_code(), which are of its architecture,
 * and after the stack with NR words that they read, and the number of reads.
 */
#ifndef STEP_BUILD_H
#define STEP_BUILD_H

static struct ustep_env env = { .read = read_stack, .get_reg = get_reg, .read_code = read_code };
static struct ustep s;

#define RULE(b, r, o, d)	{ .base = SFRAME_##b, .reg = (r), .off = (o), .deref = (d) }
#define ROW(c, r, f)		((struct sframe_row) { .size = 1, .cfa = c, .ra = r, .fp = f })
#define SP(o)			RULE(SP, 0, o, 0)
#define FP(o)			RULE(FP, 0, o, 0)
#define SAVED(o)		RULE(CFA, 0, o, 1)
#define REGISTER(n, o)		RULE(REG, n, o, 0)
#define AT_REGISTER(n, o)	RULE(REG, n, o, 1)
#define SAME			RULE(SAME, 0, 0, 0)
#define UNDEFINED		RULE(UNDEFINED, 0, 0, 0)

/* Each word of the stack has a value of its own. */
static void start_step(unsigned int abi, u64 sp, u64 fp)
{
	unsigned int i;

	env.arch = sframe_arch(abi);
	for (i = 0; i < NR; i++)
		stack[i] = 0xdead0000 + i;
	ustep_init(&s, 0x1234, sp, fp);
	reads = 0;
}

static int step(struct sframe_row row)
{
	return ustep_row(&s, &env, &row);
}

static void assert_state(u64 ip, u64 sp, u64 fp, u32 flags)
{
	assert_int_equal(s.ip, ip);
	assert_int_equal(s.sp, sp);
	assert_int_equal(s.fp, fp);
	assert_int_equal(s.flags, flags);
}

#endif
