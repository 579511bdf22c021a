#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# The option is turned on and off in a loop while every CPU requests stacks, so requests race with
# the end of the client. No request may survive into the next time that the option is on.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $PROG/load $CALLPATH $PROG/callpath-check

echo 64 >$T/buffer_size_kb
echo 1 >$T/events/sched/enable
echo 1 >$T/events/raw_syscalls/enable
$PROG/load 10 >$TEST_TMP/load.log &
load=$!
n=0
while kill -0 $load 2>/dev/null; do
	echo 1 >$T/options/$OPT
	[ $((n % 4)) != 0 ] || sleep 0.02
	echo 0 >$T/options/$OPT
	n=$((n + 1))
done
wait $load
check "the load succeeds" is $? 0
say "$(cat $TEST_TMP/load.log), $n times on and off"
check "the option is turned on and off" at_least $n 2

# With the option off, no event has a cookie
echo >$T/trace
$CALLPATH -o $TEST_TMP/path -n 50
echo 0 >$T/events/enable
save_text
check "off: events are recorded" at_least "$(count 'sys_enter: NR')" 50
check "off: no cookie" is "$(count_cookies)" 0
echo 1408 >$T/buffer_size_kb
check_callpath "on again" $CALLPATH -t 2 -n 40 -c 4 -x plain,yield,signal
finish
