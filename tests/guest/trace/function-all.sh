#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 timeout=900
#
# Every function is traced without a filter, each call with a user stack: tracing must neither
# recurse nor hang.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/load

limit=200
run_in_time()
{
	timeout $limit "$@" || { echo "did not end in $limit s"; return 1; }
}

echo 4096 >$T/buffer_size_kb
check "the function tracer is set" write function $T/current_tracer
[ -e $T/options/func_userstack_deferred ] || die "the option func_userstack_deferred is missing"
check "every function: the option is turned on" write 1 $T/options/func_userstack_deferred
check "every function: a program runs and ends" \
	run_in_time $CALLPATH -o $TEST_TMP/path -n 5 -x plain
check "every function: another program runs and ends" run_in_time /bin/true
echo 0 >$T/tracing_on
save_text
check "every function: calls are traced" at_least "$(count ' <-')" 1000
check "every function: calls have cookies" at_least "$(count_cookies)" 100
check "every function: calls have stacks" at_least "$(count_stacks)" 1
# The tracer does not trace its own functions: about one cookie for each call, no avalanche
check "every function: about one cookie for each call" \
	at_most "$(count_cookies)" "$(($(count ' <-') + 100))"

# With the events' option as well, on a busy machine
echo 1 >$T/options/$OPT
echo 1 >$T/events/sched/enable
echo 1 >$T/tracing_on
check "every function and events, on a busy machine: the load ends" run_in_time $PROG/load 2
echo 0 >$T/events/sched/enable
echo 0 >$T/options/$OPT
check "the function tracer is turned off" write nop $T/current_tracer
# A change of the option costs little while another tracer is used
check "func_userstack_deferred is turned off" write 0 $T/options/func_userstack_deferred

# The function command on every function
check "command on every function: set" write "*:$OPT" $T/set_ftrace_filter
check "command on every function: a program runs and ends" \
	run_in_time $CALLPATH -o $TEST_TMP/path -n 5 -x plain
check "command on every function: removed" write "!*:$OPT" $T/set_ftrace_filter
check "command on every function: the removed command is not listed" \
	is "$(grep -c $OPT $T/set_ftrace_filter)" 0
finish
