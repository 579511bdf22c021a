#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The option funcgraph-userstack-deferred of the function graph tracer: each outermost call has a
# user stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

func=${SYS_PREFIX}_getpriority
GOPT=$T/options/funcgraph-userstack-deferred

run_callpath()
{
	echo >$T/trace
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
	save_text
}

# count_calls: in this format, the line of a call has no task
count_calls()
{
	count "[ |]$func\(\)"
}

check "the function graph tracer is there" write $func $T/set_ftrace_filter
echo function_graph >$T/current_tracer
[ -e $GOPT ] || die "the function graph tracer has no option funcgraph-userstack-deferred"
check "at boot the option is off" is "$(cat $GOPT)" 0
run_callpath
check "off: functions are traced" at_least "$(count_calls)" 20
check "off: no cookie" is "$(count_cookies)" 0

check "the option is turned on" write 1 $GOPT
run_callpath
check "on: functions are traced" at_least "$(count_calls)" 20
check "on: each call has a cookie" is "$(count_cookies)" "$(count_calls)"
check "on: each cookie has a stack" none_lost "$(count_unanswered)"

# The functions that it calls: all that are traced at all
echo >$T/set_ftrace_filter
echo $func >$T/set_graph_function
run_callpath
check "a whole graph: functions are traced" at_least "$(count_calls)" 20
check "a whole graph: more functions are traced" at_least "$(count '\|   +[a-z_0-9.]+\(\)')" 20
check "a whole graph: the request of a stack is not in it" \
	is "$(count 'unwind_deferred_request\(')" 0
check "a whole graph: each outermost call has a cookie" is "$(count_cookies)" "$(count_calls)"
check "a whole graph: each cookie has a stack" none_lost "$(count_unanswered)"
echo >$T/set_graph_function
echo $func >$T/set_ftrace_filter

# The option belongs to the function graph tracer
echo nop >$T/current_tracer
run_callpath
check "another tracer: no cookie" is "$(count_cookies)" 0
check "the tracer is chosen again" write function_graph $T/current_tracer
run_callpath
check "the tracer chosen again: each call has a cookie" is "$(count_cookies)" "$(count_calls)"
check "the option is turned off" write 0 $GOPT
run_callpath
check "off after on: functions are traced" at_least "$(count_calls)" 20
check "off after on: no cookie" is "$(count_cookies)" 0
echo nop >$T/current_tracer

# With a threshold, the cookie comes with the return
echo 1 >$GOPT
echo 1 >$T/tracing_thresh
check "with a threshold: the tracer is chosen" write function_graph $T/current_tracer
run_callpath
check "with a threshold: returns have cookies" at_least "$(count_cookies)" 1
check "with a threshold: each cookie has a stack" none_lost "$(count_unanswered)"
echo >$T/set_ftrace_filter
echo $func >$T/set_graph_function
run_callpath
check "a whole graph with a threshold: returns have cookies" at_least "$(count_cookies)" 1
echo >$T/set_graph_function
echo $func >$T/set_ftrace_filter
echo 0 >$T/tracing_thresh
run_callpath
check "after the threshold: each call has a cookie" is "$(count_cookies)" "$(count_calls)"
echo nop >$T/current_tracer
echo 0 >$GOPT

# The caller is a function of another instance
caller=$(grep -xE -m 1 'x64_sys_call|invoke_syscall' $T/available_filter_functions)
if [ "$caller" ]; then
	mkdir $T/instances/caller
	echo $caller >$T/instances/caller/set_ftrace_filter
	echo function_graph >$T/instances/caller/current_tracer
	echo 1 >$GOPT
	echo function_graph >$T/current_tracer
	run_callpath
	check "a caller of another instance is traced" at_least "$(
		grep -c "$caller()" $T/instances/caller/trace)" 20
	check "a caller of another instance: each call has a cookie" is \
		"$(count_cookies)" "$(count_calls)"
	echo nop >$T/current_tracer
	echo 0 >$GOPT
	echo nop >$T/instances/caller/current_tracer
	rmdir $T/instances/caller
else
	say "no function calls all system calls here"
fi

# In an instance, and by trace-cmd with the plugin
mkdir $T/instances/g
echo $func >$T/instances/g/set_ftrace_filter
echo function_graph >$T/instances/g/current_tracer
check "in an instance: the option is turned on" \
	write 1 $T/instances/g/options/funcgraph-userstack-deferred
$CALLPATH -o $TEST_TMP/path -n 200 -x plain
save_text $T/instances/g
check "in an instance: calls have stacks" at_least "$(count_stacks)" 20
echo nop >$T/instances/g/current_tracer
check "an instance with the option on is removed" rmdir $T/instances/g

check "trace-cmd records" record -p function_graph -O funcgraph-userstack-deferred -l $func -- \
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
TRACEEVENT_PLUGIN_DIR=$BUILD/plugin trace-cmd report -i $TEST_TMP/trace.dat >$TEST_TMP/text \
	2>$TEST_TMP/err
check "trace-cmd report shows calls" at_least "$(count "funcgraph_entry:.*$func")" 20
check "trace-cmd report shows user stacks" at_least "$(count '=> \[user\] .*/callpath')" 20
finish
