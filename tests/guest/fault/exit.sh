#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# When a task ends, all requests get the stack from which it ended, until its mm is released.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS
load_client

for how in exit:231 exitthread:60 killed:0; do
	nr=${how#*:}
	how=${how%:*}
	record_events "raw_syscalls/sys_enter sched/sched_process_exit" $PATHS $how
	check "$how: one path was printed" is "$(grep -c '^path' $TEST_TMP/paths)" 1
	[ $how = killed ] && nr='0 \([0-9a-f]+, [0-9a-f]+, 1,'
	check "$how: the last system call has the stack from which the task ended" \
		have_path "sys_enter: NR $nr "
	check "$how: sched_process_exit has the stack from which the task ended" \
		have_path 'sched_process_exit: '
done

# The first request of the exit comes late, when the kernel clears clear_child_tid and wakes its
# futex. The thread had a stack before, for the sys_exit of clone().
record_events "raw_syscalls/sys_exit sched/sched_waking" $PATHS exitthread
check "the end of a thread wakes a task: sched_waking has the stack of the thread" \
	have_path 'sched_waking: comm=fault-paths' --last

# The reader of its output is woken when its mappings are gone
record_events "syscalls/sys_enter_getppid sched/sched_waking" sh -c "$PATHS exitelsewhere | cat"
read -r _ pid start _ <$TEST_TMP/paths
check "the mapping in which a task ends is recorded" \
	is "$(count "<user unwind map $pid 0*$start-")" 1

say "a client that is requested in sched_process_exit"
run_script 'init 0; exit 0'
$PATHS exit >/dev/null
take_log
check "a request in sched_process_exit is accepted" is "$(count_logged 'request 0 = 0')" 1
check "a request in sched_process_exit is called back with the stack" \
	is "$(count_logged 'callback 0')" 1

say "a callback in exit that requests another client"
run_script 'init 1; chain 0 1'
$PATHS exit >/dev/null
take_log
check "a request of a callback in exit is accepted" is "$(count_logged 'request 1 = 0')" 1
check "a request of a callback in exit is called back" is "$(count_logged 'callback 1.*')" 1

say "killed with a request pending"
run_script 'exit 0 1; chain 0 -1'
for ((i = 0; i < 10; i++)); do
	start_script 1 'request 0; kill'
	wait
done 2>/dev/null
take_log
check "killed with a request pending: requested" is "$(count_logged 'request 0 = 0')" 10
check "killed with a request pending: called back" is "$(count_logged 'callback 0')" 10
finish
