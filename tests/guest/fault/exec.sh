#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A request in execve belongs to the program that calls execve, not to the program that starts.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

# check_exec_event WHAT: sched_process_exec, which comes late in execve(), has the stack of the
# caller. A thread that is not the leader has taken over the leader's ID by then, and has no cookie.
check_exec_event()
{
	case $1 in
	execthread*) check "$1: sched_process_exec has no cookie" is "$(count_after_exec)" 0 ;;
	*) check "$1: sched_process_exec has the stack of the caller" \
		have_path 'sched_process_exec: ' --last ;;
	esac
}

# count_after_exec: the number of cookies right after the last sched_process_exec
count_after_exec()
{
	awk '/<user unwind cookie/ && last == NR - 1 { n = 1 }
	     /sched_process_exec: / { last = NR; n = 0 }
	     END { print n + 0 }' $TEST_TMP/text
}

for how in exec execthread; do
	say "$how"
	record_events "raw_syscalls/sys_enter sched/sched_process_exec" $PATHS $how /bin/true
	check "$how: one path was printed" is "$(grep -c '^path' $TEST_TMP/paths)" 1
	check "$how: sys_enter has the stack of the caller" have_path 'sys_enter: NR 59 ' --last
	check_exec_event "$how"
done

# The same call executes the interpreter of a script
printf '#!/bin/true\n' >$TEST_TMP/script
chmod +x $TEST_TMP/script
for how in exec execthread; do
	record_events "raw_syscalls/sys_enter sched/sched_process_exec" $PATHS $how $TEST_TMP/script
	check "$how, a script: sys_enter has the stack of the caller" \
		have_path 'sys_enter: NR 59 ' --last
	check_exec_event "$how, a script"
done

# Nobody requested the old stack before it was gone, so there is no stack
for how in exec execthread; do
	record_events sched/sched_process_exec $PATHS $how /bin/true
	check "$how, requested after the old stack: no cookie, no stack" \
		is "$(count_cookies) $(count_stacks)" "0 0"
done

# In execve(), the thread that serves a page is woken to end. Nobody serves the page after that. A
# waking by an interrupt before that would have the page served, so no other event is recorded.
FILTER=$T/events/sched/sched_waking/filter
echo 'comm == "server"' >$FILTER
record_events sched/sched_waking timeout 120 $PATHS execserved /bin/true
check "execve() does not wait for a page whose server thread has ended" \
	have_path 'sched_waking: comm=server ' --flags incomplete
echo 0 >$FILTER

# An instance with a PID filter, or one that is off, records nothing of the execve() of other tasks
I=$T/instances/exec
mkdir $I
sleep 1000 &
echo $! >$I/set_event_pid
check "another task sleeps" wait_for is_asleep $! sleep
echo 1 >$I/options/$OPT
echo 1 >$I/events/sched/enable
for how in exec execthread; do
	$PATHS $how /bin/true >/dev/null
done
save_running_text $I
check "execve() of tasks that are not traced: no stack" is "$(count_cookies) $(count_stacks)" "0 0"
check "execve() of tasks that are not traced: no mappings" is "$(count '<user unwind map')" 0
kill %%
echo >$I/set_event_pid
echo 0 >$I/tracing_on
echo 1 >$T/function_profile_enabled
$PATHS exec /bin/true >/dev/null
echo 0 >$T/function_profile_enabled
check "execve() with tracing off: no stack is walked" is \
	"$(cat $T/trace_stat/function* | grep -c ' unwind_user ')" 0
rmdir $I || check "the instance can be removed" false

# An execve() that fails returns to its caller, in both instances
record_events "raw_syscalls" $PATHS exec /nonexistent
check "execve() fails: sys_enter has the stack of the caller" have_path 'sys_enter: NR 59 ' --last
check "execve() fails: sys_exit has the stack of the caller" have_path 'sys_exit: NR 59 = -2' --last
finish
