#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The event trigger: the events with the trigger get stacks, a number of times, when a filter
# matches.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

E=$T/events/raw_syscalls/sys_enter
other=$NR_YIELD
# An event that no shell has, to count on
C=$T/events/syscalls/sys_enter_getpriority

# traced [DIR]: both events of a run; the trigger may be on one
traced()
{
	local dir=${1:-$T}
	echo >$dir/trace
	echo 1 >$dir/events/raw_syscalls/enable
	$CALLPATH -o $TEST_TMP/path -n ${2:-60} -x plain,yield
	echo 0 >$dir/events/raw_syscalls/enable
	text $dir
	joined
}

check "the trigger is set" write $OPT $E/trigger
check "the trigger reads back" grep -qE "^$OPT:unlimited" $E/trigger
check_not "twice is refused" write $OPT $E/trigger
traced
check "the event with the trigger has cookies" at_least "$(events_of sys_enter)" 50
check "each with a stack" each_has_stack sys_enter
check "the other event has none" is "$(events_of sys_exit)" 0
check "no option was changed" is "$(cat $T/options/$OPT)" 0

# The option and the trigger together: one cookie for each event
echo 1 >$T/options/$OPT
traced
check "with the option too: one cookie per event" at_most "$(cookies)" "$(count ' NR ')"
echo 0 >$T/options/$OPT
traced
check "the trigger goes on without the option" at_least "$(with_stack sys_enter)" 50

check "the trigger is removed" write "!$OPT" $E/trigger
check "the removed trigger is gone" is "$(grep -cv '^#' $E/trigger)" 0
traced
check "no cookie any more" is "$(cookies)" 0

# counted: a run with the event on that has the trigger
counted()
{
	echo >$T/trace
	echo ${1:-1} >$C/enable
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
	echo 0 >$C/enable
	text
	joined
}

check "with a count" write $OPT:5 $C/trigger
check "count=5: the trigger reads back" grep -qE "^$OPT:count=5" $C/trigger
counted
check "count=5: five cookies" is "$(cookies)" 5
check "count=5: five events have a stack" is "$(with_stack sys_getpriority)" 5
check "of more events" at_least "$(count 'sys_getpriority\(')" 10
check "used up, and it says so" grep -qE "^$OPT:count=0" $C/trigger
write "!$OPT" $C/trigger

check "with a filter" write "$OPT if id == $other" $E/trigger
traced
check "as many as match" is "$(cookies)" "$(count "sys_enter: NR $other ")"
check "a filter: some events match" at_least "$(cookies)" 10
write "!$OPT" $E/trigger
check "with both" write "$OPT:3 if id == $other" $E/trigger
traced
check "count=3 and a filter: three cookies" is "$(cookies)" 3
check "all of them at that event" is "$(grep -c '^sys_enter ' $TEST_TMP/joined)" 3
write "!$OPT" $E/trigger
check_not "a wrong count is refused" write "$OPT:x" $E/trigger
check_not "a wrong filter is refused" write "$OPT if nothing == 1" $E/trigger
check "no trigger is left at the event" is "$(grep -cv '^#' $E/trigger)" 0

# Together with a kernel stack trigger: the kernel stack comes first, whichever was set first
for order in "stacktrace $OPT" "$OPT stacktrace"; do
	for t in $order; do
		write $t $E/trigger
	done
	traced
	check "$order: cookies" at_least "$(with_stack sys_enter)" 50
	check "$order: kernel stacks" at_least "$(count '<stack trace>')" 50
	check "$order: kernel stack first" is "$(cookie_first)" 0
	for t in $order; do
		write "!$t" $E/trigger
	done
done

# In an instance, which then can be removed with the trigger still set
mkdir $T/instances/t
check "in an instance" write $OPT $T/instances/t/events/raw_syscalls/sys_enter/trigger
traced $T/instances/t
check "in an instance: stacks" at_least "$(with_stack sys_enter)" 50
traced
check "in an instance: none here" is "$(cookies)" 0
check "the instance is removed" rmdir $T/instances/t

# On an event that is off: the trigger enables it in soft mode, and only cookies are recorded
write $OPT:4 $C/trigger
counted 0
check "on an event that is off: no event" is "$(count 'sys_getpriority')" 0
check "on an event that is off: cookies all the same" is "$(cookies)" 4
check "on an event that is off: with stacks" none_lost "$(unanswered)"
write "!$OPT" $C/trigger
finish
