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

grep -qx $FUNC $T/available_filter_functions || skip_test "$FUNC cannot be traced in this kernel"

# Two tasks take turns on one CPU, so each return comes after a context switch
record_late()
{
	echo mono >$T/trace_clock
	echo 16384 >$T/buffer_size_kb
	echo >$T/trace
	echo 1 >$T/events/raw_syscalls/sys_enter/enable
	"$@" || return
	$PATHS late 300 >$TEST_TMP/paths
	echo 0 >$T/events/raw_syscalls/sys_enter/enable
	echo >$T/set_ftrace_filter
	save_text
}

add_command()
{
	echo $FUNC:userstacktrace_deferred >$T/set_ftrace_filter
}

check "the load runs with the function command on $FUNC" record_late add_command
check "each cookie has the stack of its kernel entry" $CHECK late $TEST_TMP/paths $TEST_TMP/text
$CHECK late $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'
remove_command()
{
	echo "!$FUNC:userstacktrace_deferred" >$T/set_ftrace_filter
}
remove_command

# A request in the function that raises the interrupt is not too late yet
ipi=$T/events/ipi/ipi_send_cpu
trace_ipi()
{
	echo userstacktrace_deferred >$ipi/trigger
	add_command
}
check "the load runs with a trigger on ipi_send_cpu" record_late trace_ipi
echo '!userstacktrace_deferred' >$ipi/trigger
remove_command
check "each cookie has the stack of its kernel entry, with interrupts traced" \
	$CHECK late $TEST_TMP/paths $TEST_TMP/text
$CHECK late $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'

# Where the interrupt comes later, user space has gone on. Then there is no stack.
check_gone_on()
{
	load_module tests/guest/modules/late_step.ko "$@" ||
		die "the module late_step cannot be loaded"
	check "the load runs while user space goes on before the interrupt" record_late add_command
	remove_command
	check "no cookie has the stack of a later place" \
		$CHECK late --min 0 --empty 100 $TEST_TMP/paths $TEST_TMP/text
	$CHECK late --min 0 $TEST_TMP/paths $TEST_TMP/text | tail -1 | sed 's/^/     /'
}
trap 'rmmod late_step 2>/dev/null' EXIT
say "one instruction:"
check_gone_on
rmmod late_step
# The next system call comes from the same place, with the same stack pointer and another caller
say "to the next system call:"
check_gone_on drop=1

# That system call is another kernel entry
I=$T/instances/calls
mkdir $I
echo 1 >$I/options/$OPT
echo 1 >$I/events/raw_syscalls/sys_enter/enable
check "the load runs while an instance requests each system call" record_late add_command
remove_command
save_text $I
check "no system call has the cookie of the system call before" \
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
	check "the load runs with a trigger on irq_enable" record_late tracepoint
	echo '!userstacktrace_deferred' >$event/trigger
	echo 0 >$T/events/preemptirq/irq_disable/enable
	check "each cookie has the stack of its kernel entry, with irq_enable traced" \
		$CHECK late $TEST_TMP/paths $TEST_TMP/text
else
	say "preemptirq:irq_enable is not in this kernel: only the debug kernel has it"
fi
finish
