#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every kind of trace event gets its cookie and its stack: system calls, kprobes, uprobes, fprobes,
# user events, synthetic events, other tracepoints, and what is written to trace_marker.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/user-event

echo 1 >$T/options/$OPT

# check_kind WHAT EVENT-DIRECTORY NAME COMMAND...: each event has a cookie and a stack, except for
# $late events, which come late in execve()
check_kind()
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
	save_text
	join_events
	check "$what: events have cookies" at_least "$(count_events $name)" 1
	check "$what: each cookie has a stack" each_has_stack $name
	check "$what: no event without a cookie" is "$(count "[ :]$name[:( ]")" \
		"$(($(count_events $name) + ${late:-0}))"
}

run_callpath()
{
	$CALLPATH -o $TEST_TMP/path -n 100 -x plain,yield
}

# kernel threads end, too, and have no cookie
echo 1 >$T/options/event-fork
echo $$ >$T/set_event_pid
check_kind "tracepoint" sched/sched_process_exit sched_process_exit run_callpath
echo >$T/set_event_pid
echo 0 >$T/options/event-fork
check_kind "system call enter" syscalls/sys_enter_lseek sys_lseek run_callpath
check_kind "system call exit" syscalls/sys_exit_lseek sys_lseek run_callpath
late=1 check_kind "raw system call" raw_syscalls/sys_exit sys_exit run_callpath

check "kprobe: made" write "p:ukp ${SYS_PREFIX}_lseek" $T/kprobe_events
check_kind "kprobe" kprobes/ukp ukp run_callpath
check "kretprobe: made" write "r:urp ${SYS_PREFIX}_lseek" $T/kprobe_events
check_kind "kretprobe" kprobes/urp urp run_callpath
echo >$T/kprobe_events

if [ -e $T/dynamic_events ] && write "f:ufp ${SYS_PREFIX}_lseek" $T/dynamic_events >/dev/null; then
	check_kind "fprobe" fprobes/ufp ufp run_callpath
	echo '-:fprobes/ufp' >>$T/dynamic_events
	check "fprobe exit: made" write "f:ufx ${SYS_PREFIX}_lseek%return" $T/dynamic_events
	check_kind "fprobe exit" fprobes/ufx ufx run_callpath
	echo '-:fprobes/ufx' >>$T/dynamic_events
else
	check "fprobe: made" false
fi

# At the entry of a function its frame pointer is not set up yet: the caller must not be missing
sym=$(awk '$3 == "op_yield" { print "0x" $1 }' $PROG/callpath.sym)
check "uprobe: made" write "p:uup $CALLPATH:$(printf '0x%x' $((sym - LINKED_AT)))" $T/uprobe_events
check_kind "uprobe" uprobes/uup uup run_callpath
printf -v addr '%x' $((sym))
check "uprobe: the first frame is the probed address" grep -qE "^uup $addr " $TEST_TMP/joined
walks=$(awk '$3 ~ /^walk_[abc]$/ { print $1 }' $PROG/callpath.sym | sort)
low=0x$(head -n 1 <<<"$walks")
is_second_in_walk()
{
	local n=0 frame
	while read -r _ _ frame _; do
		[ $((0x$frame)) -gt $((low)) ] && [ $((0x$frame)) -lt $((low + 0x400)) ] &&
			n=$((n + 1))
	done <$TEST_TMP/joined
	at_least $n 1
}
check "uprobe: the second frame is the caller" is_second_in_walk
check "uretprobe: made" write "r:uur $CALLPATH:$(printf '0x%x' $((sym - LINKED_AT)))" \
	$T/uprobe_events
check_kind "uretprobe" uprobes/uur uur run_callpath
echo >$T/uprobe_events

# User events: the program waits until enabling its event has ended
write_user_events()
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
	check "user event: written" write_user_events
	save_text
	join_events
	check "user event: each event has a cookie" is "$(count_events ustack_test)" 5
	check "user event: each cookie has a stack" is "$(count_with_stack ustack_test)" 5
	echo 0 >$T/events/user_events/ustack_test/enable 2>/dev/null
else
	check "user event: the kernel lists the events" false
fi

# Synthetic events come from the context of the event that ends them
if [ -e $T/synthetic_events ]; then
	echo 's:usyn u64 delta' >>$T/dynamic_events
	echo 'hist:keys=common_pid:ts0=common_timestamp.usecs' \
		>$T/events/syscalls/sys_enter_lseek/trigger
	match='onmatch(syscalls.sys_enter_lseek).trace(usyn,$d)'
	echo 'hist:keys=common_pid:d=common_timestamp.usecs-$ts0:'"$match" \
		>$T/events/syscalls/sys_exit_lseek/trigger
	check_kind "synthetic event" synthetic/usyn usyn run_callpath
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
save_text
join_events
check "trace_marker: each event has a cookie" is "$(count_events tracing_mark_write)" 5
check "trace_marker: each cookie has a stack" is "$(count_with_stack tracing_mark_write)" 5
check "trace_marker_raw: each cookie has a stack" is "$(count_with_stack '#')" 5
check "trace_marker: trace-cmd records" record -O $OPT -e sched:sched_process_exec -- \
	bash -c "echo mark me >$T/trace_marker"
check "trace_marker: trace-cmd reports" report
check "trace_marker: trace-cmd report shows the stack after the event" \
	awk '/mark me/ { from = NR } from && NR > from && NR < from + 6 && /^=> / { seen = 1 }
	     END { exit !seen }' $TEST_TMP/report
finish
