#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# Nothing is lost: every event of callpath has its own stack, on four CPUs between which callpath
# moves.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

check_callpath "threads and signals" $CALLPATH -t 3 -n 60 -c 4 -d 10,100 \
	-x plain,sleep,yield,futex,pipe,signal,suspend
check_callpath "processes" $CALLPATH -t 2 -n 30 -c 4 -s 2 -x all -e $CALLPATH
CALLPATH_OPTIONS="-b 8192 -T" check_callpath "with kernel stacks" $CALLPATH -t 2 -n 20 -c 4 -x all
finish
