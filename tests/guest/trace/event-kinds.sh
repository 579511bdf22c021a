#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every kind of trace event gets its cookie and its stack: system calls, kprobes, uprobes, fprobes,
# user events, synthetic events, other tracepoints, and what is written to trace_marker.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/user-event

echo 1 >$T/options/$OPT

# kind WHAT EVENT-DIRECTORY NAME COMMAND...; $late events come late in execve(), without a cookie
kind()
{
	local what=$1 dir=$T/events/$2 name=$3
	shift 3
	if ! write 1 $dir/enable; then
		check "$what: enabled" false
		return
	fi
	echo >$T/trace
	"$@"
	echo 0 >$dir/enable
	text
	joined
	check "$what: has a cookie" at_least "$(events_of $name)" 1
	check "$what: each has its stack" each_has_stack $name
	check "$what: no event without a cookie" is "$(count "[ :]$name[:( ]")" \
		"$(($(events_of $name) + ${late:-0}))"
}

run()
{
	$CALLPATH -o $TEST_TMP/path -n 100 -x plain,yield
}

kind "tracepoint" sched/sched_process_exit sched_process_exit run
kind "system call enter" syscalls/sys_enter_lseek sys_lseek run
kind "system call exit" syscalls/sys_exit_lseek sys_lseek run
late=1 kind "raw system call" raw_syscalls/sys_exit sys_exit run

check "kprobe: made" write "p:ukp ${SYS_PREFIX}_lseek" $T/kprobe_events
kind "kprobe" kprobes/ukp ukp run
check "kretprobe: made" write "r:urp ${SYS_PREFIX}_lseek" $T/kprobe_events
kind "kretprobe" kprobes/urp urp run
echo >$T/kprobe_events

if [ -e $T/dynamic_events ] && write "f:ufp ${SYS_PREFIX}_lseek" $T/dynamic_events >/dev/null; then
	kind "fprobe" fprobes/ufp ufp run
	echo '-:fprobes/ufp' >>$T/dynamic_events
	check "fprobe exit: made" write "f:ufx ${SYS_PREFIX}_lseek%return" $T/dynamic_events
	kind "fprobe exit" fprobes/ufx ufx run
	echo '-:fprobes/ufx' >>$T/dynamic_events
else
	check "fprobe: made" false
fi

# At the entry of a function its frame pointer is not set up yet: the caller must not be missing
sym=$(awk '$3 == "op_yield" { print "0x" $1 }' $PROG/callpath.sym)
check "uprobe: made" write "p:uup $CALLPATH:$(printf '0x%x' $((sym - LINKED_AT)))" $T/uprobe_events
kind "uprobe" uprobes/uup uup run
printf -v addr '%x' $((sym))
check "uprobe: the first frame is the probed address" grep -qE "^uup $addr " $TEST_TMP/joined
walks=$(awk '$3 ~ /^walk_[abc]$/ { print $1 }' $PROG/callpath.sym | sort)
low=0x$(head -n 1 <<<"$walks")
in_walk()
{
	local n=0 frame
	while read -r _ _ frame _; do
		[ $((0x$frame)) -gt $((low)) ] && [ $((0x$frame)) -lt $((low + 0x400)) ] &&
			n=$((n + 1))
	done <$TEST_TMP/joined
	at_least $n 1
}
check "uprobe: the second frame is its caller" in_walk
check "uretprobe: made" write "r:uur $CALLPATH:$(printf '0x%x' $((sym - LINKED_AT)))" \
	$T/uprobe_events
kind "uretprobe" uprobes/uur uur run
echo >$T/uprobe_events

# User events: the program waits until enabling its event has ended
user_event()
{
	mkfifo $TEST_TMP/enabled
	$PROG/user-event $T 5 <$TEST_TMP/enabled &
	exec 8>$TEST_TMP/enabled
	wait_for test -e $T/events/user_events/ustack_test/enable
	echo 1 >$T/events/user_events/ustack_test/enable
	exec 8>&-
	wait $!
}
if [ -e $T/user_events_data ]; then
	echo >$T/trace
	check "user event: written" user_event
	text
	joined
	check "user event: each has a cookie" is "$(events_of ustack_test)" 5
	check "user event: each has its stack" is "$(with_stack ustack_test)" 5
	echo 0 >$T/events/user_events/ustack_test/enable 2>/dev/null
else
	check "user event: the kernel has them" false
fi

# Synthetic events come from the context of the event that ends them
if [ -e $T/synthetic_events ]; then
	echo 's:usyn u64 delta' >>$T/dynamic_events
	echo 'hist:keys=common_pid:ts0=common_timestamp.usecs' \
		>$T/events/syscalls/sys_enter_lseek/trigger
	match='onmatch(syscalls.sys_enter_lseek).trace(usyn,$d)'
	echo 'hist:keys=common_pid:d=common_timestamp.usecs-$ts0:'"$match" \
		>$T/events/syscalls/sys_exit_lseek/trigger
	kind "synthetic event" synthetic/usyn usyn run
	echo '!hist:keys=common_pid:d=common_timestamp.usecs-$ts0:'"$match" \
		>$T/events/syscalls/sys_exit_lseek/trigger
	echo '!hist:keys=common_pid:ts0=common_timestamp.usecs' \
		>$T/events/syscalls/sys_enter_lseek/trigger
	echo '-:synthetic/usyn' >>$T/dynamic_events
fi

# Programs write text into the trace
echo >$T/trace
for i in $(seq 5); do
	echo "mark $i" >$T/trace_marker
	printf '\1\0\0\0raw' >$T/trace_marker_raw
done
text
joined
check "trace_marker: each has a cookie" is "$(events_of tracing_mark_write)" 5
check "trace_marker: each has its stack" is "$(with_stack tracing_mark_write)" 5
check "trace_marker_raw: each has its stack" is "$(with_stack '#')" 5
check "trace_marker: recorded by trace-cmd" record -O $OPT -e sched:sched_process_exec -- \
	bash -c "echo mark me >$T/trace_marker"
check "trace_marker: reported" report
check "trace_marker: trace-cmd report shows the stack after it" \
	awk '/mark me/ { from = NR } from && NR > from && NR < from + 6 && /^=> / { seen = 1 }
	     END { exit !seen }' $TEST_TMP/report
finish
