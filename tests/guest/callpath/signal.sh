#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Signals: handlers make system calls, nested and on another stack.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "64 bits" $CALLPATH -t 2 -n 80 -c 2 -x signal,suspend -e $CALLPATH
check_callpath "32 bits" $CALLPATH32 -t 2 -n 80 -c 2 -x signal,suspend -e $CALLPATH32
finish
