#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_big - make a large trace.dat: events with kernel stacks, cookies and user stacks

    mk_big.py EVENTS OUT.dat

Each event is at most four records: the event, its kernel stack of 8 frames, its cookie, and, for
every second event, the user stack of 30 frames. The frames are in the library that the fixtures
have as /usr/lib/libdemo.so. There are 20 processes on 2 CPUs. The 2,000 different user stacks are
paths through a tree of calls, so they share their outer frames, as stacks of real programs do. All
stacks are equally frequent, which is harder than a real trace.
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tests", "fixtures"))
import mk_tracedat  # noqa: E402

CPUS, TASKS, DEPTH, STACKS = 2, range(100, 120), 30, 2000
BUILD_ID = "0102030405060708090a0b0c0d0e0f1011121314"


class Writer:
    """Records of one CPU, in pages, without mk_tracedat's general and slow way."""

    def __init__(self):
        self.pages = []
        self.ts = 1000000

    def emit(self, data, after):
        data += b"\0" * (-len(data) % 4)
        self.ts += after
        page = self.pages[-1] if self.pages else None
        delta = after
        if not page or page["size"] + len(data) + 8 > 4080:
            page = {"lost": None, "recs": [], "size": 0, "ts": self.ts}
            self.pages.append(page)
            delta = 0
        if len(data) > 112:
            head = struct.pack("<II", delta << 5, len(data) + 4)
        else:
            head = struct.pack("<I", delta << 5 | len(data) // 4)
        page["recs"].append(head + data)
        page["size"] += len(head) + len(data)


def main():
    events, out = int(sys.argv[1]), sys.argv[2]
    rnd = random.Random(1)
    text = "cpus %d\n" % CPUS
    text += "".join("kallsyms ffffffff81%06x func_%d\n" % (i * 256, i) for i in range(2000))
    text += "".join("comm %d app%d\n" % (i, i) for i in TASKS)
    t = mk_tracedat.parse(text)
    tree = [[0x7f0000001000 + rnd.randrange(0x2f00) for _ in range(min(STACKS, 2 << level // 2))]
            for level in range(DEPTH)]
    user = []
    for i in range(STACKS):     # outermost last
        leaf = rnd.randrange(STACKS)
        path = [level[leaf * len(level) // STACKS] for level in tree]
        path[-1] = 0x7f0000001000 + 6 * i
        user.append(struct.pack("<%dQ" % DEPTH, *reversed(path)))
    kernel = [struct.pack("<8Q", *(0xffffffff81000000 + rnd.randrange(2000 * 256)
                                   for _ in range(8))) for _ in range(200)]
    cpus = [Writer() for _ in range(CPUS)]
    for tid in TASKS:
        cpus[0].emit(t.record("map", tid, 0, [
            str(tid), "7f0000001000-7f0000004000", "1000", "/usr/lib/libdemo.so",
            "build_id=" + BUILD_ID]), 100)
    count, task = [0] * CPUS, [100, 110]
    for i in range(events):
        cpu, second = i % CPUS, i // CPUS % 2
        w, tid = cpus[cpu], task[cpu]
        if not second:
            count[cpu] += 2
        cookie = (cpu + 1) << 32 | count[cpu]
        w.emit(struct.pack("<HBBiI", 400, 0, 0, tid, 12 | 8 << 16) + b"prev=12\0", 300)
        w.emit(struct.pack("<HBBiII", 4, 0, 0, tid, 8, 0) + kernel[rnd.randrange(200)], 100)
        w.emit(struct.pack("<HBBiQ", 21, 0, 0, tid, cookie), 100)
        if second:
            w.emit(struct.pack("<HBBiQIIIi", 22, 0, 0, tid, cookie, tid, 0,
                               32 | DEPTH * 8 << 16, 0) + user[rnd.randrange(STACKS)], 800)
            task[cpu] = 100 + 10 * cpu + rnd.randrange(10)
    buf = t.buffer("")
    for cpu, w in enumerate(cpus):
        buf.pages[cpu] = w.pages
    with open(out, "wb") as f:
        f.write(t.write())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main()
