#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# The task moves to another CPU at each step, so request and stack are in different buffers.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check

check_callpath "one task" $CALLPATH -n 300 -c 4
# In most calls, sys_enter is on one CPU, and the other events are on the next one
check "request and stack are on different CPUs" at_least "$(sed -n \
	's/.*limit, \([0-9]*\) on another CPU.*/\1/p' $TEST_TMP/verdict)" 100
check_callpath "four threads" $CALLPATH -t 4 -n 80 -c 4 -x plain,yield
finish
