#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# options/userstacktrace_maps: map events go to the instances with this option, where stacks cannot
# push them out. If no instance has the option, map events go to each instance that gets the stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH
M=userstacktrace_maps
[ -e $T/options/$M ] || die "options/$M is missing"
I=$T/instances

run()
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

# maps_in DIR: map events of callpath there; stacks_in DIR: stacks
maps_in()
{
	text_running $1
	count "<user unwind map [0-9]+ .*$CALLPATH>"
}
stacks_in()
{
	text_running $1
	stacks
}

mkdir $I/a $I/b $I/m
for dir in $T $I/a; do
	echo 1 >$dir/options/$OPT
done
check "off at first" is "$(cat $T/options/$M $I/m/options/$M | tr -d '\n')" 00

run
check "no taker: the top level with stacks has maps" at_least "$(maps_in $T)" 1
check "no taker: an instance with stacks has maps" at_least "$(maps_in $I/a)" 1
check "no taker: an instance without stacks has no maps" is "$(maps_in $I/m)" 0

check "one takes them" write 1 $I/m/options/$M
run
check "there they are" at_least "$(maps_in $I/m)" 1
check "one taker: no other instance has maps" is "$(maps_in $T) $(maps_in $I/a)" "0 0"
check "stacks stay where they were" at_least "$(stacks_in $I/a)" 40
check "one taker: the taker has no stacks" is "$(stacks_in $I/m)" 0

check "two take them" write 1 $I/b/options/$M
run
check "both have them" at_least "$(($(maps_in $I/m) > 0 && $(maps_in $I/b) > 0))" 1
check "two takers: no other instance has maps" is "$(maps_in $T) $(maps_in $I/a)" "0 0"

# An instance that does not record does not keep maps from the others
echo 0 >$I/m/tracing_on
echo 0 >$I/b/tracing_on
run
check "takers do not record: the top level has maps" at_least "$(maps_in $T)" 1
check "takers do not record: an instance with stacks has maps" at_least "$(maps_in $I/a)" 1
echo 1 >$I/b/tracing_on
run
check "one records: it has them" at_least "$(maps_in $I/b)" 1
check "one records: nobody else" is "$(maps_in $T) $(maps_in $I/a) $(maps_in $I/m)" "0 0 0"
echo 1 >$I/m/tracing_on

# An instance can have both options
check "one with stacks takes them" write 1 $T/options/$M
run
check "a taker with stacks has maps" at_least "$(maps_in $T)" 1
check "the other with stacks does not" is "$(maps_in $I/a)" 0
echo 0 >$T/options/$M

# The option goes off in one instance after the other, once by removing the instance
echo 0 >$I/b/options/$M
run
check "one gave up: the other still has them" at_least "$(maps_in $I/m)" 1
check "one gave up: that one has no maps" is "$(maps_in $I/b)" 0
check "the last taker is removed with the option on" rmdir $I/m
run
check "the last taker is gone: the top level has maps" at_least "$(maps_in $T)" 1
check "the last taker is gone: an instance with stacks has maps" at_least "$(maps_in $I/a)" 1

# The kernel fills a small buffer of stacks many times; the maps are still there
mkdir $I/m
echo 1 >$I/m/options/$M
echo 16 >$T/buffer_size_kb
run
record_stacks 3000
check "stacks cannot push them out" at_least "$(maps_in $I/m)" 1
echo 1408 >$T/buffer_size_kb

# An instance that sets the option later also gets mappings that were recorded elsewhere before
echo 0 >$I/m/options/$M
echo 1 >$T/events/syscalls/sys_enter_getppid/enable
coproc HOST { exec $PROG/dlopen-host 3 wait 3 wait; }
pid=$HOST_PID in=${HOST[1]}
check "a program waits for a line" wait_for asleep $pid dlopen-host
echo >$I/m/trace
echo 1 >$I/m/options/$M
echo >&$in
touched_again()
{
	text_running $I/m
	at_least "$(count "<user unwind map $pid .*dlopen-host>")" 1
}
check "a taker that comes later gets what is touched again" wait_for touched_again
eval "exec $in>&-"
wait $pid 2>/dev/null
for i in a b m; do
	rmdir $I/$i || check "instance $i can be removed" false
done
finish
