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

# list_tasks: the tasks with events in the report
list_tasks()
{
	grep -E '^ +[^ ].*-[0-9]+ +\[[0-9]+\]' $TEST_TMP/report |
		sed -E 's/^ +(.*)-[0-9]+ +\[.*/\1/' | sort -u
}

check "-a --duration 2: recorded" ustack_record -a -e sched:sched_switch --duration 2
sed 's/^/     /' output
check "-a --duration 2: all stacks are joined" are_all_joined 20
check "-a --duration 2: trace-cmd report reads the file" run_report 20
list_tasks >in-it
check "-a --duration 2: chain is in the recording" grep -qx chain in-it
check "-a --duration 2: kernel threads or the idle task are in the recording" \
	grep -qE '^(<idle>|kworker|rcu)' in-it
check "-a --duration 2: stacks of chain are complete" \
	complete chain --min 5 --percent 98 --expect chain_c,chain_b,chain_a,main
check "-a --duration 2: nothing is left" nothing_left

check "-p: recorded" ustack_record -p $chain -e raw_syscalls --duration 1
check "-p: all stacks are joined" are_all_joined 20
check "-p: trace-cmd report reads the file" run_report 20
check "-p: only chain is in the recording" is "$(list_tasks)" chain

start_recorder "-p" -p $chain -e sched:sched_switch
kill $chain
say "the process is killed"
wait_recorder 0

# Ctrl-C
start_recorder "-a" -a -e sched -e raw_syscalls:sys_enter
kill -INT $recorder
say "SIGINT"
wait_recorder 0
check "SIGINT: everything is saved" run_report
is_recorder_absent()
{
	! grep -E '^ +trace-ustack.*sys_enter' $TEST_TMP/report
}
check "SIGINT: system calls of the recorder are not saved" is_recorder_absent
check "SIGINT: the summary is printed" grep -q 'joined' output
check "SIGINT: nothing is left" nothing_left
start_recorder "-b 4096" -a -b 4096 -e sched
kill -TERM $recorder
say "SIGTERM"
wait_recorder 0
check "SIGTERM: everything is saved" run_report

# Filters and triggers
check "--filter: recorded" ustack_record -e raw_syscalls:sys_enter --filter 'id == 230' \
	-e raw_syscalls:sys_exit --filter 'id == 230' $TPROG/chain 20
check "--filter: trace-cmd report reads the file" run_report 1
is_filter_obeyed()
{
	! grep -E 'sys_(enter|exit):' $TEST_TMP/report | grep -v 'NR 230'
}
check "--filter: only matching events are in the recording" is_filter_obeyed
check_not "a filter by an unknown field is refused" ustack_record -e sched_switch \
	--filter 'nofield == 1' true
check "a refused filter: the reason of the kernel is shown" grep -qi 'field not found' output
check "triggers: recorded" ustack_record -e raw_syscalls:sys_enter --stack-if 'id == 230' \
	-e raw_syscalls:sys_exit --no-stack $TPROG/chain 20
check "triggers: all stacks are joined" are_all_joined 1
check "triggers: trace-cmd report reads the file" run_report 1
are_chosen_stacks()
{
	awk 'match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
	     /: +sys_/ { last[cpu] = $0 }
	     /<stack trace >/ { if (last[cpu] !~ /sys_enter.*NR 230/) bad++; n++ }
	     END { print n + 0 " stacks, " bad + 0 " of other events"; exit !n || bad }' \
		$TEST_TMP/report
}
check "triggers: only the chosen events have stacks" are_chosen_stacks
check "--no-maps-instance: recorded" ustack_record --no-maps-instance -e raw_syscalls \
	$TPROG/chain 20
check "--no-maps-instance: trace-cmd report -F reads the file" \
	trace-cmd report -t -i t.dat -F 'sys_enter:id==230'
check "filters and triggers: nothing is left" nothing_left
sed 's/^/     /' all-output
keep t.dat $TEST_TMP/report
finish
