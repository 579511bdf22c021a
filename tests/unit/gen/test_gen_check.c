// SPDX-License-Identifier: GPL-2.0
/*
 * test_gen_check.c - .eh_frame that contradicts the code
 *
 * The table has holes where code and .eh_frame disagree, and no other holes.
 */
#include "gen_build.h"
#include "libunwind-user/arch/arch.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

#define NR		5
#define START(i)	(TEXT + (i) * 16)
#define FDE_CODE(i)	(TEXT + NR * 16 + 8 + 24 + (i) * 24 + 17)

static struct gen_table table;
static struct sframe_table t;

static void put(uint32_t i, const char *code, size_t len, const char *cfi, size_t cfi_len)
{
	memcpy(many + START(i), code, len);
	memcpy(many + FDE_CODE(i), cfi, cfi_len);
}

#define PUT(i, code, cfi)	put(i, code, sizeof(code) - 1, cfi, sizeof(cfi) - 1)

/* CFA - SP for each byte of a function, 0 for a hole */
static void assert_rows(uint32_t i, const uint8_t sp[16])
{
	struct sframe_row row;
	uint32_t at;
	int ret;

	for (at = 0; at < 16; at++) {
		ret = sframe_find(&t, START(i) + at, &row);
		if (ret != (sp[at] ? 0 : -ENOENT) || (sp[at] && row.cfa.off != sp[at]))
			fail_msg("function %u, byte %u: %d, CFA %d", i, at, ret, row.cfa.off);
	}
}

static void start(void)
{
	make_many(NR);
	memset(many + TEXT, 0xc3, NR * 16);
}

static void make(void)
{
	assert_int_equal(gen_from_memory(read_many, NULL, 0, &table, NULL), 0);
	assert_int_equal(gen_open(&table, &t), 0);
}

static void end(void)
{
	gen_free(&table);
	free(many);
}

/*
 * push %rax; jb to the last two lines; pop %rax; ret; padding; call; jmp to after the jb. By
 * .eh_frame, the pop counts for the call as well.
 */
#define OCAML		"\x50\x72\x06\x90\x58\xc3\x90\x90\x90\xe8\0\0\0\0\xeb\xf3"
#define OCAML_CFI	"\x41\x0e\x10\x44\x0e\x08"
/* The same with ud2 in place of the last jump: an error of bounds */
#define BOUNDS		"\x50\x72\x06\x90\x58\xc3\x90\x90\x90\xe8\0\0\0\0\x0f\x0b"
/* The right row: the CFA of the call is that of the jb */
#define RIGHT_CFI	"\x41\x0e\x10\x44\x0e\x08"
#define RIGHT		"\x50\x72\x01\x90\x58\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3"

static void calls_after_the_end_are_holes_if_jumps_disagree(void **state)
{
	static const uint8_t ocaml[16] = { 8, 16, 16, 16, 16, 8, 8, 8, 8 };
	static const uint8_t bounds[16] = { 8, 16, 16, 16, 16, 8, 8, 8, 8, 0, 0, 0, 0, 0, 8, 8 };
	static const uint8_t right[16] = { 8, 16, 16, 16, 16, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	/* nop in front of a landing pad */
	static const uint8_t pad[16] = { 8, 96, 96, 96, 96, 96, 96, 96,
					 96, 96, 96, 96, 96, 96, 96, 96 };

	/* mov 16(%r14),%rsp; pop 16(%r14); ret: an exception is raised */
	static const uint8_t raise[16] = { 8, 8, 8, 8 };

	(void)state;
	start();
	PUT(4, "\x49\x8b\x66\x10\x41\x8f\x46\x10\xc3", "");
	/* functions before the one that shows it are checked, too */
	PUT(0, BOUNDS, OCAML_CFI);
	PUT(1, "\x90\x31\xc0\xe8\0\0\0\0\x0f\x0b\x0f\x0b\x0f\x0b\x0f\x0b", "\x41\x0e\x60");
	PUT(2, OCAML, OCAML_CFI);
	PUT(3, RIGHT, RIGHT_CFI);
	make();
	assert_rows(0, bounds);
	assert_rows(1, pad);
	assert_rows(2, ocaml);
	assert_rows(3, right);
	assert_rows(4, raise);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].nr, 3);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].bytes, 5 + 7 + 12);
	assert_int_equal(stats_get_nr_holes(&table.stats), 3);
	end();
}

