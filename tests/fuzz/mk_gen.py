#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mk_gen.py - write the inputs of fuzz_gen: .eh_frame sections of the shapes that compilers write

    mk_gen.py OUTDIR
"""
import os
import struct
import sys

EH = 0x3000
CODE = 0x1000
USUAL = bytes([0x0c, 7, 8, 0x90, 1])        # CFA = rsp + 8, RA at CFA - 8


class Section:
    """Entries one after the other, as gas writes them."""

    def __init__(self, long=False, end="<", ra=16, align=1):
        self.data, self.cie_at, self.long = b"", 0, long
        self.end, self.ra, self.align = end, ra, align

    def entry(self, body):
        while (len(body) + 4) % 8:
            body += b"\0"
        head = struct.pack(self.end + "IQ", 0xffffffff, len(body)) if self.long else \
            struct.pack(self.end + "I", len(body))
        self.data += head + body

    def cie(self, augmentation=b"zR", data=b"\x1b", ops=USUAL, version=1):
        self.cie_at = len(self.data)
        self.entry(struct.pack(self.end + "IB", 0, version) + augmentation +
                   bytes([0, self.align, 0x78, self.ra, len(data)]) + data + ops)

    def fde(self, start, size, ops=b"", data=b"", enc="i"):
        at = len(self.data) + (12 if self.long else 4)
        pc = start - (EH + at + 4) if enc == "i" else start
        self.entry(struct.pack(self.end + "I", at - self.cie_at) +
                   struct.pack(self.end + enc, pc) + struct.pack(self.end + enc.upper(), size) +
                   bytes([len(data)]) + data + ops)


def make_pushes(n):
    """push of n registers, the first is rbp; body; pops"""
    out = b"\x41\x0e\x10\x86\x02"
    for i in range(1, n):
        out += bytes([0x42, 0x0e, 16 + 8 * i, 0x80 | (11 + i), 2 + i])
    out += b"\x02\x40\x0a"                  # advance 64, remember
    for i in range(n, 0, -1):
        out += bytes([0x0e, 8 * i, 0x42 if i > 1 else 0x41])
    return out + b"\x0b"


PLT = bytes([0x0e, 16, 0x46, 0x0e, 24, 0x4a, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a,
             0x33, 0x24, 0x22])
DRAP = bytes([0x44, 0x0c, 10, 0, 0x49, 0x10, 6, 2, 0x76, 0, 0x45, 0x0f, 3, 0x76, 0x78, 6])
SIGNAL = bytes([0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 7, 3, 0x77, 0xa0, 1,
                0x10, 16, 3, 0x77, 0xa8, 1])
NOPS = bytes.fromhex("662e0f1f840000000000660f1f440000")


def make_inputs():
    s = Section()
    s.cie()
    for i in range(6):
        s.fde(CODE + i * 0x100, 0xf0, make_pushes(1 + i))
    code = b"".join(b"\xc3" * 0xf0 + NOPS for _ in range(6))
    yield "pushes", code, s.data
    s = Section()
    s.cie()
    s.fde(CODE, 0x100, PLT)
    s.fde(CODE + 0x100, 0x80, DRAP)
    s.fde(CODE + 0x180, 0x10, b"\x07\x10")
    yield "plt_drap_outermost", b"", s.data
    s = Section()
    s.cie(b"zRS")
    s.fde(CODE + 0x1ff, 0x11, SIGNAL)
    yield "signal", b"", s.data
    s = Section()
    s.cie(b"zPLR", b"\x9b\0\0\0\0\x1b\x1b")
    s.fde(CODE, 0x40, make_pushes(2), b"\1\2\3\4")
    s.fde(CODE + 0x20, 0x40, make_pushes(3), b"\1\2\3\4")
    s.fde(CODE, 0x40, make_pushes(2), b"\1\2\3\4")
    yield "overlaps", b"", s.data
    s = Section(True)
    s.cie()
    s.fde(CODE, 0x40, make_pushes(4))
    yield "long_lengths", b"", s.data
    s = Section()
    s.cie(data=b"\0", version=3)
    s.fde(CODE, 0x40, b"\1" + struct.pack("<Q", CODE + 4) + b"\x0e\x20\x2e\x08\x13\x7c", enc="q")
    yield "absolute", b"", s.data
    s = Section()
    s.cie()
    s.fde(CODE, 0xe00, b"".join(bytes([2, 40, 0x0e, 8 + 8 * (i % 15)]) for i in range(80)))
    yield "many_rows", b"", s.data


def make_others():
    """arm64: signed return addresses, a signal trampoline; s390x: registers in registers"""
    s = Section(ra=30, align=4)
    s.cie(ops=bytes([0x0c, 31, 0]))
    s.fde(CODE, 0x40, bytes([0x41, 0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x41, 0x0d, 29, 0x45,
                             0x0a, 0xde, 0xdd, 0x0c, 31, 0, 0x41, 0x2d, 0x41, 0x0b]))
    s.fde(CODE + 0x60, 0x20, bytes([0x42, 9, 30, 13, 0x42, 7, 30]))
    code = (bytes(0x40) + bytes.fromhex("1f2003d5 1f2003d5 1f2003d5 681180d2 010000d4") +
            bytes.fromhex("1f2003d5") * 3)
    yield "arm64", 2, code, s.data
    s = Section(end=">", ra=14)
    s.cie(ops=bytes([0x0c, 15, 0xa0, 1]))
    s.fde(CODE, 0x40, bytes([0x46, 0x8b, 9, 0x8e, 6, 0x8f, 5, 0x44, 0x0e, 0xc8, 2, 0x54, 0x0d, 11,
                             0x4a, 0x0a, 0xcf, 0xce, 0xcb, 0x0c, 15, 0xa0, 1, 0x42, 0x0b]))
    s.fde(CODE + 0x48, 0x18, bytes([0x44, 9, 11, 16, 0x44, 9, 15, 17, 0x44, 0x14, 15, 20]))
    s.fde(CODE + 0x60, 4, b"")
    yield "s390x", 3, bytes(0x40) + b"\x07\x07" * 4 + bytes(0x18) + b"\x0a\xad\0\0", s.data


# Code without .eh_frame: an entry that calls a function, with a switch, a call of a pointer, the
# system call of signal trampolines, SP aligned by hand, and code that ends
FOLLOWED = bytes.fromhex(
    "4889e7 e806000000 4989c4 41ffe4"           # mov %rsp,%rdi; call 1f; mov %rax,%r12; jmp *%r12
    "55 4889e5 53 4883ec18 83ff03 772a"         # 1: push; mov; push; sub; cmp $3,%edi; ja 2f
    "488d1541000000 486304ba 4801d0 ffe0"       # lea 5f(%rip),%rdx; movslq; add; jmp *%rax
    "e81c000000 e829000000 488d0522000000"      # call 3f; call 4f; lea 4f(%rip),%rax
    "48896c2408 4883e4e0"                       # mov %rbp,8(%rsp); and $-32,%rsp
    "488d65f8 5b 5d c3"                         # 2: lea -8(%rbp),%rsp; pop; pop; ret
    "4883ec08 ffd0 b80f000000 0f05 4883c408 c3"  # 3: sub; call *%rax; mov $15,%eax; syscall
    "31ed 5f f4 90"                             # 4: xor %ebp,%ebp; pop %rdi; hlt
    "c8ffffff cdffffff d9ffffff e2ffffff")      # 5: the table


def pc_values(pairs):
    """A list of Go's: (value, pcs)..., see libunwind-user/go/go.h"""
    out, last = b"", -1
    for value, pcs in pairs:
        change = value - last
        out += bytes([2 * change if change >= 0 else -2 * change - 1, pcs])
        last = value
    return out + b"\0"


