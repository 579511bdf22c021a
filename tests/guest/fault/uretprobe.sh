#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Uprobes put the address of a trampoline in the place of return addresses, and step instructions
# elsewhere. No stack shows that: it is the same with and without probes, by frame pointers, by
# unwind tables, and in perf's deferred callchains.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
need_tables
need_program $CALLPATH $PROG/xol-fault

P=$T/uprobe_events
E=sys_enter_getpriority
RUN="$CALLPATH -o $TEST_TMP/path -n 200 -x plain"

# add_probes REGEX: add uretprobes to functions of callpath, two to each so that they are chained
add_probes()
{
	awk -v re="$1" '$3 ~ re { print $1, $3 }' $PROG/callpath.sym | while read -r addr name; do
		for probe in up uq; do
			echo "r:${probe}_$name $CALLPATH:$(printf '0x%x' $((0x$addr - LINKED_AT)))"
		done
	done >$TEST_TMP/probes
	cat $TEST_TMP/probes >$P
	at_least "$(grep -c . $P)" 8
}

# record_stacks: print the stacks of a run, in their order. Each run takes the same paths.
record_stacks()
{
	echo >$T/trace
	echo 1 >$T/events/syscalls/$E/enable
	$RUN
	echo 0 >$T/events/syscalls/$E/enable
	save_text
	join_events
	grep '^sys_getpriority ' $TEST_TMP/joined
}

# record_perf_stacks: print the stacks of a run, as perf records them
record_perf_stacks()
{
	perf record -q -o $TEST_TMP/perf.data -e syscalls:$E --call-graph fp,defer -- \
		$RUN >$TEST_TMP/perf.log 2>&1 || { cat $TEST_TMP/perf.log; return 1; }
	perf script -i $TEST_TMP/perf.data --merge-callchains --no-inline -F event,ip 2>/dev/null |
		grep -vE '^\s+[0-9a-f]{16}$'
}

# compare_stacks WHAT FUNCTION: FUNCTION prints the same with uretprobes, and the probes are hit
compare_stacks()
{
	$2 >$TEST_TMP/without
	echo 1 >$T/events/uprobes/enable
	$2 >$TEST_TMP/with
	echo 0 >$T/events/uprobes/enable
	check "$1: there are stacks" at_least "$(grep -c getpriority $TEST_TMP/without)" 40
	check "$1: the stacks are the same with uretprobes" cmp $TEST_TMP/without $TEST_TMP/with
}

check "uretprobes are made" add_probes '^walk_[abc]$|^op_plain$'
echo 1 >$T/options/$OPT
compare_stacks "frame pointers" record_stacks
check "frame pointers: the uretprobes were hit" \
	at_least "$(grep -c '^up_walk_' $TEST_TMP/joined)" 100
check "unwind tables: registered" register $CALLPATH
compare_stacks "unwind tables" record_stacks
check "unwind tables: the table was used" \
	at_least "$(awk -v p=$CALLPATH '$1 == p { print $NF }' $LIST)" 20
check "unwind tables: unregistered" unregister
echo 0 >$T/options/$OPT
compare_stacks "perf" record_perf_stacks
check "perf: the stacks have addresses of the program" \
	at_least "$(grep -cE "^\s+$IN_PROGRAM\$" $TEST_TMP/with)" 400
echo >$P
echo 1 >$T/options/$OPT

# An instruction that is stepped
F=$T/events/exceptions/page_fault_user
check "a uprobe is set on an instruction" write "p:xol $PROG/xol-fault:$($PROG/xol-fault offset)" $P
echo 1 >$T/events/uprobes/xol/enable
echo 1 >$F/enable
echo >$T/trace
touching=$($PROG/xol-fault 20)
echo 0 >$F/enable
echo 0 >$T/events/uprobes/xol/enable
save_text
join_events
check "a page fault of a stepped instruction has the probed address" \
	at_least "$(grep -cE "^page_fault_user $touching [0-9a-f]+" $TEST_TMP/joined)" 20
echo >$P
echo 0 >$T/options/$OPT
finish
