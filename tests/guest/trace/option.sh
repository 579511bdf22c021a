#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The option gives the events of an instance their stacks, and has no other effect.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

# run_callpath: make system calls with stacks of many shapes
run_callpath()
{
	$CALLPATH -o $TEST_TMP/path -n 50 -x plain,yield
}

# record_events [DIR]: record the events of one run
record_events()
{
	local dir=${1:-$T}
	echo >$dir/trace
	echo 1 >$dir/events/raw_syscalls/sys_enter/enable
	run_callpath
	echo 0 >$dir/events/raw_syscalls/sys_enter/enable
	save_text $dir
	join_events
}

check "at boot the option is off" is "$(cat $T/options/$OPT)" 0
record_events
check "off: events are there" at_least "$(count ' NR ')" 50
check "off: no cookie" is "$(count_cookies)" 0
check "off: no stack" is "$(count_stacks)" 0

check "the option is turned on" write 1 $T/options/$OPT
check "the option reads back as 1" is "$(cat $T/options/$OPT)" 1
check "the option is in trace_options" grep -qx $OPT $T/trace_options
record_events
check "on: a cookie follows events" at_least "$(count_events sys_enter)" 50
check "on: each event has a stack" each_has_stack sys_enter
check "on: frames are addresses in the program" grep -qE "^sys_enter $IN_PROGRAM " \
	$TEST_TMP/joined
check "on: stacks are many frames deep" \
	at_least "$(awk '/^sys_enter/ && NF > 8' $TEST_TMP/joined | wc -l)" 10
check "on: one stack for each entry into the kernel" \
	is "$(grep -o '<user unwind stack [0-9a-f]*' $TEST_TMP/text | sort |
	uniq -d | wc -l)" 0
check "on: hardly any stack without a request" at_most "$(count_unasked)" 2

# Several events in one entry share a cookie and its stack
echo >$T/trace
echo 1 >$T/events/raw_syscalls/enable
run_callpath
echo 0 >$T/events/raw_syscalls/enable
save_text
shared=$(grep -o '<user unwind cookie [0-9a-f]*' $TEST_TMP/text | sort | uniq -c |
	awk '$1 == 2' | wc -l)
check "entry and exit of a system call have one cookie" at_least "$shared" 50
check "entry and exit of a system call share one stack" \
	at_most "$(count_stacks)" "$(($(count_cookies) / 2 + 20))"

# The option takes the place of userstacktrace
echo 1 >$T/options/userstacktrace
record_events
check "with userstacktrace on: events have cookies" at_least "$(count_events sys_enter)" 50
check "with userstacktrace on: no <user stack trace>" is "$(count '<user stack trace>')" 0
echo 0 >$T/options/$OPT
record_events
check "userstacktrace alone records <user stack trace>" at_least "$(count '<user stack trace>')" 50
check "userstacktrace alone records no cookie" is "$(count_cookies)" 0
echo 0 >$T/options/userstacktrace

# The kernel stack comes first, then the cookie
echo 1 >$T/options/$OPT
echo 1 >$T/options/stacktrace
record_events
check "with kernel stacks: each event has a user stack" each_has_stack sys_enter
check "with kernel stacks: events have kernel stacks" at_least "$(count '<stack trace>')" 50
check "with kernel stacks: no cookie comes before the kernel stack" is "$(count_cookies_first)" 0
echo 0 >$T/options/stacktrace

# Each instance has an option of its own
mkdir $T/instances/a
check "an instance has an option of its own, which is off" is "$(cat $T/instances/a/options/$OPT)" 0
record_events $T/instances/a
check "an instance with the option off has no cookie" is "$(count_cookies)" 0
echo 0 >$T/options/$OPT
echo 1 >$T/instances/a/options/$OPT
record_events $T/instances/a
check "on in an instance: each event of the instance has a stack" each_has_stack sys_enter
check "on in an instance: the instance has events" at_least "$(count_events sys_enter)" 50
record_events
check "on in an instance: the top level has no cookie" is "$(count_cookies)" 0
check "an instance with the option on is removed" rmdir $T/instances/a

# By name in trace_options, as trace-cmd writes it
check "trace_options turns the option on" write $OPT $T/trace_options
check "turned on by trace_options, the option reads back as 1" is "$(cat $T/options/$OPT)" 1
check "trace_options turns the option off" write no$OPT $T/trace_options
check "turned off by trace_options, the option reads back as 0" is "$(cat $T/options/$OPT)" 0
check_not "a value other than 0 and 1 is refused" write 2 $T/options/$OPT
finish
