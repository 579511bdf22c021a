#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# perf record of a process also gets the deferred callchain of the process's last samples.

. "$(dirname "$0")/lib.sh"
need_program $PATHS
command -v perf >/dev/null || skip_test "perf is not in this image"

perf record -q -e raw_syscalls:sys_enter --call-graph fp,defer -o $TEST_TMP/perf.data \
	$PATHS exit >$TEST_TMP/paths 2>&1
want=$(sed -n 's/^path exit [0-9]* //p' $TEST_TMP/paths)
check "the path was printed" test -n "$want"
perf script -i $TEST_TMP/perf.data -F comm,tid,event,trace,ip >$TEST_TMP/script 2>/dev/null
# Samples are paragraphs: a line for the event, then one for each address
awk -v RS= '/NR 231 /' $TEST_TMP/script >$TEST_TMP/last
sed 's/^/     | /' $TEST_TMP/last
check "the last sample is of exit_group()" at_least "$(grep -c 'NR 231 ' $TEST_TMP/last)" 1
for address in $want; do
	check "the last sample has the address $address" \
		grep -qE "^[[:space:]]*$address\$" $TEST_TMP/last
done
finish
