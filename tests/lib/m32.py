#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""m32.py PATHS REPORT: does each stack have the functions that tests/native/m32.c wrote to PATHS?

REPORT is `trace-ustack report --json` of raw_syscalls:sys_enter. The test fails if one stack is
wrong, if a path has no event, or if more than three stacks are cut. The vDSO alone may have code
without unwind information.
"""
import json
import sys

NUMBERS = {64: "getppid", 126: "sigprocmask", 403: "clock_gettime64"}


def judge(name, own, flags, expected):
    """right, wrong or cut"""
    if own[-1:] == ["_start"]:
        own.pop()
    if "incomplete" in flags:
        # a page was not in memory: the frames up to there
        if expected[-1] != "..." and [name] + own == expected[:len(own) + 1]:
            return "cut"
        own.append("...")
    if [name] + own == expected and (name == "clock_gettime64" or "frame-pointer" not in flags):
        return "right"
    print("not", expected, "but", name, own, flags)
    return "wrong"


def main():
    with open(sys.argv[1]) as f:
        want = [line.split() for line in f]
    count = {"right": 0, "wrong": 0, "cut": 0}
    with open(sys.argv[2]) as f:
        events = [json.loads(line) for line in f]
    for event in events:
        name = NUMBERS.get(event.get("fields", {}).get("id"))
        if event.get("event") != "sys_enter" or not name:
            continue
        # its program was skipped
        if not event.get("user"):
            if event["comm"] == "m32":
                count["cut"] += 1
                want.pop(0)
            continue
        flags = event.get("user_flags", [])
        # else it is the recorder's child, before it executes the program
        if "32-bit" in flags:
            own = [f.get("func") for f in event["user"] if f.get("file", "").endswith("/m32")]
            count[judge(name, own, flags, want.pop(0))] += 1
    print("%s%d right, %d wrong, %d cut, %d missing" % (
        "WRONG: " if count["wrong"] else "", count["right"], count["wrong"], count["cut"],
        len(want)))
    return count["wrong"] > 0 or count["cut"] > 3 or len(want) > 0


if __name__ == "__main__":
    sys.exit(main())
