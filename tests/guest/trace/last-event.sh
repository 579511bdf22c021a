#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# An event can end a recording, or save it in a snapshot. The buffer that is kept has its cookie,
# its stack and the mappings. The same holds for the event of a task that leaves the traced CPUs.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

# An event that no shell has, and the first of its task that is recorded
E=$T/events/syscalls/sys_enter_getpriority
NAME='sys_getpriority'
ONCE=':1 if which >= 0'

# run_callpath [CALLS]: start a new process, so that none of its mappings was recorded before
run_callpath()
{
	$CALLPATH -o $TEST_TMP/path -n ${1:-40} -x plain
}

# start_recording: start to record into an empty buffer
start_recording()
{
	echo 0 >$T/tracing_on
	echo >$T/trace
	echo 1 >$T/tracing_on
}

# check_complete WHAT EVENT: the text has EVENT with its cookie, its stack and its mappings
check_complete()
{
	join_events
	check "$1: the event has a cookie and a stack" is "$(count_with_stack "$2")" \
		"$(count "[ :]$2[:( ]")"
	check "$1: one event has a stack" at_least "$(count_with_stack "$2")" 1
	check "$1: every frame is in a mapping that was recorded" are_frames_mapped
}

# check_stopped WHAT: the first event has stopped the recording
check_stopped()
{
	check "$1: recording is off" is "$(cat $T/tracing_on)" 0
	save_running_text
	check "$1: the first event is the last one recorded" is "$(count "$NAME\(")" 1
	check_complete "$1" "$NAME"
}

echo 1 >$E/enable

echo 1 >$T/options/$OPT
check "the trigger traceoff is set" write "traceoff$ONCE" $E/trigger
start_recording
run_callpath
check_stopped "traceoff"
echo '!traceoff' >$E/trigger
echo 0 >$T/options/$OPT

for order in "$OPT traceoff" "traceoff $OPT"; do
	for trigger in $order; do
		[ $trigger = $OPT ] || trigger=$trigger$ONCE
		check "$order: $trigger is set" write "$trigger" $E/trigger
	done
	start_recording
	run_callpath
	check_stopped "$order"
	echo '!traceoff' >$E/trigger
	echo "!$OPT" >$E/trigger
done

# The event that ends the recording is not recorded itself; the event before it of the same task is
echo 0 >$E/enable
echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_enter/enable
check "the trigger traceoff is set on an event that is off" write traceoff:1 $E/trigger
start_recording
run_callpath
echo 0 >$T/events/raw_syscalls/sys_enter/enable
echo '!traceoff:1' >$E/trigger
check "an event that is off: recording is off" is "$(cat $T/tracing_on)" 0
save_running_text
grep -vE 'user unwind|=>' $TEST_TMP/text | grep callpath | tail -n 1 >$TEST_TMP/last
pid=$(sed -E 's/^ *callpath-([0-9]+).*/\1/' $TEST_TMP/last)
join_events $pid
check "an event that is off: the last event before it has a stack" \
	is "$(tail -n 1 $TEST_TMP/joined | grep -cE '^sys_enter [0-9a-f]+')" 1

# With tracing off, events that are made only for their filter request no stack
check "a filter is set" write 'which >= 0' $E/filter
echo 1 >$E/enable
start_recording
echo 0 >$T/tracing_on
run_callpath
save_running_text
check "with tracing off: no cookie, no stack" is "$(count_cookies) $(count_stacks)" "0 0"
echo 0 >$E/filter
echo 0 >$T/options/$OPT

# A snapshot
echo 1 >$T/snapshot
for how in option trigger; do
	[ $how = option ] && echo 1 >$T/options/$OPT || write $OPT $E/trigger
	check "snapshot, $how: the trigger is set" write "snapshot$ONCE" $E/trigger
	start_recording
	echo 2 >$T/snapshot
	run_callpath
	echo 0 >$T/tracing_on
	cat $T/snapshot >$TEST_TMP/text
	check "snapshot, $how: the first event is the last one saved" is "$(count "$NAME\(")" 1
	check_complete "snapshot, $how" "$NAME"
	cat $T/trace >$TEST_TMP/text
	check_complete "what follows the snapshot, $how" "$NAME"
	echo '!snapshot' >$E/trigger
	[ $how = option ] && echo 0 >$T/options/$OPT || write "!$OPT" $E/trigger
done
echo 0 >$T/snapshot
echo 0 >$E/enable

# The task moves between the two CPUs with each step
E=$T/events/syscalls/sys_enter_sched_setaffinity
echo 1 >$T/options/$OPT
echo 1 >$E/enable
echo 1 >$T/tracing_cpumask
start_recording
$CALLPATH -o $TEST_TMP/path -n 100 -c 2 -x plain
echo 0 >$T/tracing_on
save_running_text
check "one traced CPU: the other CPU records nothing" is "$(count '\[001\]')" 0
check "one traced CPU: events are recorded" at_least "$(count 'sys_sched_setaffinity\(')" 40
check_complete "one traced CPU" sys_sched_setaffinity
finish
