#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=300
#
# After tables are registered, perf's deferred callchains have the same stacks as ftrace, address by
# address: of Debian's bash and python3, and of a program with threads, without frame pointers.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/chain
command -v perf >/dev/null || skip "there is no perf in the guest"

cat >load.sh <<END
$TPROG/chain 20
for i in 1 2 3 4 5 6; do echo \$(cat /proc/self/stat) | wc -l; done
python3 -c 'import json, time; [time.sleep(0.001) for i in range(40)]'
END

# perf starts the programs itself: with -a it cannot print only the deferred stacks
both()
{
	RECORD_UNDER="perf record -q -k mono -o $TEST_TMP/perf.data -e sched:sched_switch
		-e sched:sched_waking --call-graph fp,defer --" \
		record -b 16384 -O $OPT -e sched:sched_switch -e sched:sched_waking -- bash load.sh
}
dump()
{
	perf script -D -i $TEST_TMP/perf.data >$TEST_TMP/dump 2>/dev/null &&
		trace-cmd report -N $TEST_TMP/trace.dat >$TEST_TMP/plain
}
same()
{
	"$(dirname "$0")/perf.py" $TEST_TMP/dump $TEST_TMP/plain
}

check "tables of all that runs are registered" register -a
{ bash load.sh; trace-cmd list -t; } >/dev/null 2>&1	# makes their files known
check "their files have tables: threads" settle $TPROG/chain
check "their files have tables: python3" settle python3
check "perf and ftrace record" both
check "both can be read" dump
check "the stacks of both are the same" same
say "$(same | tail -n 1)"

check "with the plugin too" report
check "they are complete: threads" complete chain --min 20 \
	--expect chain_c,chain_b,chain_a,main,_start
check "they are complete: bash" complete bash --min 20 --expect main,_start
check "they are complete: python3" complete python3 --min 20 --expect Py_BytesMain,_start
say "$(tail -n 3 $TEST_TMP/all-figures)"

merged()
{
	perf script -i $TEST_TMP/perf.data --comm chain -F comm,tid,event,ip,sym \
		--merge-callchains >$TEST_TMP/script
}
check "perf merges them" merged
check "perf script has them to the end" at_least "$(grep -cE '^\s+[0-9a-f]+ _start$' \
	$TEST_TMP/script)" 15
finish
