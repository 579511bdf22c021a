#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""never-shorter.py: are stacks of programs at least as long with tables as without?

usage: never-shorter.py WITHOUT WITH COMM...

WITHOUT and WITH are the outputs of `trace-ustack report --json` for two recordings of the same
load. Each stack with tables is compared with the stacks without tables that have the same innermost
frame. Stacks of first threads and of other threads are compared separately: in Go, frame pointers
lead from the stack of a thread to the stack of a goroutine only if that lies above it. A stack with
tables is as long if it has all frames of a stack without tables, in their order. It is shorter if
it has all frames of no such stack and ends at a frame after which one of these stacks goes on, and
at which no stack of the program ends. Other stacks are not compared.

For programs with one thread, the median and the mean must not be smaller either. Programs with
several threads, like Go programs, do different work each time. A frame without a mapping does not
count, nor do the frames after it. In Go, the frames after runtime.mcall do not count: the thread
has left their goroutine, and tables end the stack there. Prints a line for each COMM, and a line
for each recording about frames without a mapping; errors are indented below it. A program with too
few stacks, from a busy machine, is not judged.
"""
import collections
import json
import statistics
import sys

ENOUGH = 10		# stacks of a program
NOISE = 0.95		# of a mean: the load is the same, the moments are not
SHORTER = 0.02		# of the stacks that are compared: threads differ, see above
SHOWN = 5


class Recording:
    def __init__(self, path):
        self.lengths = collections.defaultdict(list)
        self.at = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        self.ends = collections.defaultdict(set)
        self.threads = collections.defaultdict(set)
        self.outside = collections.Counter()
        self.example = {}
        self.whole = collections.Counter()
        self.stacks = 0
        with open(path, encoding="utf-8") as f:
            for line in f:
                self.add(json.loads(line))

    def add(self, event):
        frames = event.get("user")
        if not frames:
            return
        self.stacks += 1
        comm, stack = event["comm"], []
        for frame in frames:
            if "file" not in frame and not frame.get("jit"):
                self.outside[comm] += 1
                self.example.setdefault(comm, " ".join(f["addr"] for f in frames))
                break
            stack.append((frame.get("file"), frame.get("offset", frame["addr"])))
            if frame.get("func") == "runtime.mcall":
                break
        if not stack:
            return
        self.lengths[comm].append(len(stack))
        is_first = event["tid"] == event.get("pid")
        self.at[comm][stack[0], is_first][tuple(stack)] += 1
        self.ends[comm].add(stack[-1])
        self.threads[comm, event.get("pid")].add(event["tid"])
        self.whole[comm] += "user_flags" not in event

    def has_threads(self, comm):
        return any(len(t) > 1 for (c, pid), t in self.threads.items() if c == comm)


def has_all(stack, other):
    rest = iter(stack)
    return all(frame in rest for frame in other)


def is_shorter(stack, others, ends):
    """None if nothing can be said. @ends: where walks end without tables, too"""
    if any(has_all(stack, other) for other in others):
        return False
    if stack[-1] in ends:
        return None
    if any(stack[-1] in other[:-1] for other in others):
        return True
    return None


def text_of(stack):
    return " ".join("%s+%s" % ((f or "[JIT]").split("/")[-1],
                               hex(o) if isinstance(o, int) else o) for f, o in stack)


def compare(without, with_, comm):
    """(line to print, what is wrong or None)"""
    a, b = without.lengths.get(comm, []), with_.lengths.get(comm, [])
    if len(a) < ENOUGH or len(b) < ENOUGH:
        return "%-16s %6d %6d  too few to judge" % (comm, len(a), len(b)), None
    compared, shorter, worst = 0, 0, []
    for place, stacks in with_.at[comm].items():
        for stack, nr in stacks.items():
            verdict = is_shorter(stack, without.at[comm].get(place, ()), without.ends[comm])
            compared += nr if verdict is not None else 0
            if verdict:
                shorter += nr
                worst.append("%d x %s" % (nr, text_of(stack)))
    (median_a, mean_a), (median_b, mean_b) = ((statistics.median(v), statistics.mean(v))
                                              for v in (a, b))
    text = ("%-16s %6d %6d  median %5.1f %5.1f  mean %6.2f %6.2f  whole %5.1f%%  "
            "shorter %d of %d") % (
        comm, len(a), len(b), median_a, median_b, mean_a, mean_b,
        100.0 * with_.whole[comm] / len(b), shorter, compared)
    wrong = []
    if not with_.has_threads(comm) and median_b < median_a:
        wrong.append("the median is shorter: %g, not %g" % (median_b, median_a))
    if not with_.has_threads(comm) and mean_b < NOISE * mean_a:
        wrong.append("the mean is shorter: %.2f, not %.2f" % (mean_b, mean_a))
    if shorter > SHORTER * compared:
        wrong.append("%d of %d stacks are shorter\n  %s" % (shorter, compared,
                                                           "\n  ".join(worst[:SHOWN])))
    return text, "\n".join(wrong) or None


def main():
    without, with_ = Recording(sys.argv[1]), Recording(sys.argv[2])
    for comm in sys.argv[3:]:
        text, wrong = compare(without, with_, comm)
        print(text)
        if wrong:
            print("  " + wrong.replace("\n", "\n  "))
    for name, recording in (("outside-without", without), ("outside-with", with_)):
        print("%s %d of %d stacks" % (name, sum(recording.outside.values()), recording.stacks))
        for comm, nr in recording.outside.most_common(SHOWN):
            print("  %d of %s: %s" % (nr, comm, recording.example[comm]))


if __name__ == "__main__":
    main()