# name, flags, code, and SP's distance from its value at entry
GO = [
    ("runtime.goexit", 5, "90 e800000000 90", [(0, 7)]),
    ("main.main", 0, "4883ec18 48896c2410 488d6c2410 90 488b6c2410 4883c418 c3",
     [(0, 4), (24, 20), (0, 1)]),
    ("main.pushed", 0, "55 4889e5 4883ec10 90 4883c410 5d c3",
     [(0, 1), (8, 7), (24, 5), (8, 1), (0, 1)]),
    ("runtime.mcall", 6, "90 488b6238 ffd7 c3", [(0, 8)]),
    ("runtime.clone", 6, "0f05 c3 4889f4 41ffd4 90", [(0, 10)]),
    ("runtime.nanotime1", 6, "4883ec18 48896c2410 488d6c2410 488b6238 ffd0 4c89e4 488b6c2410 "
     "4883c418 c3", [(0, 4), (24, 28), (0, 1)]),
    ("syscall.rawVforkSyscall", 4, "90 415c 0f05 4154 c3", [(0, 3), (-8, 4), (0, 1)]),
]


def make_go():
    """A Go program: code, .gopclntab of Go 1.18 and section headers"""
    code, names, lists, places = b"", b"", b"\0", []
    for name, flags, text, sp in GO:
        places.append((len(code), len(names), len(lists), flags))
        code += bytes.fromhex(text)
        code += b"\xcc" * (-len(code) % 16)
        names += name.encode() + b"\0"
        lists += pc_values(sp)
    text = 64 + 56
    table = -(-(text + len(code)) // 32) * 32
    functab, structs = b"", b""
    for start, name, sp, flags in places:
        functab += struct.pack("<II", start, 8 * len(GO) + 4 + len(structs))
        structs += struct.pack("<IIIIIIIIIBBBBI", start, name, 0, 0, sp, 0, 0, 0, 0xffffffff, 0,
                               flags, 0, 0, 0)
    functab += struct.pack("<I", len(code))
    at = [72, 72 + len(names), 76 + len(names), 76 + len(names)]
    at.append(at[3] + len(lists))
    head = struct.pack("<IBBBB8Q", 0xfffffff0, 0, 0, 1, 8, len(GO), 0, text, *at)
    tab = head + names + bytes(4) + lists + functab + structs + bytes(8)
    strings = b"\0.text\0.gopclntab\0.shstrtab\0"
    data = code + bytes(table - text - len(code)) + tab + strings
    end = text + len(data)
    out = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 64, end, 0, 64, 56, 1, 64,
                      4, 3)
    out += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, 4096) + data + bytes(64)
    for name, kind, flags, addr, size in ((1, 1, 6, text, len(code)), (7, 1, 2, table, len(tab)),
                                          (18, 3, 0, table + len(tab), len(strings))):
        out += struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, addr, size, 0, 0, 1, 0)
    return out


