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

run()
{
	echo >$T/trace
	$CALLPATH -o $TEST_TMP/path $calls
	text
}

check "the command is set" write "$func:$OPT" $F
check "the command reads back" grep -qE "^$func:$OPT:unlimited" $F
check "available_filter_functions is not filtered by it" grep -q '#### all functions enabled' $F
run
n=$(cookies)
check "a cookie each time" at_least $n 20
check "a stack each time" none_lost "$(unanswered)"
check "hardly any without a request" at_most "$(unasked)" 2
check "no function is traced by it" is "$(count " $func ")" 0
check "with the frames of the program" at_least \
	"$(count "=> *<0*$IN_PROGRAM>")" $n
check "the command is removed" write "!$func:$OPT" $F
check "set_ftrace_filter lacks the removed command" is "$(grep -c $OPT $F)" 0
run
check "no cookie any more" is "$(cookies)" 0

check "with a count" write "$func:$OPT:7" $F
check "count=7: the command reads back" grep -qE "^$func:$OPT:count=7" $F
run
check "count=7: seven cookies" is "$(cookies)" 7
check "each with a stack" none_lost "$(unanswered)"
check "used up" grep -qE "^$func:$OPT:count=0" $F
check "count=7: the command is removed" write "!$func:$OPT:0" $F
write "!$func:$OPT" $F >/dev/null
check "count=7: set_ftrace_filter lacks the removed command" is "$(grep -c $OPT $F)" 0
check_not "a wrong count is refused" write "$func:$OPT:many" $F

# Several functions at a time, and one of them removed
write "do_nanosleep:$OPT" $F
write "$func:$OPT" $F
check "two functions" is "$(grep -c $OPT $F)" 2
write "!do_nanosleep:$OPT" $F
check "one is left" is "$(grep -c $OPT $F)" 1
run
check "the function that is left has stacks" at_least "$(stacks)" 20
write "!$func:$OPT" $F

# By a pattern
check "by a pattern" write "*getpriority:$OPT" $F
check "a pattern sets several functions" at_least "$(grep -c $OPT $F)" 2
run
check "cookies" at_least "$(cookies)" 20
check "one stack for each call of the program, however many functions" is \
	"$(grep -o '<user unwind stack [0-9a-f]*' $TEST_TMP/text | sort | uniq -d | wc -l)" 0
check "each cookie has it" none_lost "$(unanswered)"
write "!*getpriority:$OPT" $F

# In an instance
mkdir $T/instances/f
check "in an instance" write "$func:$OPT" $T/instances/f/set_ftrace_filter
echo >$T/trace
$CALLPATH -o $TEST_TMP/path $calls
text $T/instances/f
check "in an instance: stacks" at_least "$(stacks)" 20
text
check "in an instance: none here" is "$(cookies)" 0
write "!$func:$OPT" $T/instances/f/set_ftrace_filter
check "the instance is removed" rmdir $T/instances/f

# If both are set, the option and the command share the client of the instance
write "$func:$OPT" $F
echo 1 >$T/options/$OPT
echo 0 >$T/options/$OPT
run
check "goes on when the option went" at_least "$(stacks)" 20
write "!$func:$OPT" $F
finish
