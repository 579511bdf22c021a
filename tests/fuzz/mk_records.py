#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_records.py - write the inputs of fuzz_records from the fixtures' descriptions

    mk_records.py OUTDIR SOURCE.src...

Each SOURCE gives two inputs: NAME in the byte order that SOURCE says, NAME-big in big-endian order.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import mk_tracedat  # noqa: E402

EVENTS = {4: 0, 21: 1, 22: 2, 23: 3, 24: 4}


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
                    kind = EVENTS.get(struct.unpack(t.end + "H", data[:2])[0], 5)
                    recs.append(bytes([kind, where, 1, len(data)]) + data)
    return out + b"".join(recs)


def main(out, sources):
    for src in sources:
        with open(src) as f:
            text = f.read()
        for big in False, True:
            name = os.path.basename(src).replace(".src", "-big" if big else "")
            with open(os.path.join(out, name), "wb") as f:
                f.write(convert(mk_tracedat.parse(text, big)))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2:])
