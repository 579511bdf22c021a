#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_sframe.py - write the inputs of fuzz_sframe: a table of each kind and a stack that fits it

    mk_sframe.py OUTDIR
"""
import os
import struct
import sys

BASE, STACK, TEXT = 0x100000, 0x7ff000, 0x1000
S, F = 1, 0			# a row's CFA is SP or FP based
REG, DEREF, ADD = 1, 2, 4	# of a control word
RSP, RBP, RBX, R10 = 7, 6, 3, 10
I386, ECX, ESP = 0x83, 1, 4


def make_row(end, addr, start, sp, words, shift=0):
    size = "bhi"[shift]
    return (struct.pack(end + "BHI"[addr], start) + bytes([sp | len(words) << 1 | shift << 5]) +
            b"".join(struct.pack(end + (size.upper() if unsigned else size), w)
                     for w, unsigned in words))


def signed(*words):
    return [(w, False) for w in words]


def pairs(*words):
    """Control words and offsets by turns; a control of 0 has no offset."""
    out, ctrl = [], True
    for w in words:
        out.append((w, ctrl))
        ctrl = not ctrl or not w
    return out


def make_section(version, abi, funcs, flags=None, kept=None):
    """
    funcs: (start, size, FRE type and flags, info2, rep_size, [rows])
    kept: (slot, rows) of each of them, which version 3 has with an auxiliary header
    """
    end = ">" if abi == 4 else "<"
    flags = (5 if version == 3 else 1) if flags is None else flags
    fde_size = {1: 17, 2: 20, 3: 16}[version]
    fdes, rows, nr = b"", b"", 0
    aux = b"kep\x03" if kept else b""
    for i, (start, size, info, info2, rep, list_) in enumerate(funcs):
        off = 28 + len(aux) + i * fde_size
        rows += struct.pack(end + "BH", *kept[i]) if kept else b""
        rel = start - BASE - (off if flags & 4 else 0)
        if version == 3:
            fdes += struct.pack(end + "qII", rel, size, len(rows))
            rows += struct.pack(end + "HBBB", len(list_), info, info2, rep)
        else:
            fdes += struct.pack(end + "iIIIB", rel, size, len(rows), len(list_), info)
            fdes += bytes([rep, 0, 0]) if version == 2 else b""
        for r in list_:
            rows += make_row(end, info & 15, *r)
            nr += 1
    ra = {3: -8, I386: -4}.get(abi, 0)
    head = struct.pack(end + "HBBBbbBIIIII", 0xdee2, version, flags, abi, 0, ra, len(aux),
                       len(funcs), nr, len(rows), 0, len(fdes))
    return head + aux + fdes + rows


def make_plain(version, flags=None):
    return make_section(version, 3, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(8)), (1, S, signed(16, -16)), (0x3f, S, signed(8))]),
        (TEXT + 0x40, 0x200, 1, 0, 0, [(0, F, signed(16, -16), 1), (0x1f0, S, signed(8), 2)]),
        (TEXT + 0x400, 0x10, 0, 0, 0, [(0, S, [])] if version > 1 else []),
    ], flags)


CODE = TEXT + 0x800
INPUTS = {
    "v1": (make_plain(1), 0),
    "v2": (make_plain(2), 0),
    "v2_pcrel": (make_plain(2, 7), 1),
    "v3": (make_plain(3), 0),
    "v3_index": (make_plain(3), 1 + 4 * 16),
    "v3_plt": (make_section(3, 3, [
        (TEXT, 0x100, 0x10, 0, 16, [(0, S, signed(8)), (11, S, signed(16))]),
        (TEXT + 0x100, 0x40, 0, 0, 0, [(0, S, signed(8))])]), 0),
    "v3_flex": (make_section(3, 3, [
        (TEXT, 0x40, 0, 1, 0, [
            (0, 0, pairs(R10 << 3 | REG, 0)),
            (8, 0, pairs(RBP << 3 | REG | DEREF, -8, 0, RBP << 3 | REG | DEREF, 0)),
            (32, 0, pairs(RSP << 3 | REG, 24, RSP << 3 | REG | DEREF, 16, DEREF, -16))]),
        (TEXT + 0x40, 0x40, 0, 0, 0, [(0, S, signed(8))])]), 0),
    "v3_add": (make_section(3, 3, [
        (TEXT, 0x40, 0x80, 31, 0, [
            (0, 0, pairs(RSP << 3 | REG | DEREF | ADD, 16) + signed(80) + pairs(0, DEREF, -24)),
            (32, 0, pairs(RSP << 3 | REG, 24))]),
        (TEXT + 0x40, 0x40, 0, 0, 0, [(0, S, signed(8))])]), 0),
    "v3_signal": (make_section(3, 3, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(16))]),
        (CODE, 0x10, 0x80, 1, 0, [(0, 0, pairs(*(w for off in (160, 168, 120) for w in (
            RSP << 3 | REG | DEREF, off)), ), 1)])]), 0),
    "v3_kept": (make_section(3, 3, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(8)), (1, S, signed(16)), (0x3f, S, signed(8))]),
        (TEXT + 0x40, 0x40, 0, 1, 0, [(0, 0, pairs(RBX << 3 | REG, 32))]),
        (TEXT + 0x400, 0x10, 0, 0, 0, [(0, S, signed(8))])],
        kept=[(2, 2), (4, 1), (1, 0)]), 0),
    "v3_no_rows": (make_section(3, 3, [(TEXT, 0x40, 0, 0, 0, []), (CODE, 0x10, 0x80, 0, 0, [])]),
                   2),
    "i386": (make_section(3, I386, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(4)), (1, S, signed(8, -8)), (8, F, signed(8, -8))]),
        (TEXT + 0x40, 0x40, 0, 1, 0, [(0, 0, pairs(ECX << 3 | REG, 32))]),
        (CODE, 0x10, 0x80, 1, 0, [(0, 0, pairs(*(w for off in (188, 216, 184) for w in (
            ESP << 3 | REG | DEREF, off)), ), 1)])]), 0),
    "s390x": (make_section(3, 4, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(0)), (8, S, signed(12, -48, -72))])]), 0),
    "s390x_v2": (make_section(2, 4, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(0)), (8, S, signed(12, 29, 33))])]), 0),
    "arm64": (make_section(3, 2, [
        (TEXT, 0x40, 0, 0, 0, [(0, S, signed(0)), (8, S | 0x80, signed(32, -24, -32))])]), 0),
}


def main(out):
    # words that are return addresses into the table's functions, and addresses of the stack
    stack = [TEXT + 5, TEXT + 0x45, TEXT + 0x408, STACK + 64, CODE] * 8
    stack[20:24] = [STACK + 256, TEXT + 9, STACK + 320, CODE + 1]
    for name, (sec, flags) in INPUTS.items():
        pcs = [TEXT + 4, TEXT, TEXT + 0x3f, TEXT + 0x41, CODE, TEXT + 0x400, 0]
        with open(os.path.join(out, name), "wb") as f:
            f.write(bytes([flags, len(pcs)]) + struct.pack("<%dI" % len(pcs), *pcs) +
                    bytes([len(stack)]) + struct.pack("<%dQ" % len(stack), *stack) + sec)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
