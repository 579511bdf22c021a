#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kernel threads and io_uring workers have no user stack: they get no cookie, and the kernel
# does not complain.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $PROG/uring-work

# list_owners: write the names of the tasks with a cookie or a stack in the last save_text() into
# owners
list_owners()
{
	awk '/<user unwind (cookie|stack)/ { sub(/-[0-9]+ +\[.*/, ""); gsub(/ /, ""); print }' \
		$TEST_TMP/text | sort -u >$TEST_TMP/owners
}

echo 1 >$T/options/$OPT
echo 1 >$T/events/sched/sched_switch/enable
echo 1 >$T/events/sched/sched_waking/enable
head -c 20M /dev/zero >$TEST_TMP/file
$PROG/uring-work $TEST_TMP/file 40
rc=$?
sync
sleep 0.5
echo 0 >$T/events/enable
save_text
[ $rc != 4 ] || skip_test "this kernel has no io_uring"
check "io_uring works" is $rc 0
check "io_uring workers have events" at_least "$(count '^ *iou-wrk-[0-9]+.*sched_')" 20
check "kernel threads have events" at_least \
	"$(count '^ *(kworker|ksoftirqd|rcu_|migration|kthreadd).*sched_')" 5
check "idle tasks have events" at_least "$(count '^ *<idle>-0.*sched_')" 5
list_owners
check "the program has cookies" grep -qx uring-work $TEST_TMP/owners
check_not "no io_uring worker has a cookie" grep -E '^iou-(wrk|sqp)' $TEST_TMP/owners
check_not "no kernel thread has a cookie" grep -E '^(kworker|ksoftirqd|rcu_|migration|kthreadd)' \
	$TEST_TMP/owners
check_not "no idle task has a cookie" grep -E '^<idle>|^swapper' $TEST_TMP/owners

# A function that io_uring workers call
grep -q '^io_read$' $T/available_filter_functions && {
	echo >$T/trace
	check "a function of workers: the command is set" write "io_read:$OPT" $T/set_ftrace_filter
	$PROG/uring-work $TEST_TMP/file 20 >/dev/null
	write "!io_read:$OPT" $T/set_ftrace_filter
	save_text
	list_owners
	check_not "a function of workers: no worker has a cookie" grep -E '^iou-' $TEST_TMP/owners
}
finish
