#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rows.py: check every row of generated tables against .eh_frame, both as binutils read them.

usage: rows.py [OPTION...] FILE|DIR...
    --tables COMMAND    the trace-ustack-tables that makes the tables
    --binutils DIR      root of an unpacked binutils 2.46 or later, see fetch-binutils
    --min BYTES         of DIRs take ELF files of at least this size (102400)
    -j N                files at a time (2)
    --spoil N           first change the byte at N thousandths of each table: must be found
    -v                  a line for each file, not only for files with wrong rows

objdump --sframe prints the table, readelf --debug-dump=frames-interp prints .eh_frame. Neither uses
the generator, our reader of tables or libdw. CFA, RA and FP are compared for every pc: between two
boundaries, of either side, both sides stay the same. The result counts bytes of code:

    equal    both say the same
    hole     .eh_frame says something, the table says nothing
    wrong    both say something, and not the same: a failure
    other    .eh_frame says nothing, the table says something: PLTs, padding, code that is followed

objdump does not know the functions in which a CFA is above an SP in memory (docs/tables.md):
rows.py reads their rows itself.

One difference is excused, and counted. .eh_frame describes glibc's __start_context() as a called
function, the table knows that it has no caller. rows.py knows the function by its bytes. readelf
prints an undefined FP and an FP without a rule alike, so rows.py cannot distinguish them; libdw's
oracle (oracle.c) can. rows.py reads only amd64.
"""
import argparse
import bisect
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from binutils import (HOLE, Broken, States, Table, Tools, expressions, fdes, states_of,
                      take_own_rows)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from checks import check, finish  # noqa: E402

EM_X86_64 = 62
MAX_TOLD = 10

# mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je; call; mov %rax,%rdi; call; hlt
START_CONTEXT = re.compile(rb"(\xf3\x0f\x1e\xfa)?\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff\x74\x08"
                           rb"\xe8....\x48\x89\xc7\xe8....\xf4", re.S)

# -------------------------------- comparing -------------------------------

class Elf:
    """As much of an ELF file as says where code is"""

    def __init__(self, path):
        self.file = open(path, "rb")
        head = self.file.read(64)
        self.machine = None
        if len(head) < 64 or head[:4] != b"\x7fELF":
            return
        kind, machine = struct.unpack_from("<HH", head, 16)
        if head[4:6] != b"\2\1" or kind not in (2, 3):
            return
        self.machine = machine
        phoff, = struct.unpack_from("<Q", head, 32)
        size, nr = struct.unpack_from("<HH", head, 54)
        self.loads = []
        self.file.seek(phoff)
        table = self.file.read(size * nr)
        for at in range(0, len(table) - 55, size or 56):
            p_type, _, off, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", table, at)
            if p_type == 1:
                self.loads.append((vaddr, off, filesz))

    def code(self, pc, size):
        for vaddr, off, filesz in self.loads:
            if vaddr <= pc and pc + size <= vaddr + filesz:
                self.file.seek(off + pc - vaddr)
                return self.file.read(size)
        return b""

    def close(self):
        self.file.close()


class Result:
    def __init__(self, path):
        self.path = path
        self.told = []
        self.why = None			# no table, or none that can be read
        self.failed = False
        self.fdes = self.rows = self.table_rows = 0
        self.equal = self.hole = self.wrong = self.wrong_rows = self.other = self.excused = 0

    def line(self):
        return (f"{self.path}: {self.fdes} FDEs, {self.rows} rows, {self.table_rows} of the table;"
                f" bytes: {self.equal} equal, {self.hole} hole, {self.other} other,"
                f" {self.excused} of __start_context; {self.wrong_rows} rows wrong"
                + (f": {self.why}" if self.why else ""))


def is_start_context(elf, fde):
    code = elf.code(fde.start, fde.end - fde.start) if fde.end - fde.start < 64 else b""
    return START_CONTEXT.fullmatch(code) is not None


def compare(result, table, states, elf, fde, rows):
    """The rows of one FDE with those of the table"""
    at = bisect.bisect_right(table.start, fde.start) - 1
    last = len(table.start) - 1
    for i, (pc, theirs) in enumerate(rows):
        end = rows[i + 1][0] if i + 1 < len(rows) else fde.end
        result.rows += 1
        while pc < end:
            while at < last and table.start[at + 1] <= pc:
                at += 1
            stop = table.start[at + 1] if at < last else end
            stop = min(stop, end)
            ours = table.state[at]
            if ours == theirs:
                result.equal += stop - pc
            elif ours == HOLE:
                result.hole += stop - pc
            elif states.text[ours] == "end" and is_start_context(elf, fde):
                result.excused += stop - pc
            else:
                result.wrong += stop - pc
                result.wrong_rows += 1
                if len(result.told) < MAX_TOLD:
                    result.told.append(f"{result.path}: {pc:#x}: .eh_frame: "
                                       f"{states.text[theirs]}; table: {states.text[ours]}")
            pc = stop


def count_other(result, table, spans):
    """Bytes that the table covers outside of all FDEs"""
    reach, merged = 0, []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    covered = 0
    for i, state in enumerate(table.state):
        if state != HOLE:
            covered += table.start[i + 1] - table.start[i]
    for start, end in merged:
        at = bisect.bisect_right(table.start, start) - 1
        reach = start
        while reach < end:
            stop = table.start[at + 1] if at + 1 < len(table.start) else end
            stop = min(stop, end)
            if table.state[at] != HOLE:
                covered -= stop - reach
            reach = stop
            at += 1
    result.other = covered


def make_table(tools, path, directory, states):
    """The table as objdump reads it, in an ELF file; None with the reason if there is no table"""
    section, wrapped = os.path.join(directory, "section"), os.path.join(directory, "wrapped.o")
    made = subprocess.run([tools.tables, "make", "-q", path, "-o", section],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    if made.returncode:
        return None, made.stderr.strip().splitlines()[-1:] or ["no table"]
    with open(section, "r+b") as f:
        data = bytearray(f.read())
        if tools.spoil:
            data[len(data) * tools.spoil // 1000] ^= 8
        own = take_own_rows(data, states)
        f.seek(0)
        f.write(data)
    # functions count from where the section is: at 0, as the generator has it
    subprocess.run(tools.command("objcopy") + [
        "-I", "binary", "-O", "elf64-x86-64", "--rename-section",
        ".data=.sframe,alloc,load,readonly,data,contents", section, wrapped], check=True,
        stdout=subprocess.DEVNULL)
    return Table(tools, wrapped, states, own), None


def check_table(tools, path):
    result, states, known, late = Result(path), States(), {}, []
    spans = []
    elf = Elf(path)
    try:
        if elf.machine != EM_X86_64:
            result.why = "not of amd64"
            return result
        with tempfile.TemporaryDirectory(prefix="rows-") as directory:
            table, why = make_table(tools, path, directory, states)
        if not table:
            result.why = why[0]
            return result
        result.table_rows = len(table.start)
        for fde, cie in fdes(tools, path):
            if fde.end <= fde.start:
                continue
            result.fdes += 1
            spans.append((fde.start, fde.end))
            rows = states_of(fde, cie, known, states, None)
            if rows is None:
                late.append((fde, cie))
            else:
                compare(result, table, states, elf, fde, rows)
        if late:
            exps = expressions(tools, path, {fde.offset for fde, _ in late})
            for fde, cie in late:
                compare(result, table, states, elf, fde,
                        states_of(fde, cie, known, states, exps[fde.offset]))
        count_other(result, table, spans)
    except (Broken, OSError, subprocess.SubprocessError, LookupError, ValueError,
            struct.error) as e:
        result.why, result.failed = f"{type(e).__name__}: {e}", True
    finally:
        elf.close()
    return result


# --------------------------------- files ----------------------------------

def is_elf(path, least):
    try:
        if os.path.islink(path) or os.path.getsize(path) < least:
            return False
        with open(path, "rb") as f:
            head = f.read(20)
    except OSError:
        return False
    # 64 bits, little endian, a program or a library, amd64
    return head[:6] == b"\x7fELF\2\1" and head[16:20] in (b"\2\0\x3e\0", b"\3\0\x3e\0")


def list_files(args, least):
    """Each file once, large ones first, so that no worker is left with one at the end"""
    seen, found = set(), []
    for arg in args:
        paths = [arg]
        if os.path.isdir(arg):
            paths = (os.path.join(directory, name) for directory, _, names in os.walk(arg)
                     for name in names)
            paths = [path for path in paths if is_elf(path, least)]
        for path in paths:
            st = os.stat(path)
            if (st.st_dev, st.st_ino) not in seen:
                seen.add((st.st_dev, st.st_ino))
                found.append((st.st_size, path))
    return [path for _, path in sorted(found, reverse=True)]


TOOLS = None


def set_tools(tools):
    global TOOLS
    TOOLS = tools


def check_file(path):
    return check_table(TOOLS, path)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--help", action="store_true")
    parser.add_argument("--tables", default="build/trace-ustack-tables")
    parser.add_argument("--binutils")
    parser.add_argument("--min", type=int, default=102400)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--spoil", type=int)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.help or not options.files:
        print(__doc__.strip())
        return 0 if options.help else 2
    paths = list_files(options.files, options.min)
    sums, said, without = Result(""), time.monotonic(), 0
    with multiprocessing.Pool(options.j, set_tools, [Tools(options)], 50) as pool:
        for n, r in enumerate(pool.imap_unordered(check_file, paths), 1):
            for name in ("fdes", "rows", "table_rows", "equal", "hole", "wrong", "wrong_rows",
                         "other", "excused"):
                setattr(sums, name, getattr(sums, name) + getattr(r, name))
            without += bool(r.why and not r.failed)
            for line in r.told:
                print(line)
            if check(r.path, not (r.wrong or r.failed), r.line()) and options.v:
                print(r.line(), flush=True)
            if time.monotonic() - said > 30:
                said = time.monotonic()
                print(f"rows.py: {n} of {len(paths)} files, {sums.rows} rows,"
                      f" {sums.wrong_rows} wrong", file=sys.stderr)
    sums.path = f"rows.py: {len(paths)} files, {without} without a table"
    print(sums.line())
    return finish()


if __name__ == "__main__":
    sys.exit(main())
