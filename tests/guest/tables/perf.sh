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
command -v perf >/dev/null || skip_test "there is no perf in the guest"

cat >load.sh <<END
$TPROG/chain 20
for i in 1 2 3 4 5 6; do echo \$(cat /proc/self/stat) | wc -l; done
python3 -c 'import json, time; [time.sleep(0.001) for i in range(40)]'
END

# perf starts the programs itself: with -a it cannot print only the deferred stacks
record_both()
{
	RECORD_UNDER="perf record -q -k mono -o $TEST_TMP/perf.data -e sched:sched_switch
		-e sched:sched_waking --call-graph fp,defer --" \
		record -b 16384 -O $OPT -e sched:sched_switch -e sched:sched_waking -- bash load.sh
}
print_both()
{
	perf script -D -i $TEST_TMP/perf.data >$TEST_TMP/dump 2>/dev/null &&
		trace-cmd report -N $TEST_TMP/trace.dat >$TEST_TMP/plain
}
compare_stacks()
{
	"$(dirname "$0")/perf.py" $TEST_TMP/dump $TEST_TMP/plain
}

check "tables of all that runs are registered" register -a
{ bash load.sh; trace-cmd list -t; } >/dev/null 2>&1	# makes their files known
check "a program with threads: the files have tables" settle $TPROG/chain
check "python3: the files have tables" settle python3
check "perf and ftrace record the same programs" record_both
check "both recordings are readable" print_both
check "perf and ftrace have the same stacks" compare_stacks
say "$(compare_stacks | tail -n 1)"

check "trace-cmd report with the plugin reads the recording" report
check "a program with threads: complete" complete chain --min 20 \
	--expect chain_c,chain_b,chain_a,main,_start
check "bash: complete" complete bash --min 20 --expect main,_start
check "python3: complete" complete python3 --min 20 --expect Py_BytesMain,_start
say "$(tail -n 3 $TEST_TMP/all-figures)"

merge_callchains()
{
	perf script -i $TEST_TMP/perf.data --comm chain -F comm,tid,event,ip,sym \
		--merge-callchains >$TEST_TMP/script
}
check "perf script --merge-callchains merges kernel and user stacks" merge_callchains
check "perf script --merge-callchains shows stacks up to _start" \
	at_least "$(grep -cE '^\s+[0-9a-f]+ _start$' $TEST_TMP/script)" 15
finish
