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
no_command()
{
	echo "!$FUNC:userstacktrace_deferred" >$T/set_ftrace_filter
}
no_command

# The function that raises the interrupt can be traced, too: that is not too late yet
ipi=$T/events/ipi/ipi_send_cpu
traced_ipi()
{
	echo userstacktrace_deferred >$ipi/trigger
	function_command
}
check "the trigger on ipi_send_cpu" late traced_ipi
echo '!userstacktrace_deferred' >$ipi/trigger
no_command
check "each cookie has the stack of its kernel entry, with interrupts traced" \
	$CHECK late $TEST_TMP/paths $TEST_TMP/text
$CHECK late $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'

# Where the interrupt comes later, user space has gone on. Then there is no stack.
gone_on()
{
	load_module tests/guest/modules/late_step.ko "$@" ||
		die "the module late_step cannot be loaded"
	check "the function command, with user space going on" late function_command
	no_command
	check "no cookie has a stack of what comes later" \
		$CHECK late --min 0 --empty 100 $TEST_TMP/paths $TEST_TMP/text
	$CHECK late --min 0 $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'
}
trap 'rmmod late_step 2>/dev/null' EXIT
say "one instruction:"
gone_on
rmmod late_step
# Also where that is made at the same place with the same stack pointer, by another caller
say "to the next system call:"
gone_on drop=1

# That system call is another kernel entry
I=$T/instances/calls
mkdir $I
echo 1 >$I/options/$OPT
echo 1 >$I/events/raw_syscalls/sys_enter/enable
check "an instance has the stack of each system call" late function_command
no_command
text $I
check "no system call has the cookie of the one before" \
	$CHECK late $TEST_TMP/paths $TEST_TMP/text
$CHECK late $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'
rmdir $I
rmmod late_step

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
