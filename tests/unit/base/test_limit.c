// SPDX-License-Identifier: GPL-2.0
/*
 * test_limit.c - a process ends with its parent
 *
 * The test is a subreaper, so it gets the grandchildren whose parent has ended.
 */
#include <sys/wait.h>

#include "libunwind-user/base/base.h"
#include "tests/unit/unit.h"

#define WENT_ON	42

/* Wait for a child. Returns its wait status. */
static int wait_for(pid_t pid)
{
	int status;

	assert_true(waitpid(pid, &status, 0) > 0);
	return status;
}

static void a_child_goes_on_while_its_parent_lives(void **state)
{
	pid_t parent = getpid(), pid = fork();

	(void)state;
	if (!pid) {
		limit_to_parent(parent);
		_exit(WENT_ON);
	}
	assert_int_equal(WEXITSTATUS(wait_for(pid)), WENT_ON);
}

/* The child: it ends after its own child has set its limit, or if @late, before that. */
static void __attribute__((noreturn)) end_before_child(bool late)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe(ready))
		_exit(1);
	if (!fork()) {
		while (late && getppid() == parent)
			usleep(1000);
		limit_to_parent(parent);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		while (!late)
			pause();
		_exit(WENT_ON);
	}
	_exit(!late && read(ready[0], &byte, 1) != 1);
}

/* Returns the wait status of the grandchild. */
static int end_parent(bool late)
{
	pid_t child = fork();
	int status;

	if (!child)
		end_before_child(late);
	status = wait_for(child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return wait_for(-1);
}

static void a_child_whose_parent_ends_is_killed(void **state)
{
	int status = end_parent(false);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void a_child_whose_parent_has_ended_does_not_go_on(void **state)
{
	int status = end_parent(true);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_goes_on_while_its_parent_lives),
		cmocka_unit_test(a_child_whose_parent_ends_is_killed),
		cmocka_unit_test(a_child_whose_parent_has_ended_does_not_go_on),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
