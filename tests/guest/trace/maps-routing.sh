#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# options/userstacktrace_maps: map events go to the instances with this option, where stacks cannot
# push them out. If no instance has the option, map events go to each instance that gets the stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH
M=userstacktrace_maps
need_option $M
I=$T/instances

run_callpath()
{
	for dir in $T $I/*/; do
		[ ! -d $dir ] || echo >$dir/trace
	done
	record_stacks 40
}

record_stacks()
{
	echo 1 >$T/events/raw_syscalls/sys_enter/enable
	echo 1 >$I/a/events/raw_syscalls/sys_enter/enable
	$CALLPATH -o $TEST_TMP/path -n $1
	echo 0 >$T/events/raw_syscalls/sys_enter/enable
	echo 0 >$I/a/events/raw_syscalls/sys_enter/enable
}

# count_maps_in DIR, count_stacks DIR: the number of map events of callpath, and of stacks, in DIR
count_maps_in()
{
	save_running_text $1
	count "<user unwind map [0-9]+ .*$CALLPATH>"
}
count_stacks_in()
{
	save_running_text $1
	count_stacks
}

mkdir $I/a $I/b $I/m
for dir in $T $I/a; do
	echo 1 >$dir/options/$OPT
done
check "at boot the option is off" is "$(cat $T/options/$M $I/m/options/$M | tr -d '\n')" 00

run_callpath
check "no taker: the top level with stacks has maps" at_least "$(count_maps_in $T)" 1
check "no taker: an instance with stacks has maps" at_least "$(count_maps_in $I/a)" 1
check "no taker: an instance without stacks has no maps" is "$(count_maps_in $I/m)" 0

check "one taker: the option is turned on" write 1 $I/m/options/$M
run_callpath
check "one taker: the taker has maps" at_least "$(count_maps_in $I/m)" 1
check "one taker: no other instance has maps" is "$(count_maps_in $T) $(count_maps_in $I/a)" "0 0"
check "one taker: another instance keeps its stacks" at_least "$(count_stacks_in $I/a)" 40
check "one taker: the taker has no stacks" is "$(count_stacks_in $I/m)" 0

check "two takers: the option is turned on" write 1 $I/b/options/$M
run_callpath
check "two takers: both takers have maps" \
	at_least "$(($(count_maps_in $I/m) > 0 && $(count_maps_in $I/b) > 0))" 1
check "two takers: no other instance has maps" is "$(count_maps_in $T) $(count_maps_in $I/a)" "0 0"

# An instance that does not record does not keep maps from the others
echo 0 >$I/m/tracing_on
echo 0 >$I/b/tracing_on
run_callpath
check "takers do not record: the top level has maps" at_least "$(count_maps_in $T)" 1
check "takers do not record: an instance with stacks has maps" at_least "$(count_maps_in $I/a)" 1
echo 1 >$I/b/tracing_on
run_callpath
check "one of two takers records: the recording taker has maps" at_least "$(count_maps_in $I/b)" 1
check "one of two takers records: no other instance has maps" \
	is "$(count_maps_in $T) $(count_maps_in $I/a) $(count_maps_in $I/m)" "0 0 0"
echo 1 >$I/m/tracing_on

# An instance can have both options
check "a taker with stacks: the option is turned on" write 1 $T/options/$M
run_callpath
check "a taker with stacks: the taker has maps" at_least "$(count_maps_in $T)" 1
check "a taker with stacks: another instance with stacks has no maps" is "$(count_maps_in $I/a)" 0
echo 0 >$T/options/$M

# The option goes off in one instance after the other: by a write, and with a removed instance
echo 0 >$I/b/options/$M
run_callpath
check "a taker turned the option off: the other taker has maps" at_least "$(count_maps_in $I/m)" 1
check "a taker turned the option off: this instance has no maps" is "$(count_maps_in $I/b)" 0
check "the last taker is removed with the option on" rmdir $I/m
run_callpath
check "the last taker is gone: the top level has maps" at_least "$(count_maps_in $T)" 1
check "the last taker is gone: an instance with stacks has maps" at_least "$(count_maps_in $I/a)" 1

# The kernel fills a small buffer of stacks many times; the maps are still there
mkdir $I/m
echo 1 >$I/m/options/$M
echo 16 >$T/buffer_size_kb
run_callpath
record_stacks 3000
check "a small buffer full of stacks: the taker keeps its maps" at_least "$(count_maps_in $I/m)" 1
echo 1408 >$T/buffer_size_kb

# An instance that sets the option later also gets mappings that were recorded elsewhere before
echo 0 >$I/m/options/$M
echo 1 >$T/events/syscalls/sys_enter_getppid/enable
coproc HOST { exec $PROG/dlopen-host 3 wait 3 wait; }
pid=$HOST_PID in=${HOST[1]}
check "a program waits for a line" wait_for is_asleep $pid dlopen-host
echo >$I/m/trace
echo 1 >$I/m/options/$M
echo >&$in
is_touched_again()
{
	save_running_text $I/m
	at_least "$(count "<user unwind map $pid .*dlopen-host>")" 1
}
check "a new taker gets the mappings that later stacks touch" wait_for is_touched_again
eval "exec $in>&-"
wait $pid 2>/dev/null
for i in a b m; do
	rmdir $I/$i || check "instance $i can be removed" false
done
finish
