#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A request in rt_sigreturn has the stack that returns from the handler, not the stack to which it
# returns.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

traced raw_syscalls $PATHS sigreturn 20
check "there are 20" at_least "$(count 'sys_enter: NR 15 ')" 20
check "each stack begins in the restorer" paths 'sys_enter: NR 15 ' --path sigreturn
check "the signals come from where they come from" paths 'sys_enter: NR 62 ' --path kill
finish
