#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A debugger stops a task at each system call, in the kernel, between a request and its stack. The
# debugger reads the stack as well: debugger, trace and record agree.

. "$(dirname "$0")/../lib.sh"
only_amd64 "callpath-ptrace knows its registers"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check $PROG/callpath-ptrace

record_stopped()
{
	record -b 8192 -O $OPT $CALLPATH_EVENTS -- $PROG/callpath-ptrace $TEST_TMP/path "$@"
}

for program in $CALLPATH $CALLPATH32; do
	rm -f $TEST_TMP/path
	check "$(basename $program): stopped at each call" record_stopped $program -t 1 -n 12 \
		-x plain,signal,fork,vfork,exec
	check "$(basename $program): each event has the right stack" \
		$PROG/callpath-check -n 100 -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
	check_plugin "$(basename $program)" -n 100
done
finish
