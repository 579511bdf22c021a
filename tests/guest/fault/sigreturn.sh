#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A request in rt_sigreturn has the stack that returns from the handler, not the stack to which it
# returns.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

record_events raw_syscalls $PATHS sigreturn 20
check "20 events in rt_sigreturn are recorded" at_least "$(count 'sys_enter: NR 15 ')" 20
check "each stack in rt_sigreturn begins in the restorer" \
	have_path 'sys_enter: NR 15 ' --path sigreturn
check "each stack in kill() is the path that called kill()" \
	have_path 'sys_enter: NR 62 ' --path kill
finish
