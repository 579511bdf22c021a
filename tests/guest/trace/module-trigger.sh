#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: mem=1024
#
# A trigger on an event of a module goes with the module, and gives back what it held: more modules
# than there are clients of deferred unwinding can come and go.

. "$(dirname "$0")/../lib.sh"
need_kernel
MODULE=tests/guest/modules/module_event.ko
EVENT=events/module_event/module_event

add_module_triggers()
{
	local i
	for ((i = 0; i < 70; i++)); do
		load_module $MODULE || return
		mkdir $T/instances/m$i
		write $OPT $T/instances/m$i/$EVENT/trigger || {
			echo "the trigger is refused after $i modules"
			rmmod module_event
			return 1
		}
		rmmod module_event || return
	done
}
check "a trigger on a module's event, 70 times" add_module_triggers

# The trigger enable_event holds another thing: the event that it turns on
E=$T/events/syscalls/sys_enter_getpriority
load_module $MODULE
check "enable_event is set" write "enable_event:syscalls:sys_enter_getpriority" $T/$EVENT/trigger
check "enable_event: the event is on in soft mode" is "$(cat $E/enable)" "0*"
rmmod module_event
check "enable_event: the event is off without the module" is "$(cat $E/enable)" 0

remove_instances()
{
	local i
	for ((i = 0; i < 70; i++)); do
		[ ! -d $T/instances/m$i ] || rmdir $T/instances/m$i || return
	done
}
check "all instances can be removed" remove_instances

# remove_used_instances: remove instances that still have the option and a trigger
remove_used_instances()
{
	local i I=$T/instances/gone
	for ((i = 0; i < 70; i++)); do
		mkdir $I || return
		echo 1 >$I/options/$OPT || return
		write $OPT $I/events/sched/sched_switch/trigger || return
		rmdir $I || return
	done
}
check "an instance with option and trigger is removed, 70 times" remove_used_instances
check "the option can be set after 70 instances" write 1 $T/options/$OPT
finish
