// SPDX-License-Identifier: GPL-2.0
/* test_vdso32.c - the vDSO of 32-bit programs, and programs that do not get to run */
#include <sys/wait.h>
#include <time.h>

#include "tables_place.h"
#include "tests/lib/deny_write32.h"

#define NO_TIME		60		/* s */

static int try_vdso(void)
{
	struct gen_table table;
	struct tables_id id;
	int ret = tables_make_vdso32_table(&id, &table);

	if (!ret) {
		assert_true(id.is_vdso && id.compat && id.build_id_size);
		assert_true(table.stats.table_fdes);
		gen_free(&table);
	}
	return ret;
}

static void a_kernel_that_runs_32_bit_programs_has_a_32_bit_vdso(void **state)
{
	int ret = try_vdso();

	(void)state;
	if (ret == -ENOEXEC)
		skip();
	assert_int_equal(ret, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Run a test in a process of its own. Its result: 0, or 2 for what cannot be tried here */
static void in_child(int (*test)(void))
{
	int status;
	pid_t pid;

	if (try_vdso() == -ENOEXEC)
		skip();
	pid = fork();
	if (!pid)
		_exit(test());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(status, 0);
}

static int without_write(void)
{
	int ret;

	alarm(NO_TIME);
	if (deny_write32(SECCOMP_RET_ERRNO | EPERM))
		return 2;
	ret = try_vdso();
	return !ret && waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1;
}

/* The program cannot write the byte that it is waited for. It has a vDSO all the same. */
static void a_program_that_says_nothing_is_not_waited_for(void **state)
{
	(void)state;
	in_child(without_write);
}

static int killed_by_write(void)
{
	if (deny_write32(SECCOMP_RET_KILL_PROCESS))
		return 2;
	return try_vdso() == -EIO ? 0 : 1;
}

/* The program ends before its vDSO can be read. */
static void a_program_that_ends_is_an_error(void **state)
{
	(void)state;
	in_child(killed_by_write);
}

static int without_output(void)
{
	/* the pipe then is descriptors 0 and 1 */
	close(0);
	close(1);
	return try_vdso() ? 1 : 0;
}

static void standard_output_may_be_closed(void **state)
{
	(void)state;
	in_child(without_output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_runs_32_bit_programs_has_a_32_bit_vdso),
		cmocka_unit_test(a_program_that_says_nothing_is_not_waited_for),
		cmocka_unit_test(a_program_that_ends_is_an_error),
		cmocka_unit_test(standard_output_may_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
