#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024
#
# A task that ends wakes a parent in vfork(), or a thread that joins it, while it still has its
# memory. They may write to its stack at once. Later events of the task have the stack of its end.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK
need_program $PROG/leave

check_end_stacks()
{
	$USTACK report --json t.dat 2>/dev/null >$TEST_TMP/report
	python3 /host/tree/tests/lib/ends.py $TEST_TMP/report $1
}

# The first run makes the tables
check "a first recording makes the tables" \
	ustack_record --no-summary -e sched:sched_switch $PROG/leave 2
for events in sched:sched_waking lock:contention_end; do
	check "$events: recorded" ustack_record -e $events -e raw_syscalls:sys_exit $PROG/leave 60
	check "$events: no task that ends has the stack of another task" check_end_stacks 40
done
finish
