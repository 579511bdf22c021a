#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mk_own.py FILE TABLE OUT KIND: put a table into an ELF file, as a linker would

FILE has a section .uu_own with room for the table. `trace-ustack-tables make FILE -o TABLE` wrote
TABLE. In OUT, PT_GNU_RELRO has become PT_GNU_SFRAME. KIND is good, or old (version 2), or broken (a
header that does not fit: the kernel refuses it), or outside (at an address where nothing is
mapped).
"""

import struct
import sys

PT_GNU_RELRO, PT_GNU_SFRAME = 0x6474e552, 0x6474e554


def section(data, name):
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, shoff + i * size) for i in range(count)]
    for head in heads:
        at = heads[names][4] + head[0]
        if data[at:data.index(b"\0", at)] == name:
            return head[3], head[4], head[5]
    sys.exit("no section %s" % name.decode())


def main():
    path, table_path, out, kind = sys.argv[1:]
    data, table = bytearray(open(path, "rb").read()), bytearray(open(table_path, "rb").read())
    vaddr, offset, room = section(data, b".uu_own")
    if len(table) > room:
        sys.exit("%s: no room for %d bytes" % (path, len(table)))
    # Made for address 0
    num, fdeoff = struct.unpack_from("<I", table, 8)[0], struct.unpack_from("<I", table, 20)[0]
    for i in range(num):
        at = 28 + table[7] + fdeoff + 16 * i
        struct.pack_into("<q", table, at, struct.unpack_from("<q", table, at)[0] - vaddr)
    if kind == "old":
        table[2] = 2
    if kind == "broken":
        struct.pack_into("<I", table, 8, 1 << 20)
    data[offset:offset + len(table)] = table
    # Another file has another build-id
    _, note, size = section(data, b".note.gnu.build-id")
    data[note + size - 1] ^= len(kind)
    phoff, = struct.unpack_from("<Q", data, 32)
    for i in range(struct.unpack_from("<H", data, 56)[0]):
        at = phoff + 56 * i
        if struct.unpack_from("<I", data, at)[0] == PT_GNU_RELRO:
            where = vaddr + (1 << 40 if kind == "outside" else 0)
            struct.pack_into("<IIQQQQQQ", data, at, PT_GNU_SFRAME, 4, offset, where, where,
                             len(table), len(table), 8)
    with open(out, "wb") as f:
        f.write(data)


if __name__ == "__main__":
    main()
