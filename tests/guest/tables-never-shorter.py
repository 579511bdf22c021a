#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tables-never-shorter.py: are stacks of programs with tables as long as without, or longer?

usage: tables-never-shorter.py WITHOUT WITH COMM...

WITHOUT and WITH are what `trace-ustack report --json` says of two recordings of the same load. For
each COMM the median and the mean of its user stacks may not be less with tables, nor may they be
for stacks whose innermost frame is the same place of the same file, as far as both have enough of
these. A frame without a mapping counts for nothing, nor do those after it. There is a line for each
COMM, and one for each recording about frames without a mapping; what is wrong is indented after
it. A program of which a busy machine gave too few stacks is not judged.
"""
import collections
import json
import statistics
import sys

ENOUGH = 10		# stacks of a program
ENOUGH_AT = 8		# ... of one innermost frame, in both recordings
NOISE = 0.95		# of a mean: the load is the same, the moments are not
SHORTER_AT = 0.05	# of the stacks whose innermost frames are compared
SHOWN = 5


class Recording:
    def __init__(self, path):
        self.lengths = collections.defaultdict(list)
        self.at = collections.defaultdict(lambda: collections.defaultdict(list))
        self.outside = collections.Counter()
        self.example = {}
        self.marks = collections.defaultdict(collections.Counter)
        self.stacks = 0
        with open(path, encoding="utf-8") as f:
            for line in f:
                self.add(json.loads(line))

    def add(self, event):
        frames = event.get("user")
        if frames is None or not frames:
            return
        self.stacks += 1
        comm, inside = event["comm"], 0
        for frame in frames:
            if "file" not in frame and not frame.get("jit"):
                self.outside[comm] += 1
                self.example.setdefault(comm, " ".join(f["addr"] for f in frames))
                break
            inside += 1
        if not inside:
            return
        self.lengths[comm].append(inside)
        first = frames[0]
        self.at[comm][first.get("file"), first.get("offset", first["addr"])].append(inside)
        for mark in event.get("user_flags", ("whole",)):
            self.marks[comm][mark] += 1


def figures(v):
    return statistics.median(v), statistics.mean(v)


def compare(without, with_, comm):
    """(line to print, what is wrong or None)"""
    a, b = without.lengths.get(comm, []), with_.lengths.get(comm, [])
    if len(a) < ENOUGH or len(b) < ENOUGH:
        return "%-16s %6d %6d  too few to judge" % (comm, len(a), len(b)), None
    (median_a, mean_a), (median_b, mean_b) = figures(a), figures(b)
    compared, shorter, worst = 0, 0, []
    for place, lengths in without.at[comm].items():
        other = with_.at[comm].get(place, ())
        if len(lengths) < ENOUGH_AT or len(other) < ENOUGH_AT:
            continue
        compared += len(other)
        if statistics.median(other) < statistics.median(lengths):
            shorter += len(other)
            worst.append("%s+0x%x: %g, %g with tables" % (
                place[0] or "[JIT]", place[1] if isinstance(place[1], int) else
                int(place[1], 16), statistics.median(lengths), statistics.median(other)))
    whole = with_.marks[comm]["whole"]
    text = "%-16s %6d %6d  median %5.1f %5.1f  mean %6.2f %6.2f  whole %5.1f%%  places %d of %d" % (
        comm, len(a), len(b), median_a, median_b, mean_a, mean_b, 100.0 * whole / len(b),
        shorter, compared)
    wrong = []
    if median_b < median_a:
        wrong.append("the median is shorter: %g, not %g" % (median_b, median_a))
    if mean_b < NOISE * mean_a:
        wrong.append("the mean is shorter: %.2f, not %.2f" % (mean_b, mean_a))
    if shorter > SHORTER_AT * compared and shorter > ENOUGH:
        wrong.append("at the same places they are shorter: %d of %d stacks\n  %s" % (
            shorter, compared, "\n  ".join(worst[:SHOWN])))
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
