// SPDX-License-Identifier: GPL-2.0
/*
 * test_step_bpf.c - on arm64, the BPF programs go to the same callers as libunwind-user's step.c
 *
 * The rows are random, and so are registers and memory. flat.c turns each row into a rule, and the
 * steps by both must lead to the same frame. Where one of them fails, the other must fail, too.
 */
#include "tests/unit/unit.h"
#include "libunwind-user/sframe/step.h"
#include "step_arm64.h"
/* encode_row() */
#include "trace-cmd-ext/record/bpf/flat.c"

#define STACK		0x7fff00000000ull
#define STACK_SIZE	0x4000u
#define CODE		0x400000ull
#define CODE_SIZE	0x1000u
#define SIGNATURE	(0x7full << 48)
#define WALKS		40000
#define MAX_STEPS	6

static uint64_t stack[STACK_SIZE / 8];
static uint8_t code[CODE_SIZE];
static uint64_t reg[ARM64_REGS];
static struct full_rules full;

int test_read_user(void *to, unsigned int size, unsigned long long from);

int test_read_user(void *to, unsigned int size, unsigned long long from)
{
	if (from - STACK < STACK_SIZE && size <= STACK_SIZE - (from - STACK))
		memcpy(to, (const char *)stack + (from - STACK), size);
	else if (from - CODE < CODE_SIZE && size <= CODE_SIZE - (from - CODE))
		memcpy(to, code + (from - CODE), size);
	else
		return -1;
	return 0;
}

static int read_words(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	(void)ctx;
	return test_read_user(words, nr * 8, addr) ? -EFAULT : 0;
}

static int get_reg(void *ctx, unsigned int number, u64 *value)
{
	(void)ctx;
	if (number >= ARM64_REGS)
		return -EINVAL;
	*value = reg[number];
	return 0;
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	(void)ctx;
	return test_read_user(to, size, addr) ? -EFAULT : 0;
}

/* ------------------------------- random input ---------------------------- */

static uint64_t state = 1;

