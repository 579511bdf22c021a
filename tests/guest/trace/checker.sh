#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The checker must find faults: one wrong frame in the record, one wrong cookie or one missing stack
# in the trace, both in the file and in the text.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check

CALLPATH_OPTIONS="-b 8192 --file-version 6"
check_callpath "as recorded" $CALLPATH -n 60 -x plain
cp $TEST_TMP/path $TEST_TMP/path.good
cp $TEST_TMP/trace.dat $TEST_TMP/trace.good

# A wrong frame in the record, in some entry in the middle with at least 5 frames
cat >$TEST_TMP/spoil.py <<'END'
import struct, sys
what, record, trace = sys.argv[1:4]
rec = bytearray(open(record, "rb").read())
entries, at = [], 32
while at + 40 <= struct.unpack_from("=I", rec, 8)[0]:
    size, seq, tid, tgid, nr, flags, depth = struct.unpack_from("=7I", rec, at)
    entries.append((at, seq, depth))
    at += size
deep = [e for e in entries if e[2] >= 5]
if what == "frame":
    at = deep[len(deep) // 2][0] + 40 + 3 * 8
    struct.pack_into("=Q", rec, at, struct.unpack_from("=Q", rec, at)[0] + 2)
    open(record, "wb").write(rec)
    sys.exit(0)
if what == "none":
    sys.exit(0)
# A cookie is an odd counter after the CPU's number, and that after the task's ID, as in the record
# of the call. Find the cookies of two calls by the sequence numbers before them.
dat = bytearray(open(trace, "rb").read())
def cookie_at(seq):
    at = dat.find(struct.pack("=Q", seq))	# the fifth argument, 48 bytes into the record
    for i in range(at + 16, at + 80, 4):
        cpu, count = struct.unpack_from("=II", dat, i)
        if 1 <= cpu <= 8 and count & 1 and count > 1 and dat[i - 4:i] == dat[at - 44:at - 40]:
            return i
    sys.exit("no cookie after the event of %d" % seq)
a, b = cookie_at(deep[10][1]), cookie_at(deep[20][1])
if what == "cookie":
    dat[a:a + 8] = dat[b:b + 8]
elif what == "unknown":
    struct.pack_into("=I", dat, a + 4, 0x7ffffff1)
open(trace, "wb").write(dat)
END
spoil()
{
	cp $TEST_TMP/path.good $TEST_TMP/path
	cp $TEST_TMP/trace.good $TEST_TMP/trace.dat
	python3 $TEST_TMP/spoil.py $1 $TEST_TMP/path $TEST_TMP/trace.dat
}

check "a wrong frame: made" spoil frame
check_not "a wrong frame: seen" run_checker
# a tick can wake a task during the call: that is an event, too
more='([2-9]|[1-9][0-9]+)'
check "a wrong frame: counted in both events of the call" grep -qE ", $more wrong" $TEST_TMP/verdict
check "a wrong frame: the verdict has a line for the runner" grep -qE "^WRONG: $more " \
	$TEST_TMP/verdict
check "a wrong frame: reported" report
check_not "a wrong frame: seen in the text" $PROG/callpath-check -R -r $TEST_TMP/path $programs \
	$TEST_TMP/report

check "another call's cookie: made" spoil cookie
check_not "another call's cookie: seen" run_checker
check "another call's cookie: counted in the event" grep -qE ', [12] wrong' $TEST_TMP/verdict
check "another call's cookie: reported" report
check_not "another call's cookie: seen in the text" $PROG/callpath-check -R -r $TEST_TMP/path \
	$programs $TEST_TMP/report
check_not "another call's cookie: seen with losses allowed" run_checker -l

check "a cookie without a stack: made" spoil unknown
check_not "a cookie without a stack: seen" run_checker
check "a cookie without a stack: counted as not recorded" \
	grep -qE '1 not recorded' $TEST_TMP/verdict
check "a cookie without a stack: the verdict has a line for the runner" \
	grep -q '^LOST: 1 ' $TEST_TMP/verdict
check_not "a cookie without a stack: not counted as wrong" grep '^WRONG: ' $TEST_TMP/verdict
check "a cookie without a stack: reported" report
check "a cookie without a stack: the report says not recorded" at_least \
	"$(grep -c '=> \[user\] <not recorded' $TEST_TMP/report)" 1

# In the text, lines after a gap do not belong to the event before the gap. Here, all records
# between the sys_enter of one call and the cookie of another call are lost.
check "a gap: the good recording is back" spoil none
check "a gap: reported" report
cat >$TEST_TMP/gap.py <<'END'
import re, sys
lines = open(sys.argv[1]).read().split("\n")
enter = [i for i, l in enumerate(lines) if "callpath-" in l and ": sys_enter:" in l]
for k in range(len(enter) // 2, len(enter) - 2):
    here, there = enter[k], enter[k + 2]
    cpu = re.search(r"\[(\d+)\]", lines[there])[1]
    task = lines[there].split("[")[0]
    # Both are of one task on one CPU, and the cookie follows at once
    if "[%s]" % cpu in lines[here] and lines[here].split("[")[0] == task and \
            "user_unwind_cookie" in lines[there + 1]:
        lines[here + 1:there + 1] = ["CPU:%d [12 EVENTS DROPPED]" % int(cpu)]
        break
else:
    sys.exit("no two calls of one task on one CPU")
open(sys.argv[1], "w").write("\n".join(lines))
END
check "a gap: made" python3 $TEST_TMP/gap.py $TEST_TMP/report
check "a gap: no frames come from after the gap" $PROG/callpath-check -R -l -r $TEST_TMP/path \
	$programs $TEST_TMP/report

# The record of another run does not fit this one
cp $TEST_TMP/trace.good $TEST_TMP/trace.dat
$CALLPATH -o $TEST_TMP/path -n 60 -s 99 -x plain
check_not "the record of another run does not match" run_checker
finish
