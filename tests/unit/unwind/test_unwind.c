// SPDX-License-Identifier: GPL-2.0
/*
 * test_unwind.c - walks with the library's own unwinder
 *
 * The unwinder walks the stack of this program and a stack of noise.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "libunwind-user/unwind-user.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define DEPTH		12
#define MAX		256

extern void *__libc_stack_end;
extern char __executable_start[];

static struct uu_unwinder *u;
static uint64_t returns[DEPTH + 1], got[MAX], again[MAX];
static unsigned int nr, nr_again;
static volatile int sink;
static void (*look)(struct uu_start *s);

/* The state, and the end of the stack */
static NOINLINE void here(void)
{
	struct uu_start s = { .high = (uint64_t)__libc_stack_end + 64 };

	asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
		     : "=r" (s.ip), "=r" (s.sp), "=r" (s.fp));
	s.low = s.sp;
	look(&s);
	sink++;
}

static NOINLINE void chain(int depth)
{
	returns[depth] = (uint64_t)__builtin_return_address(0);
	if (depth)
		chain(depth - 1);
	else
		here();
	sink++;
}

static void run(void (*what)(struct uu_start *s))
{
	look = what;
	chain(DEPTH);
}

static int setup(void **state)
{
	(void)state;
	u = uu_unwinder_new();
	assert_non_null(u);
	assert_in_range(uu_unwinder_add_loaded(u), 3, 100);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uu_unwinder_free(u);
	return 0;
}

/* [0] is here(), [1] in chain(0), and from [2] on they return to one another */
static void assert_chain(unsigned int to)
{
	unsigned int i;

	for (i = 2; i < to && i - 2 <= DEPTH; i++)
		assert_int_equal(got[i], returns[i - 2]);
}

static void whole(struct uu_start *s)
{
	assert_int_equal(uu_unwind(u, s, got, MAX, &nr), 0);
	assert_int_equal(got[0], s->ip);
	assert_true(nr > DEPTH + 4);
	assert_chain(nr);
	/* with the rows that are known now */
	assert_int_equal(uu_unwind(u, s, again, MAX, &nr_again), 0);
	assert_int_equal(nr, nr_again);
	assert_memory_equal(got, again, nr * sizeof(got[0]));
}

static void a_walk_comes_to_the_outermost_frame(void **state)
{
	(void)state;
	run(whole);
}

static void short_of_room(struct uu_start *s)
{
	assert_int_equal(uu_unwind(u, s, got, 5, &nr), -ENOBUFS);
	assert_int_equal(nr, 5);
	assert_chain(5);
	assert_int_equal(uu_unwind(u, s, got, 0, &nr), -ENOBUFS);
	assert_int_equal(nr, 0);
}

static void there_may_be_more_frames_than_asked_for(void **state)
{
	(void)state;
	run(short_of_room);
}

static void short_of_stack(struct uu_start *s)
{
	uint64_t high = s->high, all = nr;

	/* if the stack is cut, the rest is right, and memory past it is not read */
	for (s->high = s->sp; s->high < s->sp + 600; s->high++) {
		assert_int_equal(uu_unwind(u, s, got, MAX, &nr), -EFAULT);
		assert_true(nr < all);
		assert_chain(nr);
	}
	s->high = high;
	s->low = s->sp + 8;
	assert_int_not_equal(uu_unwind(u, s, got, 1, &nr), 0);
	s->low = s->high;
	assert_int_equal(uu_unwind(u, s, got, MAX, &nr), -EFAULT);
}

static void memory_beyond_the_range_is_not_read(void **state)
{
	(void)state;
	run(whole);
	run(short_of_stack);
}

static void other_file(struct uu_start *s)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(uu_unwind(u, s, got, MAX, &nr), 0);
	/* 16 bytes off: other rows; those kept must be gone */
	assert_int_equal(uu_unwinder_add(u, fd, (uint64_t)__executable_start + 16), 0);
	uu_unwind(u, s, again, MAX, &nr_again);
	assert_true(nr_again != nr || memcmp(got, again, nr * sizeof(got[0])));
	close(fd);
}

static void a_new_table_takes_the_place_of_old_ones(void **state)
{
	(void)state;
	run(other_file);
}

/* The vDSO has no file: its table is made of memory */
static void code_of_the_vdso_is_covered(void **state)
{
	uint64_t addr = getauxval(AT_SYSINFO_EHDR), pc, stack[64] = { 0 };
	struct uu_start s = { .low = (uint64_t)stack, .high = (uint64_t)(stack + 64) };
	unsigned int known = 0;

	(void)state;
	if (!addr)
		skip();
	/* a return address of 0 is the end of a stack */
	for (pc = addr; pc < addr + 4096; pc++) {
		s.ip = pc;
		s.sp = s.fp = (uint64_t)stack;
		known += uu_unwind(u, &s, got, MAX, &nr) != -ENOENT;
	}
	assert_true(known > 100);
}

static void no_table(struct uu_start *s)
{
	struct uu_unwinder *none = uu_unwinder_new();

	assert_int_equal(uu_unwind(none, s, got, MAX, &nr), -ENOENT);
	assert_int_equal(nr, 1);
	assert_int_equal(uu_unwinder_add(none, -1, 0), -EBADF);
	uu_unwinder_free(none);
	uu_unwinder_free(NULL);
}

static void without_a_table_there_is_one_frame(void **state)
{
	(void)state;
	run(no_table);
}

static uint64_t seed = 1;

static int read_noise(void *ctx, uint64_t addr, uint64_t *words, unsigned int n)
{
	const struct uu_start *s = ctx;

	assert_int_equal(addr % 8, 0);
	while (n--) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		/* addresses of code and of the stack, more or less */
		words[n] = seed >> 62 ? s->ip + (int32_t)(seed >> 40) % 0x20000 :
			   s->sp + (seed >> 33) % 4096 * 8;
	}
	return seed >> 58 ? 0 : -EIO;
}

static void noise(struct uu_start *s)
{
	unsigned int i;
	int ret;

	s->read = read_noise;
	s->ctx = s;
	for (i = 0; i < 20000; i++) {
		ret = uu_unwind(u, s, got, MAX, &nr);
		assert_true(ret <= 0 && nr >= 1 && nr <= MAX);
	}
}

static void any_stack_has_an_end(void **state)
{
	(void)state;
	run(noise);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_walk_comes_to_the_outermost_frame, setup,
						teardown),
		cmocka_unit_test_setup_teardown(there_may_be_more_frames_than_asked_for, setup,
						teardown),
		cmocka_unit_test_setup_teardown(memory_beyond_the_range_is_not_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_new_table_takes_the_place_of_old_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(code_of_the_vdso_is_covered, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_table_there_is_one_frame, setup,
						teardown),
		cmocka_unit_test_setup_teardown(any_stack_has_an_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
