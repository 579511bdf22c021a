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
guard_of()
{
	local p
	for p in /proc/[0-9]*; do
		grep -qs '^trace-ustack-gd$' $p/comm && echo ${p#/proc/}
	done
}

background "once" -a -e sched:sched_switch -e raw_syscalls
check "once: the recording has events" wait_for has_events 2000
kill -KILL $recorder
wait $recorder 2>/dev/null
gone()
{
	is "$(guard_of)" ""
}
check "killed: the guard ends by itself" wait_for gone
check "the file is complete" run_report 100
check "with joined stacks" grep -q '\[user\]' $TEST_TMP/report
check "once: nothing is left" nothing_left

background "again" -a -e sched:sched_switch
check "again: the recording has events" wait_for has_events 500
guard=$(guard_of)
check "one guard" is "$(wc -w <<<"$guard")" 1
name=trace-ustack-$recorder
$USTACK check >checked 2>&1
check "check says whose it is" grep -q "process $recorder is recording" checked
$USTACK check --repair >repaired 2>&1
check "check --repair leaves it alone" test -e $T/instances/$name
kill -KILL $guard $recorder
wait $recorder 2>/dev/null
check "killed with its guard: the instance is left" test -e $T/instances/$name
check "tables are not" is "$(cat $LIST | wc -l)" 0
check "the file is not complete" test ! -e t.dat
check_not "check finds it" $USTACK check
$USTACK check >checked 2>&1
check "check names the part file of the killed recorder" \
	grep -q "missing .*$name: left by process $recorder" checked
$USTACK check --repair >repaired 2>&1
check "check --repair removes it" test ! -e $T/instances/$name
grep "$name\|t.dat" repaired
check "check --repair completes the file" grep -q \
	"t.dat.part$recorder: left .* completed: t.dat" repaired
check "which is read" run_report 100
check "what waited in the buffers is in it: with joined stacks" grep -q '\[user\] .*+0x' \
	$TEST_TMP/report
check "mappings that waited in the buffers are in the file" \
	grep -q '\[user\] .*libc.so.6' $TEST_TMP/report
check "check --repair leaves nothing" nothing_left

background "a third time" -a -e sched:sched_switch
kill -KILL $(guard_of) $recorder
wait $recorder 2>/dev/null
rm -f t.dat.part*
check "the next recorder" ustack_record -e sched_switch true
check "removes what another left" nothing_left

# While the recorder makes tables, it records nothing yet
rm -rf $TRACE_USTACK_TABLES t.dat
$USTACK record -o t.dat -a -e sched >output 2>&1 </dev/null &
recorder=$!
sleep 0.5
kill -KILL $recorder
wait $recorder 2>/dev/null
check "killed early: the guard ends" wait_for gone
check "killed early: nothing is left" nothing_left
kill $chain
keep t.dat repaired
finish
