#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The option func_userstack_deferred of the function tracer: each traced call has a user stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

func=${SYS_PREFIX}_getpriority
FOPT=$T/options/func_userstack_deferred

run()
{
	echo >$T/trace
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
	text
}

check "the function tracer is there" write $func $T/set_ftrace_filter
echo function >$T/current_tracer
[ -e $FOPT ] || die "the function tracer has no option func_userstack_deferred"
check "off at first" is "$(cat $FOPT)" 0
run
check "off: calls" at_least "$(count "[ :]$func <-")" 20
check "off: no cookie" is "$(cookies)" 0

check "turned on" write 1 $FOPT
run
calls=$(count "[ :]$func <-")
check "on: calls" at_least $calls 20
check "on: a cookie each" is "$(cookies)" $calls
check "on: a stack each" none_lost "$(unanswered)"

# Together with func_stack_trace: kernel stack first
echo 1 >$T/options/func_stack_trace
run
check "with kernel stacks: cookies" at_least "$(cookies)" 20
check "with kernel stacks: there are" at_least "$(count '<stack trace>')" 20
echo 0 >$T/options/func_stack_trace

check "turned off" write 0 $FOPT
run
check "off again: no cookie" is "$(cookies)" 0
check "off again: calls" at_least "$(count "[ :]$func <-")" 20

# The option stays with the tracer
echo 1 >$FOPT
echo nop >$T/current_tracer
run
check "another tracer: no cookie" is "$(cookies)" 0
check "back to the function tracer" write function $T/current_tracer
run
check "back: stacks if the option is still on" is "$(($(stacks) > 0))" "$(cat $FOPT)"
echo 0 >$FOPT
echo nop >$T/current_tracer

# In an instance
mkdir $T/instances/f
echo $func >$T/instances/f/set_ftrace_filter
echo function >$T/instances/f/current_tracer
check "in an instance" write 1 $T/instances/f/options/func_userstack_deferred
$CALLPATH -o $TEST_TMP/path -n 200 -x plain
text $T/instances/f
check "in an instance: stacks" at_least "$(stacks)" 20
echo nop >$T/instances/f/current_tracer
check "the instance is removed" rmdir $T/instances/f
finish
