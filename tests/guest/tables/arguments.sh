#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024 timeout=600
#
# Every kind of bad argument of the ioctl and the prctls is refused with the documented error, also
# from an unprivileged process. The kernel survives damaged tables.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/arguments

chmod 777 .
libc=$(realpath $LIBS/libc.so.6)
check "a table is made" $TABLES make $TPROG/arguments -o table
check "a table of libc is made" $TABLES make $libc -o libc.table
chmod 644 *table

nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

check "ioctl" $TPROG/arguments ioctl $LIST table
check "no table is left" is "$(all_tables)" 0
check "more tables than an open file may have" $TPROG/arguments many $LIST table
check "no table is left" is "$(all_tables)" 0
check "prctl" $TPROG/arguments prctl table
check "prctl, unprivileged" nobody $TPROG/arguments prctl table
check "many tables of a process, unprivileged" nobody $TPROG/arguments crowd table 8192
check_not "the list cannot be read unprivileged" nobody cat $LIST
check_not "the list cannot be written unprivileged" nobody $TPROG/arguments ioctl $LIST table

echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_exit/enable
check "damaged headers and functions" $TPROG/arguments damaged $LIST libc.table $libc 0
check "damaged rows" $TPROG/arguments damaged $LIST libc.table $libc 301
text
check "stacks were recorded all the time" at_least "$(stacks)" 100
finish
