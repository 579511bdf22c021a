#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=1200 alone
#
# trace-ustack record -e 'sched:*' CMD: one command, and the file has the complete stacks of stock
# programs. The file has nothing else, and no trace of the recording stays in the kernel.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK

cat >script.sh <<'END'
f() { x=$(echo $1; cat /proc/self/stat); ls / >/dev/null; }
for i in 1 2 3 4 5 6; do f $i; done
git --version
python3 -c 'import time; [time.sleep(0.001) for i in range(20)]'
exit 7
END

$USTACK check >checked 2>&1
check "trace-ustack check: nothing is missing" is $? 0
check "trace-ustack check: stacks are complete, by tables" \
	grep -q 'user stacks: complete, by unwind tables' checked
[ $failed = 0 ] || cat checked
check_not "an unknown event is refused" ustack_record -e sched:sched_swich true
check "an unknown event: a similar one is named" grep -q 'similar events: sched:sched_switch' output
check_not "a command that does not exist: record fails" ustack_record -e 'sched:*' nowhere
ustack_record -e 'sched:*' nowhere
check "a command that does not exist: the exit code of a shell" is $? 127
check "a command that does not exist: no file" test ! -e t.dat
check "a command that does not exist: nothing is left" nothing_left

# The first run makes the tables
check "a first recording makes the tables" \
	ustack_record --no-summary -e sched:sched_switch bash script.sh
check "a script: recorded" ustack_record -e 'sched:*' bash script.sh
ustack_record -x -e 'sched:*' bash -c 'exit 7'
check "-x: the exit code is that of the command" is $? 7
check "a script: recorded again" ustack_record -e 'sched:*' bash script.sh
sed 's/^/     /' output
check "a script: all stacks are joined" are_all_joined 200
check "a script: trace-cmd report reads the file" run_report 1000
check "bash: complete" complete bash --min 50 --percent 99.5
# python3 does not run when the recording starts. It ran in earlier recordings, so its tables exist
check "python3: complete" complete python3 --min 20 --percent 99
sed 's/^/     /' $TEST_TMP/figures
check "the figures of bash and python3 are there" grep -q . $TEST_TMP/all-figures
sed 's/^/     /' $TEST_TMP/all-figures
cp $TEST_TMP/all-figures output $TEST_OUT/
cp t.dat whole.dat
# and kernel threads that a CPU went to or came from
mine='bash|git|python3|ls|cat|trace-ustack|<idle>|rcu_.*|k[a-z]+d|ext4lazyinit|[a-z]+/.*'
are_tasks_known()
{
	! grep -oE '^ +[^ ]+-[0-9]+ +\[[0-9]+\]' $TEST_TMP/report |
		sed -E 's/-[0-9]+ .*//' | sort | uniq -c | grep -vE " ($mine)\$"
}
check "a script: only the command and its children are in the recording" are_tasks_known
check "a script: nothing is left" nothing_left

# The first recording ever also has tables for the files of CMD
cat >interpreted <<'END'
#!/usr/bin/env python3
import time
for i in range(20):
    time.sleep(0.001)
END
chmod +x interpreted
TRACE_USTACK_TABLES=$TEST_TMP/none ustack_record -e 'sched:*' ./interpreted
sed 's/^/     /' output
check "an empty cache, a script of python3: all stacks are joined" are_all_joined 20
run_report >/dev/null
check "an empty cache, a script of python3: complete" complete python3 --min 15 --percent 99
sed 's/^/     /' $TEST_TMP/figures

# A user sees this
$USTACK report whole.dat >own 2>own.err
check "a script: trace-ustack report reads the file" grep -q '\[user\]' own
keep t.dat whole.dat $TEST_TMP/report all-output
finish
