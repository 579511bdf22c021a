#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The kernel records mappings for each process and each instance apart. A cleared instance gets its
# mappings again, and no other instance does. A process with a slow mapping makes no other process
# wait.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $PROG/dlopen-host
I=$T/instances

count_maps_in()
{
	save_running_text $1
	count "<user unwind map $pid "
}

# has_maps DIR: the instance has mappings of the process
has_maps()
{
	at_least $(count_maps_in $1) 1
}

mkdir $I/a $I/b
for i in a b; do
	echo 1 >$I/$i/options/$OPT
	echo 1 >$I/$i/events/syscalls/sys_enter_getppid/enable
done
coproc HOST { exec $PROG/dlopen-host 3 wait 3 wait; }
pid=$HOST_PID in=${HOST[1]}
check "an instance has the mappings" wait_for has_maps $I/a
check "the other instance has the mappings" wait_for has_maps $I/b
check "the process waits for a line" wait_for is_asleep $pid dlopen-host
in_a=$(count_maps_in $I/a)
echo >$I/b/trace
echo >&$in
check "a cleared instance gets the mappings again" wait_for has_maps $I/b
check "an instance that was not cleared gets no mapping again" is "$(count_maps_in $I/a)" $in_a
eval "exec $in>&-"
wait $pid 2>/dev/null

# An instance without stacks of a process is cleared: this costs the process little
load_module tests/guest/modules/slow_maps.ko || die "the module slow_maps cannot be loaded"
trap 'rmmod slow_maps' EXIT
LOOKS=/sys/module/slow_maps/parameters/looks
echo 0 >$I/b/events/syscalls/sys_enter_getppid/enable
coproc HOST { exec $PROG/dlopen-host $(printf '3 wait %.0s' {0..20}); }
pid=$HOST_PID in=${HOST[1]}
check "another process waits for a line" wait_for is_asleep $pid dlopen-host
echo >&$in
has_looked()
{
	at_least "$(cat $LOOKS)" 1
}
check "looks are counted" wait_for has_looked
check "the process waits again after a look" wait_for is_asleep $pid dlopen-host
echo 0 >$LOOKS
for ((i = 0; i < 20; i++)); do
	echo >$I/b/trace
	echo >&$in || break
	sleep 0.05
done
wait $pid 2>/dev/null
looks=$(cat $LOOKS)
say "another instance cleared 20 times: $looks looks at what is mapped"
save_running_text $I/a
check "the stacks of the process were recorded" \
	at_least "$(count "-$pid +\[.*<user unwind stack ")" 60
check "clears of another instance cause few looks" at_most $looks 5
rmdir $I/a $I/b

ENTERED=/sys/module/slow_maps/parameters/entered
cp /bin/true ./slow
echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_enter/enable
taskset -c 1 ./slow &
slow=$!
check "a process takes 15 seconds for a mapping" wait_for grep -q Y $ENTERED
cp /bin/true ./other
taskset -c 0 ./other
check "another process does not wait for that mapping" \
	grep -q N /sys/module/slow_maps/parameters/done
wait $slow
echo 0 >$T/options/$OPT
echo 0 >$T/events/raw_syscalls/sys_enter/enable
save_text
# The mapping of the program may be missing, because the program keeps no frame pointers
for i in slow other; do
	check "the mappings of $i are there" \
		at_least "$(count "^ +$i-[0-9]+ .*<user unwind map ")" 2
done
finish
