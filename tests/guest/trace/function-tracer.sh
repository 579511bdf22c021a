#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The option func_userstack_deferred of the function tracer: each traced call has a user stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

func=${SYS_PREFIX}_getpriority
FOPT=$T/options/func_userstack_deferred

run_callpath()
{
	echo >$T/trace
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
	save_text
}

check "the function tracer is there" write $func $T/set_ftrace_filter
echo function >$T/current_tracer
[ -e $FOPT ] || die "the function tracer has no option func_userstack_deferred"
check "at boot the option is off" is "$(cat $FOPT)" 0
run_callpath
check "off: functions are traced" at_least "$(count "[ :]$func <-")" 20
check "off: no cookie" is "$(count_cookies)" 0

check "the option is turned on" write 1 $FOPT
run_callpath
calls=$(count "[ :]$func <-")
check "on: functions are traced" at_least $calls 20
check "on: each call has a cookie" is "$(count_cookies)" $calls
check "on: each cookie has a stack" none_lost "$(count_unanswered)"

# Together with func_stack_trace: kernel stack first
echo 1 >$T/options/func_stack_trace
run_callpath
check "with kernel stacks: calls have cookies" at_least "$(count_cookies)" 20
check "with kernel stacks: calls have kernel stacks" at_least "$(count '<stack trace>')" 20
echo 0 >$T/options/func_stack_trace

check "the option is turned off" write 0 $FOPT
run_callpath
check "off after on: no cookie" is "$(count_cookies)" 0
check "off after on: functions are traced" at_least "$(count "[ :]$func <-")" 20

# The option belongs to the function tracer
echo 1 >$FOPT
echo nop >$T/current_tracer
run_callpath
check "another tracer: no cookie" is "$(count_cookies)" 0
check "the function tracer is chosen again" write function $T/current_tracer
run_callpath
check "the function tracer chosen again: stacks if the option is on" \
	is "$(($(count_stacks) > 0))" "$(cat $FOPT)"
echo 0 >$FOPT
echo nop >$T/current_tracer

# In an instance
mkdir $T/instances/f
echo $func >$T/instances/f/set_ftrace_filter
echo function >$T/instances/f/current_tracer
check "in an instance: the option is turned on" \
	write 1 $T/instances/f/options/func_userstack_deferred
$CALLPATH -o $TEST_TMP/path -n 200 -x plain
save_text $T/instances/f
check "in an instance: calls have stacks" at_least "$(count_stacks)" 20
echo nop >$T/instances/f/current_tracer
check "an instance with the option on is removed" rmdir $T/instances/f
finish
