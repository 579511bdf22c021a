#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The layout of the events is ABI: names, types, sizes, type ids, and their text in trace-cmd.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

E=$T/events/ftrace

id_of()
{
	sed -n 's/^ID: //p' $E/$1/format
}

has_field()
{
	grep -qE "field:$2;.*size:$3;" $E/$1/format || { cat $E/$1/format; return 1; }
}

check "cookie event: cookie" has_field user_unwind_cookie '(u64|unsigned long long) cookie' 8
check "stack event: cookie" has_field user_unwind_stack '(u64|unsigned long long) cookie' 8
check "stack event: tgid" has_field user_unwind_stack '(u32|unsigned int) tgid' 4
check "stack event: flags" has_field user_unwind_stack '(u32|unsigned int) flags' 4
check "stack event: frames" has_field user_unwind_stack '__data_loc unsigned long\[\] stack' 4
M=user_unwind_map
for f in start end pgoff ino; do
	check "map event: $f" has_field $M "(u64|unsigned long long) $f" 8
done
for f in tgid dev_major dev_minor build_id_size; do
	check "map event: $f" has_field $M "(u32|unsigned int) $f" 4
done
check "map event: build id" has_field $M '(u8|unsigned char) build_id\[20\]' 20
check "map event: path" has_field $M '__data_loc char\[\] path' 4

check "again event: cookie" has_field user_unwind_again '(u64|unsigned long long) cookie' 8
check "again event: first" has_field user_unwind_again '(u64|unsigned long long) first' 8

last=$(id_of func_repeats)
for e in user_unwind_cookie user_unwind_stack user_unwind_map user_unwind_again; do
	check "$e: type id after the last one of the base ($last)" \
		at_least "$(id_of $e)" $((last + 1))
	check_not "$e: not user_stack + 1, which tools keep for blktrace" is "$(id_of $e)" \
		$(($(id_of user_stack) + 1))
	check "$e: no other event has the id" \
		is "$(grep -lx "ID: $(id_of $e)" $T/events/*/*/format | wc -l)" 1
done

order_of()
{
	sed -n 's/.*field:\([^;]*\);.*/\1/p' $E/$1/format | sed 's/.* //; s/\[.*//' |
		grep -v ^common | tr '\n' ' '
}
check "cookie event: order of fields" is "$(order_of user_unwind_cookie)" "cookie "
check "stack event: order of fields" is "$(order_of user_unwind_stack)" "cookie tgid flags stack "
check "again event: order of fields" is "$(order_of user_unwind_again)" "cookie first "
check "map event: order of fields" is "$(order_of user_unwind_map)" \
	"start end pgoff ino tgid dev_major dev_minor build_id_size build_id path "

# trace-cmd without any plugin reads the events
check "trace-cmd records the events" record -O $OPT -e raw_syscalls:sys_enter -- \
	$CALLPATH -o $TEST_TMP/path -n 20
check "trace-cmd reports the events" report -N
check "trace-cmd report has cookies" \
	grep -qE 'user_unwind_cookie: +cookie=[0-9a-f]+' $TEST_TMP/report
check "trace-cmd report has stacks" \
	grep -qE "user_unwind_stack: +cookie=[0-9a-f]+ .*0x$IN_PROGRAM" $TEST_TMP/report
check_not "trace-cmd complains about no event" \
	grep -iE 'unknown|failed|invalid|\[FAILED' $TEST_TMP/report $TEST_TMP/report.err
keep $TEST_TMP/report
finish
