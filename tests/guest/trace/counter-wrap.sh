#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A cookie is a CPU's number and a 32-bit counter that steps by two. The counter wraps, and cookies
# come back. Neither of the two causes a wrong join. unwind-counter.ko sets the counter.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check
load_module tests/guest/modules/unwind-counter.ko || die "unwind-counter.ko cannot be loaded"
trap 'rmmod unwind-counter' EXIT
counter=/sys/module/unwind_counter/parameters/set

# The counter wraps within the run, which makes several hundred entries on each CPU
echo 0xffffff80 >$counter
check_callpath "about to wrap" $CALLPATH -t 3 -n 100 -c 2 -x plain,yield,sleep,signal
say "counters after it: $(cat $counter)"
for c in $(cat $counter); do
	check "a counter wrapped" at_most $((c)) $((0x7fffffff))
	check "a counter stays odd" is $((c & 1)) 1
done

# record_repeated: the same task gets the same cookies again, each time for another stack. The
# counter takes four values in turn, twice. In between, the task is stopped for longer than
# JOIN_PERIOD (2^31 ns): the join relies on it that no cookie comes back in less, as a counter that
# nobody sets needs as long.
record_repeated()
{
	local pid turn
	# the task starts with cookies that no turn gives it
	echo 0x100000 >$counter
	record_callpath $CALLPATH -n 8000 -c 1 -x plain,yield,sleep -z 128 &
	pid=$!
	wait_for pgrep -x callpath >/dev/null
	for turn in 0 1 2 3 4 5 6 7; do
		[ $turn != 4 ] || { pkill -STOP -x callpath; sleep 2.3; }
		echo $((0x1000 + turn % 4 * 0x10000)) >$counter
		[ $turn != 4 ] || pkill -CONT -x callpath
		# a program that sleeps takes long to start
		read -rt 0.03 <>$TEST_TMP/never
	done
	wait $pid
}
mkfifo $TEST_TMP/never
check "cookies that come back: recorded" record_repeated
TRACEEVENT_PLUGIN_DIR=/nowhere trace-cmd report -N -i $TEST_TMP/trace.dat 2>/dev/null |
	grep user_unwind_stack: >$TEST_TMP/report
repeated=$(awk 'match($0, /cookie=[0-9a-f]+/) { c = substr($0, RSTART, RLENGTH)
	sub(/ +\[.*/, ""); sub(/.*-/, ""); if (seen[$0 " " c]++) n++ }
	END { print n + 0 }' $TEST_TMP/report)
check "cookies that come back: ten or more do" at_least "$repeated" 10
say "$repeated stacks have a cookie that their task had before"
check "cookies that come back: each event has the right stack" \
	$PROG/callpath-check -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
check_plugin "cookies that come back" -n 100
finish
