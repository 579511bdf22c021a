#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=1500 alone
#
# A load that switches all the time: nothing is lost at the default buffer size, and an event takes
# no more bytes than with perf in the same run. Our kernel and complete user stack are compared with
# perf's shorter stacks (fp,defer), and must take a fraction of perf's copies of stacks (dwarf). The
# exact ratio depends on the run, for example on the number of events that perf loses. make
# bench-size measures it.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK
perf --version >/dev/null 2>&1 || skip_test "no perf in the guest"

LOAD="perf bench sched messaging -g 2 -l ${LOOPS:-150}"

check "a first recording makes the tables" ustack_record --no-summary -a -e sched:sched_switch $LOAD
check "the load is recorded" ustack_record -a -e sched:sched_switch $LOAD
sed 's/^/     /' output
check "no event is lost, all stacks are joined" are_all_joined 1000
ours=$($USTACK stat t.dat | sed -nE 's/^events.* ([0-9]+)\.[0-9] bytes each.*/\1/p')
say "trace-ustack: $ours bytes per event"

# perf_bytes LABEL OPTION...: bytes per event of its file
perf_bytes()
{
	local label=$1 n size
	shift
	perf record -q -a -e sched:sched_switch "$@" -o perf.data -- $LOAD >perf.log 2>&1 ||
		{ cat perf.log; return 1; }
	n=$(perf report --stats -i perf.data 2>/dev/null |
		sed -nE 's/^ *SAMPLE events: +([0-9]+).*/\1/p' | head -n 1)
	size=$(stat -c %s perf.data)
	lost=$(perf report --stats -i perf.data 2>/dev/null |
		sed -nE 's/^ *LOST(_SAMPLES)? events: +([0-9]+).*/\2/p' | head -n 1)
	[ "${n:-0}" -gt 0 ] || { perf report --stats -i perf.data | head -n 30; return 1; }
	bytes=$((size / n))
	say "perf $label: $n samples, $bytes bytes per event, records of losses: ${lost:-0}"
}
if perf_bytes "--call-graph fp,defer" --call-graph fp,defer; then
	check "an event takes about as many bytes as by perf --call-graph fp,defer" \
		at_most $ours $((bytes * 11 / 10))
else
	check "perf --call-graph fp,defer records" false
fi
if perf_bytes "--call-graph dwarf" --call-graph dwarf; then
	check "an event takes a tenth of the bytes of perf --call-graph dwarf" \
		at_most $((10 * ours)) $bytes
else
	check "perf --call-graph dwarf records" false
fi
check "trace-cmd report reads the file" run_report 1000
# Each of the load's 40 processes ends in the destructors of 45 libraries. The compiler writes these
# (crtstuff) without .eh_frame, so a stack has one frame there.
check "stacks of the load are complete" complete sched-messaging --min 500 --percent 80
sed 's/^/     /' $TEST_TMP/all-figures
keep t.dat
finish
