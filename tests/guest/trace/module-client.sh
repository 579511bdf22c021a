#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# The sample client: a module that requests stacks from a tracepoint probe and from an ftrace
# callback. It gets its stacks next to the option's stacks, and can be loaded and removed under
# load.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $PROG/load $CALLPATH
ko=samples/unwind-client/unwind-client.ko

count_requests()
{
	count 'unwind_client_request: cookie=[0-9a-f]*[1-9a-f]'
}

# count_answered: how many cookies the accepted requests have, and how many of the cookies have a
# stack event
count_answered()
{
	awk '/unwind_client_request: / { match($0, /cookie=[0-9a-f]+/)
		c = substr($0, RSTART, RLENGTH); if (c != "cookie=0") want[c] = 1 }
	     /unwind_client_stack: / { match($0, /cookie=[0-9a-f]+/)
		have[substr($0, RSTART, RLENGTH)] = 1 }
	     END { for (c in want) { n++; if (c in have) ok++ } print n + 0, ok + 0 }' \
		$TEST_TMP/text
}

run_callpath()
{
	echo >$T/trace
	echo 1 >$T/events/unwind_client/enable
	$CALLPATH -o $TEST_TMP/path "$@"
	echo 0 >$T/events/unwind_client/enable
	save_text
	read -r want have <<<"$(count_answered)"
}

load_module $ko event=sys_enter
check "the module is loaded" grep -q ^unwind_client /proc/modules
echo 1408 >$T/buffer_size_kb
run_callpath -n 100 -d 400
check "tracepoint: stacks are requested" at_least "$(count_requests)" 100
# The shell that turned the events off may still be in its last system call
check "tracepoint: each request has a stack" at_least $have $((want - 2))
check "tracepoint: stacks have frames of the program" at_least \
	"$(count "unwind_client_stack: .*0x$IN_PROGRAM")" 100
check "tracepoint: a deep stack is whole, in parts" at_least \
	"$(count 'unwind_client_stack: .*total=4[0-9][0-9] first=256')" 1

# With the option set, both have the same cookies and frames
echo 1 >$T/options/$OPT
run_callpath -n 50
check "with the option: the module has stacks" at_least $have $((want - 2))
same=$(awk '/<user unwind stack / { match($0, /stack [0-9a-f]+/)
		a[substr($0, RSTART + 6, RLENGTH - 6)] = 1 }
	/unwind_client_stack: / { match($0, /cookie=[0-9a-f]+/)
		b[substr($0, RSTART + 7, RLENGTH - 7)] = 1 }
	END { for (c in b) if (c in a) n++; print n + 0 }' $TEST_TMP/text)
check "with the option: the module and the option have the same cookies" \
	at_least $same $((have - 2))
echo 0 >$T/options/$OPT
rmmod unwind-client

load_module $ko event=none function=${SYS_PREFIX}_getpriority
run_callpath -n 200
check "function: stacks are requested" at_least "$(count_requests)" 20
check "function: each request has a stack" is "$have" "$want"
rmmod unwind-client
check_not "a function that does not exist is refused" insmod $BUILD/$ko event=none \
	function=no_such_function
check_not "an unknown event is refused" insmod $BUILD/$ko event=no_such_event
check "a refused module leaves nothing in the kernel" is "$(grep -c ^unwind_client /proc/modules)" 0

# Loaded and removed under load
echo 64 >$T/buffer_size_kb
$PROG/load 10 >$TEST_TMP/load.log &
load=$!
n=0
while kill -0 $load 2>/dev/null; do
	insmod $BUILD/$ko event=sched_switch \
		function=$([ $((n % 2)) = 0 ] || echo schedule) || break
	echo 1 >$T/events/unwind_client/enable
	[ $((n % 3)) != 0 ] || sleep 0.05
	rmmod unwind-client || break
	n=$((n + 1))
done
wait $load
check "under load: the load succeeds" is $? 0
say "$(cat $TEST_TMP/load.log), $n times loaded and removed"
check "under load: the module is loaded and removed" at_least $n 1
check "under load: the module is gone at the end" is "$(grep -c ^unwind_client /proc/modules)" 0
# Without it, the guest sometimes dies where the kernel changes its code, as here
stale=/sys/module/stale_int3/parameters/count
[ $MACHINE != x86_64 ] || check "an int3 that is not in memory is not fatal" at_least \
	"$(cat $stale 2>/dev/null || echo 0)" 1
finish
