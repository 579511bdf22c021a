#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vfork: the parent sleeps in the kernel while the child uses the parent's memory.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "64 bits" $CALLPATH -t 2 -n 30 -c 2 -x vfork,plain -e $CALLPATH
check_callpath "32 bits" $CALLPATH32 -t 2 -n 30 -c 2 -x vfork,plain -e $CALLPATH32
finish
