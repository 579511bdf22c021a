#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The layout of the events is ABI: names, types, sizes, type ids, and their text in trace-cmd.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

E=$T/events/ftrace

id()
{
	sed -n 's/^ID: //p' $E/$1/format
}

field()
{
	grep -qE "field:$2;.*size:$3;" $E/$1/format || { cat $E/$1/format; return 1; }
}

check "cookie event: cookie" field user_unwind_cookie '(u64|unsigned long long) cookie' 8
check "stack event: cookie" field user_unwind_stack '(u64|unsigned long long) cookie' 8
check "stack event: tgid" field user_unwind_stack '(u32|unsigned int) tgid' 4
check "stack event: flags" field user_unwind_stack '(u32|unsigned int) flags' 4
check "stack event: frames" field user_unwind_stack '__data_loc unsigned long\[\] stack' 4
M=user_unwind_map
for f in start end pgoff ino; do
	check "map event: $f" field $M "(u64|unsigned long long) $f" 8
done
for f in tgid dev_major dev_minor build_id_size; do
	check "map event: $f" field $M "(u32|unsigned int) $f" 4
done
check "map event: build id" field $M '(u8|unsigned char) build_id\[20\]' 20
check "map event: path" field $M '__data_loc char\[\] path' 4

last=$(id func_repeats)
for e in user_unwind_cookie user_unwind_stack user_unwind_map; do
	check "$e: type id after the last one of the base ($last)" at_least "$(id $e)" $((last + 1))
	check_not "$e: not user_stack + 1, which tools keep for blktrace" is "$(id $e)" \
		$(($(id user_stack) + 1))
	check "$e: the id is its own" is "$(grep -lx "ID: $(id $e)" $T/events/*/*/format | wc -l)" 1
done

order()
{
	sed -n 's/.*field:\([^;]*\);.*/\1/p' $E/$1/format | sed 's/.* //; s/\[.*//' |
		grep -v ^common | tr '\n' ' '
}
check "cookie event: order of fields" is "$(order user_unwind_cookie)" "cookie "
check "stack event: order of fields" is "$(order user_unwind_stack)" "cookie tgid flags stack "
check "map event: order of fields" is "$(order user_unwind_map)" \
	"start end pgoff ino tgid dev_major dev_minor build_id_size build_id path "

# trace-cmd without any plugin reads the events
check "trace-cmd records them" record -O $OPT -e raw_syscalls:sys_enter -- \
	$CALLPATH -o $TEST_TMP/path -n 20
check "trace-cmd reports them" report -N
check "cookies in the report" grep -qE 'user_unwind_cookie: +cookie=[0-9a-f]+' $TEST_TMP/report
check "stacks in the report" grep -qE "user_unwind_stack: +cookie=[0-9a-f]+ .*0x$IN_PROGRAM" \
	$TEST_TMP/report
check_not "trace-cmd finds nothing that it cannot parse" \
	grep -iE 'unknown|failed|invalid|\[FAILED' $TEST_TMP/report $TEST_TMP/report.err
keep $TEST_TMP/report
finish
