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

# record_events [DIR]: record two events of a run; one of them may have the trigger
record_events()
{
	local dir=${1:-$T}
	echo >$dir/trace
	echo 1 >$dir/events/raw_syscalls/enable
	$CALLPATH -o $TEST_TMP/path -n ${2:-60} -x plain,yield
	echo 0 >$dir/events/raw_syscalls/enable
	save_text $dir
	join_events
}

check "the trigger is set" write $OPT $E/trigger
check "the trigger reads back" grep -qE "^$OPT:unlimited" $E/trigger
check_not "a second trigger at the same event is refused" write $OPT $E/trigger
record_events
check "the event with the trigger has cookies" at_least "$(count_events sys_enter)" 50
check "each event with the trigger has a stack" each_has_stack sys_enter
check "the event without the trigger has no stack" is "$(count_events sys_exit)" 0
check "the trigger changes no option" is "$(cat $T/options/$OPT)" 0

# The option and the trigger together: one cookie for each event
echo 1 >$T/options/$OPT
record_events
check "the trigger and the option: one cookie for each event" \
	at_most "$(count_cookies)" "$(count ' NR ')"
echo 0 >$T/options/$OPT
record_events
check "the trigger records after the option went off" at_least "$(count_with_stack sys_enter)" 50

check "the trigger is removed" write "!$OPT" $E/trigger
check "the removed trigger is not listed" is "$(grep -cv '^#' $E/trigger)" 0
record_events
check "the removed trigger records no cookie" is "$(count_cookies)" 0

# record_counted [0]: record a run with the event on (0: off) that has the trigger
record_counted()
{
	echo >$T/trace
	echo ${1:-1} >$C/enable
	$CALLPATH -o $TEST_TMP/path -n 200 -x plain
	echo 0 >$C/enable
	save_text
	join_events
}

check "count=5: the trigger is set" write $OPT:5 $C/trigger
check "count=5: the trigger reads back" grep -qE "^$OPT:count=5" $C/trigger
record_counted
check "count=5: five cookies" is "$(count_cookies)" 5
check "count=5: five events have a stack" is "$(count_with_stack sys_getpriority)" 5
check "count=5: ten events come" at_least "$(count 'sys_getpriority\(')" 10
check "count=5: the trigger reads back as count=0" grep -qE "^$OPT:count=0" $C/trigger
write "!$OPT" $C/trigger

check "a filter: the trigger is set" write "$OPT if id == $other" $E/trigger
record_events
check "a filter: each matching event has a cookie" \
	is "$(count_cookies)" "$(count "sys_enter: NR $other ")"
check "a filter: some events match" at_least "$(count_cookies)" 10
write "!$OPT" $E/trigger
check "count=3 and a filter: the trigger is set" write "$OPT:3 if id == $other" $E/trigger
record_events
check "count=3 and a filter: three cookies" is "$(count_cookies)" 3
check "count=3 and a filter: three matching events have a cookie" \
	is "$(grep -c '^sys_enter ' $TEST_TMP/joined)" 3
write "!$OPT" $E/trigger
check_not "a wrong count is refused" write "$OPT:x" $E/trigger
check_not "a wrong filter is refused" write "$OPT if nothing == 1" $E/trigger
check "no trigger is left at the event" is "$(grep -cv '^#' $E/trigger)" 0

# Together with a kernel stack trigger: the kernel stack comes first, whichever was set first
for order in "stacktrace $OPT" "$OPT stacktrace"; do
	for t in $order; do
		write $t $E/trigger
	done
	record_events
	check "$order: events have user stacks" at_least "$(count_with_stack sys_enter)" 50
	check "$order: events have kernel stacks" at_least "$(count '<stack trace>')" 50
	check "$order: the kernel stack comes first" is "$(count_cookies_first)" 0
	for t in $order; do
		write "!$t" $E/trigger
	done
done

# In an instance, which then can be removed with the trigger still set
mkdir $T/instances/t
check "in an instance: the trigger is set" \
	write $OPT $T/instances/t/events/raw_syscalls/sys_enter/trigger
record_events $T/instances/t
check "in an instance: events have stacks" at_least "$(count_with_stack sys_enter)" 50
record_events
check "in an instance: the top level has no cookie" is "$(count_cookies)" 0
check "an instance with a trigger is removed" rmdir $T/instances/t

# On an event that is off: the trigger enables it in soft mode, and only cookies are recorded
write $OPT:4 $C/trigger
record_counted 0
check "on an event that is off: no event" is "$(count 'sys_getpriority')" 0
check "on an event that is off: four cookies" is "$(count_cookies)" 4
check "on an event that is off: each cookie has a stack" none_lost "$(count_unanswered)"
write "!$OPT" $C/trigger
finish
