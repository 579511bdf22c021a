#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_tracefs.py - make a directory that looks like tracefs, with the ring buffers of a description

    mk_tracefs.py SOURCE.src DIR [unpatched|lossy]

SOURCE has the format of mk_tracedat.py. The buffers of SOURCE become the trace_pipe_raw files of
the instances that fake_tracefs.so makes: the top buffer becomes that of an instance, the buffer
"maps" that of an instance NAME.maps. With "unpatched" the directory is that of a kernel without
deferred user stacks. With "lossy" each CPU dropped 7 events.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import mk_tracedat  # noqa: E402

OURS = ("user_unwind_cookie", "user_unwind_stack", "user_unwind_map", "user_unwind_again")


def put(base, path, data=b""):
    path = os.path.join(base, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def head_files(trace):
    """header_page and header_event, as they are in the head of a file."""
    head = trace.head_bytes()
    out = {}
    for name in (b"header_page", b"header_event"):
        at = head.index(name + b"\0") + len(name) + 1
        size = int.from_bytes(head[at:at + 8], "little")
        out[name.decode()] = head[at + 8:at + 8 + size]
    return out


def buffer_files(base, trace, buf, patched, lossy=False):
    """The files of an instance, and of the top one."""
    put(base, "events/enable", "0\n")
    for system, names in (("sample", ("work", "other")),
                          ("sched", ("sched_switch", "sched_waking", "sched_wakeup"))):
        put(base, "events/%s/enable" % system, "0\n")
        for name in names:
            where = "events/%s/%s/" % (system, name)
            put(base, where + "enable", "0\n")
            put(base, where + "filter", "none\n")
            put(base, where + "trigger", "# Available triggers:\n# traceon stacktrace%s\n" %
                (" userstacktrace_deferred" if patched else ""))
            fmt = trace.work_format().replace("name: work", "name: " + name)
            if name != "work":
                fmt = fmt.replace("ID: 400", "ID: %d" % (500 + len(name)))
            put(base, where + "format", fmt)
    # an event that cannot be switched on, and whose filter cannot be set
    os.makedirs(os.path.join(base, "events/broken/stuck/enable"))
    os.makedirs(os.path.join(base, "events/broken/stuck/filter"))
    os.makedirs(os.path.join(base, "events/broken/enable"))
    put(base, "events/broken/stuck/format", trace.work_format().replace("400", "600"))
    put(base, "error_log", "[   12.3] event filter parse error: error: Field not found\n"
        "  Command: nofield == 1\n           ^\n")
    for name in ["stacktrace", "userstacktrace", "event-fork"] + (
            ["userstacktrace_deferred", "userstacktrace_maps", "userstacktrace_once"]
            if patched else []):
        put(base, "options/" + name, "0\n")
    for name, text in (("trace_clock", "[local] global mono\n"), ("buffer_size_kb", "7\n"),
                       ("tracing_on", "0\n"), ("set_event_pid", ""),
                       ("set_event_notrace_pid", ""), ("buffer_percent", "50\n")):
        put(base, name, text)
    for cpu in range(trace.cpus):
        pages = b"".join(trace.page_bytes(p) for p in buf.pages[cpu]) if buf else b""
        put(base, "per_cpu/cpu%d/trace_pipe_raw" % cpu, pages)
        put(base, "per_cpu/cpu%d/stats" % cpu, "entries: 3\noverrun: %d\ncommit overrun: 9\n"
            "dropped events: %d\nread events: 5\n" % ((3, 4) if lossy else (0, 0)))


def main(source, base, patched, lossy):
    with open(source) as src:
        trace = mk_tracedat.parse(src.read())
    top = os.path.join(base, "tracing")
    buffer_files(top, trace, None, patched)
    buffer_files(os.path.join(base, "instance"), trace, trace.buffer(""), patched, lossy)
    buffer_files(os.path.join(base, "instance.maps"), trace, trace.buffer("maps"), patched)
    for name, data in head_files(trace).items():
        put(top, "events/" + name, data)
    for fmt in trace.ftrace_formats():
        name = fmt.split("\n")[0].split()[1]
        if patched or name not in OURS:
            put(top, "events/ftrace/%s/format" % name, fmt)
    put(top, "available_events", "sample:work\nsample:other\nsched:sched_switch\n"
        "sched:sched_waking\nsched:sched_wakeup\nbroken:stuck\n")
    put(top, "saved_cmdlines", "".join(trace.comms))
    put(top, "printk_formats", "")
    os.makedirs(os.path.join(top, "instances"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2], "unpatched" not in sys.argv[3:], "lossy" in sys.argv[3:])
