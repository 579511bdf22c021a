#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""gdb_compare.py STOPPED BLOCKED GDB-OUTPUT < JSON: stacks of blocked threads, against gdb's

STOPPED is when gdb stopped the threads, in ns of the trace clock. The file BLOCKED has their IDs;
other threads are left out. Prints the stacks of each thread whose stack differs, then "same N
differ N marked N none N":

    same    all addresses are gdb's
    marked  our stack has a mark, is incomplete, or goes through code in no file, which gdb has no
            rules for
    none    no event of this thread has a stack
"""
import json
import sys

stopped, output = int(sys.argv[1]), sys.argv[3]
blocked = {int(tid) for tid in open(sys.argv[2])}
last = {}
for line in sys.stdin:
    event = json.loads(line)
    if event.get("user") and event["ts"] < stopped:
        last[event["tid"]] = event
count = {"same": 0, "differ": 0, "marked": 0, "none": 0}


def judge(event, theirs):
    if not event:
        return "none"
    frames = [f for f in event["user"] if not f.get("python")]
    if event.get("user_flags") or not all(f.get("file") for f in frames):
        return "marked"
    ours = [int(f["addr"], 16) for f in frames]
    # gdb stops a system call: the kernel may already have set the pc back to start it again
    if ours[0] - theirs[0] == 2:
        ours[0] = theirs[0]
    return "same" if ours == theirs else "differ"


for line in open(output):
    words = line.split()
    if not words or words[0] != "STACK":
        continue
    tid, theirs = int(words[1]), [int(w, 16) for w in words[2:]]
    if tid not in blocked:
        continue
    result = judge(last.get(tid), theirs)
    count[result] += 1
    if result == "differ":
        print("WRONG:", tid, "gdb:", " ".join("%#x" % a for a in theirs))
        for f in last[tid]["user"]:
            print("   ours:", f["addr"], f.get("func", ""), f.get("file", ""))
print(" ".join("%s %d" % c for c in count.items()))
sys.exit(count["differ"] != 0)
