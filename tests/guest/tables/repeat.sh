#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 timeout=300
#
# The kernel checks a stack that is the same as at the task's last walk, and does not walk it again.
# The kernel walks the stack if a mapping has changed, or a word that the last walk read. Other
# words do not matter.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "stacks that repeat are checked"
need_tables
USTACK=$BUILD/trace-ustack
need_program $TPROG/repeat $USTACK
N=1000

# count_walks: the calls of the function that ends each walk, as the kernel counts them
count_walks()
{
	cat $T/trace_stat/function* |
		awk '$1 == "unwind_trail_keep" { n += $2 } END { print n + 0 }'
}

# record_repeated HOW: record `repeat HOW`. $walked is the number of stacks that were walked.
record_repeated()
{
	echo 0 >$T/function_profile_enabled
	echo unwind_trail_keep >$T/set_ftrace_filter
	echo 1 >$T/function_profile_enabled
	record -O $OPT -e raw_syscalls:sys_enter -f 'id == 110' -- $TPROG/repeat $1 $N || return
	walked=$(count_walks)
	echo 0 >$T/function_profile_enabled
	echo >$T/set_ftrace_filter
	$USTACK report --json $TEST_TMP/trace.dat >report
}

cat >judge.py <<'END'
import json, sys
turns = sys.argv[1] == "callers"
right, wrong = 0, []
for line in open("report"):
    event = json.loads(line)
    if event.get("event") != "sys_enter" or event["comm"] != "repeat":
        continue
    want = ["syscall", "leaf", "odd" if turns and right % 2 else "even", "main"]
    got = [f.get("func") for f in event.get("user", [])]
    if got[:4] == want and got[-1] == "_start" and not event.get("user_flags"):
        right += 1
    else:
        wrong.append(got)
print("%s%d right, %d wrong %s" % ("WRONG: " if wrong else "", right, len(wrong), wrong[:2]))
sys.exit(bool(wrong) or right != int(sys.argv[2]))
END

check "tables are registered" register $TPROG/repeat "$(realpath $LIBS/libc.so.6)"
for how in same words callers mapped; do
	walked=
	check "$how: recorded" eval "record_repeated $how; echo \$walked >walked"
	walked=$(cat walked)
	check "$how: each stack is right" python3 judge.py $how $N
	say "$walked of $N stacks were walked"
	case $how in
	same | words)
		check "$how: few stacks are walked" test "$walked" -le $((N / 20)) ;;
	*)
		check "$how: each stack is walked" test "$walked" -ge $N ;;
	esac
done
unregister
finish