/* @keeps: the table also says where rbx is kept, as a CFA counts from rbx */
static void check_pushes(bool keeps)
{
	static const uint8_t pushes[16] = { 8, 8, 8, 8, 8, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint8_t sub[16] = { 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 8, 8, 8, 8, 8 };
	static const uint8_t none[16] = { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint8_t right[16] = { 8, 16, 16, 16, 16, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };

	start();
	if (keeps)
		PUT(4, "\xc3", "\x0d\x03");
	/* endbr64; push %rbx; nop; pop %rbx; ret */
	PUT(0, "\xf3\x0f\x1e\xfa\x53\x90\x5b\xc3", "");
	/* mov %rdi,%rax; sub $24,%rsp; add $24,%rsp; ret */
	PUT(1, "\x48\x89\xf8\x48\x83\xec\x18\x48\x83\xc4\x18\xc3", "");
	PUT(3, RIGHT, RIGHT_CFI);
	make();
	assert_int_equal(!!t.kept, keeps);
	assert_rows(0, pushes);
	assert_rows(1, sub);
	assert_rows(2, none);
	assert_rows(3, right);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].nr, 2);
	assert_int_equal(table.stats.hole[STATS_CAUSE_CODE].bytes, 2 + 4);
	end();
}

/*
 * push %rbx; jmp *%rax; mov 160(%rdi),%rsp; ret. The push is a reason to look; then what goes to
 * another stack is not told by the only row any more, and nothing is seen to lead there.
 */
static void pushes_that_eh_frame_does_not_know_are_holes(void **state)
{
	(void)state;
	check_pushes(false);
	check_pushes(true);
}

static void stacks_that_are_left_in_code_that_is_not_reached_are_holes(void **state)
{
	static const uint8_t leaves[16] = { 8, 0, 0, 8, 8, 8, 8, 8, 8, 8 };

	(void)state;
	start();
	PUT(0, "\x53\xff\xe0\x48\x8b\xa7\xa0\0\0\0\xc3", "");
	make();
	assert_rows(0, leaves);
	end();
}

/* push %rax; mov 16(%r14),%rsp; pop 16(%r14); ret */
#define RAISE		"\x50\x49\x8b\x66\x10\x41\x8f\x46\x10\xc3"
/* By .eh_frame, the pop is of the stack before; or .eh_frame knows the right row after it. */
static void rows_that_count_on_from_a_lost_sp_are_holes(void **state)
{
	static const uint8_t counts[16] = { 8, 16, 16, 16, 16, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8 };
	static const uint8_t knows[16] = { 8, 16, 16, 16, 16, 0, 0, 0, 0,
					   24, 24, 24, 24, 24, 24, 24 };

	(void)state;
	start();
	PUT(0, RAISE, "\x41\x0e\x10\x48\x0e\x08");
	PUT(1, RAISE, "\x41\x0e\x10\x48\x0e\x18");
	PUT(2, OCAML, OCAML_CFI);
	make();
	assert_rows(0, counts);
	assert_rows(1, knows);
	end();
}

/* Another FDE for function @i in place of that of function @from */
static void put_fde(uint32_t from, uint32_t i, int32_t start, uint32_t size)
{
	int32_t pc;

	memcpy(&pc, many + FDE_CODE(from) - 9, sizeof(pc));
	pc += (int32_t)(i - from) * 16 + start;
	memcpy(many + FDE_CODE(from) - 9, &pc, sizeof(pc));
	memcpy(many + FDE_CODE(from) - 5, &size, sizeof(size));
}

