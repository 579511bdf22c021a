#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024 timeout=1200
#
# The selections of trace-ustack record: everything for some time, a process, events by filter,
# stacks of some events only.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK $TPROG/chain

$TPROG/chain 1000000 &
chain=$!

# tasks: those with events in the report
tasks()
{
	grep -E '^ +[^ ].*-[0-9]+ +\[[0-9]+\]' $TEST_TMP/report |
		sed -E 's/^ +(.*)-[0-9]+ +\[.*/\1/' | sort -u
}

check "-a --duration 2: recorded" ustack_record -a -e sched:sched_switch --duration 2
sed 's/^/     /' output
check "all stacks are joined" all_joined 20
check "trace-cmd report reads it" run_report 20
tasks >in-it
check "chain is in it" grep -qx chain in-it
check "kernel threads or the idle task are in it" grep -qE '^(<idle>|kworker|rcu)' in-it
check "chain: complete" complete chain --min 5 --percent 98 --expect chain_c,chain_b,chain_a,main
check "-a --duration 2: nothing is left" nothing_left

check "-p: recorded" ustack_record -p $chain -e raw_syscalls --duration 1
check "all stacks are joined" all_joined 20
check "trace-cmd report reads it" run_report 20
check "chain alone is in it" is "$(tasks)" chain

background "-p" -p $chain -e sched:sched_switch
kill $chain
say "the process is killed"
wait_recorder 0

# Ctrl-C
background "-a" -a -e sched -e raw_syscalls:sys_enter
kill -INT $recorder
say "SIGINT"
wait_recorder 0
check "with everything saved" run_report
not_itself()
{
	! grep -E '^ +trace-ustack.*sys_enter' $TEST_TMP/report
}
check "SIGINT: system calls of the recorder are not saved" not_itself
check "SIGINT: the summary is printed" grep -q 'joined' output
check "SIGINT: nothing is left" nothing_left
background "-b 4096" -a -b 4096 -e sched
kill -TERM $recorder
say "SIGTERM"
wait_recorder 0
check "SIGTERM: everything is saved" run_report

# Filters and triggers
check "--filter: recorded" ustack_record -e raw_syscalls:sys_enter --filter 'id == 230' \
	-e raw_syscalls:sys_exit --filter 'id == 230' $TPROG/chain 20
check "trace-cmd report reads it" run_report 1
only_230()
{
	! grep -E 'sys_(enter|exit):' $TEST_TMP/report | grep -v 'NR 230'
}
check "only what the filter lets through" only_230
check_not "a filter by an unknown field is refused" ustack_record -e sched_switch \
	--filter 'nofield == 1' true
check "a refused filter: the kernel's reason is shown" grep -qi 'field not found' output
check "triggers: recorded" ustack_record -e raw_syscalls:sys_enter --stack-if 'id == 230' \
	-e raw_syscalls:sys_exit --no-stack $TPROG/chain 20
check "all stacks are joined" all_joined 1
check "trace-cmd report reads it" run_report 1
only_asked()
{
	awk '/: +sys_/ { last = $0 }
	     /<stack trace >/ { if (last !~ /sys_enter.*NR 230/) bad++; n++ }
	     END { print n + 0 " stacks, " bad + 0 " of other events"; exit !n || bad }' \
		$TEST_TMP/report
}
check "stacks of the events asked for only" only_asked
check "--no-maps-instance: recorded" ustack_record --no-maps-instance -e raw_syscalls \
	$TPROG/chain 20
check "trace-cmd report -F reads that" \
	trace-cmd report -t -i t.dat -F 'sys_enter:id==230'
check "filters and triggers leave nothing" nothing_left
sed 's/^/     /' all-output
keep t.dat $TEST_TMP/report
finish
