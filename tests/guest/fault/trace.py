#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""trace.py: compare the text of a trace with the stacks that fault-paths wrote down.

usage: trace.py paths -e EVENT [OPTION...] PATHS TRACE
       trace.py late [--min N] [--empty N] CALLS TRACE
       trace.py compat PATHS TRACE

paths   For each line "path NAME TID ADDRESS..." of PATHS there is an event whose name and text
        begin with EVENT, by that task or with old_pid=TID. A cookie follows each of these events,
        or is the event itself,
        and the same task recorded a stack with that cookie. The stack is that path: all of it or,
        with "..." at the end, its innermost part. --limit N compares at most N addresses and
        accepts no more; --flags "A B" wants exactly these flags on each record of the stack, but
        `more` on all records except the last; --records N wants N records. --last omits all
        events but the last one of the task: its events before it executed fault-paths. --path
        takes only the paths of that NAME.
late    For each cookie taken between a system call and the next system call of its task: if the
        stack starts after a system call that CALLS names, it is that call, by that caller if CALLS
        names two of them. At most one stack in a hundred starts one byte further.
        There are at least --min such stacks, and --empty without an address. If the trace has
        irq_disable events, events after the last irq_disable in do_syscall_64() before a sys_enter
        belong to that call: it entered the kernel there. Without them, an event in an interrupt
        belongs to the call before it or, if it came between that entry and sys_enter, to the next.
