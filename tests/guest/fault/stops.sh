#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A task that stops, by a signal or for its tracer, has the stack that it stops with: where a system
# call that is restarted returns to, and not where the tracer sends the task.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

# The task is in read() before it is traced, so that the stop is the first to ask
stop_and_go()
{
	kill -STOP $pid && in_state $pid T && kill -CONT $pid && in_state $pid S
	cat $TEST_TMP/printed
}

mkfifo $TEST_TMP/fifo
$PATHS read <$TEST_TMP/fifo >$TEST_TMP/printed &
pid=$!
exec 9>$TEST_TMP/fifo
check "a task waits in read()" in_state $pid S
record_events sched/sched_switch stop_and_go
check "a task stopped in read(): the stack starts after the system call" \
	have_path "sched_switch: .*prev_pid=$pid .*prev_state=T "
echo >&9
wait $pid

# Before the stop, but after the kernel has looked for work for the last time
request_at_signal()
{
	echo dequeue_signal:$OPT >$T/set_ftrace_filter
	$PATHS signalled
	echo "!dequeue_signal:$OPT" >$T/set_ftrace_filter
}
record_events "" request_at_signal
check "a request before a stop has the stack from before the stop" \
	have_path '<user unwind cookie ' --last

STOP='sched_switch: prev_comm=fault-paths .*prev_state=t '
record_events sched/sched_switch $PATHS spinning
check "a stop for the tracer has the stack from before the stop" have_path "$STOP" --last

# The first stop of the task is refused
FILTER=$T/events/sched/sched_switch/filter
echo "prev_state & 8" >$FILTER
record_events sched/sched_switch $PATHS spinning
check "a first request inside a stop has the stack from before the stop" have_path "$STOP" --last
record_events sched/sched_switch $PATHS absent
check "a stop does not read a page that is not in memory" \
	have_path "$STOP" --last --flags incomplete
echo 0 >$FILTER

# If the task was preempted right before the stop, the stack of that comes before the stop, and perf
# finds only stacks that come later. It then prints the cookie: a count, and the number of a CPU.
for ((i = 0; i < 20; i++)); do
	perf record -q -e sched:sched_switch --call-graph fp,defer -o $TEST_TMP/perf.data \
		$PATHS spinning >$TEST_TMP/paths 2>&1
	perf script -i $TEST_TMP/perf.data -F comm,tid,event,trace,ip >$TEST_TMP/script 2>/dev/null
	awk -v RS= '/ t ==> / { last = $0 } END { print last }' $TEST_TMP/script >$TEST_TMP/last
	grep -qE '\(cookie\)|^[[:space:]]+[0-9a-f]+0000000[0-9a-f]$' $TEST_TMP/last || break
done
sed 's/^/     | /' $TEST_TMP/last
want=$(sed -n 's/^path spin [0-9]* //p' $TEST_TMP/paths)
check "perf: the program printed its path" test -n "$want"
have=$(sed -nE 's/^[[:space:]]+([0-9a-f]{6,12})$/\1/p' $TEST_TMP/last | xargs)
check "perf: the last sample has the stack from before the stop" is "$have" "$want"
finish
