#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Tasks that are blocked have their stacks recorded when recording stops, and when they are asked
# for. The tasks go on as if nothing had happened, and have the same stacks then.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS
NR=200

# is_in_read PID: the task waits in read()
is_in_read()
{
	local nr rest
	read -r nr rest </proc/$1/syscall && is "$nr" 0
}

are_all_in_read()
{
	local pid
	for pid in "${pids[@]}"; do
		wait_for is_in_read $pid || return
	done
}

# have_right_stacks: the last system call of each task has its stack
have_right_stacks()
{
	have_path 'sys_enter: NR 0 ' --last --flags frame-pointer
}

mkfifo $TEST_TMP/fifo
exec 9<>$TEST_TMP/fifo
echo mono >$T/trace_clock
echo 8192 >$T/buffer_size_kb
echo 1 >$T/options/$OPT
echo 'id == 0 && comm == "fault-paths"' >$T/events/raw_syscalls/sys_enter/filter
echo 1 >$T/events/raw_syscalls/sys_enter/enable
pids=()
for ((i = 0; i < NR; i++)); do
	$PATHS read <&9 >>$TEST_TMP/paths &
	pids+=($!)
done
check "$NR tasks wait in read()" are_all_in_read
save_running_text
check_not "blocked tasks have no stack before one is asked for" have_right_stacks
before=$(count_stacks)

check "stacks of blocked tasks are asked for" write 1 $T/userstacktrace_blocked
save_running_text
check "asked for: each blocked task has a stack" at_least $(count_stacks) $((before + NR))
check "asked for: each stack is right" have_right_stacks
check_not "a value other than 1 is refused" write 2 $T/userstacktrace_blocked

save_text
check "recording stops: each blocked task has a stack again" \
	at_least $(count_stacks) $((before + 2 * NR))
check "recording stops: each stack is right" have_right_stacks

head -c $NR /dev/zero >&9
ended=0
for pid in "${pids[@]}"; do
	wait $pid && ended=$((ended + 1))
done
check "all tasks have read their byte" is $ended $NR
save_text
check "read() returns: each task has a stack again" at_least $(count_stacks) $((before + 3 * NR))
check "read() returns: each stack is right" have_right_stacks

# A page that a thread of the task would have to serve is not waited for
echo 0 >$T/events/raw_syscalls/sys_enter/enable
echo 0 >$T/events/raw_syscalls/sys_enter/filter
echo >$T/trace
echo 'id == 34 && comm == "fault-paths"' >$T/events/raw_syscalls/sys_enter/filter
echo 1 >$T/events/raw_syscalls/sys_enter/enable
$PATHS pauseserved >$TEST_TMP/paths &
pid=$!
check "a task pauses" in_state $pid S
check "recording stops at once" timeout 120 bash -c "echo 0 >$T/tracing_on"
cat $T/trace >$TEST_TMP/text
check "the stack of the task that pauses is incomplete" \
	have_path 'sys_enter: NR 34 ' --last --flags incomplete
kill -9 $pid
finish
