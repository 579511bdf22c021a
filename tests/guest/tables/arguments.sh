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

run_as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

check "ioctl() with bad arguments" $TPROG/arguments ioctl $LIST table
check "ioctl() with bad arguments leaves no table" is "$(count_tables)" 0
check "ioctl() with more tables than an open file may have" $TPROG/arguments many $LIST table
check "ioctl() with too many tables leaves no table" is "$(count_tables)" 0
check "prctl() with bad arguments" $TPROG/arguments prctl table
check "prctl() with bad arguments, unprivileged" run_as_nobody $TPROG/arguments prctl table
check "8,192 tables of a process, unprivileged" run_as_nobody $TPROG/arguments crowd table 8192
check_not "user_unwind_tables cannot be read unprivileged" run_as_nobody cat $LIST
check_not "user_unwind_tables cannot be written unprivileged" \
	run_as_nobody $TPROG/arguments ioctl $LIST table

echo 1 >$T/options/$OPT
echo 1 >$T/events/raw_syscalls/sys_exit/enable
check "damaged headers and functions of a table" $TPROG/arguments damaged $LIST libc.table $libc 0
check "damaged rows of a table" $TPROG/arguments damaged $LIST libc.table $libc 301
save_text
check "damaged tables: stacks are recorded all the time" at_least "$(count_stacks)" 100
finish
