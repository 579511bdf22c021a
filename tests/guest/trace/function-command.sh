#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# FUNC:userstacktrace_deferred[:count] in set_ftrace_filter: a user stack when a function is called.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

F=$T/set_ftrace_filter
# A system call that callpath makes, and no shell
func=${SYS_PREFIX}_getpriority
grep -q "^$func\$" $T/available_filter_functions || die "$func cannot be traced"
calls="-n 200 -x plain"

run_callpath()
{
	echo >$T/trace
	$CALLPATH -o $TEST_TMP/path $calls
	save_text
}

check "the command is set" write "$func:$OPT" $F
check "the command reads back" grep -qE "^$func:$OPT:unlimited" $F
check "the command leaves available_filter_functions as it is" \
	grep -q '#### all functions enabled' $F
run_callpath
n=$(count_cookies)
check "each call has a cookie" at_least $n 20
check "each cookie has a stack" none_lost "$(count_unanswered)"
check "hardly any stack comes without a request" at_most "$(count_unasked)" 2
check "the command traces no function" is "$(count " $func ")" 0
check "the stacks have frames of the program" at_least \
	"$(count "=> *<0*$IN_PROGRAM>")" $n
check "the command is removed" write "!$func:$OPT" $F
check "set_ftrace_filter lacks the removed command" is "$(grep -c $OPT $F)" 0
run_callpath
check "the removed command records no cookie" is "$(count_cookies)" 0

check "count=7: the command is set" write "$func:$OPT:7" $F
check "count=7: the command reads back" grep -qE "^$func:$OPT:count=7" $F
run_callpath
check "count=7: seven cookies" is "$(count_cookies)" 7
check "count=7: each cookie has a stack" none_lost "$(count_unanswered)"
check "count=7: the command reads back as count=0" grep -qE "^$func:$OPT:count=0" $F
check "count=7: the command is removed" write "!$func:$OPT:0" $F
write "!$func:$OPT" $F >/dev/null
check "count=7: set_ftrace_filter lacks the removed command" is "$(grep -c $OPT $F)" 0
check_not "a wrong count is refused" write "$func:$OPT:many" $F

# Several functions at a time, and one of them removed
write "do_nanosleep:$OPT" $F
write "$func:$OPT" $F
check "two functions have the command" is "$(grep -c $OPT $F)" 2
write "!do_nanosleep:$OPT" $F
check "the command is removed from one of two functions" is "$(grep -c $OPT $F)" 1
run_callpath
check "the function that keeps the command has stacks" at_least "$(count_stacks)" 20
write "!$func:$OPT" $F

# By a pattern
check "a pattern: the command is set" write "*getpriority:$OPT" $F
check "a pattern: several functions have the command" at_least "$(grep -c $OPT $F)" 2
run_callpath
check "a pattern: calls have cookies" at_least "$(count_cookies)" 20
check "a pattern: one stack for each call of the program" is \
	"$(grep -o '<user unwind stack [0-9a-f]*' $TEST_TMP/text | sort | uniq -d | wc -l)" 0
check "a pattern: each cookie has a stack" none_lost "$(count_unanswered)"
write "!*getpriority:$OPT" $F

# In an instance
mkdir $T/instances/f
check "in an instance: the command is set" write "$func:$OPT" $T/instances/f/set_ftrace_filter
echo >$T/trace
$CALLPATH -o $TEST_TMP/path $calls
save_text $T/instances/f
check "in an instance: calls have stacks" at_least "$(count_stacks)" 20
save_text
check "in an instance: the top level has no cookie" is "$(count_cookies)" 0
write "!$func:$OPT" $T/instances/f/set_ftrace_filter
check "an instance is removed" rmdir $T/instances/f

# If both are set, the option and the command share the client of the instance
write "$func:$OPT" $F
echo 1 >$T/options/$OPT
echo 0 >$T/options/$OPT
run_callpath
check "the command records after the option went off" at_least "$(count_stacks)" 20
write "!$func:$OPT" $F
finish
