#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 timeout=240
#
# perf records deferred callchains while ftrace records deferred stacks: both get their stacks of
# the same entries into the kernel.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check
command -v perf >/dev/null || skip_test "there is no perf in the guest"

record_deferred()
{
	perf record -q -o $TEST_TMP/perf.data -e sched:sched_switch --call-graph fp,defer \
		-- $CALLPATH -o $TEST_TMP/path -n 10 -x yield,sleep
}
if ! record_deferred >$TEST_TMP/perf.log 2>&1; then
	cat $TEST_TMP/perf.log
	skip_test "perf cannot record deferred callchains here: $(tail -n 1 $TEST_TMP/perf.log)"
fi

# perf records the tasks that it starts: trace-cmd, which starts callpath
record_both()
{
	RECORD_UNDER="perf record -q -o $TEST_TMP/perf.data -e sched:sched_switch
		-e sched:sched_waking --call-graph fp,defer --" \
		record_callpath $CALLPATH -t 3 -n 40 -c 2 -x plain,yield,sleep,signal,fork
}

check "perf and ftrace record at once" record_both
check "ftrace: each event has the right stack" \
	$PROG/callpath-check -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
check_plugin "ftrace" -n 100
print_script()
{
	perf script -i $TEST_TMP/perf.data --comm callpath -F comm,tid,event,ip \
		--merge-callchains >$TEST_TMP/script
}
check "perf: the file is readable" print_script
check "perf: samples have user frames" at_least \
	"$(grep -cE "^\s+$IN_PROGRAM\b" $TEST_TMP/script)" 100
perf script -D -i $TEST_TMP/perf.data 2>/dev/null |
	sed -nE 's/.*PERF_RECORD_CALLCHAIN_DEFERRED\(IP, 0x([0-9a-f]+)\).*/\1/p' >$TEST_TMP/misc
check "perf: callchains were deferred" at_least "$(wc -l <$TEST_TMP/misc)" 20
# callpath keeps frame pointers, which do not lead through the frames of signals
say "misc of these records: $(sort $TEST_TMP/misc | uniq -c | xargs)"
if [ $ARCH = amd64 ]; then
	check "perf: most callchains are complete by frame pointers" \
		at_least "$(grep -cx 1002 $TEST_TMP/misc)" 20
	check "perf: some callchains are incomplete" at_least "$(grep -cx 3002 $TEST_TMP/misc)" 1
fi
finish
