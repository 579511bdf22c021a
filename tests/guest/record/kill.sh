#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024 timeout=900
#
# A recorder that is killed leaves a complete file, and nothing in the kernel. If recorder and guard
# are both killed, the remains are found later: the file is completed, and the instances are
# removed.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK $TPROG/chain

$TPROG/chain 1000000 &
chain=$!
find_guard()
{
	local p
	for p in /proc/[0-9]*; do
		grep -qs '^trace-ustack-gd$' $p/comm && echo ${p#/proc/}
	done
}

start_recorder "once" -a -e sched:sched_switch -e raw_syscalls
check "SIGKILL of the recorder: there are events before" wait_for has_events 2000
kill -KILL $recorder
wait $recorder 2>/dev/null
has_guard_ended()
{
	is "$(find_guard)" ""
}
check "SIGKILL of the recorder: the guard ends" wait_for has_guard_ended
check "SIGKILL of the recorder: the file is complete" run_report 100
check "SIGKILL of the recorder: stacks are joined" grep -q '\[user\]' $TEST_TMP/report
check "SIGKILL of the recorder: nothing is left" nothing_left

start_recorder "again" -a -e sched:sched_switch
check "a recorder at work: there are events" wait_for has_events 500
guard=$(find_guard)
check "a recorder at work: there is one guard" is "$(wc -w <<<"$guard")" 1
name=trace-ustack-$recorder
$USTACK check >checked 2>&1
check "a recorder at work: check names the process" grep -q "process $recorder is recording" checked
$USTACK check --repair >repaired 2>&1
check "a recorder at work: check --repair keeps the instance" test -e $T/instances/$name
kill -KILL $guard $recorder
wait $recorder 2>/dev/null
check "SIGKILL of recorder and guard: the guard ends" wait_for has_guard_ended
check "SIGKILL of recorder and guard: the instance is left" test -e $T/instances/$name
check "SIGKILL of recorder and guard: no table is left" is "$(cat $LIST | wc -l)" 0
check "SIGKILL of recorder and guard: the file is not complete" test ! -e t.dat
check_not "SIGKILL of recorder and guard: check fails" $USTACK check
$USTACK check >checked 2>&1
check "SIGKILL of recorder and guard: check names the part file" \
	grep -q "missing .*$name: left by process $recorder" checked
$USTACK check --repair >repaired 2>&1
check "check --repair removes the instance" test ! -e $T/instances/$name
grep "$name\|t.dat" repaired
check "check --repair completes the file" grep -q \
	"t.dat.part$recorder: left .* completed: t.dat" repaired
check "check --repair: the completed file is read" run_report 100
check "check --repair: the events of the buffers have joined stacks" grep -q '\[user\] .*+0x' \
	$TEST_TMP/report
check "check --repair: the mappings of the buffers are in the file" \
	grep -q '\[user\] .*libc.so.6' $TEST_TMP/report
check "check --repair: nothing is left" nothing_left

start_recorder "a third time" -a -e sched:sched_switch
kill -KILL $(find_guard) $recorder
wait $recorder 2>/dev/null
check "SIGKILL of a third recorder: the guard ends" wait_for has_guard_ended
rm -f t.dat.part*
check "the next recorder succeeds" ustack_record -e sched_switch true
check "the next recorder removes what a killed recorder left" nothing_left

# While the recorder makes tables, it records nothing yet
rm -rf $TRACE_USTACK_TABLES t.dat
$USTACK record -o t.dat -a -e sched >output 2>&1 </dev/null &
recorder=$!
has_guard()
{
	[ "$(find_guard)" ]
}
check "before the recording: there is a guard" wait_for has_guard
kill -KILL $recorder
wait $recorder 2>/dev/null
check "SIGKILL before the recording: the guard ends" wait_for has_guard_ended
check "SIGKILL before the recording: nothing is left" nothing_left
kill $chain
keep t.dat repaired
finish
