#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_random.py - write trace.dat files of random records, to compare two ways to the same answer

    mk_random.py SEED N DIRECTORY

The script writes N files: DIRECTORY/SEED.dat and the files of the next numbers.

The records are those that a kernel writes, and now and then others: cookies without stacks and
stacks without cookies, several requests with one cookie, interrupts between an event and its
stacks, dropped events, two buffers with the same stacks, processes with the same files at the same
addresses, processes with other files at those addresses. The files use few tasks, cookies,
addresses and paths, so that these meet often.
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import mk_tracedat  # noqa: E402

PATHS = ["/usr/bin/app", "/usr/bin/app2", "/usr/lib/libdemo.so", "/memfd:code", "[vdso]"]
IDS = ["", " build_id=0102", " build_id=0203"]
TASKS = [(100, 100), (101, 100), (200, 200), (300, 300), (164, 164)]  # 100 and 164: 64 apart
PLACES = [0x401000, 0x402000, 0x403000, 0x7f0000001000]
LEVELS = ["", "", "", "/off", "/off/p1", "/p1", "/hardirq", "/softirq", "/softirq/off", "/nmi"]


def source(seed):
    rnd = random.Random(seed)
    out = ["cpus 3", "kallsyms ffffffff81000000 outer", "kallsyms ffffffff81000100 inner"]
    out += ["comm %d task%d" % (tid, tid) for tid, _ in TASKS]
    stacks = [[rnd.choice(PLACES) + rnd.choice([0, 1, 16, 33, 0xfff])
               for _ in range(rnd.randrange(6))] for _ in range(6)]
    kstacks = [" ".join("%x" % (0xffffffff81000000 + rnd.randrange(0x200)) for _ in range(n))
               for n in (1, 2, 3)]

    def stack(tid, tgid, cookie):
        flags = rnd.choice([""] * 6 + ["flags=incomplete", "flags=frame_pointer", "flags=more"])
        return "%d stack %x %s %s %s" % (
            tid, cookie, rnd.choice(["tgid=%d" % tgid] * 9 + [""]), flags,
            " ".join("%x" % a for a in rnd.choice(stacks)))

    def file():
        return "%x %s%s" % (rnd.choice([0, 0x1000]), rnd.choice(PATHS[:3] * 4 + PATHS),
                            rnd.choice(IDS))

    # mostly all processes have the same at a place
    usual = {place: file() for place in PLACES}
    odd = rnd.choice([0, 0.03, 0.1, 0.5])

    def mapping(tgid, tid):
        start = rnd.choice(PLACES)
        end, what = start + 0x1000, usual[start]
        if rnd.random() < odd:
            end, what = start + rnd.choice([0x1000, 0x2000]), file()
        elif rnd.random() < odd:
            # the same file, but another part of it
            what = "2000 " + what.split(" ", 1)[1]
        return "%d map %d %x-%x %s" % (tid, tgid, start, end, what)

    for buffer in range(rnd.choice([1, 1, 2])):
        if buffer:
            out.append("instance other")
        for cpu in range(3):
            out.append("cpu %d" % cpu)
            first = True
            count = 2 * rnd.randrange(1, 4)
            cookies = {}

            def put(text):
                nonlocal first
                step = rnd.choice([1, 100, 1000, 100000, 30000000])
                out.append("%s%d %s" % ("" if first else "+", 1000000 + step if first else step,
                                        text))
                first = False

            for _ in range(rnd.randrange(150)):
                tid, tgid = rnd.choice(TASKS)
                level = rnd.choice(LEVELS)
                what = rnd.randrange(20)
                if what < 12:
                    if tid not in cookies or rnd.random() < 0.4:
                        cookies[tid] = (cpu + 1) << 32 | count
                        count += 2
                    for _ in range(rnd.choice([1, 1, 1, 2, 5])):
                        put("%d%s work %s" % (tid, level, rnd.choice("ab")))
                        if rnd.random() < 0.1:
                            put("300/nmi work c")
                        if rnd.random() < 0.1:
                            # the end of an interrupt, or something else
                            put("%d/off work d" % tid)
                            put("%d/off kernel_stack %s" % (tid, kstacks[0]))
                            put("%d/off cookie %x" % (tid, cookies[tid]))
                        if rnd.random() < 0.02:
                            for _ in range(rnd.choice([40, 300])):
                                put("%d/softirq work e" % tid)
                                put("%d/softirq cookie %x" % (tid, cookies[tid]))
                        if rnd.random() < 0.7:
                            put("%d%s kernel_stack %s" % (tid, level, rnd.choice(kstacks)))
                        if rnd.random() < 0.05:
                            out.append(rnd.choice(["lost", "lost 3"]))
                        if rnd.random() < 0.85:
                            put("%d%s cookie %x" % (tid, level, cookies[tid]))
                elif what < 17:
                    put(stack(tid, tgid, cookies.get(tid, 1 << 32 | 2)))
                elif what < 19:
                    put(mapping(tgid, tid))
                else:
                    out.append(rnd.choice(["page", "lost", "lost 7", "stamp"]))
            # events are dropped before another event
            put("999 work end")
    return "\n".join(out) + "\n"


def main():
    first, nr, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(directory, exist_ok=True)
    for seed in range(first, first + nr):
        with open(os.path.join(directory, "%d.dat" % seed), "wb") as f:
            f.write(mk_tracedat.parse(source(seed)).write())


if __name__ == "__main__":
    main()