static uint32_t pick(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static uint64_t pick_stack(void)
{
	return STACK + 8 * pick(STACK_SIZE / 8) + (pick(50) ? 0 : 4);
}

/* Not at the edges of the code, so that it can be read around each address */
static uint64_t pick_code(void)
{
	return CODE + 64 + 4 * pick((CODE_SIZE - 128) / 4);
}

static uint64_t pick_value(void)
{
	switch (pick(5)) {
	case 0:
		return 0;
	case 1:
		return pick_stack();
	case 2:
		return pick_code() | (uint64_t)pick(128) << 48;
	default:
		return pick_code();
	}
}

static void fill_memory(void)
{
	/* mov x8, #139; svc #0 */
	static const uint8_t sigreturn[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	uint32_t i;

	for (i = 0; i < STACK_SIZE / 8; i++)
		stack[i] = pick_value();
	memset(code, 0, sizeof(code));
	for (i = 0; i < CODE_SIZE / 32; i++)
		memcpy(code + i * 32 + 4 * pick(7), sigreturn, pick(4) ? sizeof(sigreturn) : 4);
}

static void start_walk(struct ustep *s)
{
	uint64_t ip = pick_code(), sp = pick_stack();
	uint32_t i;

	for (i = 0; i < ARM64_REGS; i++)
		reg[i] = pick_value();
	if (pick(2))
		reg[29] = sp + 8 * pick(16);
	ustep_init(s, ip, sp, reg[29]);
	start_arm64(ip, sp, reg, SIGNATURE);
}

static struct sframe_rule pick_saved(int32_t off)
{
	return (struct sframe_rule){ .base = SFRAME_CFA, .deref = 1, .off = off };
}

static struct sframe_rule pick_rule(bool cfa)
{
	static const uint8_t bases[] = { SFRAME_SP, SFRAME_FP, SFRAME_REG };
	struct sframe_rule r = {
		.base = bases[pick(3)], .off = 8 * (int32_t)pick(40) - 64, .deref = pick(2),
	};

	if (r.base == SFRAME_REG)
		r.reg = pick(33);
	if (cfa && r.deref && !pick(3))
		r.add = 8 * pick(4);
	return r;
}

/* A row of a usual function, or any row that a table can have */
static struct sframe_row pick_row(void)
{
	struct sframe_row row = {
		.cfa = { .base = pick(4) ? SFRAME_SP : SFRAME_FP, .off = 8 * (int32_t)pick(24) },
		.flags = pick(3) ? 0 : SFRAME_ROW_MANGLED,
	};
	int32_t off = -8 * (int32_t)pick(24);

	switch (pick(8)) {
	case 0:
	case 1:
		break;
	case 2:
		row.ra = pick_saved(off);
		break;
	case 3:
		row.ra.base = SFRAME_UNDEFINED;
		break;
	case 4:
		row.cfa = pick_rule(true);
		row.ra = pick(2) ? pick_rule(false) : pick_saved(off);
		row.fp = pick(2) ? pick_rule(false) : (struct sframe_rule){ .off = 0 };
		break;
	case 5:
		row.cfa = (struct sframe_rule){ .base = SFRAME_SP, .deref = 1, .off = 560 };
		row.ra = (struct sframe_rule){ .base = SFRAME_SP, .deref = 1,
					       .off = pick(3) ? 568 : 560 };
		row.fp = (struct sframe_rule){ .base = SFRAME_SP, .deref = 1, .off = 544 };
		row.flags = SFRAME_ROW_SIGNAL;
		break;
	default:
		row.fp = pick_saved(off);
		row.ra = pick_saved(off + 8);
		break;
	}
	return row;
}

/* ---------------------------------- steps -------------------------------- */

static unsigned long counts[3], kinds[4];

/* The programs go no further if they cannot read the code that a row is doubtful for. */
static bool has_no_code(uint64_t ip)
{
	uint64_t word;

	return test_read_user(&word, sizeof(word), ip);
}

/* Returns whether both walks go on. */
static bool step_both(struct ustep *s, const struct ustep_env *env)
{
	struct sframe_row row = pick_row();
	bool no_code = has_no_code(s->ip);
	uint32_t rule = encode_row(&full, env->arch, &row);
	struct arm64_frame f;
	enum arm64_step got = step_arm64(rule, full.rule, &f);
	int want = ustep_row(s, env, &row);

	assert_true(full.nr < MAX_FULL);
	counts[got]++;
	kinds[RULE_KIND(rule)]++;
	if (no_code && got == ARM64_FAILED)
		return false;
	assert_int_equal(got, want == USTEP_OUTERMOST ? ARM64_OUTERMOST :
			 want ? ARM64_FAILED : ARM64_DONE);
	if (want)
		return false;
	assert_int_equal(f.ip, s->ip);
	assert_int_equal(f.sp, s->sp);
	assert_int_equal(f.fp, s->fp);
	assert_int_equal(!f.exact, !(s->flags & USTEP_EXACT));
	assert_int_equal(!f.signal, !(s->flags & USTEP_SIGNAL));
	return true;
}

static void both_go_to_the_same_callers(void **unused)
{
	struct ustep_env env = {
		.arch = &sframe_arch_arm64, .read = read_words, .get_reg = get_reg,
		.read_code = read_code, .ra_mask = SIGNATURE,
	};
	struct ustep s;
	uint32_t i, step;

	(void)unused;
	for (i = 0; i < WALKS; i++) {
		if (i % 200 == 0) {
			fill_memory();
			full.nr = 0;
		}
		start_walk(&s);
		for (step = 0; step < MAX_STEPS && step_both(&s, &env); step++)
			;
	}
	/* each way is taken often */
	assert_true(counts[ARM64_DONE] > WALKS / 4);
	assert_true(counts[ARM64_OUTERMOST] > WALKS / 100);
	assert_true(counts[ARM64_FAILED] > WALKS / 100);
	assert_true(kinds[RULE_SP] > WALKS / 4);
	assert_true(kinds[RULE_FP] > WALKS / 20);
	assert_true(kinds[RULE_FULL] > WALKS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_go_to_the_same_callers),
	};
	int ret;

	full.rule = calloc(MAX_FULL, sizeof(*full.rule));
	if (!full.rule)
		return 1;
	ret = cmocka_run_group_tests_name("step_bpf", tests, NULL, NULL);
	free(full.rule);
	return ret;
}
