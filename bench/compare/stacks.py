#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stacks.py: how many user stacks of a recording are complete?

usage: stacks.py FORMAT [COMM=ENTRY[,ENTRY]...]... <TEXT

FORMATs: perf       perf script -F comm,tid,event,ip
         bpftrace   a map @[comm, ustack(raw)] of counts
         lttng      babeltrace2, with the contexts procname and callstack-user
         ftrace     trace-cmd report with options/userstacktrace
         ours       trace-ustack report --json

Prints for each COMM a line COMM EVENTS STACKS COMPLETE FRAMES: the events; the events with at least
one user address; the stacks that are complete; all user addresses. A stack is complete if its
outermost address is at an ENTRY or a little after it. An ENTRY is a hexadecimal address, where the
program or its dynamic loader starts. The format ours marks doubtful stacks, and these do not count
as complete.
"""
import collections
import json
import re
import sys

MAX_ENTRY_OFFSET = 0x40
USER = 1 << 63


def perf(text):
    comm, stack = None, []
    for line in text:
        found = re.match(r"\s*(\S.*?)\s+\d+ +\S+:\s*$", line)
        if found:
            if comm:
                yield comm, stack, True, 1
            comm, stack = found.group(1), []
        elif re.match(r"\s+[0-9a-f]+\s*$", line):
            stack.append(int(line, 16))
    if comm:
        yield comm, stack, True, 1


def bpftrace(text):
    comm, stack = None, []
    for line in text:
        found = re.match(r"@\[(.*),\s*$", line)
        if found:
            comm, stack = found.group(1), []
        elif line.startswith("]: "):
            yield comm, stack, True, int(line[3:])
        elif re.match(r"[0-9a-f]+$", line):
            stack.append(int(line, 16))


def lttng(text):
    for line in text:
        comm = re.search(r'procname = "(.*?)"', line)
        found = re.search(r"callstack_user = \[(.*?)\](?:,| \})(?! \[)", line)
        if comm:
            stack = re.findall(r"\] = (0x[0-9A-Fa-f]+)", found.group(0)) if found else []
            yield comm.group(1), [int(x, 16) for x in stack], True, 1


def ftrace(text):
    comm, stack, inside = None, [], False
    for line in text:
        found = re.match(r"\s*(\S.*)-\d+\s+\[\d+\]\s+\S*\s*[\d.]+: +(\S+):", line)
        if found:
            inside = found.group(2) == "user_stack"
            if found.group(2) not in ("user_stack", "kernel_stack"):
                if comm:
                    yield comm, stack, True, 1
                comm, stack = found.group(1), []
        address = re.search(r"=> 0x([0-9a-f]+)$", line)
        if inside and address:
            stack.append(int(address.group(1), 16))
    if comm:
        yield comm, stack, True, 1


def ours(text):
    doubtful = {"truncated", "incomplete", "frame-pointer", "cut", "no-start"}
    for line in text:
        event = json.loads(line)
        yield (event.get("comm"), [int(f["addr"], 16) for f in event.get("user", [])],
               not doubtful & set(event.get("user_flags", [])), 1)


def main():
    entries = {}
    for word in sys.argv[2:]:
        comm, _, where = word.partition("=")
        entries[comm] = [int(x, 16) for x in where.split(",") if x]
    got = collections.defaultdict(lambda: [0, 0, 0, 0])
    for comm, stack, sure, times in globals()[sys.argv[1]](sys.stdin):
        stack = [a for a in stack if 0 < a < USER]
        if comm not in entries:
            continue
        sums = got[comm]
        sums[0] += times
        sums[1] += times * bool(stack)
        sums[2] += times * any(stack and sure and e <= stack[-1] <= e + MAX_ENTRY_OFFSET
                               for e in entries[comm])
        sums[3] += times * len(stack)
    for comm in entries:
        print(comm, *got[comm])


main()
