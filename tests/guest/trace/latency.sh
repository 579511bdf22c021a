#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The latency tracers: the task in which a latency ends, or that a timer interrupts, has a stack.

. "$(dirname "$0")/../lib.sh"
need_kernel

has_tracer()
{
	grep -qw "$1" $T/available_tracers
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

# start_loop CPU, end_loop: a task that never waits. Its process ID is in $loop.
start_loop()
{
	taskset -c $1 bash -c 'while :; do :; done' &
	loop=$!
}

end_loop()
{
	kill $loop
	wait $loop 2>/dev/null
}

# count_answered_in PID: stacks of a task for cookies of the last saved text
count_answered_in()
{
	local cookie n=0
	for cookie in $(sed -nE "s/.*-$1 +.*<user unwind cookie ([0-9a-f]+)>.*/\\1/p" \
			$TEST_TMP/text | sort -u); do
		! grep -qE -- "-$1 +.*<user unwind stack $cookie[ >]" $TEST_TMP/text || n=$((n + 1))
	done
	echo $n
}

echo 1 >$T/options/$OPT

check "timerlat is there" has_tracer timerlat
echo 20000 >$T/osnoise/timerlat_period_us
start_loop 1
start_tracer timerlat
sleep 2
end_tracer
join_events $loop
# This tracer does not keep the names of tasks
grep -E -- "-$loop +\[.*context +irq timer_latency" $TEST_TMP/text >$TEST_TMP/samples
check "timerlat: the timer interrupts the task" at_least "$(wc -l <$TEST_TMP/samples)" 10
check "timerlat: its samples have stacks" is \
	"$(count_with_stack '#[0-9]+')" "$(wc -l <$TEST_TMP/samples)"

# The thread runs before the task that the timer interrupts goes on. Any latency stops the trace.
echo 1 >$T/osnoise/stop_tracing_total_us
start_tracer timerlat
check "timerlat stops at a thread's latency" wait_for grep -qx 0 $T/tracing_on
sleep 1
save_running_text
echo nop >$T/current_tracer
echo 0 >$T/osnoise/stop_tracing_total_us
echo 1 >$T/tracing_on
end_loop
check "timerlat, stopped: tasks have cookies" at_least "$(count_cookies)" 1
check "timerlat, stopped: each cookie has a stack" is "$(count_unanswered)" 0

# A real-time task wakes up on a CPU that another task uses
check "wakeup_rt is there" has_tracer wakeup_rt
start_tracer wakeup_rt
start_loop 0
for i in 1 2 3 4 5; do
	taskset -c 0 chrt -f 50 sleep 0.2
done
sleep 0.5
end_tracer
end_loop
check "wakeup_rt: there is a maximum" at_least "$(count '==> \[')" 1
check "wakeup_rt: the displaced task has a stack" at_least "$(count_answered_in $loop)" 1

# check_section TRACER PARAMETER: the longest section is one that the module makes, in a task that
# writes to the parameter
check_section()
{
	local writer
	# With a threshold, a maximum on another CPU does not discard that of the test
	echo 300000 >$T/tracing_thresh
	start_tracer $1
	bash -c "echo 500 >/sys/module/irqs_off/parameters/$2" &
	writer=$!
	wait $writer
	end_tracer
	echo 0 >$T/tracing_thresh
	check "$1, $2: the task has a stack" at_least "$(count_answered_in $writer)" 1
	check "$1, $2: the stack has addresses" at_least "$(count '^ *=> +<[0-9a-f]+>')" 1
}

if has_tracer irqsoff; then
	load_module tests/guest/modules/irqs_off.ko || die "irqs_off.ko cannot be loaded"
	check_section irqsoff irqs_ms
	check_section preemptoff preempt_ms
	check_section preemptirqsoff preempt_ms
	# The section ends on the last steps to user space
	start_loop 1
	echo 300000 >$T/tracing_thresh
	start_tracer irqsoff
	taskset -c 0 bash -c 'echo 500 >/sys/module/irqs_off/parameters/others_ms'
	end_tracer
	echo 0 >$T/tracing_thresh
	end_loop
	check "irqsoff, interrupt: the interrupted task has a stack" \
		at_least "$(count_answered_in $loop)" 1
	rmmod irqs_off
else
	say "this kernel has no tracer irqsoff"
fi
echo 0 >$T/options/$OPT
finish
