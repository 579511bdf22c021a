#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024
#
# The kernel walks a process as if there were no tables if none of the files of the process has a
# table. The rows that were found for a process stay known as long as nothing changes.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/chain-static

# count_walks COMMAND...: print how many walks of COMMAND were by tables, and how many there were
F=$T/instances/functions
count_walks()
{
	echo >$F/trace
	echo 1 >$F/tracing_on
	"$@" >/dev/null 2>&1 </dev/null &
	wait $!
	echo 0 >$F/tracing_on
	grep -E -- "-$! +\[" $F/trace >$TEST_TMP/walks
	echo $(grep -c unwind_user_by_tables $TEST_TMP/walks) \
		$(grep -c unwind_deferred_task_work $TEST_TMP/walks)
}

mkdir $F
grep -qx unwind_user_by_tables $T/available_filter_functions ||
	die "unwind_user_by_tables cannot be traced"
echo unwind_user_by_tables unwind_deferred_task_work >$F/set_ftrace_filter
echo 16384 >$F/buffer_size_kb
echo function >$F/current_tracer
echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_enter/enable
BUSY="dd if=/dev/zero of=/dev/null bs=1 count=3000"

cp $TPROG/chain-static ./app
read -r tables all <<<"$(count_walks $BUSY)"
say "no table: $all stacks, $tables by tables"
check "a program is walked" at_least $all 6000
check "without tables, a program is not walked by tables" is $tables 0
# This also registers a table for the vDSO, which all programs have
check "another program: registered" register -q ./app
# The vDSO of arm64 has frame records and no table
vdso=1
[ $ARCH != arm64 ] || vdso=0
check "tables for the vDSO: $vdso" is "$(count_tables_of '[vdso]')" $vdso
first=$(cat $TEST_TMP/register.pid)
read -r tables all <<<"$(count_walks $BUSY)"
say "a table for another program: $all stacks, $tables by tables"
check "a table for another program: a program is walked" at_least $all 6000
check "a table of another program: walks by tables at the start only" at_most $tables 200

# The program maps memory all the time, but no code
MAPS='import mmap
for i in range(2000):
    mmap.mmap(-1, 65536).close()'
read -r tables all <<<"$(count_walks python3 -c "$MAPS")"
say "one that maps memory: $all stacks, $tables by tables"
check "a program that maps data memory is walked" at_least $all 4000
check "a program that maps data memory is rarely walked by tables" at_most $tables $((all / 10))
read -r tables all <<<"$(count_walks ./app 1000)"
say "the other program: $all stacks, $tables by tables"
check "the program with the table is walked by tables" at_least $tables 2000

# The test runs on one CPU, because each CPU keeps its own rows. Two addresses of a process can need
# the same place, and are then looked up all the time. Another process has other addresses.
count_lookups()
{
	awk -v p="$(realpath ./app)" '$1 == p { print $4 }' $LIST
}
is_looked_up()
{
	at_least $(($(count_lookups) - start)) 4
}
least=
for ((i = 0; i < 3; i++)); do
	start=$(count_lookups)
	taskset -c 1 ./app 10000000 &
	pid=$!
	check "turn $i: addresses of the program with the table are looked up" wait_for is_looked_up
	sleep 1
	before=$(($(count_lookups) - start))
	sleep 4
	again=$(($(count_lookups) - start - before))
	kill $pid
	wait $pid 2>/dev/null
	say "$again lookups in four seconds, after $before"
	[ "$least" ] && [ $least -le $again ] || least=$again
done
check "addresses are not looked up again each second" at_most $least 16

# The kernel sees a file that is mapped later
cp $TPROG/libplug.so ./later.so
check "a library that is mapped later: registered" register -q ./later.so
read -r tables all <<<"$(count_walks $TPROG/loads ./later.so 3000)"
say "a library that is loaded later: $all stacks, $tables by tables"
check "a library that is mapped later: walked by tables" at_least $tables 1000

check "a library that is mapped later: unregistered" unregister
kill $first
echo 0 >$T/options/$OPT
echo 0 >$T/events/raw_syscalls/sys_enter/enable
echo nop >$F/current_tracer
rmdir $F
finish
