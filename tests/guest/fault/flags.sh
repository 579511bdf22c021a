#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The flags of a stack show how it ended: complete, cut by the limit, or given up.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS $CALLPATH32
LIMIT=510		# addresses that fit in the kernel's page

getppid='sys_enter: NR 110 '
for n in 3 100 255 256 257 509 510; do
	record_events raw_syscalls/sys_enter $PATHS depth $n
	check "$n frames: the stack is whole" have_path "$getppid" --flags "frame-pointer"
done
for n in 511 600 5000; do
	record_events raw_syscalls/sys_enter $PATHS depth $n
	check "$n frames: the stack is cut and flagged" \
		have_path "$getppid" --limit $LIMIT --flags "frame-pointer truncated" --records 2
done

record_events raw_syscalls/sys_enter $PATHS badfp
check "a frame that cannot be read: the stack is flagged incomplete" \
	have_path "$getppid" --flags "incomplete"
record_events raw_syscalls/sys_enter $PATHS zerofp
check "a frame pointer of 0: the stack is flagged as one by frame pointers" \
	have_path "$getppid" --flags "frame-pointer"

record_events raw_syscalls/sys_enter $CALLPATH32 -o $TEST_TMP/path -n 20 -x plain
check "a 32-bit program: each stack is flagged compat" \
	at_least "$(count 'callpath32.*<user unwind stack [0-9a-f]+ .*compat')" 20
check "the flag compat is on the stacks of 32-bit programs alone" \
	$CHECK compat $TEST_TMP/paths $TEST_TMP/text
finish
