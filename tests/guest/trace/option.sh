#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The option: its effect on the events of an instance, and that it has no other effect.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

# getppid with any stack, by the shell and by callpath
run()
{
	$CALLPATH -o $TEST_TMP/path -n 50 -x plain,yield
}

# traced [DIR]: the events of one run
traced()
{
	local dir=${1:-$T}
	echo >$dir/trace
	echo 1 >$dir/events/raw_syscalls/sys_enter/enable
	run
	echo 0 >$dir/events/raw_syscalls/sys_enter/enable
	text $dir
	joined
}

check "off at first" is "$(cat $T/options/$OPT)" 0
traced
check "off: events are there" at_least "$(count ' NR ')" 50
check "off: no cookie" is "$(cookies)" 0
check "off: no stack" is "$(stacks)" 0

check "the option can be turned on" write 1 $T/options/$OPT
check "the option reads back as 1" is "$(cat $T/options/$OPT)" 1
check "the option is in trace_options" grep -qx $OPT $T/trace_options
traced
check "on: a cookie follows events" at_least "$(events_of sys_enter)" 50
check "on: each has its stack" each_has_stack sys_enter
check "on: frames are addresses in the program" grep -qE "^sys_enter $IN_PROGRAM " \
	$TEST_TMP/joined
check "on: stacks are many frames deep" \
	at_least "$(awk '/^sys_enter/ && NF > 8' $TEST_TMP/joined | wc -l)" 10
check "one entry, one stack" is "$(grep -o '<user unwind stack [0-9a-f]*' $TEST_TMP/text | sort |
	uniq -d | wc -l)" 0
check "hardly any without a request" at_most "$(unasked)" 2

# Several events in one entry share a cookie and its stack
echo >$T/trace
echo 1 >$T/events/raw_syscalls/enable
run
echo 0 >$T/events/raw_syscalls/enable
text
shared=$(grep -o '<user unwind cookie [0-9a-f]*' $TEST_TMP/text | sort | uniq -c |
	awk '$1 == 2' | wc -l)
check "entry and exit of a system call have one cookie" at_least "$shared" 50
check "entry and exit of a system call share one stack" \
	at_most "$(stacks)" "$(($(cookies) / 2 + 20))"

# It takes the place of userstacktrace
echo 1 >$T/options/userstacktrace
traced
check "with userstacktrace on too: cookies" at_least "$(events_of sys_enter)" 50
check "with userstacktrace on too: no <user stack trace>" is "$(count '<user stack trace>')" 0
echo 0 >$T/options/$OPT
traced
check "userstacktrace alone works as before" at_least "$(count '<user stack trace>')" 50
check "off again: no cookie" is "$(cookies)" 0
echo 0 >$T/options/userstacktrace

# The kernel stack comes first, then the cookie
echo 1 >$T/options/$OPT
echo 1 >$T/options/stacktrace
traced
check "after a kernel stack: each has its stack" each_has_stack sys_enter
check "after a kernel stack: there are both" at_least "$(count '<stack trace>')" 50
check "no cookie comes before the kernel stack of its event" is "$(cookie_first)" 0
echo 0 >$T/options/stacktrace

# It belongs to an instance
mkdir $T/instances/a
check "another instance has its own option" is "$(cat $T/instances/a/options/$OPT)" 0
traced $T/instances/a
check "an instance with the option off has no cookie" is "$(cookies)" 0
echo 0 >$T/options/$OPT
echo 1 >$T/instances/a/options/$OPT
traced $T/instances/a
check "on in an instance: each event there has its stack" each_has_stack sys_enter
check "on in an instance: there are enough events" at_least "$(events_of sys_enter)" 50
traced
check "on in an instance: the top level has no cookie" is "$(cookies)" 0
check "an instance with the option on can be removed" rmdir $T/instances/a

# By name in trace_options, as trace-cmd writes it
check "trace_options turns it on" write $OPT $T/trace_options
check "turned on by trace_options, the option reads back as 1" is "$(cat $T/options/$OPT)" 1
check "trace_options turns the option off" write no$OPT $T/trace_options
check "turned off by trace_options, the option reads back as 0" is "$(cat $T/options/$OPT)" 0
check_not "a value other than 0 and 1 is refused" write 2 $T/options/$OPT
finish
