#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A task that exits from deep in a path still answers all its requests, sched_process_exit included.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check

# Each thread ends in exit, each child in exit_group, both up to 40 calls deep
check_callpath "exit" $CALLPATH -t 8 -n 4 -c 2 -x plain
check "exit: sched_process_exit has a stack" \
	$PROG/callpath-check -e sched_process_exit:9 -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
check_callpath "exit_group" $CALLPATH -n 30 -c 2 -x fork
check "exit_group: sched_process_exit has a stack" \
	$PROG/callpath-check -e sched_process_exit:31 -r $TEST_TMP/path $programs \
		$TEST_TMP/trace.dat
finish
