#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SIGKILL arrives wherever the task is: the recorded stacks are still joined with the right events.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "64 bits" $CALLPATH -n 15 -c 2 -x kill,plain -e $CALLPATH
check_callpath "32 bits" $CALLPATH32 -n 15 -c 2 -x kill,plain -e $CALLPATH32
finish
