#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stacks.py: are the user stacks of a program complete?

usage: stacks.py [OPTION...] REPORT

REPORT is the text of `trace-cmd report` with the plugin. The script counts the stacks of the tasks
of --comm NAME (repeated: any of them), one for each joined record. Here a complete stack must be
unmarked, too (docs/limits.md): it has no mark (incomplete, truncated, frame pointers...), and its
outermost frame is where programs or threads start. For a program that is the entry point of the
program or of the dynamic loader, for a thread clone() in the C library. musl's clone() is in
assembler and has no symbol, so with musl the outermost frame of a thread is the caller of the
thread's function. In Go it is goexit(), the frame below each goroutine, or mcall() or newstack() on
a thread whose goroutine has stopped.

--min N         there are at least N stacks (default 50)
--percent P     P of 100 stacks are complete (default 99.9)
--expect A,B,C  some stack has these functions, inner ones first, others may be between
--never NAME    no stack has that function
--registered N  only stacks after the process has registered N tables by itself, for which
                raw_syscalls, sched_process_fork and sched_process_exec are recorded
--flags-only    the end of a stack does not count, for files that are gone: no lookup is possible
--excuse NAME   stacks with a mark and this function are counted apart, not as incomplete; they may
                be 40 of 100
--list N        print the first N stacks that are not complete
"""

import argparse
import collections
import os
import re
import struct
import subprocess
import sys

EVENT = re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+\S*\s*(?P<ts>[\d.]+): +"
                   r"(?P<name>[\w:]+): +(?P<rest>.*)$")
FRAME = re.compile(r"^=> \[user\] (?P<what>[^<].*?)(?: \((?P<path>.*)\+0x(?P<off>[0-9a-f]+)\))?$")
MARK = re.compile(r"^=> \[user\] <(?P<mark>.*)>$")
MUSL_THREAD = b"\x31\xed\x5f\x41\xff\xd1"   # xor %ebp,%ebp; pop %rdi; call *%r9
# From there ld.so goes on to the program
ENTRY_BYTES = {"s390x": 0x5c, "aarch64": 0x74}.get(os.uname().machine, 0x40)
# Goroutines, what a thread of Go's starts with, and what runs after a goroutine has stopped
GO = re.compile(r"(runtime\.(goexit|mstart|clone|rt0_go|mcall|newstack)|_rt0_\w+)(\.abi0)?\+")
MAX_EXCUSED = 0.4       # of all stacks
CLONE_BYTES = 0x400     # clone3() has no symbol; the linker puts it directly after clone()


class Elf:
    """The places of entry point and clone() in a file."""

    known = {}

    def __init__(self, path):
        self.entry = self.clone = self.thread = None
        self.loads = []
        try:
            with open(path, "rb") as f:
                at = f.read().find(MUSL_THREAD) if "musl" in path else -1
                self.thread = at + len(MUSL_THREAD) if at >= 0 else None
                f.seek(0)
                head = f.read(64)
                if head[:5] != b"\x7fELF\x02":
                    return
                order = ">" if head[5] == 2 else "<"
                entry, phoff = struct.unpack_from(order + "QQ", head, 24)
                size, count = struct.unpack_from(order + "HH", head, 54)
                f.seek(phoff)
                table = f.read(size * count)
        except OSError:
            return
        for i in range(count):
            kind, _, off, vaddr, _, filesz = struct.unpack_from(order + "IIQQQQ", table,
                                                                i * size)
            if kind == 1:
                self.loads.append((off, vaddr, filesz))
        self.entry = self.offset(entry)
        names = subprocess.run(["readelf", "-W", "--dyn-syms", "-s", path],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        for line in names.split("\n"):
            part = line.split()
            if len(part) == 8 and part[7].split("@")[0] in ("clone", "__clone"):
                self.clone = self.offset(int(part[1], 16))

    def offset(self, vaddr):
        for off, start, size in self.loads:
            if start <= vaddr < start + size:
                return vaddr - start + off
        return None

    @classmethod
    def of(cls, path):
        if path not in cls.known:
            cls.known[path] = cls(path)
        return cls.known[path]


def is_start(frame):
    """Do programs or threads start in this frame?"""
    if re.match(r"(_start|__clone3?|clone3?)\+", frame["what"]) or GO.match(frame["what"]):
        return True
    if not frame["path"]:
        return False
    elf, off = Elf.of(frame["path"]), int(frame["off"], 16)
    # from the system call on, from which the thread returns
    if elf.thread is not None and elf.thread - 12 <= off <= elf.thread:
        return True
    return (elf.entry is not None and elf.entry <= off <= elf.entry + ENTRY_BYTES or
            elf.clone is not None and elf.clone < off <= elf.clone + CLONE_BYTES)


def read_stacks(path, see=lambda event: None):
    """(event, frames, marks) of each event that has user frames, or marks in their place.

    see() gets each event after the event before it was returned.
    """
    event = None
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            match = EVENT.match(line)
            if match:
                if event and (event[1] or event[2]):
                    yield event
                event = (match, [], [])
                see(match)
            elif event:
                mark, frame = MARK.match(line), FRAME.match(line)
                if mark:
                    event[2].append(mark["mark"])
                elif frame:
                    event[1].append(frame)
    if event and (event[1] or event[2]):
        yield event


class Registered:
    """Tables that tasks have registered since execve(); threads and children have them too."""

    PRCTL = {"s390x": 172, "aarch64": 167}.get(os.uname().machine, 157)
    ADD = re.compile(r"NR %d \(53467261," % PRCTL)
    EXEC = re.compile(r"\bpid=(\d+)")
    FORK = re.compile(r"\bpid=(\d+) .*child_pid=(\d+)")

    def __init__(self):
        self.tables, self.asked = collections.Counter(), set()

    def see(self, event):
        tid, what, rest = int(event["tid"]), event["name"], event["rest"]
        if what == "sys_enter" and self.ADD.match(rest):
            self.asked.add(tid)
        elif what == "sys_exit" and tid in self.asked:
            self.asked.remove(tid)
            self.tables[tid] += rest.startswith("NR %d = 0" % self.PRCTL)
        elif what == "sched_process_exec":
            self.tables[int(self.EXEC.search(rest)[1])] = 0
        elif what == "sched_process_fork":
            parent, child = self.FORK.search(rest).groups()
            self.tables[int(child)] = self.tables[int(parent)]


def name_of(frame):
    return re.sub(r"\+0x[0-9a-f]+$", "", frame["what"])


def has_frames(frames, wanted):
    names = iter(name_of(f) for f in frames)
    return all(any(re.fullmatch(w, n) for n in names) for w in wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--comm", action="append", required=True)
    parser.add_argument("--min", type=int, default=50)
    parser.add_argument("--percent", type=float, default=99.9)
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--never", action="append", default=[])
    parser.add_argument("--registered", type=int, default=0)
    parser.add_argument("--flags-only", action="store_true")
    parser.add_argument("--excuse")
    parser.add_argument("--list", type=int, default=3)
    parser.add_argument("report")
    args = parser.parse_args()

    total = complete = frames_sum = 0
    missing = collections.Counter()
    why = collections.Counter()
    bad, seen, never, before, switched = [], set(), 0, 0, collections.Counter()
    registered = Registered()
    for event, frames, marks in read_stacks(args.report, registered.see if args.registered else id):
        if event["comm"] not in args.comm:
            continue
        if registered.tables[int(event["tid"])] < args.registered:
            before += 1
            continue
        if not frames and marks and re.match("still in|lost|not recorded", marks[0]):
            missing[marks[0]] += 1
            continue
        total += 1
        frames_sum += len(frames)
        for wanted in args.expect:
            if wanted not in seen and has_frames(frames, wanted.split(",")):
                seen.add(wanted)
        never += any(has_frames(frames, [n]) for n in args.never)
        if not marks and frames and (args.flags_only or is_start(frames[-1])):
            complete += 1
            continue
        if marks and args.excuse and has_frames(frames, [args.excuse]):
            switched["%s in %s" % (marks[0].split(":")[0], next(
                name_of(f) for f in frames if re.fullmatch(args.excuse, name_of(f))))] += 1
            continue
        cause = "; ".join(marks) or "ends in %s" % frames[-1]["what"]
        if frames:
            cause += " after " + re.sub(r"^0x[0-9a-f]+", "", frames[-1]["what"]) + " (%s+0x%s)" % (
                frames[-1]["path"], frames[-1]["off"])
        why[cause] += 1
        if why[cause] <= 1:
            bad.append((event.group(0), frames, marks))

    percent = 100.0 * complete / total if total else 0
    print("%s: %d stacks, %d complete (%.2f%%), %.1f frames; without one: %s" % (
        ",".join(args.comm), total, complete, percent, frames_sum / total if total else 0,
        ", ".join("%d %s" % (n, m) for m, n in missing.most_common()) or "none"))
    if args.registered:
        print("  %d stacks before anything was registered" % before)
    for cause, n in why.most_common(10):
        print("  %d x %s" % (n, cause))
    for text, frames, marks in bad[:args.list]:
        print("  %s" % text.strip())
        for frame in frames:
            print("    %s" % frame.group(0))
        print("    <%s>" % "; ".join(marks))
    for cause, n in switched.most_common():
        print("  %d x excused: %s" % (n, cause))
    excused = sum(switched.values())
    judged = 100.0 * complete / (total - excused) if total > excused else 0
    ok = (total >= args.min and judged >= args.percent and not never and
          sum(switched.values()) <= MAX_EXCUSED * total)
    if total < args.min:
        print("  fewer than %d stacks" % args.min)
    if never:
        print("WRONG: %d stacks have %s" % (never, " or ".join(args.never)))
    for wanted in args.expect:
        if wanted not in seen:
            print("  no stack has %s" % wanted)
            ok = False
    lost = sum(n for m, n in missing.items() if m.startswith(("lost", "not recorded")))
    if lost:
        print("LOST: %d stacks" % lost)
        ok = False
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
