#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 timeout=300
#
# A stack that is the same as at the task's last walk is checked and not walked again. It is walked
# if a word has changed that the last walk read, or a mapping. A word that it did not read does not
# matter.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "stacks that repeat are checked"
need_tables
USTACK=$BUILD/trace-ustack
need_program $TPROG/repeat $USTACK
N=1000

# The kernel counts the calls of the function that ends each walk.
walks()
{
	cat $T/trace_stat/function* |
		awk '$1 == "unwind_trail_keep" { n += $2 } END { print n + 0 }'
}

# repeated HOW: record it. Then $walked says how many of the stacks were walked.
repeated()
{
	echo 0 >$T/function_profile_enabled
	echo unwind_trail_keep >$T/set_ftrace_filter
	echo 1 >$T/function_profile_enabled
	record -O $OPT -e raw_syscalls:sys_enter -f 'id == 110' -- $TPROG/repeat $1 $N || return
	walked=$(walks)
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
	check "$how: recorded" eval "repeated $how; echo \$walked >walked"
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
