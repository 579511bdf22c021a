#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The latency tracers: the task in which a latency ends, or that a timer interrupts, has a stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

# need_tracer NAME: is the tracer there? If not, say so
need_tracer()
{
	grep -qw "$1" $T/available_tracers || { say "this kernel has no tracer $1"; false; }
}

# start_tracer NAME: with an empty buffer and no maximum so far
start_tracer()
{
	echo 0 >$T/tracing_on
	check "$1: the tracer is chosen" write $1 $T/current_tracer
	echo >$T/trace
	[ ! -e $T/tracing_max_latency ] || echo 0 >$T/tracing_max_latency
	echo 1 >$T/tracing_on
}

end_tracer()
{
	echo 0 >$T/tracing_on
	save_running_text
	echo nop >$T/current_tracer
	echo 1 >$T/tracing_on
}

# count_answered: cookies of the last saved text that have a stack
count_answered()
{
	echo $(($(grep -oE '<user unwind cookie [0-9a-f]+' $TEST_TMP/text | sort -u | wc -l) -
		$(count_unanswered)))
}

echo 1 >$T/options/$OPT

if need_tracer timerlat; then
	echo 20000 >$T/osnoise/timerlat_period_us
	start_tracer timerlat
	bash -c 'while :; do :; done' &
	pid=$!
	sleep 2
	kill $pid
	wait
	end_tracer
	join_events $pid
	# This tracer does not keep the names of tasks
	grep -E -- "-$pid +\[.*context +irq timer_latency" $TEST_TMP/text >$TEST_TMP/samples
	check "timerlat: the timer interrupts the task" at_least "$(wc -l <$TEST_TMP/samples)" 10
	check "timerlat: its samples have stacks" is \
		"$(count_with_stack '#[0-9]+')" "$(wc -l <$TEST_TMP/samples)"
fi

# A real-time task wakes up on a CPU that another task uses
if need_tracer wakeup_rt && command -v chrt >/dev/null; then
	start_tracer wakeup_rt
	taskset 1 timeout 3 bash -c 'while :; do :; done' &
	for i in 1 2 3 4 5; do
		taskset 1 chrt -f 50 sleep 0.2
	done
	wait
	end_tracer
	check "wakeup_rt: there is a maximum" at_least "$(count '==> \[')" 1
	check "wakeup_rt: the task that it displaces has a stack" at_least "$(count_answered)" 1
fi

if need_tracer irqsoff; then
	load_module tests/guest/modules/irqs_off.ko || die "irqs_off.ko cannot be loaded"
	# With a threshold, a maximum on another CPU does not discard that of the test
	echo 300000 >$T/tracing_thresh
	start_tracer irqsoff
	echo 500 >/sys/module/irqs_off/parameters/ms
	end_tracer
	echo 0 >$T/tracing_thresh
	rmmod irqs_off
	check "irqsoff: the maximum is that of the test" count 'irqs_off|turn_off'
	check "irqsoff: its end has a cookie" at_least "$(count_cookies)" 1
	check "irqsoff: the cookie has a stack" at_least "$(count_answered)" 1
	check "irqsoff: the stack has addresses" at_least "$(count '^ *=> +<[0-9a-f]+>')" 1
fi
echo 0 >$T/options/$OPT
finish
