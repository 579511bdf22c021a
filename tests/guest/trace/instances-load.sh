#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# Instances are made, cleared, resized, switched and removed while every CPU records into them.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $PROG/load

seconds=12
$PROG/load $seconds >$TEST_TMP/load.log &
load=$!

# churn NAME: make, use and remove the instance NAME again and again
churn()
{
	local dir=$T/instances/$1 n=0
	while kill -0 $load 2>/dev/null; do
		mkdir $dir || { echo "$1: cannot be made"; return 1; }
		echo 64 >$dir/buffer_size_kb
		echo 1 >$dir/options/$OPT
		[ ! -e $dir/options/userstacktrace_maps ] ||
			echo $((n & 1)) >$dir/options/userstacktrace_maps
		echo 1 >$dir/events/sched/enable
		echo $OPT >$dir/events/raw_syscalls/sys_enter/trigger
		echo >$dir/trace
		echo 1 >$dir/snapshot 2>/dev/null
		head -n 200 $dir/trace >/dev/null
		echo 128 >$dir/buffer_size_kb
		echo 0 >$dir/tracing_on
		echo 1 >$dir/tracing_on
		# The instance is removed with its trigger on, every second time with the option
		if [ $((n % 2)) = 0 ]; then
			echo 0 >$dir/options/$OPT
		fi
		for i in 1 2 3 4 5; do
			rmdir $dir 2>/dev/null && break
			sleep 0.1
		done
		[ ! -d $dir ] || { echo "$1: cannot be removed"; return 1; }
		n=$((n + 1))
	done
	echo "$1: $n lives"
	[ $n -ge 1 ]
}

for i in a b c; do
	churn $i >$TEST_TMP/$i.log 2>&1 &
	pids="$pids $!"
done
for p in $pids; do
	wait $p
	rc=$?
	check "a loop that makes and removes an instance succeeds" is $rc 0
done
wait $load
rc=$?
check "the load succeeds" is $rc 0
cat $TEST_TMP/[abc].log $TEST_TMP/load.log | sed 's/^/     /'

# All still works afterwards
check "the option is turned on after the load" write 1 $T/options/$OPT
echo 1 >$T/events/sched/sched_switch/enable
sleep 0.5
echo 0 >$T/events/sched/sched_switch/enable
save_text
join_events
check "stacks are recorded after the load" at_least "$(count_with_stack sched_switch)" 1
finish
