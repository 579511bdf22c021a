#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024
#
# A process of which no file has a table walks as if there were no tables, and the rows that were
# found for a process stay found as long as nothing changes.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/chain-static

# walks COMMAND...: prints how often the command was walked by tables, and how often in all
F=$T/instances/functions
walks()
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
read -r tables all <<<"$(walks $BUSY)"
say "no table: $all stacks, $tables by tables"
check "a program is walked" at_least $all 6000
check "not by tables, as there are none" is $tables 0
# This is a table for the vDSO, too, which all programs have
check "a table for another program" register -q ./app
# That of arm64 has frame records and no table
vdso=1
[ $ARCH != arm64 ] || vdso=0
check "tables for the vDSO: $vdso" is "$(tables_of '[vdso]')" $vdso
first=$(cat $TEST_TMP/register.pid)
read -r tables all <<<"$(walks $BUSY)"
say "a table for another program: $all stacks, $tables by tables"
check "a table for another program: a program is walked" at_least $all 6000
check "still not by tables, but for a while as it starts" at_most $tables 200

# It maps memory all the time, but no code
MAPS='import mmap
for i in range(2000):
    mmap.mmap(-1, 65536).close()'
read -r tables all <<<"$(walks python3 -c "$MAPS")"
say "one that maps memory: $all stacks, $tables by tables"
check "a program that maps memory is walked" at_least $all 4000
check "mostly not by tables" at_most $tables $((all / 10))
read -r tables all <<<"$(walks ./app 1000)"
say "the other program: $all stacks, $tables by tables"
check "the other program is walked by tables" at_least $tables 2000

# On one CPU, as each has rows of its own. Two addresses of a process can have to share a row, and
# are then looked up all the time. That is not so in the next process.
lookups()
{
	awk -v p="$(realpath ./app)" '$1 == p { print $4 }' $LIST
}
least=
for ((i = 0; i < 3; i++)); do
	start=$(lookups)
	taskset -c 1 ./app 10000000 &
	pid=$!
	sleep 1
	before=$(($(lookups) - start))
	sleep 4
	again=$(($(lookups) - start - before))
	kill $pid
	wait $pid 2>/dev/null
	say "$again lookups in four seconds, after $before"
	[ "$least" ] && [ $least -le $again ] || least=$again
done
check "addresses of the other program are looked up" at_least $before 4
check "addresses are not looked up again each second" at_most $least 16

# The kernel sees a file that is mapped later
cp $TPROG/libplug.so ./later.so
check "registered" register -q ./later.so
read -r tables all <<<"$(walks $TPROG/loads ./later.so 3000)"
say "a library that is loaded later: $all stacks, $tables by tables"
check "what has a library with a table is walked by tables" at_least $tables 1000

check "ended" unregister
kill $first
echo 0 >$T/options/$OPT
echo 0 >$T/events/raw_syscalls/sys_enter/enable
echo nop >$F/current_tracer
rmdir $F
finish