compat  A stack has the flag compat if and only if all its addresses fit in 32 bits.
"""

import argparse
import re
import sys

LINE = re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:(?P<context>\S+)\s+)?"
                  r"(?P<ts>[\d.]+): (?P<rest>.*)$")
FRAME = re.compile(r"^ *=> +.*<([0-9a-f]{8,16})>$")


class Record:
    def __init__(self, match):
        self.comm = match["comm"].strip()
        self.tid = int(match["tid"])
        self.cpu = int(match["cpu"])
        # The third flag is of interrupts: h and H hard, s soft, z and Z not maskable
        self.in_interrupt = (match["context"] or "").strip()[2:3] in tuple("hHszZ")
        self.text = match["rest"]
        self.frames = []


def parse_text(path):
    records = []
    with open(path, errors="replace") as f:
        for line in f:
            match = LINE.match(line)
            if match:
                records.append(Record(match))
                continue
            match = FRAME.match(line.rstrip("\n"))
            if match and records:
                records[-1].frames.append(int(match[1], 16))
    return records


def cookie_of(record):
    match = re.match(r"<user unwind cookie ([0-9a-f]+)>", record.text)
    return match[1] if match else None


def stacks_of(records):
    """(tid, cookie): list of lists of (flags, frames), one list for each time it was recorded."""
    stacks = {}
    for r in records:
        match = re.match(r"<user unwind stack ([0-9a-f]+)((?: [-\w]+)*)>", r.text)
        if not match:
            continue
        key = (r.tid, match[1])
        flags = set(match[2].split())
        parts = stacks.setdefault(key, [])
        if parts and "more" in parts[-1][-1][0]:
            parts[-1].append((flags, r.frames))
        else:
            parts.append([(flags, r.frames)])
    return stacks


def format_addresses(frames):
    return " ".join("%x" % f for f in frames)


def judge_stack(stack, want, exact, opt):
    frames = [f for _, part in stack for f in part]
    if opt.limit:
        want = want[:opt.limit]
    if (frames != want) if exact else (frames[:len(want)] != want):
        return "the stack is %s (%d), not %s (%d)" % (format_addresses(frames[:8]), len(frames),
                                                      format_addresses(want[:8]), len(want))
    if opt.records and len(stack) != opt.records:
        return "the stack is in %d records, not %d" % (len(stack), opt.records)
    if any(("more" in flags) != (i < len(stack) - 1) for i, (flags, _) in enumerate(stack)):
        return "`more` is wrong"
    if opt.flags is not None:
        for flags, _ in stack:
            if flags - {"more"} != set(opt.flags.split()):
                return "the flags are '%s', not '%s'" % (" ".join(sorted(flags)), opt.flags)
    return None


def judge_paths(opt):
    records = parse_text(opt.trace)
    stacks = stacks_of(records)
    bad = gone = found = 0
    for line in open(opt.paths):
        word = line.split()
        if len(word) < 3 or word[0] != "path" or opt.path not in (None, word[1]):
            continue
        name, tid = word[1], int(word[2])
        exact = word[-1] != "..."
        want = [int(w, 16) for w in word[3:] if w != "..."]
        events = [(i, r) for i, r in enumerate(records) if re.match(opt.event, r.text) and
                  (r.tid == tid or re.search(r"\bold_pid=%d\b" % tid, r.text))]
        for i, r in events[-1:] if opt.last else events:
            after = next((n for n in records[i + 1:] if n.cpu == r.cpu), None)
            cookie = cookie_of(r) or (after and after.tid == r.tid and cookie_of(after))
            error = None
            if not cookie:
                error = "no cookie follows"
                gone += 1
            elif (r.tid, cookie) not in stacks:
                error = "no stack with cookie %s" % cookie
                gone += 1
            else:
                for stack in stacks[(r.tid, cookie)]:
                    error = error or judge_stack(stack, want, exact, opt)
            if error:
                bad += 1
                print("%s: task %d: %s: %s" % (name, r.tid, r.text[:60], error))
        if not events:
            bad += 1
            gone += 1
            print("%s: task %d has no event %s" % (name, tid, opt.event))
        found += len(events)
    print("%d events, %d wrong" % (found, bad))
    if bad > gone:
        print("WRONG: %d events have another stack than the printed one" % (bad - gone))
    if gone:
        print("LOST: %d events or their stacks are missing" % gone)
    return bad or not found


def judge_late(opt):
    call = {}
    for line in open(opt.paths):
        if line.startswith("call "):
            addresses = [int(w, 16) for w in line.split()[1:]]
            # 110 is getppid, 24 sched_yield; the first argument is the number of the path
            for n in range(4):
                call[(110, n)] = addresses[2 * n:2 * n + 1]
                call[(24, n)] = addresses[2 * n + 1:2 * n + 2]
        if line.startswith("same "):
            addresses = [int(w, 16) for w in line.split()[1:]]
            call[(24, 4)] = [addresses[0], addresses[1]]
            call[(24, 5)] = [addresses[0], addresses[2]]
    tops = {v[0] for v in call.values()}
    records = parse_text(opt.trace)
    stacks = stacks_of(records)
    mark = "irq_disable: caller=do_syscall_64"
    marked = any(r.text.startswith(mark) for r in records)
    current, pending, interrupts = {}, {}, {}
    count = dict.fromkeys(("right", "wrong", "missing", "empty", "other", "next"), 0)

    def judge(tid, cookie, *calls):
        if any(c not in call for c in calls):
            return
        parts = stacks.get((tid, cookie))
        if not parts:
            count["missing"] += 1
        for part in parts or ():
            top = part[0][1][0] if part[0][1] else 0
            if any(part[0][1][:len(call[c])] == call[c] for c in calls):
                count["right"] += 1
            elif top in tops:
                count["wrong"] += 1
                if count["wrong"] <= 5:
                    name = [k for k, v in call.items() if part[0][1][:len(v)] == v]
                    print("task %d in %s: cookie %s has the stack of %s" %
                          (tid, calls[-1], cookie, name))
            elif top - 1 in tops:
                count["next"] += 1
            elif not top:
                count["empty"] += 1
            else:
                count["other"] += 1

    for r in records:
        match = re.match(r"sys_enter: NR (\d+) \(([0-9a-f]+)", r.text)
        before = current.get(r.tid)
        if match:
            current[r.tid] = (int(match[1]), int(match[2], 16))
        cookie = cookie_of(r)
        if cookie:
            where = interrupts if r.in_interrupt and not marked else pending
            where.setdefault(r.tid, []).append(cookie)
        if match:
            for cookie in interrupts.pop(r.tid, ()):
                judge(r.tid, cookie, before, current[r.tid])
        if match or not marked or r.text.startswith(mark):
            for cookie in pending.pop(r.tid, ()):
                judge(r.tid, cookie, current.get(r.tid))
    print("%d right, %d wrong, %d without a stack, %d without an address, %d of interrupts, "
          "%d at the next instruction" % tuple(count.values()))
    # An interrupt can preempt a task there, and its return is a kernel entry of its own. A late
    # stack that is walked where the task has gone on starts there each time.
    if count["next"] * 100 > sum(count.values()):
        count["wrong"] += count["next"]
    if count["wrong"]:
        print("WRONG: %d stacks of another call" % count["wrong"])
    # The last entry of each of the two tasks can be cut off by the end of the recording
    if count["missing"] > 2:
        print("LOST: %d stacks" % count["missing"])
    return (count["wrong"] > 0 or count["missing"] > 2 or count["right"] < opt.min or
            count["empty"] < opt.empty)


def judge_compat(opt):
    bad = found = 0
    for r in parse_text(opt.trace):
        match = re.match(r"<user unwind stack [0-9a-f]+((?: [-\w]+)*)>", r.text)
        if not match or not r.frames:
            continue
        flagged = "compat" in match[1].split()
        found += flagged
        if flagged != (max(r.frames) < 1 << 32):
            bad += 1
            if bad <= 5:
                print("%s-%d: %s has %s" % (r.comm, r.tid, r.text, format_addresses(r.frames[:8])))
    print("%d 32-bit stacks, %d wrong" % (found, bad))
    if bad:
        print("WRONG: %d stacks have the flag of the other kind" % bad)
    return bad or not found


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("what", choices=["paths", "late", "compat"])
    p.add_argument("-e", "--event", default="sys_enter")
    p.add_argument("--path")
    p.add_argument("--flags")
    p.add_argument("--last", action="store_true")
    p.add_argument("--records", type=int)
    p.add_argument("--limit", type=int)
    p.add_argument("--min", type=int, default=100)
    p.add_argument("--empty", type=int, default=0)
    p.add_argument("paths")
    p.add_argument("trace")
    opt = p.parse_args()
    return 1 if {"paths": judge_paths, "late": judge_late,
                 "compat": judge_compat}[opt.what](opt) else 0


sys.exit(main())
