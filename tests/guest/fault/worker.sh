#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Workers of io_uring have the mm of their process but no user space stack: their requests are
# refused.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PROG/uring-work
load_client

say "a client, by a read that a worker does"
run_script 'init 0'
$PROG/uring-work /proc/fault_request 20 >$TEST_TMP/uring.log 2>&1
case $? in
0) ;;
4) skip_test "this kernel has no io_uring" ;;
*) cat $TEST_TMP/uring.log; die "io_uring does not work" ;;
esac
cat /proc/fault_request
run_script 'cancel 0'
take_log
check "a client requests in 20 workers" is "$(count_logged 'worker iou-.*')" 20
check "each request in a worker is refused" is "$(count_logged 'worker .*request 0 = -22')" 20
check "a request in a user task is accepted" is "$(count_logged 'cat request 0 = 0')" 1
check "the request in the user task alone is called back" is "$(count_logged 'callback .*')" 1

say "the option, for the events in a worker"
record_events sched $PROG/uring-work /proc/version 50
check "there are events in workers" \
	at_least "$(count '^ *iou-wrk-[0-9]+-[0-9]+ .*: sched_[a-z]+:')" 50
check "events in workers have no cookie" \
	is "$(count '^ *iou-wrk-[0-9]+-[0-9]+ .*<user unwind cookie')" 0
check "events in workers have no stack" \
	is "$(count '^ *iou-wrk-[0-9]+-[0-9]+ .*<user unwind stack')" 0
check "events in user tasks have cookies" \
	at_least "$(count '^ *uring-work-[0-9]+ .*<user unwind cookie')" 20
finish
