#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SIGKILL arrives wherever the task is: the recorded stacks are still joined with the right events.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

callpath_case "64 bits" $CALLPATH -n 15 -c 2 -x kill,plain -e $CALLPATH
callpath_case "32 bits" $CALLPATH32 -n 15 -c 2 -x kill,plain -e $CALLPATH32
finish
