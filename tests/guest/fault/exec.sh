#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A request in execve belongs to the program that calls execve, not to the program that starts.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

for how in exec execthread; do
	say "$how"
	traced "raw_syscalls/sys_enter sched/sched_process_exec" $PATHS $how /bin/true
	check "$how: one path was printed" is "$(grep -c '^path' $TEST_TMP/paths)" 1
	check "$how: sys_enter has the stack of the caller" paths 'sys_enter: NR 59 ' --last
	check "$how: so has sched_process_exec" paths 'sched_process_exec: ' --last
done

# A script's interpreter is executed by the same call
printf '#!/bin/true\n' >$TEST_TMP/script
chmod +x $TEST_TMP/script
for how in exec execthread; do
	traced "raw_syscalls/sys_enter sched/sched_process_exec" $PATHS $how $TEST_TMP/script
	check "$how, a script: sys_enter has the stack of the caller" \
		paths 'sys_enter: NR 59 ' --last
	check "$how, a script: so has sched_process_exec" paths 'sched_process_exec: ' --last
done

# One that fails returns to its caller, in both
traced "raw_syscalls" $PATHS exec /nonexistent
check "a failing one: sys_enter has the stack of the caller" paths 'sys_enter: NR 59 ' --last
check "a failing one: so has sys_exit" paths 'sys_exit: NR 59 = -2' --last
finish