static void duplicate_fdes_are_checked_once(void **state)
{
	static const uint8_t pushes[16] = { 8, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint8_t ocaml[16] = { 8, 16, 16, 16, 16, 8, 8, 8, 8 };

	(void)state;
	start();
	/* push %rbx; nop; pop %rbx; ret */
	PUT(0, "\x53\x90\x5b\xc3", "");
	PUT(1, "\xc3", "");
	put_fde(1, 0, 0, 16);
	PUT(2, OCAML, OCAML_CFI);
	PUT(3, "\xc3", OCAML_CFI);
	put_fde(3, 2, 0, 16);
	make();
	assert_rows(0, pushes);
	assert_rows(2, ocaml);
	assert_int_equal(table.stats.hole[STATS_CAUSE_OVERLAP].nr, 0);
	end();
}

/* Each look at the end of a function, and then at its start, reads a window of code. */
static uint64_t nr_read;

static int count_many(void *ctx, uint64_t addr, void *to, size_t len)
{
	nr_read += len;
	return read_many(ctx, addr, to, len);
}

static void overlapping_fdes_do_not_read_all_code_again(void **state)
{
	enum { MANY = 20000 };
	uint32_t i, eh = TEXT + MANY * 16 + 8 + 24;
	uint32_t size = MANY * 8;
	int32_t pc;

	(void)state;
	make_many(MANY);
	memset(many + TEXT, 0x90, MANY * 16);
	for (i = 0; i < MANY; i++) {
		/* TEXT + i; DW_CFA_advance_loc1 64; DW_CFA_def_cfa_offset 16 */
		pc = TEXT + i - (eh + i * 24 + 8);
		memcpy(many + eh + i * 24 + 8, &pc, sizeof(pc));
		memcpy(many + eh + i * 24 + 12, &size, sizeof(size));
		memcpy(many + eh + i * 24 + 17, "\x02\x40\x0e\x10", 4);
	}
	nr_read = 0;
	assert_int_equal(gen_from_memory(count_many, NULL, 0, &table, NULL), 0);
	assert_int_equal(table.stats.hole[STATS_CAUSE_OVERLAP].nr, MANY - 1);
	assert_true(nr_read < 8 * many_size);
	end();
}

/* Numbers that no function has: SP is unknown then, and nothing overflows. */
static void sp_is_never_beyond_32_bits(void **state)
{
	static const uint8_t none[16] = { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint8_t lost[16] = { 8 };

	(void)state;
	start();
	/* sub $0x7fffffff,%rsp */
	PUT(0, "\x48\x81\xec\xff\xff\xff\x7f", "");
	/* push %rbx, which is a reason to look; lea -0x80000000(%rsp),%rsp */
	PUT(1, "\x53\x48\x8d\xa4\x24\0\0\0\x80", "");
	make();
	assert_rows(0, none);
	assert_rows(1, lost);
	end();
}

static size_t pushes(const char *code, size_t len, int32_t *bytes)
{
	return arch_amd64.decode_push((const uint8_t *)code, len, bytes);
}

#define PUSHES(code, n, len) do {						\
	int32_t bytes;								\
										\
	assert_int_equal(pushes(code, sizeof(code) - 1, &bytes), len);		\
	assert_true(!(len) || bytes == (n));					\
	assert_int_equal(pushes(code, (len) ? (len) - 1 : 0, &bytes), 0);	\
} while (0)

static void instructions_at_the_start(void **state)
{
	(void)state;
	PUSHES("\x53\xc3", 8, 1);			/* push %rbx */
	PUSHES("\x41\x57", 8, 2);			/* push %r15 */
	PUSHES("\xff\x70\x10", 8, 3);			/* push 16(%rax) */
	PUSHES("\x41\xff\xb6\xe0\0\0\0", 8, 7);		/* push 224(%r14) */
	PUSHES("\xff\x35\1\2\3\4", 8, 6);		/* push 0x4030201(%rip) */
	PUSHES("\x41\x8f\x46\x10", -8, 4);		/* pop 16(%r14) */
	PUSHES("\xff\x74\x24\x08", 8, 4);		/* push 8(%rsp) */
	PUSHES("\xff\xd0", 0, 0);			/* call *%rax */
	PUSHES("\x48\x83\xec\x28", 40, 4);
	PUSHES("\x48\x81\xc4\x80\0\0\0", -128, 7);
	PUSHES("\x48\x81\xec\0\0\0\x80", 0, 0);
	PUSHES("\x48\x89\xe5", 0, 3);			/* mov %rsp,%rbp */
	PUSHES("\x48\x89\xdc", 0, 0);			/* mov %rbx,%rsp */
	PUSHES("\x49\x89\xdc", 0, 3);			/* mov %rbx,%r12 */
	PUSHES("\x48\x8b\xe3", 0, 0);
	PUSHES("\x48\x8d\x64\x24\xf8", 0, 0);		/* lea -8(%rsp),%rsp */
	PUSHES("\x4c\x8d\x14\x24", 0, 4);		/* lea (%rsp),%r10 */
	PUSHES("\x31\xc0", 0, 2);
	PUSHES("\x5c", 0, 0);				/* pop %rsp */
	PUSHES("\xc9", 0, 0);
}

static void jumps_at_the_end(void **state)
{
	int32_t off;

	(void)state;
	assert_int_equal(arch_amd64.find_last_jump((const uint8_t *)"\x90\xeb\xf3", 3, &off), 2);
	assert_int_equal(off, -13);
	assert_int_equal(arch_amd64.find_last_jump((const uint8_t *)"\xe9\0\xff\xff\xff", 5, &off),
			 5);
	assert_int_equal(off, -256);
	assert_int_equal(arch_amd64.find_last_jump((const uint8_t *)"\0\xff\xff\xff", 4, &off), 0);
	assert_int_equal(arch_amd64.find_last_jump((const uint8_t *)"\xeb", 1, &off), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_after_the_end_are_holes_if_jumps_disagree),
		cmocka_unit_test(pushes_that_eh_frame_does_not_know_are_holes),
		cmocka_unit_test(stacks_that_are_left_in_code_that_is_not_reached_are_holes),
		cmocka_unit_test(rows_that_count_on_from_a_lost_sp_are_holes),
		cmocka_unit_test(duplicate_fdes_are_checked_once),
		cmocka_unit_test(overlapping_fdes_do_not_read_all_code_again),
		cmocka_unit_test(sp_is_never_beyond_32_bits),
		cmocka_unit_test(instructions_at_the_start),
		cmocka_unit_test(jumps_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
