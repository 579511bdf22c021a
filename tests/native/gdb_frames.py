# SPDX-License-Identifier: GPL-2.0
"""gdb_frames.py: in gdb, print the return addresses of each thread, the innermost first

A line is "STACK TID ADDRESS...". gdb makes up frames of functions that are inlined, and of
functions that ended in a jump to another function. Nothing returns to them: they are not printed.
"""
import gdb

for thread in gdb.selected_inferior().threads():
    thread.switch()
    addresses = []
    frame = gdb.newest_frame()
    try:
        while frame is not None:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                addresses.append("%#x" % frame.pc())
            frame = frame.older()
    except gdb.error as error:
        print("CUT", thread.ptid[1], error)
    print("STACK", thread.ptid[1], *addresses)
