#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Cookies are a CPU's number and a 32-bit counter that steps by two: it wraps, and cookies come
# back. Neither joins anything wrongly. (unwind-counter.ko sets the counter.)

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check
load_module tests/guest/modules/unwind-counter.ko || die "unwind-counter.ko cannot be loaded"
trap 'rmmod unwind-counter' EXIT
counter=/sys/module/unwind_counter/parameters/set

# Wraps within the run: it makes several hundred entries on each CPU
echo 0xffffff80 >$counter
callpath_case "about to wrap" $CALLPATH -t 3 -n 100 -c 2 -x plain,yield,sleep,signal
say "counters after it: $(cat $counter)"
for c in $(cat $counter); do
	check "a counter wrapped" at_most $((c)) $((0x7fffffff))
	check "a counter stays odd" is $((c & 1)) 1
done

# The same task gets the same cookies again, each time for another stack: the nearest in time is
# the right one. No system call here lasts as long as the counter keeps going.
again()
{
	local i
	callpath_record $CALLPATH -n 1500 -c 2 -x plain,yield -z 128 &
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		sleep 0.2
		echo 0x1000 >$counter
	done
	wait $!
}
check "cookies that come back: recorded" again
repeated=$(trace-cmd report -N -i $TEST_TMP/trace.dat -F ftrace:user_unwind_stack 2>/dev/null |
	awk '{ sub(/.*-/, "", $1); c = ""; for (i = 2; i <= NF; i++) if ($i ~ /^cookie=/) c = $i;
	     if (seen[$1 " " c]++) n++ } END { print n + 0 }')
check "cookies did come back" at_least "$repeated" 20
say "$repeated stacks have a cookie that their task had before"
check "cookies that come back: each stack is the one of its event" \
	$PROG/callpath-check -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
plugin_case "cookies that come back" -n 100
finish
