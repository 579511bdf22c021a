#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_sched.py - write a trace.dat as mk_tracedat.py does, with events of the scheduler

    mk_sched.py [--big] SOURCE.src OUT.dat

The script adds these events to those of mk_tracedat.py:

    switch STATE NEXT       sched:sched_switch from the record's TID to NEXT; STATE is R, S, D, X, Z
                            or a number
    waking PID              sched:sched_waking of PID by the record's TID
    wakeup PID              sched:sched_wakeup
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import mk_tracedat  # noqa: E402

STATES = {"R": 0, "S": 1, "D": 2, "X": 0x10, "Z": 0x20}
IDS = {"sched_switch": 401, "sched_waking": 402, "sched_wakeup": 403}
mk_tracedat.IDS.update(IDS)


def field(typ, name, offset, size, signed=0):
    return "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (typ, name, offset, size, signed)


class Trace(mk_tracedat.Trace):
    def sched_formats(self):
        switch = mk_tracedat.common(
            field("char", "prev_comm[16]", 8, 16) + field("pid_t", "prev_pid", 24, 4, 1) +
            field("int", "prev_prio", 28, 4, 1) + field("long", "prev_state", 32, 8, 1) +
            field("char", "next_comm[16]", 40, 16) + field("pid_t", "next_pid", 56, 4, 1) +
            field("int", "next_prio", 60, 4, 1))
        wake = mk_tracedat.common(
            field("char", "comm[16]", 8, 16) + field("pid_t", "pid", 24, 4, 1) +
            field("int", "prio", 28, 4, 1) + field("int", "target_cpu", 32, 4, 1))
        return [self.fmt("sched_switch", switch, '"prev_pid=%d prev_state=%lx next_pid=%d", '
                         "REC->prev_pid, REC->prev_state, REC->next_pid")] + [
            self.fmt(name, wake, '"pid=%d", REC->pid') for name in ("sched_waking",
                                                                    "sched_wakeup")]

    def head_bytes(self):
        """The system sched, after the system sample."""
        e, out = self.end, super().head_bytes()
        work = self.work_format().encode()
        old = struct.pack(e + "I", 1) + b"sample\0" + struct.pack(e + "I", 1)
        old += struct.pack(e + "Q", len(work)) + work
        assert out.count(old) == 1
        formats = self.sched_formats()
        new = struct.pack(e + "I", 2) + old[4:] + b"sched\0" + struct.pack(e + "I", len(formats))
        for f in formats:
            new += struct.pack(e + "Q", len(f)) + f.encode()
        return out.replace(old, new)

    def comm_of(self, pid):
        for line in self.comms:
            if line.split()[0] == str(pid):
                return line.split(None, 1)[1].strip().encode()[:15]
        return b"<...>"

    def record(self, event, tid, flags, args):
        if event == "switch":
            state = STATES[args[0]] if args[0] in STATES else int(args[0], 0)
            return self.head("sched_switch", tid, flags) + struct.pack(
                self.end + "16siiq16sii", self.comm_of(tid), tid, 120, state,
                self.comm_of(int(args[1])), int(args[1]), 120)
        if event in ("waking", "wakeup"):
            return self.head("sched_" + event, tid, flags) + struct.pack(
                self.end + "16siii", self.comm_of(int(args[0])), int(args[0]), 120, 0)
        return super().record(event, tid, flags, args)


def write(text, path, big=False):
    # parse() makes a Trace of its own
    mk_tracedat.Trace, plain = Trace, mk_tracedat.Trace
    try:
        data = mk_tracedat.parse(text, big).write()
    finally:
        mk_tracedat.Trace = plain
    with open(path, "wb") as f:
        f.write(data)


if __name__ == "__main__":
    args = [x for x in sys.argv[1:] if x != "--big"]
    if len(args) != 2:
        raise SystemExit(__doc__)
    with open(args[0]) as src:
        write(src.read(), args[1], "--big" in sys.argv)
