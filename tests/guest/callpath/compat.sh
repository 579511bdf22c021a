#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# 32-bit programs: their frames are 4 bytes wide, and the stack has the flag COMPAT.

. "$(dirname "$0")/../lib.sh"
only_amd64 "there are 32-bit programs"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "32 bits" $CALLPATH32 -t 3 -n 50 -c 2 -d 10,100 \
	-x plain,sleep,yield,futex,pipe,signal,suspend,fork
check_callpath "both at a time" $CALLPATH -n 12 -c 2 -x plain,exec,vfork -e $CALLPATH32

echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_enter/enable
$CALLPATH32 -o $TEST_TMP/path -n 10
echo 0 >$T/events/raw_syscalls/sys_enter/enable
save_text
check "the text names the flag" at_least "$(count '<user unwind stack [0-9a-f]+ .*compat')" 10
finish
