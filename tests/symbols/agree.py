#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""agree.py BIN-DIR [-n COUNT] [-d DEBUG-FILE] FILE...: do the library and its peers say the same?

The addresses are random addresses of a file's code, and the first, last and next byte of functions.
At each address the frames of BIN-DIR/lines are compared with

 dies     libdw's DIEs (dies.c): the names and the lines of the calls must be equal, all of them;
 addr2line, llvm-symbolizer, eu-addr2line, as far as installed:
          names, number of frames, files and lines must be equal to those of at least one peer.

A peer's name may be another symbol for the same code: some peers prefer other symbols than ours, or
prefer symbols to DIEs. Where no DIE has the address (assembly, padding) only the line counts. Peers
have faults of their own. addr2line 2.40 names the unit's own file for lines of included files, and
knows neither 64-bit DWARF nor indexed forms. eu-addr2line finds no unit without .debug_aranges,
which clang does not write, and omits the function of a part that was moved away from it. So another
peer that agrees with us outvotes a peer that differs, and the difference is counted. A result that
no peer confirms is a failure.
"""
import argparse
import bisect
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from checks import check, finish, skip  # noqa: E402

PEERS = {
    "addr2line": ["addr2line", "-a", "-i", "-f", "-e"],
    "llvm-symbolizer": ["llvm-symbolizer", "-a", "--no-demangle", "--output-style=GNU",
                        "--functions=linkage", "-e"],
    "eu-addr2line": ["eu-addr2line", "-a", "-i", "-f", "-e"],
}


def run_program(command, addrs=None, check=True):
    text = None if addrs is None else "".join("%#x\n" % a for a in addrs)
    env = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
    got = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=env, encoding="utf-8", errors="replace")
    if check and got.returncode:
        sys.exit("%s: exit %d: %s" % (" ".join(command), got.returncode, got.stderr[-300:]))
    return got.stdout


def list_symbols(path):
    """Sorted (address, size) and the names at each address."""
    names, sizes = {}, {}
    for line in run_program(["readelf", "-sW", path], check=False).splitlines():
        w = line.split()
        if len(w) >= 8 and w[3] in ("FUNC", "IFUNC", "NOTYPE") and w[6] != "UND":
            addr = int(w[1], 16)
            names.setdefault(addr, set()).add(w[7].split("@")[0])
            sizes[addr] = max(sizes.get(addr, 0), int(w[2], 0))
    return sorted(sizes.items()), names


def find_code(path):
    spans = []
    for line in run_program(["readelf", "-lW", path], check=False).splitlines():
        w = line.split()
        if w and w[0] == "LOAD" and "E" in line.split("0x")[-2]:
            spans.append((int(w[2], 16), int(w[2], 16) + int(w[4], 16)))
    return spans


def choose_addresses(spans, syms, count):
    rng = random.Random(1)
    addrs = set()
    for _ in range(count):
        lo, hi = rng.choice(spans)
        addrs.add(rng.randrange(lo, hi))
    for addr, size in rng.sample(syms, min(len(syms), count // 10)):
        addrs.update(a for a in (addr, addr + max(size, 1) - 1, addr + size)
                     if any(lo <= a < hi for lo, hi in spans))
    return sorted(addrs)


def line_of(text):
    """FILE:LINE[:COLUMN] [(discriminator N)] -> (last part of the path, line or 0)"""
    text = re.sub(r" \(discriminator.*\)", "", text)
    m = re.match(r"(.*?):(\d+|\?)(:\d+)?$", text)
    if not m or m.group(1) in ("??", ""):
        return None
    line = 0 if m.group(2) == "?" else int(m.group(2))
    return os.path.basename(m.group(1)), line


def read_frames(text):
    """{address: [(name, (file, line) or None)...]}"""
    found, rows = {}, text.splitlines()
    i = 0
    while i < len(rows):
        if re.fullmatch(r"0x[0-9a-f]+", rows[i]):
            here = found.setdefault(int(rows[i], 16), [])
            i += 1
        elif not rows[i]:
            i += 1
        else:
            name = rows[i].split(" inlined at ")[0].split("@")[0]
            here.append((name, line_of(rows[i + 1])))
            i += 2
    return found


def read_chains(text):
    found = {}
    for row in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", row):
            here = found.setdefault(int(row, 16), [])
        else:
            name, line = row.rsplit(" ", 1)
            here.append((name, int(line)))
    return found


class File:
    def __init__(self, bin_dir, path, debug, count):
        self.path, self.bad = path, 0
        # a debug file has the symbols that a stripped one lacks
        self.syms, self.names = list_symbols(debug or path)
        if not self.syms:
            self.syms, self.names = list_symbols(path)
        self.starts = [a for a, _ in self.syms]
        self.addrs = choose_addresses(find_code(path), self.syms, count)
        self.ours = read_frames(run_program([bin_dir + "/lines", "-m", path], self.addrs))
        dies = [bin_dir + "/dies", path] + ([debug] if debug else [])
        self.dies = read_chains(run_program(dies, self.addrs))

    def aliases(self, addr):
        """All names of symbols that hold the address."""
        i, found = bisect.bisect_right(self.starts, addr), set()
        # the nearest ones: peers take a symbol that ended before, too
        for start, size in self.syms[max(0, i - 8):i]:
            if addr < start + max(size, 1):
                found |= self.names[start]
        if i:
            found |= self.names[self.starts[i - 1]]
        return found

    def fault(self, who, addr, what, ours, theirs):
        self.bad += 1
        if self.bad <= 20:
            print("%s: %#x: %s: %s differs\n    ours   %s\n    theirs %s" % (
                self.path, addr, who, what, ours, theirs))

    def compare_dies(self):
        known = 0
        for addr in self.addrs:
            ours, dies = self.ours[addr], self.dies[addr]
            if not dies:
                continue
            known += 1
            if [n for n, _ in ours] != [n for n, _ in dies]:
                self.fault("dies", addr, "a name", ours, dies)
            elif [p[1] for _, p in ours[1:] if p] != [x for _, x in dies[:-1]]:
                self.fault("dies", addr, "a call's line", ours, dies)
        return known

    def verdict(self, addr, a, b):
        """Compare our frames a with a peer's b: "same", "alias", or the difference."""
        if not self.dies[addr]:
            return "a line" if a[0][1] != b[0][1] else "same"
        if len(a) != len(b):
            return "the number of frames"
        if [p for _, p in a] != [p for _, p in b]:
            return "a line"
        if a[0][0] == b[0][0]:
            return "same"
        return "alias" if len(a) == 1 and b[0][0] in self.aliases(addr) else "the name"

    def compare_peers(self, peers):
        theirs = {peer: read_frames(run_program(PEERS[peer] + [self.path], self.addrs, check=False))
                  for peer in peers}
        count = {peer: {"same": 0, "alias": 0, "outvoted": 0} for peer in peers}
        for addr in self.addrs:
            ours = self.ours[addr]
            # padding and the like: nobody's code, and everybody's choice
            if not self.dies[addr] and not ours[0][1]:
                continue
            said = {peer: self.verdict(addr, ours, theirs[peer].get(addr) or [("??", None)])
                    for peer in peers}
            agreed = [peer for peer in peers if said[peer] in ("same", "alias")]
            for peer in peers:
                count[peer][said[peer] if peer in agreed else "outvoted"] += 1
            if peers and not agreed:
                for peer in peers:
                    self.fault(peer, addr, said[peer], ours, theirs[peer].get(addr))
        return count


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("bin")
    ap.add_argument("-n", type=int, default=2000)
    ap.add_argument("-d")
    ap.add_argument("-p", help="only these peers, a comma between")
    ap.add_argument("file", nargs="+")
    opts = ap.parse_args()
    peers = [p for p in PEERS if opts.p is None or p in opts.p.split(",")]
    for peer in list(peers):
        if not shutil.which(peer):
            skip(peer, "it is not installed")
            peers.remove(peer)
    for path in opts.file:
        f = File(opts.bin, path, opts.d, opts.n)
        known = f.compare_dies()
        if known < len(f.addrs) // 10:
            print("%s: only %d of %d addresses have a DIE: nothing is compared" % (
                path, known, len(f.addrs)))
            f.bad += 1
        told = ["%d addresses, %d in DIEs" % (len(f.addrs), known)]
        for peer, count in f.compare_peers(peers).items():
            told.append("%s: %s" % (peer, ", ".join(
                "%d %s" % (v, k) for k, v in count.items() if v)))
        print("%s: %s" % (os.path.basename(path), "; ".join(told)))
        check(path, not f.bad, "%d findings, see above" % f.bad)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
