#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=600
#
# Record stock programs, and keep the recording, the files that it names, and the output that the
# tools of this machine make from it. tests/vm/elsewhere makes the tools of another machine do the
# same.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/../record/lib.sh"
[ $ARCH != amd64 ] || skip_test "the other machine is amd64"
need_tables
need_program $USTACK

cat >script.sh <<'END'
for i in 1 2 3 4 5 6; do echo $(cat /proc/self/stat) >/dev/null; done
git --version
python3 -c 'import json, time; [time.sleep(0.001) for i in range(20)]'
END
events="-e raw_syscalls:sys_enter -e sched:sched_waking -e sched:sched_switch"
check "a first recording makes the tables" ustack_record $events bash script.sh
check "stock programs are recorded" ustack_record $events bash script.sh
copy_files()
{
	mkdir root && $USTACK report t.dat >first || return
	grep -oE '\(/[^ +)]+' first | tr -d '(' | sort -u | xargs cp --parents -L -t root &&
		at_least "$(find root -type f | wc -l)" 6
}
check "the files of the recording are copied" copy_files
mkdir out
check "the tools make their output" "$(dirname "$0")/outputs" $USTACK $PWD/out
check "the report has user stacks" at_least "$(grep -c '\[user\]' out/report)" 1000
check "recording, files and output are kept" cp -r t.dat* root out "$TEST_OUT"
finish
