#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""perf.py: do perf and ftrace have the same user stacks?

usage: perf.py PERF-DUMP TRACE-REPORT

PERF-DUMP is `perf script -D`, TRACE-REPORT is `trace-cmd report -N`, of one recording by both. A
task gets one cookie for each entry into the kernel, for all requests, so both files name a stack by
(tid, cookie). All stacks that are in both files must have the same addresses; there must be some
100.
"""
import re
import sys

DEFERRED = re.compile(r"PERF_RECORD_CALLCHAIN_DEFERRED\(.*\): (\d+)/(\d+): (0x[0-9a-f]+)")
ENTRY = re.compile(r"^\.{5} +\d+: ([0-9a-f]{16})")
STACK = re.compile(r"-(\d+) +\[\d+\].* user_unwind_stack: +cookie=([0-9a-f]+) tgid=\d+ "
                   r"flags=(\S+) stack=\{(.*)\}")
LEAST = 100


def read_perf(path):
    stacks, key = {}, None
    for line in open(path, errors="replace"):
        found = DEFERRED.search(line)
        if found:
            key = int(found.group(2)), int(found.group(3), 16)
            stacks[key] = []
            continue
        found = ENTRY.match(line)
        if found and key:
            address = int(found.group(1), 16)
            if address < 1 << 63:           # not a PERF_CONTEXT_ mark
                stacks[key].append(address)
        elif not line.startswith("... FP chain"):
            key = None
    return stacks


def read_ftrace(path):
    stacks = {}
    for line in open(path, errors="replace"):
        found = STACK.search(line)
        if found:
            addresses = [int(x, 16) for x in found.group(4).split(",") if x]
            stacks[int(found.group(1)), int(found.group(2), 16)] = addresses
    return stacks


def main():
    perf, ftrace = read_perf(sys.argv[1]), read_ftrace(sys.argv[2])
    both = perf.keys() & ftrace.keys()
    other = [key for key in both if perf[key] != ftrace[key]]
    for key in other[:5]:
        print("tid %d, cookie %x:\n  perf   %s\n  ftrace %s" %
              (*key, *(" ".join("%x" % x for x in s[key]) for s in (perf, ftrace))))
    print("%d stacks of perf, %d of ftrace, %d in both, of which %d differ; %.1f frames each" %
          (len(perf), len(ftrace), len(both), len(other),
           sum(len(perf[key]) for key in both) / max(1, len(both))))
    if other:
        print("WRONG: %d stacks are not the same" % len(other))
    sys.exit(1 if other or len(both) < LEAST else 0)


main()
