#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_corpus - inputs for fuzz_records out of the fixtures' descriptions

    mk_corpus.py [--big] OUTDIR SOURCE.src...

--big: in the other byte order, as NAME-big
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import mk_tracedat  # noqa: E402

EVENTS = {4: 0, 21: 1, 22: 2, 23: 3}


def convert(t):
    out = bytes([(t.long == 4) | 2 * (t.end == ">") | 4 * (t.layout == "v6"), 0])
    recs = []
    for inst, buf in enumerate(t.buffers):
        for cpu, pages in enumerate(buf.pages):
            for page in pages:
                lost = page["lost"]
                for rec in page["recs"]:
                    word = struct.unpack(t.end + "I", rec[:4])[0]
                    typ = word >> 27 if t.end == ">" else word & 31
                    skip = 4
                    if typ == 30:
                        skip = 8
                        word = struct.unpack(t.end + "I", rec[8:12])[0]
                        typ = word >> 27 if t.end == ">" else word & 31
                        skip += 4
                    if typ == 0:
                        skip += 4
                    data = rec[skip:][:255]
                    where = cpu & 3 | (4 if inst else 0)
                    if lost is not None:
                        where |= 8 if lost >= 0 else 24
                        lost = None
                    kind = EVENTS.get(struct.unpack(t.end + "H", data[:2])[0], 4)
                    recs.append(bytes([kind, where, 1, len(data)]) + data)
    return out + b"".join(recs)


if __name__ == "__main__":
    big = "--big" in sys.argv
    args = [x for x in sys.argv[1:] if x != "--big"]
    if len(args) < 2:
        raise SystemExit(__doc__)
    for src in args[1:]:
        with open(src) as f:
            data = convert(mk_tracedat.parse(f.read(), big))
        name = os.path.basename(src).replace(".src", "-big" if big else "")
        with open(os.path.join(args[0], name), "wb") as f:
            f.write(data)
