#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536
#
# 200 programs that are blocked when the recording stops have complete stacks.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK
SLEEPERS='i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i + 1)); done
	i=0; while [ "$(ps -C sleep -o stat= | grep -c S)" -lt 200 ] && [ $i -lt 600 ]; do
		sleep 0.2; i=$((i + 1)); done'

check "a first recording makes the tables" \
	ustack_record --no-summary -e sched:sched_switch sh -c 'sleep 1 & wait'
check "blocked tasks are recorded" ustack_record -e sched:sched_switch sh -c "$SLEEPERS"
pkill -x sleep
sed 's/^/     /' output
check "all stacks of blocked tasks are joined" are_all_joined 200
check "few stacks of blocked tasks are pending" at_most "$(summary_count pending)" 2
check "blocked tasks: trace-cmd report reads the file" run_report 200
check "stacks of blocked tasks are complete" complete sleep --min 200 --percent 98
sed 's/^/     /' $TEST_TMP/all-figures
finish
