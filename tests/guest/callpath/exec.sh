#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A cookie taken before execve belongs to the program that called execve.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "64 bits" $CALLPATH -n 20 -c 2 -x exec,execthread,vfork -e $CALLPATH
check_callpath "32 bits" $CALLPATH32 -n 20 -c 2 -x exec,execthread,vfork -e $CALLPATH32
# The event of the exec itself has the stack that sys_enter has requested, unless the thread that
# executes is not the leader
check_callpath "executing" $CALLPATH -n 20 -x exec -e $CALLPATH
check "sched_process_exec has a stack" \
	$PROG/callpath-check -e sched_process_exec:6 -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
check_callpath "64 bits executing 32" $CALLPATH -n 12 -x exec,execthread -e $CALLPATH32
check_callpath "32 bits executing 64" $CALLPATH32 -n 12 -x exec,execthread -e $CALLPATH

# The leader gets the thread ID of the thread that executes. One time in 60 on two CPUs, it has not
# switched out by then. 100 times are enough to meet that case.
check_callpath "threads executing" $CALLPATH -n 100 -x execthread -e $CALLPATH32

finish
