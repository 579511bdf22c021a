#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=1 mem=1024 icount=1 timeout=1500 alone
#
# The time that trace-ustack record adds at its start and its end, on an idle system with hundreds
# of known tables, and the time that the guard takes after the recorder was killed. Time counts
# instructions here, so other programs on the host do not matter. But it also goes on while the
# guest waits for the host's disk.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK
keep_tool_here

know_files 489 || skip_test "not so many ELF files in this image"
ours=$(measure_least $USTACK record -o t.dat -a -e sched:sched_switch --duration 2)
files=$(sed -nE 's/^  unwind tables: ([0-9]+) files.*/\1/p' output)
say "trace-ustack record: $ours ms"
theirs=$(measure_least trace-cmd record -o tc.dat -e sched:sched_switch sleep 2)
say "trace-cmd record: $theirs ms"
check "start and end take at most a quarter longer than those of trace-cmd" \
	at_most $ours $((theirs * 5 / 4))
check "all known files have tables in time" at_least "${files:-0}" 440
check "recordings of two seconds leave nothing" nothing_left

start_recorder "killed" -a -e sched:sched_switch -e raw_syscalls
sleep 1
guard=$(pgrep -x trace-ustack-gd)
from=$(date +%s%N)
kill -KILL $recorder
while kill -0 $guard 2>/dev/null && [ $(($(date +%s%N) - from)) -lt 60000000000 ]; do
	sleep 0.05
done
ms=$((($(date +%s%N) - from) / 1000000))
wait $recorder 2>/dev/null
say "after SIGKILL of the recorder the guard ends within $ms ms"
check "SIGKILL of the recorder: the guard ends within 5 seconds" at_most $ms 5000
check "SIGKILL of the recorder: the file is complete" run_report 10
check "SIGKILL of the recorder: nothing is left" nothing_left
finish