def make_elf(eh_frame):
    """A file with section headers and a .plt"""
    stub = bytes.fromhex("ff2511223344" "6811223344" "e911223344")
    names = b"\0.eh_frame\0.plt\0.shstrtab\0"
    code = stub * 4
    at = 64 + 56
    data = code + eh_frame + names
    eh_at, names_at = at + len(code), at + len(code) + len(eh_frame)
    out = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, at + len(data), 0, 64,
                      56, 1, 64, 4, 3)
    out += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, at + len(data), at + len(data), 4096)
    out += data + bytes(64)
    for name, kind, addr, size in ((1, 1, eh_at, len(eh_frame)), (11, 1, at, len(code)),
                                   (16, 3, names_at, len(names))):
        out += struct.pack("<IIQQQQIIQQ", name, kind, 2, addr, addr, size, 0, 0, 1, 0)
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    for name, code, eh_frame in make_inputs():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(b"\0" + struct.pack("<H", len(code)) + code + eh_frame + bytes(4))
    for name, kind, code, eh_frame in make_others():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(bytes([kind]) + struct.pack("<H", len(code)) + code + eh_frame + bytes(4))
    with open(os.path.join(sys.argv[1], "followed"), "wb") as f:
        f.write(b"\0" + struct.pack("<H", len(FOLLOWED)) + FOLLOWED)
    with open(os.path.join(sys.argv[1], "go"), "wb") as f:
        f.write(b"\1" + make_go())
    s = Section()
    s.cie(data=b"\x03")
    s.fde(0x100, 0x10, make_pushes(2), enc="i")
    with open(os.path.join(sys.argv[1], "elf"), "wb") as f:
        f.write(b"\1" + make_elf(s.data))
