#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 timeout=300
#
# A request on the last steps to user space, after the kernel's last check for task work, gets the
# stack of this kernel entry, not the stack of the next entry.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS
FUNC=switch_fpu_return

grep -qx $FUNC $T/available_filter_functions || skip "$FUNC cannot be traced in this kernel"

# Two tasks take turns on one CPU, so each return comes after a context switch
late()
{
	echo mono >$T/trace_clock
	echo 16384 >$T/buffer_size_kb
	echo >$T/trace
	echo 1 >$T/events/raw_syscalls/sys_enter/enable
	"$@" || return
	$PATHS late 300 >$TEST_TMP/paths
	echo 0 >$T/events/raw_syscalls/sys_enter/enable
	echo >$T/set_ftrace_filter
	text
}

function_command()
{
	echo $FUNC:userstacktrace_deferred >$T/set_ftrace_filter
}

check "the function command on $FUNC" late function_command
check "each cookie has the stack of its kernel entry" $CHECK late $TEST_TMP/paths $TEST_TMP/text
$CHECK late $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'
echo "!$FUNC:userstacktrace_deferred" >$T/set_ftrace_filter

# The same with a tracepoint that comes even later, if the kernel has it
event=$T/events/preemptirq/irq_enable
if [ -d $event ]; then
	tracepoint()
	{
		echo 1 >$T/events/preemptirq/irq_disable/enable
		echo "userstacktrace_deferred if common_preempt_count >= 0" >$event/trigger
	}
	check "the trigger on irq_enable" late tracepoint
	echo '!userstacktrace_deferred' >$event/trigger
	echo 0 >$T/events/preemptirq/irq_disable/enable
	check "each cookie has the stack of its kernel entry" \
		$CHECK late $TEST_TMP/paths $TEST_TMP/text
else
	say "preemptirq:irq_enable is not in this kernel: only the debug kernel has it"
fi
finish
