#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A kernel of the series without CONFIG_TRACE_USER_UNWIND and CONFIG_UNWIND_USER_SFRAME has no
# option, event, trigger, command or file of the series. `make test-off` builds and boots it.

. "$(dirname "$0")/../lib.sh"

is_off()
{
	zcat /proc/config.gz | grep -qx "# CONFIG_$1 is not set"
}
for config in TRACE_USER_UNWIND UNWIND_USER_SFRAME; do
	check "CONFIG_$config is off" is_off $config
done
check "this kernel can walk user stacks" grep -qw unwind_user /proc/kallsyms
check "the option is absent" is "$(ls -d $T/options/*{deferred,_maps} 2>/dev/null)" ''
check "the events are absent" is "$(ls -d $T/events/ftrace/user_unwind_* 2>/dev/null)" ''
check "the file user_unwind_tables is absent" is "$(ls -d $T/user_unwind_tables 2>/dev/null)" ''
# Each file takes what the kernel has
TRIGGER=$T/events/sched/sched_switch/trigger
check "other triggers are there" write stacktrace:1 $TRIGGER
check_not "the trigger is refused" write $OPT $TRIGGER
write '!stacktrace' $TRIGGER
check "other function commands are there" write schedule:stacktrace:1 $T/set_ftrace_filter
check_not "the function command is refused" write schedule:$OPT $T/set_ftrace_filter
write '!schedule:stacktrace:0' $T/set_ftrace_filter
echo schedule >$T/set_ftrace_filter
echo function >$T/current_tracer
check "other options of the function tracer are there" write func_stack_trace $T/trace_options
check_not "the option of the function tracer is absent" \
	write func_userstack_deferred $T/trace_options
write nofunc_stack_trace $T/trace_options
echo nop >$T/current_tracer
echo >$T/set_ftrace_filter
check "README has no line about deferred user stacks" is "$(grep -c user.*deferred $T/README)" 0
finish
